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
import { createFirmUsage, type FirmNeeds } from './firm.ts'
import { Type } from 'typebox'
import { answers, needsSession, refusals, refusalsOfPeople } from '../platform/http/openapi.ts'
import {
  loggedRequest,
  requestsPage,
  requestsQuery,
  usagePage,
  usageQuery,
  type RequestsPageData,
  type RequestsQuery,
  type UsageRequest,
} from './schema.ts'
import type { Visit } from '../access/actor.ts'
import { may } from '../access/policy.ts'
import { requestsFile } from './csv.ts'
import { namesIn } from './names.ts'
import { presentRequest } from './present.ts'
import { createUsageReads, type UsageAction } from './reads.ts'
import { cursorIn, logFilterOf, requestFilter } from './queries.ts'
import { readLog, type LogFilter, type LoggedRequest } from './requests/request-log.ts'

const common = { tags: ['Usage'], ...needsSession }

/** The OpenAPI operations of /usage. */
const readUsage = {
  ...common,
  operationId: 'readUsage',
  summary: 'Show the usage of the firm',
  description:
    'Requests, tokens, cost and refusals of all accounts, in total and by day, model, key, client and account, compared ' +
    'with the days before; and how close accounts are to their limits. With `format=csv`, the figures of every group as a ' +
    'file; its days are UTC days. For partners.',
  querystring: usageQuery,
  response: {
    200: answers(usagePage, 'The usage.'),
    ...refusals([...refusalsOfPeople, 'invalid_field', 'unknown_field']),
  },
}

const listRequests = {
  ...common,
  operationId: 'listRequests',
  summary: 'List requests',
  description:
    'Every charged request, and refused requests of the last 30 days, the newest first. If many requests are refused in one ' +
    'second, only some are kept; all are counted. With `format=csv`, all matching requests as a file, with times in ' +
    'the time zone of the firm and their offset. For partners.',
  querystring: requestsQuery,
  response: {
    200: answers(requestsPage, 'One page.'),
    ...refusals([...refusalsOfPeople, 'invalid_field', 'unknown_field']),
  },
}

const showRequest = {
  ...common,
  operationId: 'showRequest',
  summary: 'Show one request',
  description: 'A charged request, or a refused one that is kept. For partners.',
  params: Type.Object({ id: Type.String({ description: 'The id of the request.' }) }),
  response: { 200: answers(loggedRequest, 'The request.'), ...refusals([...refusalsOfPeople, 'not_found']) },
}

export interface UsageRouteNeeds {
  readonly database: Database
  readonly access: RecordAccess
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly baseUrl: string
  readonly currency: string
  readonly locale: string
  readonly timeZone: string
}

const ofFirm = (action: UsageAction) => ({ action, noun: 'usage' })

/** Throws Problem `forbidden` for everyone but partners. */
async function requirePartner({ access }: Pick<UsageRouteNeeds, 'access'>, visit: Visit, action: UsageAction) {
  if (!may(visit.actor, 'read', 'usage')) await access.forbid(visit, ofFirm(action), 'Only partners may see the usage.')
}

/** /usage, for partners: the figures of the firm, and its requests one by one. */
export function registerUsage(server: Server, needs: UsageRouteNeeds): void {
  const usage = createFirmUsage(needs)
  const requests = createFirmRequests(needs)
  const reads = createUsageReads(needs)
  const onRequest = [sameOrigin(needs.baseUrl), signedIn(needs.sessions)]

  server.get('/usage', { onRequest, schema: readUsage }, async (request, reply) => {
    const [visit, { query }] = [visitOf(request), request]
    await requirePartner(needs, visit, 'usage_read')
    if (query.format === 'csv') {
      await reads.once(visit, ofFirm('usage_read'), query)
      return sendFile(reply, 'usage.csv', usage.csv(visit, query))
    }
    await reads.page(visit, ofFirm('usage_read'), query)
    return represent(reply, request, { data: await usage.page(visit, query) })
  })

  server.get('/usage/requests', { onRequest, schema: listRequests }, async (request, reply) => {
    const [visit, { query }] = [visitOf(request), request]
    await requirePartner(needs, visit, 'requests_read')
    if (query.format === 'csv') {
      await reads.once(visit, ofFirm('requests_read'), query)
      return sendFile(reply, 'requests.csv', requests.csv(visit, query))
    }
    await reads.page(visit, ofFirm('requests_read'), query)
    return represent(reply, request, { data: await requests.page(visit, query) })
  })

  server.get('/usage/requests/:id', { onRequest, schema: showRequest }, async (request, reply) => {
    const [visit, { id }] = [visitOf(request), request.params]
    await requirePartner(needs, visit, 'requests_read')
    await reads.page(visit, ofFirm('requests_read'), { request: id })
    const data = await requests.show(visit, id)
    if (!data) throw new Problem('not_found', 'No request with this id is in the ledger or among the refused ones.')
    return represent(reply, request, { data })
  })
}

function sendFile(reply: FastifyReply, name: string, pieces: AsyncIterable<string>): FastifyReply {
  reply.header('content-disposition', `attachment; filename="${name}"`).type('text/csv; charset=utf-8')
  return reply.send(Readable.from(pieces))
}

/** The requests of the firm. Whether the visitor may see them is decided before. Every method throws Problem. */
interface FirmRequests {
  page(visit: Visit, query: RequestsQuery): Promise<RequestsPageData>
  /** One request, or undefined if there is none with this id. */
  show(visit: Visit, id: string): Promise<UsageRequest | undefined>
  /** All matching requests as CSV, in pieces. Times are in the time zone, with its offset. */
  csv(visit: Visit, query: RequestsQuery): AsyncIterable<string>
}

const perPiece = 1000

function createFirmRequests(needs: FirmNeeds & { readonly timeZone: string }): FirmRequests {
  const { database, currency } = needs

  async function present(visit: Visit, requests: readonly LoggedRequest[]): Promise<UsageRequest[]> {
    const names = await namesIn(needs, visit, requests)
    return requests.map((request) => presentRequest(request, names, currency))
  }

  async function* pieces(visit: Visit, filter: LogFilter, { outcome }: RequestsQuery) {
    let before: string | undefined
    do {
      const page = await readLog(database, { filter, outcome, before, limit: perPiece })
      yield await present(visit, page.requests)
      before = page.next ?? undefined
    } while (before !== undefined)
  }

  return Object.freeze<FirmRequests>({
    async page(visit, query) {
      const { outcome, cursor, limit } = query
      const asked = { filter: logFilterOf(query), outcome, before: cursorIn(cursor), limit: Number(limit ?? 50) }
      const { requests, next } = await readLog(database, asked)
      return { requests: await present(visit, requests), next }
    },
    async show(visit, id) {
      const { requests } = await readLog(database, { filter: requestFilter(id), limit: 1 })
      const [request] = await present(visit, requests)
      return request
    },
    csv: (visit, query) => requestsFile(pieces(visit, logFilterOf(query), query), needs),
  })
}
