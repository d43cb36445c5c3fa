import type { RecordAccess } from '../access/access.ts'
import type { Audit } from '../access/audit/audit.ts'
import type { Database } from '../platform/database/database.ts'
import type { Context } from './context.ts'

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
