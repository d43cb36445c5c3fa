import { personIdOf, type Visit } from '../access/actor.ts'
import type { AuditEntry, recordWithin } from '../access/audit/audit.ts'
import { isUuid } from '../platform/database/uuid.ts'
import type { Queryable } from '../platform/database/database.ts'
import { Problem } from '../platform/problems.ts'
import type { PersonChange, PersonSummary } from './person.ts'
import { endGrants } from './grants/end.ts'
import { withdrawPartnersOf } from './invitations/store.ts'
import * as store from './store.ts'

/** The outcome of a change: a refusal is thrown once its audit row is committed. */
export interface ChangeOutcome {
  readonly before: PersonSummary
  readonly refusal: Problem | undefined
}

/** A change of the columns of a person, and who makes it. The name has been checked. */
export interface ChangeOrder {
  readonly id: string
  readonly to: Omit<PersonChange, 'email'>
  readonly by: Visit
}

/**
 * Changes a person within a transaction, with all partners locked. A change of role or status ends the person's
 * sessions. Throws Problem `not_found`, and `forbidden` if the acting person is no longer a partner.
 */
export async function changeWithin(
  tx: Queryable,
  record: typeof recordWithin,
  { id, to, by }: ChangeOrder,
): Promise<ChangeOutcome> {
  const { person, isLastPartner } = await lockForChange(tx, id, by)
  const after = { ...person, ...to }
  const isLast = isLastPartner && (after.role !== 'partner' || after.status !== 'active')
  if (!isLast) await store.updatePerson(tx, id, to)
  const isPartner = after.role === 'partner' && after.status === 'active'
  const withdrawn = isLast || isPartner ? [] : await withdrawnEntries(tx, id, by)
  const ended = isLast || after.role === person.role ? [] : await endGrants(tx, id, by)
  const changes = changesOf(person, after)
  // A change that changes nothing still shows the person.
  const entries = changes.length > 0 ? changes : [{ action: 'person_read' }]
  const outcome = isLast ? 'refused' : 'allowed'
  const changed = entries.map((each): AuditEntry => ({ ...by, ...aboutPerson(id), ...each, outcome }))
  await record(tx, [...changed, ...withdrawn, ...ended])
  return { before: person, refusal: isLast ? lastPartner(person) : undefined }
}

/** Otherwise a former partner could return as a partner with another address. */
export async function withdrawnEntries(tx: Queryable, id: string, by: Visit): Promise<AuditEntry[]> {
  return withdrawals(await withdrawPartnersOf(tx, id, new Date()), by)
}

/** The audit rows of invitations that a change has withdrawn. */
export function withdrawals(invitations: readonly string[], by: Visit): AuditEntry[] {
  const action = { ...by, action: 'invitation_withdrawn', outcome: 'allowed', noun: 'invitation' } as const
  return invitations.map((nounId) => ({ ...action, nounId }))
}

/** Locks all partners and the person. Throws Problem `not_found`, `forbidden`. */
export async function lockForChange(
  tx: Queryable,
  id: string,
  by: Visit,
): Promise<{ readonly person: PersonSummary; readonly isLastPartner: boolean }> {
  const partners = await lockPartners(tx, by)
  const person = isUuid(id) ? await store.lockPerson(tx, id) : undefined
  if (person === undefined) throw unknownPerson(id)
  return { person, isLastPartner: partners.length === 1 && partners[0] === person.id }
}

/**
 * Locks all partners. Two partners may demote each other at the same moment: the second one has lost the right. Throws
 * Problem `forbidden`.
 */
export async function lockPartners(tx: Queryable, by: Visit): Promise<string[]> {
  const partners = await store.lockPartners(tx)
  const actingPerson = personIdOf(by.actor)
  if (actingPerson !== undefined && !partners.includes(actingPerson)) throw notAPartner()
  return partners
}

/** The audit entries of a change. Names are not in the audit log. */
function changesOf(before: PersonSummary, after: PersonSummary): Pick<AuditEntry, 'action' | 'details'>[] {
  const action = after.status === 'active' ? 'person_enabled' : 'person_disabled'
  return [
    ...(after.role === before.role ? [] : [{ action: 'role_changed', details: { from: before.role, to: after.role } }]),
    ...(after.status === before.status ? [] : [{ action }]),
    ...(after.name === before.name ? [] : [{ action: 'person_renamed' }]),
  ]
}

export function lastPartner({ name }: PersonSummary): Problem {
  return new Problem('conflict', `${name} is the last partner. Make another person a partner first.`)
}

function notAPartner(): Problem {
  return new Problem('forbidden', 'Only a partner of the firm may change people.')
}

export function unknownPerson(id: string): Problem {
  return new Problem('not_found', `No person has the id ${id}.`)
}

/** The object of an audit entry. */
export const aboutPerson = (id: string) => ({ noun: 'person', nounId: id })
