import * as store from './store.ts'
import { createHash, randomBytes, randomUUIDv7 } from 'node:crypto'
import { personIdOf, type Role, type Visit } from '../../access/actor.ts'
import type { Audit } from '../../access/audit/audit.ts'
import type { Mailer } from '../../mail/mailer.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Database, Queryable } from '../../platform/database/database.ts'
import { isUuid } from '../../platform/database/uuid.ts'
import { checkName } from '../../platform/text/one-line.ts'
import { Problem } from '../../platform/problems.ts'
import { lockPartners, withdrawals } from '../change.ts'
import type { Email } from '../email.ts'
import { addressTaken, requiredEmail, type NewPerson } from '../people.ts'
import { readPersonByEmail } from '../store.ts'

export type { Invitation } from './store.ts'

/** An invitation, and its link for the inviting person to hand over. Undefined if it was mailed. */
export interface SentInvitation {
  readonly invitation: store.Invitation
  readonly link: string | undefined
}

/** Every method throws Problem: `not_found`, `invalid_field`, `conflict`, and `forbidden` for a former partner. */
export interface Invitations {
  /**
   * Invites an address, for 7 days, with a role that no one changes later. Voids an earlier invitation of the address. For
   * someone who has accepted one and has no way to sign in yet, the same as `resend`.
   */
  create(this: void, person: NewPerson, by: Visit): Promise<SentInvitation>
  /** The open ones, newest first; some may have expired. */
  list(this: void): Promise<store.Invitation[]>
  /** For 7 more days, with a new link. The one before no longer works. */
  resend(this: void, id: string, by: Visit): Promise<SentInvitation>
  withdraw(this: void, id: string, by: Visit): Promise<void>
}

interface Needs {
  readonly database: Database
  readonly audit: Pick<Audit, 'recordWithin'>
  /** Undefined if no mail is configured, or if the link is always handed over. */
  readonly mailer: Mailer | undefined
  readonly policy: Config['sign_in']['sign_up']
  readonly baseUrl: string
  /** ms since 1970; default `Date.now`. */
  readonly clock?: () => number
}

const lifetime = 7 * 86_400_000

export function createInvitations(needs: Needs): Invitations {
  const { database, audit, clock = Date.now } = needs

  async function change<T>(by: Visit, work: (tx: Queryable) => Promise<T>): Promise<T> {
    return database.transaction(async (tx) => {
      await lockPartners(tx, by)
      return work(tx)
    })
  }
  const record = (tx: Queryable, by: Visit, action: string, id: string, details?: Record<string, string>) =>
    audit.recordWithin(tx, [
      { ...by, action, outcome: 'allowed', noun: 'invitation', nounId: id, ...(details && { details }) },
    ])

  async function renew(tx: Queryable, id: string, by: Visit): Promise<SentInvitation> {
    const token = newInvitationToken()
    const renewed = { id, tokenHash: hashOfInvitation(token), expiresAt: new Date(clock() + lifetime) }
    const invitation = isUuid(id) ? await store.renewInvitation(tx, renewed) : undefined
    if (invitation === undefined) throw notOpen(id)
    await record(tx, by, 'invitation_resent', id)
    return send(tx, needs, invitation, token)
  }

  /** A new link for someone who has accepted an invitation and has no way to sign in yet. */
  async function inviteAgain(tx: Queryable, { id, role }: { id: string; role: Role }, email: Email, by: Visit) {
    const unfinished = await store.readUnfinished(tx, id)
    if (unfinished === undefined) throw addressTaken(email)
    if (unfinished.role !== role) throw otherRole(unfinished)
    return renew(tx, unfinished.id, by)
  }

  return Object.freeze<Invitations>({
    async create(person, by) {
      const email = requiredEmail(person.email)
      checkDomain(needs.policy, email)
      const { token, ...row } = newRow({ ...person, name: checkName(person.name) }, email, by, clock())
      return change(by, async (tx) => {
        await store.lockAddress(tx, email.key)
        const known = await readPersonByEmail(tx, email.key)
        if (known !== undefined) return inviteAgain(tx, { ...person, id: known.id }, email, by)
        await audit.recordWithin(tx, withdrawals(await store.withdrawOf(tx, email.key, row.createdAt), by))
        await store.insertInvitation(tx, row)
        await record(tx, by, 'person_invited', row.id, { role: row.role })
        return send(tx, needs, await openInvitation(tx, row.id), token)
      })
    },
    list: () => store.readInvitations(database),
    resend: (id: string, by: Visit) => change(by, (tx) => renew(tx, id, by)),
    withdraw: (id, by) =>
      change(by, async (tx) => {
        if (!isUuid(id) || !(await store.withdrawInvitation(tx, id, new Date(clock())))) throw notOpen(id)
        await record(tx, by, 'invitation_withdrawn', id)
      }),
  })
}

function newRow(person: NewPerson, { address, key }: Email, by: Visit, now: number) {
  const token = newInvitationToken()
  return {
    token,
    ...person,
    id: randomUUIDv7(),
    email: address,
    emailKey: key,
    invitedBy: personIdOf(by.actor),
    tokenHash: hashOfInvitation(token),
    createdAt: new Date(now),
    expiresAt: new Date(now + lifetime),
  }
}

async function openInvitation(tx: Queryable, id: string): Promise<store.Invitation> {
  const invitation = await store.readInvitation(tx, id)
  if (invitation === undefined) throw notOpen(id)
  return invitation
}

async function send(
  tx: Queryable,
  { mailer, baseUrl }: Pick<Needs, 'mailer' | 'baseUrl'>,
  invitation: store.Invitation,
  token: string,
): Promise<SentInvitation> {
  if (mailer === undefined) return { invitation, link: new URL(invitationPath(token), baseUrl).href }
  const { email, name, invitedBy, expiresAt } = invitation
  const values = { token, name, ...(invitedBy && { by: invitedBy.name }) }
  await mailer.send(tx, { to: email, template: 'invitation', values, until: expiresAt })
  return { invitation, link: undefined }
}

/** An invitation that the policy does not let anyone accept would only confuse its recipient. */
function checkDomain({ policy, domains }: Needs['policy'], { domain }: Email): void {
  if (policy !== 'domain' || domains.includes(domain)) return
  const allowed = domains.join(', ')
  throw new Problem('invalid_field', `sign_in.sign_up allows only addresses at ${allowed}.`, { field: 'email' })
}

function otherRole({ email, role }: store.Invitation): Problem {
  return new Problem(
    'conflict',
    `${email} has accepted an invitation as a ${role}. Invite them with that role again.`,
    {
      field: 'role',
    },
  )
}

function notOpen(id: string): Problem {
  return new Problem('not_found', `No open invitation has the id ${id}. It may have been used or withdrawn.`)
}

/** 256 random bits. */
function newInvitationToken(): string {
  return randomBytes(32).toString('base64url')
}

/** The stored form of a token: with 256 random bits, it cannot be found by guessing. */
export function hashOfInvitation(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** The path of the page for a token. It is in the fragment, which no browser sends: it is in no log and in no Referer. */
function invitationPath(token: string): string {
  return `/signin/invitation#${token}`
}
