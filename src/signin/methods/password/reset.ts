import { personActor } from '../../../access/actor.ts'
import type { Mailer } from '../../../mail/mailer.ts'
import { readEmail, type Email } from '../../../people/email.ts'
import type { Database, Queryable } from '../../../platform/database/database.ts'
import type { Encryption } from '../../../platform/encryption/encryption.ts'
import { Problem } from '../../../platform/problems.ts'
import { hashOf, newSecret } from '../../session/cookies.ts'
import type { CredentialChanges } from '../../credential-change.ts'
import type { KnownNetworks } from '../../visitor/known-networks.ts'
import { makeRoom } from '../../attempt/mailed-links-store.ts'
import { senderNetworkOf } from '../../visitor/network.ts'
import { createSendLimits } from '../../throttle/send-limits.ts'
import type { SignUp } from '../../sign-up.ts'
import type { Steps } from '../../attempt/steps.ts'
import type { Throttle } from '../../throttle/throttle.ts'
import type { ForgedRow } from '../definition.ts'
import type { Visitor } from '../../visitor/visitor.ts'
import type { Guesses } from './guesses.ts'
import type { Hashing } from './hashing.ts'
import type { PasswordPolicy } from './policy.ts'
import * as store from './store.ts'
import type { MinimumOf } from './minimum-length.ts'

/** A forgotten password, and the first one: a link sent by mail proves the address. It signs nobody in. */
export interface PasswordReset {
  /** Does the same for every address. Throws Problem `invalid_field`, `too_many_sign_ins`. */
  request(email: unknown, visitor: Visitor): Promise<void>
  /** The data of the page. Does not use up the link. Throws Problem `sign_in_failed`. */
  inspect(token: string, visitor: Visitor): Promise<{ readonly email: string; readonly minimum: number }>
  /**
   * Uses up the link and ends all sessions of the person, who is created if sign-up allows it. A refused password
   * does not use it up. Throws Problem `sign_in_failed`, `sign_in_refused`, `invalid_field`.
   */
  complete(chosen: { readonly token: string; readonly password: string }, visitor: Visitor): Promise<void>
}

export interface ResetNeeds {
  readonly database: Database
  readonly encryption: Encryption
  readonly steps: Steps
  readonly signUp: SignUp
  readonly throttle: Throttle
  readonly known: KnownNetworks
  readonly mailer: Mailer
  readonly guesses: Guesses
  readonly hashing: Hashing
  readonly policy: PasswordPolicy
  readonly minimumOf: MinimumOf
  readonly changes: CredentialChanges
  /** ms since 1970; default `Date.now`. */
  readonly clock?: () => number
}

const minute = 60_000
/** How long a link works, in ms. */
const linkLifetime = 20 * minute

export function createPasswordReset(needs: ResetNeeds): PasswordReset {
  const { database, encryption, steps, minimumOf, clock = Date.now } = needs

  /** The address that a link proves. A wrong token is recorded, and counts for the network. */
  const addressOf = (token: string, visitor: Visitor): Promise<Email> =>
    steps.complete(visitor, async (details) => {
      Object.assign(details, { method: 'password', why: 'unknown_link' })
      const reset = await store.readReset(database, hashOf(token), new Date(clock()))
      const email = reset && isProvenReset(encryption, reset) ? readEmail(reset.email) : undefined
      if (email === undefined) throw linkUsed()
      return email
    })

  return Object.freeze<PasswordReset>({
    request: (text, visitor) =>
      steps.begin(visitor, async (details) => {
        details.method = 'password'
        await mailLink(needs, readAddress(text), visitor, clock())
      }),
    async inspect(token, visitor) {
      const email = await addressOf(token, visitor)
      return { email: email.address, minimum: await minimumOf(await store.readPasswordOwner(database, email.key)) }
    },
    async complete({ token, password }, visitor) {
      const email = await addressOf(token, visitor)
      await complete(needs, { email, token, password }, visitor, clock())
    },
  })
}

