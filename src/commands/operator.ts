import { userInfo } from 'node:os'
import type { RecordAccess } from '../access/access.ts'
import type { Visit } from '../access/actor.ts'
import type { Audit, AuditEntry } from '../access/audit/audit.ts'
import type { Database } from '../platform/database/database.ts'
import type { Context } from './context.ts'

/** The command line as the audit log records it: with the name of the operating-system user. */
export function operator(): Visit {
  return { actor: { kind: 'command', user: userName() } }
}

/** A container may run under a user that has no entry in /etc/passwd. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}

type View = Pick<AuditEntry, 'action' | 'noun' | 'nounId' | 'details'>

/** Records what a command is about to show, as the portal does. What cannot be recorded is not shown. */
export async function recordView(context: Context, view: View): Promise<void> {
  const { recordWithin } = await import('../access/audit/audit.ts')
  await recordWithin(await context.database(), [{ ...operator(), outcome: 'allowed', ...view }])
}

interface OpenedAccess {
  readonly access: RecordAccess
  readonly audit: Audit
  readonly database: Database
}

/** Runs `work` with access to records, for the command line. No statement has a timeout: a file or a month may be large. */
export async function withAccess<T>(context: Context, work: (opened: OpenedAccess) => Promise<T>): Promise<T> {
  const [database, log] = [await context.database(), await context.log()]
  const { createAccess } = await import('../access/access.ts')
  const { createAudit } = await import('../access/audit/audit.ts')
  const { openPortal } = await import('../access/portal/portal.ts')
  await using opened = new AsyncDisposableStack()
  const portal = await openPortal({
    databaseUrl: await context.databaseUrl(),
    log,
    connections: 1,
    statementTimeout: 0,
  })
  opened.defer(() => portal.close())
  const audit = opened.adopt(createAudit({ database }), (it) => it.close())
  return await work({ access: createAccess({ portal, audit }), audit, database })
}
