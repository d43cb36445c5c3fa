import { Type } from 'typebox'
import type { RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import type { Audit } from '../../access/audit/audit.ts'
import { permittedOnAccount } from '../../access/permitted.ts'
import { may } from '../../access/policy.ts'
import { readerOf } from '../../access/portal/reader.ts'
import { visitOf } from '../../access/visits.ts'
import { foldCharges } from '../../billing/appended-charges.ts'
import type { Database, Queryable } from '../../platform/database/database.ts'
import { isUuid } from '../../platform/database/uuid.ts'
import { answers, needsSession, refusals, refusalsOfPeople } from '../../platform/http/openapi.ts'
import { represent } from '../../platform/http/pages/representation.ts'
import type { Server } from '../../platform/http/server.ts'
import { Problem, type ProblemCode } from '../../platform/problems.ts'
import type { Sessions } from '../../signin/session/sessions.ts'
import { readOwnRequest, readOwnRequests, reportGroups } from '../own/account-view.ts'
import { ownRequest } from '../own/schema.ts'
import { cursorIn, logFilterOf } from '../queries.ts'
import { createUsageReads, type UsageAction } from '../reads.ts'
import { spanOf } from '../span.ts'
import {
  accountRequests,
  accountRequestsQuery,
  accountUsage,
  accountUsageQuery,
  type AccountUsageReport,
} from './schema.ts'
import { presentMonth } from './month.ts'
import { readMonth, type AccountMonth } from './store.ts'

const inUsage = { tags: ['Usage'], ...needsSession }
const account = Type.String({ description: 'The id of the account.' })
const reading: readonly ProblemCode[] = [...refusalsOfPeople, 'not_found']
const forWhom = 'For partners, and for developers who were granted the account.'

/** The OpenAPI operations below /accounts. */
const readAccountUsage = {
  ...inUsage,
  operationId: 'readAccountUsage',
  summary: 'Show the usage of an account',
  description: `Its requests, tokens, cost and refusals, and what this month is expected to cost. ${forWhom}`,
  params: Type.Object({ account }),
  querystring: accountUsageQuery,
  response: {
    200: answers(accountUsage, 'The usage.'),
    ...refusals([...reading, 'invalid_field', 'unknown_field']),
  },
}

const listAccountRequests = {
  ...inUsage,
  operationId: 'listAccountRequests',
  summary: 'List the requests of an account',
  description: `Every charged request, and refused requests of the last 30 days with the reason, the newest first. Neither clients nor people nor tags. ${forWhom}`,
  params: Type.Object({ account }),
  querystring: accountRequestsQuery,
  response: {
    200: answers(accountRequests, 'One page.'),
    ...refusals([...reading, 'invalid_field', 'unknown_field']),
  },
}

const showAccountRequest = {
  ...inUsage,
  operationId: 'showAccountRequest',
  summary: 'Show one request of an account',
  description: `A charged request, or a refused one that is kept. ${forWhom}`,
  params: Type.Object({ account, id: Type.String({ description: 'The id of the request.' }) }),
  response: { 200: answers(ownRequest, 'The request.'), ...refusals(reading) },
}

export interface AccountUsageRouteNeeds {
  readonly database: Database
  readonly access: RecordAccess
  readonly audit: Pick<Audit, 'record'>
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly baseUrl: string
  readonly currency: string
}

const of = (action: UsageAction, nounId: string) => ({ action, noun: 'account', nounId })

/** The usage and the requests of one account, for partners and for developers who were granted it. */
export function registerAccountUsage(server: Server, needs: AccountUsageRouteNeeds): void {
  const { database, access, currency } = needs
  const reads = createUsageReads(needs)
  const onRequest = permittedOnAccount(needs, 'read', 'usage')
  const readerFor = (visit: Visit): Queryable =>
    may(visit.actor, 'read', 'usage') ? database : readerOf(access, visit)

  server.get('/accounts/:account/usage', { onRequest, schema: readAccountUsage }, async (request, reply) => {
    const [visit, { query }] = [visitOf(request), request]
    await foldCharges(database)
    const reader = readerFor(visit)
    const { id: accountId, ...month } = await requireAccount(reader, request.params.account)
    await reads.page(visit, of('usage_read', accountId), query)
    const asked = { accountId, span: spanOf(query), by: query.by ?? 'day,model', currency }
    const data = { ...(await reportGroups(reader, asked)), month: presentMonth(month) } satisfies AccountUsageReport
    return represent(reply, request, { data })
  })

  server.get('/accounts/:account/requests', { onRequest, schema: listAccountRequests }, async (request, reply) => {
    const [visit, { query }] = [visitOf(request), request]
    const reader = readerFor(visit)
    const { id: accountId } = await requireAccount(reader, request.params.account)
    await reads.page(visit, of('requests_read', accountId), query)
    const { outcome, cursor, limit } = query
    const filter = { ...logFilterOf(query), accountId }
    const asked = { filter, outcome, before: cursorIn(cursor), limit: Number(limit ?? 50), currency }
    return represent(reply, request, { data: await readOwnRequests(reader, asked) })
  })

  server.get('/accounts/:account/requests/:id', { onRequest, schema: showAccountRequest }, async (request, reply) => {
    const [visit, { id }] = [visitOf(request), request.params]
    const reader = readerFor(visit)
    const { id: accountId } = await requireAccount(reader, request.params.account)
    await reads.page(visit, of('requests_read', accountId), { request: id })
    const data = await readOwnRequest(reader, { accountId, id, currency })
    if (!data) throw new Problem('not_found', 'The account has no request with this id, charged or refused and kept.')
    return represent(reply, request, { data })
  })
}

/** The account with the charges of its month. Throws Problem `not_found`. */
async function requireAccount(reader: Queryable, id: string): Promise<AccountMonth> {
  const found = isUuid(id) ? await readMonth(reader, id) : undefined
  if (found === undefined) throw new Problem('not_found', `No account has the id ${id}.`)
  return found
}