/** Whether the address gets a mail, and how the person writes it, is decided when it is about to be sent. */
async function mailLink(
  { database, encryption, mailer, ...needs }: ResetNeeds,
  email: Email,
  visitor: Visitor,
  now: number,
): Promise<void> {
  const { wait, isKnown } = await createSendLimits(needs, 'reset').take({ to: email.key, visitor })
  if (wait > 0) throw tooManyMails(wait)
  const token = newSecret()
  const until = new Date(now + linkLifetime)
  await database.transaction(async (tx) => {
    const networkHash = hashOf(senderNetworkOf(visitor.address))
    const room = { emailKey: email.key, askers: [networkHash], isKnown, now: new Date(now) }
    const roomAt = await makeRoom(tx, store.resetTable, room)
    if (roomAt !== undefined) throw tooManyMails(Math.ceil((roomAt.getTime() - now) / 1000))
    const link = { email: email.address, tokenHash: hashOf(token) }
    const proof = proofOfReset(encryption, link)
    await store.insertReset(tx, { ...link, emailKey: email.key, proof, expiresAt: until, networkHash, isKnown })
    const mail = { template: 'password_reset', values: { token } } as const
    await mailer.send(tx, { ...mail, to: email.address, until, onlyFor: 'sign_in' })
  })
}

interface Chosen {
  readonly email: Email
  readonly token: string
  readonly password: string
}

async function complete(
  needs: ResetNeeds,
  { email, token, password }: Chosen,
  { requestId, address }: Visitor,
  now: number,
): Promise<void> {
  const { database, policy, minimumOf, hashing, signUp, changes, guesses } = needs
  const known = await store.readPasswordOwner(database, email.key)
  const text = await policy.check({ password, email: email.address, minimum: await minimumOf(known) })
  const hash = await hashing.inTurn((turn) => turn.hash(text))
  const { id } = await signUp.admitAddress(email)
  await database.transaction(async (tx) => {
    const owner = await store.lockPasswordOwner(tx, id)
    if (!(await store.takeReset(tx, hashOf(token), new Date(now))) || owner === undefined) throw linkUsed()
    await store.writePassword(tx, { personId: id, hash, at: new Date(now) })
    await changes.conclude(tx, {
      person: owner,
      action: owner.hash === null ? 'password_set' : 'password_reset',
      notice: { what: 'password_changed' },
      by: { actor: personActor(owner), requestId, address },
    })
  })
  await guesses.forget(email.key)
}

function readAddress(text: unknown): Email {
  const email = typeof text === 'string' ? readEmail(text) : undefined
  if (email !== undefined) return email
  throw new Problem('invalid_field', 'Enter an email address such as name@example.com.', { field: 'email' })
}

function linkUsed(): Problem {
  return new Problem(
    'sign_in_failed',
    'This link has expired, was used, or was replaced by a newer one. Ask for another.',
  )
}

function tooManyMails(wait: number): Problem {
  const minutes = Math.ceil(wait / 60)
  return new Problem('too_many_sign_ins', `Too many mails were requested. Try again in ${minutes} minutes.`, {
    retryAfter: wait,
  })
}

/** The part of a mailed link's row that only this service can write. Anyone who can write to the database could invent the rest. */
function proofOfReset(encryption: Encryption, { tokenHash, email }: Omit<store.FoundReset, 'proof'>): Buffer {
  return encryption.encrypt(email, contextOf(tokenHash))
}

/** The links that someone else wrote or changed. */
export async function findForgedResets(tx: Queryable, encryption: Encryption): Promise<ForgedRow[]> {
  const resets = await store.readOwnResets(tx)
  return resets.filter((reset) => !isProvenReset(encryption, reset)).map(({ id }) => ({ table: 'password_reset', id }))
}

/** Whether this service wrote the row, for this address. */
function isProvenReset(encryption: Encryption, { tokenHash, email, proof }: store.FoundReset): boolean {
  return proof !== null && encryption.decrypt(proof, contextOf(tokenHash)) === email
}

const contextOf = (tokenHash: Buffer): string => `reset ${tokenHash.toString('hex')}`
