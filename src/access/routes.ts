import { Readable } from 'node:stream'
import type { Server } from '../platform/http/server.ts'
import { prefersPage } from '../platform/http/accept.ts'
import { represent } from '../platform/http/representation.ts'
import { sameOrigin, signedIn } from '../signin/guard.ts'
import type { Sessions } from '../signin/sessions.ts'
import type { RecordAccess } from './access.ts'
import { createAuditLog } from './audit-log.ts'
import { readAudit } from './operations.ts'
import { visitOf } from './visits.ts'

export { auditExamples } from './examples.ts'

interface AuditRouteNeeds {
  readonly access: RecordAccess
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly baseUrl: string
}

/** /audit, for partners: the audit log in pages or as a CSV file. */
export function registerAudit(server: Server, { access, sessions, baseUrl }: AuditRouteNeeds): void {
  const log = createAuditLog({ access })
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
}
