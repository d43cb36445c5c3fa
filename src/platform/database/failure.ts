import type { Logger } from 'pino'
import { Problem } from '../problems.ts'

// SQLSTATE classes and codes that speak of the connection, the server or time, not of the statement: connection
// exception (08), insufficient resources (53), operator intervention and query_canceled (57), system error (58), a
// server that became a standby (25006), a transaction left idle (25P03).
// And Node's codes of a socket: no SQLSTATE begins with an E.
const awayStates = /^(?:08|53|57|58)...$|^(?:25006|25P03)$|^E[A-Z]+$/

/** Whether a statement failed because the database is away, slow or full, so that the same one may succeed later. */
export function isAway(error: unknown): boolean {
  const code = codeOf(error)
  if (code !== undefined) return awayStates.test(code)
  // The driver's own limit (query_timeout) and its words for a connection that ended before the statement.
  return error instanceof Error && /^Query read timeout$|not queryable$|^Connection terminated/.test(error.message)
}

/** The Problem that callers see when the database is away; the cause is for the log. */
export function unavailable(cause: unknown): Problem {
  return new Problem('unavailable', 'The database is away for the moment; try again.', { retryAfter: 1, cause })
}

/** The SQLSTATE of a server's error, or Node's code of a failed socket. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Logs a lost connection without its address: only what the server or the socket said. */
export function logLoss(log: Logger, error: Error): void {
  log.warn({ code: codeOf(error), reason: error.message }, 'a database connection was lost')
}
