import type { FastifyReply } from 'fastify'
import type { GateResult } from '../gate.ts'
import type { Sessions } from './sessions.ts'

/** Gives the browser the cookies of what its proof started. */
export function withSession(reply: FastifyReply, { cookies }: Pick<GateResult, 'cookies'>): FastifyReply {
  return cookies === undefined ? reply : reply.header('set-cookie', [...cookies])
}

/** Removes the cookie and the browser cache. Not `"cookies"`: that would cover the whole domain. */
export function signedOut(reply: FastifyReply, { noCookie }: Pick<Sessions, 'noCookie'>): FastifyReply {
  return reply.header('set-cookie', noCookie).header('clear-site-data', '"cache", "storage"')
}
