import type { FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { writeLine } from '../log.ts'
import type { ProblemCode } from '../problems.ts'

/** A request that has ended. */
export interface RequestEnd {
  readonly method: string
  /** The pattern, not the address: `/clients/:id`. */
  readonly route: string
  /** 499 if the caller disconnected first. */
  readonly status: number
  /** The code of the error table; undefined on success. */
  readonly code: ProblemCode | undefined
  readonly milliseconds: number
}

/** Logs a request in one line: ids and numbers, never a caller's text, a header or an address with its query. */
export function logRequest(log: Logger, request: FastifyRequest, end: RequestEnd): void {
  const { method, route, status, code } = end
  const ms = Math.round(end.milliseconds * 10) / 10
  writeLine(log, { request_id: request.id, method, route, status, code, ms, ...request.notes }, 'request')
}
