import type { AuditEntry } from '../../access/audit/audit.ts'
import type { Context } from '../context.ts'
import { operator } from '../person/operator.ts'

type View = Pick<AuditEntry, 'action' | 'noun' | 'nounId' | 'details'>

/** Records what a command is about to show, as the portal does. What cannot be recorded is not shown. */
export async function recordView(context: Context, view: View): Promise<void> {
  const { recordWithin } = await import('../../access/audit/audit.ts')
  await recordWithin(await context.database(), [{ ...operator(), outcome: 'allowed', ...view }])
}
