import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { RecordAccess } from '../access/access.ts'
import { visitOf } from '../access/visits.ts'
import type { Database } from '../platform/database/database.ts'
import { represent } from '../platform/http/pages/representation.ts'
import type { Server } from '../platform/http/server.ts'
import { Problem } from '../platform/problems.ts'
import { sameOrigin, signedIn } from '../signin/guard.ts'
import type { Sessions } from '../signin/session/sessions.ts'
import { createFirmUsage } from './firm.ts'
import { listRequests, readUsage, showRequest } from './operations.ts'
import { createUsageReads } from './reads.ts'
import { createFirmRequests } from './requests/requests.ts'

interface UsageRouteNeeds {
  readonly database: Database
  readonly access: RecordAccess
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly baseUrl: string
  readonly currency: string
  readonly locale: string
  readonly timeZone: string
}

/** /usage, for partners: the figures of the firm, and its requests one by one. */
export function registerUsage(server: Server, needs: UsageRouteNeeds): void {
  const usage = createFirmUsage(needs)
  const requests = createFirmRequests(needs)
  const reads = createUsageReads(needs)
  const onRequest = [sameOrigin(needs.baseUrl), signedIn(needs.sessions)]

  server.get('/usage', { onRequest, schema: readUsage }, async (request, reply) => {
    const [visit, { query }] = [visitOf(request), request]
    if (query.format === 'csv') {
      await reads.once(visit, 'usage_read', query)
      return sendFile(reply, 'usage.csv', usage.csv(visit, query))
    }
    await reads.page(visit, 'usage_read', query)
    return represent(reply, request, { data: await usage.page(visit, query) })
  })

  server.get('/usage/requests', { onRequest, schema: listRequests }, async (request, reply) => {
    const [visit, { query }] = [visitOf(request), request]
    if (query.format === 'csv') {
      await reads.once(visit, 'requests_read', query)
      return sendFile(reply, 'requests.csv', requests.csv(visit, query))
    }
    await reads.page(visit, 'requests_read', query)
    return represent(reply, request, { data: await requests.page(visit, query) })
  })

  server.get('/usage/requests/:id', { onRequest, schema: showRequest }, async (request, reply) => {
    const [visit, { id }] = [visitOf(request), request.params]
    await reads.page(visit, 'requests_read', { request: id })
    const data = await requests.show(visit, id)
    if (!data) throw new Problem('not_found', 'No request with this id is in the ledger or among the refused ones.')
    return represent(reply, request, { data })
  })
}

function sendFile(reply: FastifyReply, name: string, pieces: AsyncIterable<string>): FastifyReply {
  reply.header('content-disposition', `attachment; filename="${name}"`).type('text/csv; charset=utf-8')
  return reply.send(Readable.from(pieces))
}
