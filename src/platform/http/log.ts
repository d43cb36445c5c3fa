import type { FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { RequestEnd } from './http.ts'
import { writeLine } from '../log.ts'

/** One line a request: ids and numbers, never a text of the caller, a header or an address with its query. */
export function logRequest(log: Logger, request: FastifyRequest, end: RequestEnd): void {
  const { method, route, status, code } = end
  const ms = Math.round(end.milliseconds * 10) / 10
  writeLine(log, { request_id: request.id, method, route, status, code, ms, ...request.notes }, 'request')
}
