import { randomUUIDv7 } from 'node:crypto'
import type { AuditEntry } from '../../access/audit/audit.ts'
import type { Queryable } from '../../platform/database/database.ts'
import type { Email } from '../email.ts'
import * as store from '../identities-store.ts'
import { acceptOpen, type InvitationKey } from './store.ts'
import type { Identity, PersonSummary } from '../person.ts'
import { insertPerson, readPerson } from '../store.ts'

/** A person, found or created, with the audit entries of what happened. */
export interface JoinedPerson {
  readonly person: PersonSummary | undefined
  readonly entries: readonly AuditEntry[]
}

/** A proven address, and whether the policy lets a stranger with it join. */
export interface JoiningAddress {
  readonly email: Email
  readonly mayJoin: boolean
}

const nobody: JoinedPerson = { person: undefined, entries: [] }

/** An action that people perform on themselves by signing in. */
export function ownEntry(action: string, id: string, details?: Readonly<Record<string, string>>): AuditEntry {
  const about = { actor: { kind: 'person', id }, noun: 'person', nounId: id } as const
  return { ...about, action, outcome: 'allowed', ...(details && { details }) }
}

/** What is done within the transaction for a person who has signed in before and gets their first identity. */
export type ClaimStep = (tx: Queryable, person: PersonSummary) => Promise<void>

/** The person of an identity, who may be new to it or to the firm. */
export async function welcomeWithin(
  tx: Queryable,
  identity: Identity,
  { claimed, ...joining }: JoiningAddress & { readonly claimed: ClaimStep },
): Promise<JoinedPerson> {
  await store.lockIdentity(tx, identity)
  const known = await store.readPersonOf(tx, identity)
  if (known !== undefined) return { person: known, entries: [] }
  const { key: emailKey } = joining.email
  const { issuer } = identity
  const expected = await store.lockUnclaimed(tx, emailKey)
  const { person, entries } = expected ? { person: expected, entries: [] } : await joinWithin(tx, joining)
  if (person === undefined) return nobody
  await store.insertIdentity(tx, identity, { personId: person.id, at: new Date(), emailKey })
  if (expected && expected.lastSignedInAt !== null) await claimed(tx, expected)
  return { person, entries: [...entries, ownEntry('identity_added', person.id, { issuer })] }
}

/** Creates the person of a proven address: as invited or, if the policy allows it, as a consultant. */
export async function joinWithin(tx: Queryable, { email, mayJoin }: JoiningAddress): Promise<JoinedPerson> {
  const invited = await acceptWithin(tx, { emailKey: email.key })
  return invited.person !== undefined || !mayJoin ? invited : insertConsultant(tx, email)
}

/** The person of an invitation, created with its name and role when it is first accepted. */
export async function acceptWithin(tx: Queryable, key: InvitationKey): Promise<JoinedPerson> {
  const invitation = await acceptOpen(tx, key, { personId: randomUUIDv7(), now: new Date() })
  if (invitation === undefined) return nobody
  const { personId: id } = invitation
  if (!invitation.isNew) return { person: await readPerson(tx, id), entries: [] }
  const accepted = { ...ownEntry('invitation_accepted', id), noun: 'invitation', nounId: invitation.id }
  const created = ownEntry('person_created', id, { role: invitation.role })
  return { person: await readPerson(tx, id), entries: [accepted, created] }
}

async function insertConsultant(tx: Queryable, { address, key: emailKey }: Email): Promise<JoinedPerson> {
  const id = randomUUIDv7()
  const row = { id, name: address, email: address, role: 'consultant', emailKey, createdAt: new Date() } as const
  if (!(await insertPerson(tx, row))) return nobody
  return { person: await readPerson(tx, id), entries: [ownEntry('person_created', id)] }
}
