import type { Visit } from '../access/actor.ts'
import type { AuditEntry } from '../access/audit/audit.ts'

/** The audit event of a change of an account or a key. */
export function changeEvent(
  by: Visit,
  action: `${'account' | 'key'}_${string}`,
  id: string,
  details?: Readonly<Record<string, string>>,
  wholeDetails?: Readonly<Record<string, string>>,
): AuditEntry {
  const noun = action.startsWith('key_') ? 'key' : 'account'
  return { ...by, action, outcome: 'allowed', noun, nounId: id, details, wholeDetails }
}
