import * as operations from './operations.ts'
import type { Audit } from '../access/audit/audit.ts'
import { onRecords } from '../access/permitted.ts'
import { visitOf } from '../access/visits.ts'
import { recordId } from '../platform/database/uuid.ts'
import type { RecordAccess } from '../access/access.ts'
import { createAuditLog } from '../access/audit/audit-log.ts'
import { represent } from '../platform/http/pages/representation.ts'
import type { Server } from '../platform/http/server.ts'
import type { Config } from '../platform/config/config.ts'
import { sameOrigin, signedIn } from '../signin/guard.ts'
import type { Sessions } from '../signin/session/sessions.ts'
import { createErasures } from './erasures.ts'
import { createExports, type ExportNeeds } from './exports.ts'
import type { ExampleValues } from '../platform/http/examples.ts'

export interface ClientDataNeeds extends Omit<ExportNeeds, 'auditLog'> {
  readonly locale: string
  readonly timeZone: string
  readonly access: RecordAccess
  readonly retention: Config['retention']
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly audit: Pick<Audit, 'record'>
  readonly baseUrl: string
}

/** Registers the export of a client and its erasure, and /erasures. */
export function registerClientData(server: Server, needs: ClientDataNeeds): void {
  const { access, retention, sessions, audit, baseUrl } = needs
  const erasures = createErasures({ access, waiting: retention.erasure_after })
  const exports = createExports({ ...needs, auditLog: createAuditLog(needs) })
  const onRequest = [sameOrigin(baseUrl), signedIn(sessions), onRecords(audit)]

  server.get('/clients/:client/export', { onRequest, schema: operations.exportClient }, async (request, reply) => {
    const { zip, headers } = await exports.write(visitOf(request), recordId(request.params.client))
    return reply.headers(headers).send(zip)
  })

  server.get('/clients/:client/erasure', { onRequest, schema: operations.previewErasure }, async (request) =>
    erasures.preview(visitOf(request), recordId(request.params.client)),
  )

  server.post('/clients/:client/erasure', { onRequest, schema: operations.scheduleErasure }, async (request, reply) => {
    const { reason } = request.body
    reply.code(201)
    return erasures.schedule(visitOf(request), recordId(request.params.client), reason)
  })

  server.delete(
    '/clients/:client/erasure',
    { onRequest, schema: operations.withdrawErasure },
    async (request, reply) => {
      await erasures.withdraw(visitOf(request), recordId(request.params.client))
      return reply.code(204).send()
    },
  )

  server.get('/erasures', { onRequest, schema: operations.listErasures }, async (request, reply) =>
    represent(reply, request, { data: await erasures.list(visitOf(request), request.query) }),
  )
}

const client = '0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11'
const ruth = '0199c3aa-0f6e-7a52-8d91-4be7c2f01d34'

/** An erasure in the demo's fictional firm, for the documentation. */
export const dataExamples = {
  "A client's data": {
    client,
    reason: 'The engagement ended in 2015.',
    'client.id': client,
    'client.name': 'Harbour Lane Bakery',
    'client.reference': 'PA-1031',
    'scheduled_by.id': ruth,
    'scheduled_by.name': 'Ruth Penhallow',
    performed_at: null,
    total: 1,
  },
} satisfies ExampleValues
