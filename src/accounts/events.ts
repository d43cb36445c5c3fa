import type { Visit } from '../access/actor.ts'
import type { AuditEntry } from '../access/audit/audit.ts'

/** The audit event of a change of an account or a key. */
export function changeEvent(
  by: Visit,
  action: `${'account' | 'key'}_${string}`,
  id: string,
  details?: Record<string, string>,
): AuditEntry {
  return { ...by, action, outcome: 'allowed', noun: action.startsWith('key_') ? 'key' : 'account', nounId: id, details }
}
