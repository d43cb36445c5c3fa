import { permitted } from '../../access/permitted.ts'
import { visitOf } from '../../access/visits.ts'
import { represent } from '../../platform/http/pages/representation.ts'
import type { Server } from '../../platform/http/server.ts'
import type { Audit } from '../../access/audit/audit.ts'
import type { Sessions } from '../../signin/session/sessions.ts'
import { exportUnbilled, listUnbilled } from '../operations.ts'
import type { UnbilledItems } from './unbilled.ts'

interface UnbilledRouteNeeds {
  readonly unbilled: UnbilledItems
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly audit: Pick<Audit, 'record'>
  readonly baseUrl: string
}

/** /invoices/unbilled, for partners. */
export function registerUnbilled(server: Server, needs: UnbilledRouteNeeds): void {
  const { unbilled } = needs
  const allowed = permitted(needs, 'list', 'invoice')

  server.get('/invoices/unbilled', { onRequest: allowed, schema: listUnbilled }, async (request, reply) =>
    represent(reply, request, { data: await unbilled.list(visitOf(request), request.query) }),
  )

  server.get('/invoices/unbilled.csv', { onRequest: allowed, schema: exportUnbilled }, async (request, reply) => {
    const file = await unbilled.export(visitOf(request), request.query)
    reply.header('content-disposition', 'attachment; filename="unbilled.csv"').type('text/csv; charset=utf-8')
    return reply.send(file)
  })
}
