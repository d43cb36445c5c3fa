import type { Logger } from 'pino'
import type { Database } from '../platform/database/database.ts'
import type { Feature } from '../platform/feature.ts'
import { createAccess, type RecordAccess } from './access.ts'
import { createAudit, type Audit } from './audit/audit.ts'
import { openPortal } from './portal/portal.ts'
import { auditExamples, registerAudit, type AuditRouteNeeds } from './routes.ts'

interface AccessNeeds {
  readonly database: Database
  readonly databaseUrl: string
  readonly log: Logger
}

export interface Access {
  readonly audit: Audit
  /** Access to records, by the policy and with row-level security. */
  readonly access: RecordAccess
  close(this: void): Promise<void>
}

export async function openAccess({ database, databaseUrl, log }: AccessNeeds): Promise<Access> {
  await using opened = new AsyncDisposableStack()
  const audit = opened.adopt(createAudit({ database }), (it) => it.close())
  const portal = opened.adopt(await openPortal({ databaseUrl, log }), (it) => it.close())
  const parts = opened.move()
  return Object.freeze({ audit, access: createAccess({ portal, audit }), close: () => parts.disposeAsync() })
}

/** /audit, for partners. */
export function openAuditLog(needs: AuditRouteNeeds): Feature {
  return { routes: (server) => registerAudit(server, needs), examples: auditExamples }
}
