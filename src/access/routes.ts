import { Readable } from 'node:stream'
import type { Database } from '../platform/database/database.ts'
import type { Server } from '../platform/http/server.ts'
import { prefersPage } from '../platform/http/input/accept.ts'
import { represent } from '../platform/http/pages/representation.ts'
import { sameOrigin, signedIn } from '../signin/guard.ts'
import type { Sessions } from '../signin/session/sessions.ts'
import type { RecordAccess } from './access.ts'
import type { Audit } from './audit/audit.ts'
import { createAuditLog } from './audit/audit-log.ts'
import { createAuditVerification } from './audit/verification.ts'
import { readAudit, verifyAudit } from './operations.ts'
import { permitted } from './permitted.ts'
import { visitOf } from './visits.ts'

export { auditExamples } from './examples.ts'

interface AuditRouteNeeds {
  readonly access: RecordAccess
  readonly database: Database
  readonly audit: Pick<Audit, 'record'>
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly baseUrl: string
  readonly locale: string
  readonly timeZone: string
}

/** /audit, for partners: the audit log in pages or as a CSV file, and the proof that it is unchanged. */
export function registerAudit(server: Server, needs: AuditRouteNeeds): void {
  const { sessions, baseUrl } = needs
  const log = createAuditLog(needs)
  const onRequest = [sameOrigin(baseUrl), signedIn(sessions)]
  server.get('/audit', { onRequest, schema: readAudit }, async (request, reply) => {
    const { query } = request
    if (query.format !== 'csv') {
      const hidesViews = query.action === undefined && prefersPage(request.headers.accept)
      const asked = hidesViews ? { views: 'false' as const, ...query } : query
      return represent(reply, request, { data: await log.page(visitOf(request), asked) })
    }
    const pieces = await log.csv(visitOf(request), query)
    reply.header('content-disposition', 'attachment; filename="audit.csv"').type('text/csv; charset=utf-8')
    return reply.send(Readable.from(pieces))
  })

  const verify = createAuditVerification(needs)
  server.post(
    '/audit/verification',
    { onRequest: permitted(needs, 'read', 'audit'), schema: verifyAudit },
    async (request, reply) => represent(reply, request, { data: await verify(visitOf(request)) }),
  )
}
