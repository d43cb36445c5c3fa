import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Levels, Till } from '../../billing/till/till.ts'
import type { Server } from '../../platform/http/server.ts'
import { Problem } from '../../platform/problems.ts'
import type { OwnUsage } from '../../usage/own/own.ts'
import { callerOf, wireFormatOf } from '../calls/caller.ts'
import { headersOf } from '../delivery.ts'
import { showOwnAccount, showOwnRequest, showOwnUsage } from './operations.ts'

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
