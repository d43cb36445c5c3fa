import type { ProblemCode } from './problem-table.ts'

export { problems, type ProblemCode } from './problem-table.ts'

/** Everything is public except `cause`. */
export interface ProblemDetails {
  /** The field of the request at fault, as a path: `metadata.client_id`. */
  readonly field?: string
  /** The limit concerned, its value and what remains. */
  readonly limit?: { readonly name: string; readonly value: number; readonly remaining: number }
  /** Whole seconds after which the same request may succeed. */
  readonly retryAfter?: number
  /** Whether the same request may succeed. Default: what the error table says of the code. */
  readonly retry?: boolean
  /** For a stale change: the current state, sent with the error. */
  readonly current?: object
  /** For the log, never for the caller. */
  readonly cause?: unknown
}

/** An error with its code and a public reason: what is wrong and what to do. http/errors.ts turns it into a response. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly details: ProblemDetails

  constructor(code: ProblemCode, reason: string, details: ProblemDetails = {}) {
    super(reason, { cause: details.cause })
    this.name = 'Problem'
    this.code = code
    this.details = details
  }
}

/** The public reason of a fault of the service: the log has the rest under the id of the request. */
export const internalReason = (requestId: string): string =>
  `Internal error. Quote the request id ${requestId} to support.`

/** An error that the operator can fix. Commands print its message without a stack and exit with status 1. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
}
