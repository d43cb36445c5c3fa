import type { Visit } from '../../access/actor.ts'
import type { AuditEntry } from '../../access/audit/audit.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { deleteGrantsOf } from './store.ts'

/** Ends the grants of a person who gets another role or is deleted. Returns the audit rows. */
export async function endGrants(tx: Queryable, personId: string, by: Visit): Promise<AuditEntry[]> {
  const accounts = await deleteGrantsOf(tx, personId)
  return accounts.map((id) => grantEntry('account_grant_removed', personId, id, by))
}

export function grantEntry(
  action: 'account_granted' | 'account_grant_removed',
  personId: string,
  accountId: string,
  by: Visit,
): AuditEntry {
  return { ...by, action, outcome: 'allowed', noun: 'account', nounId: accountId, details: { person: personId } }
}
