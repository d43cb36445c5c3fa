import type { FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { writeLine } from '../log/line-log.ts'
import type { ProblemCode } from '../problems.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Further fields for the request's log line. Ids and numbers only, never text of a caller. */
    notes: Record<string, string | number | undefined>
  }
}

/** A completed request. */
export interface RequestEnd {
  readonly method: string
  /** The pattern, not the URL: `/clients/:id`. */
  readonly route: string
  /** 499 if the caller disconnected first. */
  readonly status: number
  /** The code of the error table; undefined on success. */
  readonly code: ProblemCode | undefined
  readonly milliseconds: number
}

/** Logs a request in one line. It has ids and numbers only: no text of the caller, no header, no URL. */
export function logRequest(log: Logger, request: FastifyRequest, end: RequestEnd): void {
  const { method, route, status, code } = end
  const ms = Math.round(end.milliseconds * 10) / 10
  writeLine(log, { request_id: request.id, method, route, status, code, ms, ...request.notes }, 'request')
}
