import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Levels, Till } from '../../billing/till/till.ts'
import type { Server } from '../../platform/http/server.ts'
import { Problem } from '../../platform/problems.ts'
import type { OwnUsage } from '../../usage/own/own.ts'
import { callerOf, wireFormatOf } from '../calls/caller.ts'
import { headersOf } from '../delivery.ts'
import { Type } from 'typebox'
import { answers, needsKey, rateLimitHeaders, refusals } from '../../platform/http/openapi.ts'
import { ownAccount, ownRequest, ownUsage, ownUsageQuery } from '../../usage/own/schema.ts'
import { refusalsOfCallers } from '../operations.ts'

/** The OpenAPI operations of an account's own figures. */
const showOwnUsage = {
  operationId: 'getUsage',
  summary: 'Show your usage',
  description:
    'The requests, tokens and cost of the account that the key belongs to, with all its keys, by day, model and key. The ' +
    'sums equal the ledger at any moment. Refused requests are counted within a second. Free of charge; does not count ' +
    'towards the limits.',
  tags: ['Account'],
  ...needsKey,
  querystring: ownUsageQuery,
  response: {
    200: answers(ownUsage, 'The usage.', rateLimitHeaders),
    ...refusals([...refusalsOfCallers, 'invalid_field', 'unknown_field']),
  },
}

const showOwnRequest = {
  operationId: 'getRequest',
  summary: 'Show one of your requests',
  description:
    'The outcome of a request of any key of the account: what was charged, or why it was refused, for 30 days. If many requests are refused in one second, only some are kept. Refusals can be read a second later. No text of the request or its reply is kept. Free of charge; does not count towards the limits.',
  tags: ['Account'],
  ...needsKey,
  params: Type.Object({
    id: Type.String({ description: 'The id of the request: the header `request-id` of its response.' }),
  }),
  response: {
    200: answers(ownRequest, 'The request.', rateLimitHeaders),
    ...refusals([...refusalsOfCallers, 'not_found']),
  },
}

const showOwnAccount = {
  operationId: 'getAccount',
  summary: 'Show your account',
  description:
    'The balance or the monthly limit of the account that the key belongs to, what is left of it, and its limits. Free of ' +
    'charge; does not count towards the limits.',
  tags: ['Account'],
  ...needsKey,
  response: { 200: answers(ownAccount, 'The account.', rateLimitHeaders), ...refusals(refusalsOfCallers) },
}

interface OwnRoutesNeeds {
  readonly own: OwnUsage
  readonly till: Pick<Till, 'levels'>
}

/** Registers the usage and the account of the caller. They take nothing from the limits and write nothing. */
export function registerOwnUsage(server: Server, { own, till }: OwnRoutesNeeds): void {
  /** Sets the headers with the caller's levels. */
  const levelsOf = async (request: FastifyRequest, reply: FastifyReply): Promise<Levels> => {
    const levels = await till.levels(callerOf(request))
    if (!levels) throw new Problem('internal', 'The account of this key is missing.')
    reply.headers(headersOf(wireFormatOf(request), levels))
    return levels
  }

  server.get('/usage', { schema: showOwnUsage, config: { reads: 'usage' } }, async (request, reply) => {
    await levelsOf(request, reply)
    return own.report(callerOf(request).accountId, request.query)
  })

  server.get('/requests/:id', { schema: showOwnRequest, config: { reads: 'usage' } }, async (request, reply) => {
    await levelsOf(request, reply)
    const found = await own.request(callerOf(request).accountId, request.params.id)
    if (found) return found
    throw new Problem('not_found', 'No request of this account with this id is charged, or refused and kept.')
  })

  server.get('/account', { schema: showOwnAccount, config: { reads: 'account' } }, async (request, reply) => {
    const caller = callerOf(request)
    const levels = await levelsOf(request, reply)
    // The headers have the levels of the key where it has less left.
    const ofAccount = caller.limitId === undefined ? levels : await till.levels({ ...caller, limitId: undefined })
    return own.account(caller, ofAccount ?? levels)
  })
}
