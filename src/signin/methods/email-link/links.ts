import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Mailer } from '../../../mail/mailer.ts'
import { readEmail, type Email } from '../../../people/email.ts'
import type { Database } from '../../../platform/database/database.ts'
import type { Encryption } from '../../../platform/encryption/encryption.ts'
import { Problem } from '../../../platform/problems.ts'
import { hashOf, newSecret } from '../../session/cookies.ts'
import type { Attempts } from '../../attempt/attempts.ts'
import type { KnownNetworks } from '../../visitor/known-networks.ts'
import { makeRoom } from '../../attempt/mailed-links-store.ts'
import { createSendLimits } from '../../throttle/send-limits.ts'
import type { Throttle } from '../../throttle/throttle.ts'
import type { Visitor } from '../../visitor/visitor.ts'
import { WrongCode } from '../../attempt/wrong-code.ts'
import { decryptCode, encryptCode, isCode, newCode } from './code.ts'
import * as store from './store.ts'
import type { CredentialMethod, Proof } from '../method.ts'

/** A link that can be used, and what a person needs to know before using it. */
export interface MailedLink {
  readonly stateHash: Buffer
  readonly address: string
  /** The browser that requested it, such as "Firefox on Linux". */
  readonly device: string
}

/** The method, and the way through the link itself. */
export interface EmailLinkMethod extends CredentialMethod {
  /** Consumes nothing. Throws Problem `sign_in_failed`. */
  find(token: string): Promise<MailedLink>
  /** Uses up the link: once, even if it is submitted several times at once. Throws Problem `sign_in_failed`. */
  use(token: string): Promise<Proof>
}

interface Needs {
  readonly database: Database
  readonly mailer: Mailer
  readonly throttle: Throttle
  readonly known: KnownNetworks
  readonly attempts: Pick<Attempts, 'browsersOf'>
  readonly encryption: Encryption
  /** ms since 1970; default `Date.now`. */
  readonly clock?: () => number
}

const minute = 60_000
const lifetime = 10 * minute

const BeginInput = Type.Object({ email: Type.String({ maxLength: 1000 }) })
const CodeInput = Type.Object({ code: Type.String({ maxLength: 100 }) })
const Data = Type.Object({ link: Type.String() })

/**
 * Signs in with a mailed link, or with the code in the same mail. Every address is treated alike: whether it may sign
 * in is decided just before the mail is sent.
 */
export function createEmailLinkMethod(needs: Needs): EmailLinkMethod {
  const { database, encryption, clock = Date.now } = needs
  const now = () => new Date(clock())
  const limits = createSendLimits(needs, 'mail')

  async function use(tokenHash: Buffer): Promise<Proof> {
    const link = await store.consumeLink(database, tokenHash, now())
    const email = link && decryptCode(encryption, link) !== undefined ? readEmail(link.email) : undefined
    if (email === undefined) throw notUsableLink()
    return { claim: { by: 'email', email }, factors: ['email'] }
  }

  return Object.freeze<EmailLinkMethod>({
    kind: 'credential',
    id: 'email_link',
    name: 'Email link',
    state: 'ready',
    fault: undefined,
    check: async () => 'ready',
    isUsableBy: async ({ email }) => email !== null,
    async begin(input, visitor, state) {
      const email = readAddress(input)
      // Counts every address alike.
      const { wait, isKnown } = await limits.take({ to: email.key, visitor })
      if (wait > 0) throw tooMany(wait)
      const token = newSecret()
      await mailLink(needs, { email, token, stateHash: hashOf(state), visitor, isKnown })
      return { data: { link: hashOf(token).toString('hex') }, challenge: {} }
    },
    async complete(input, { data }) {
      if (!Value.Check(Data, data) || !Value.Check(CodeInput, input)) throw wrongCode()
      const tokenHash = Buffer.from(data.link, 'hex')
      const link = await store.readLink(database, tokenHash, now())
      if (link === undefined) throw notUsableLink()
      const code = decryptCode(encryption, link)
      if (code === undefined || !isCode(input.code, code)) throw wrongCode()
      return use(tokenHash)
    },
    async find(token) {
      const link = await store.readLink(database, hashOf(token), now())
      if (link === undefined || decryptCode(encryption, link) === undefined) throw notUsableLink()
      return { stateHash: link.stateHash, address: link.email, device: link.device }
    },
    use: (token) => use(hashOf(token)),
  })
}

function readAddress(input: unknown): Email {
  const email = Value.Check(BeginInput, input) ? readEmail(input.email) : undefined
  if (email !== undefined) return email
  throw new Problem('invalid_field', 'Enter your email address, such as name@example.com.', { field: 'input.email' })
}

function tooMany(wait: number): Problem {
  const minutes = Math.ceil(wait / 60)
  const span = minutes === 1 ? 'a minute' : `${minutes} minutes`
  return new Problem(
    'too_many_sign_ins',
    `Too many sign-in mails were requested. Use the last one, sign in another way, or try again in ${span}.`,
    { retryAfter: wait },
  )
}

interface AskedLink {
  readonly email: Email
  readonly token: string
  readonly stateHash: Buffer
  readonly visitor: Visitor
  readonly isKnown: boolean
}

async function mailLink(
  { database, mailer, encryption, attempts, clock = Date.now }: Needs,
  { email, token, stateHash, visitor, isKnown }: AskedLink,
): Promise<void> {
  const { device, cookies } = visitor
  const emailKey = email.key
  const [code, tokenHash, expiresAt] = [newCode(), hashOf(token), new Date(clock() + lifetime)]
  const row = { tokenHash, email: email.address, stateHash }
  await database.transaction(async (tx) => {
    const now = new Date(clock())
    const roomAt = await makeRoom(tx, store.linkTable, { emailKey, askers: attempts.browsersOf(cookies), isKnown, now })
    if (roomAt !== undefined) throw tooMany(Math.ceil((roomAt.getTime() - now.getTime()) / 1000))
    await store.insertLink(tx, {
      ...row,
      emailKey,
      code: encryptCode(encryption, code, row),
      device,
      expiresAt,
      isKnown,
    })
    await mailer.send(tx, {
      to: email.address,
      template: 'sign_in_link',
      values: { token, code, device },
      until: expiresAt,
      onlyFor: 'sign_in',
    })
  })
}

function wrongCode(): WrongCode {
  return new WrongCode('The code is wrong.', 'Copy it from the last mail.')
}

function notUsableLink(): Problem {
  return new Problem(
    'sign_in_failed',
    'This link or code was used before, has expired, or was replaced by a newer mail. Use the last mail, or ask for a new one.',
  )
}
