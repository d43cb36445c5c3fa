import type { FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { RequestEnd } from './http.ts'

/** One line a request: ids and numbers, never a text of the caller, a header or an address with its query. */
export function logRequest(log: Logger, request: FastifyRequest, end: RequestEnd): void {
  log.info(
    {
      request_id: request.id,
      method: end.method,
      route: end.route,
      status: end.status,
      code: end.code,
      ms: Math.round(end.milliseconds * 10) / 10,
      ...request.notes,
    },
    'request',
  )
}
