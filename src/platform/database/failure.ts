import type { Logger } from 'pino'
import { Problem } from '../problems.ts'

// SQLSTATEs that concern the connection or the server, not the statement: connection exception (08), insufficient
// resources (53), operator intervention and query_canceled (57), system error (58), a server that became a standby
// (25006), an idle-in-transaction timeout (25P03). Also Node's socket errors: no SQLSTATE begins with E.
const awayStates = /^(?:08|53|57|58)...$|^(?:25006|25P03)$|^E[A-Z]+$/

/** The messages of the driver and its pool for a server that does not answer in time. They have no code. */
export const noAnswer = /^timeout expired$|^timeout exceeded when trying to connect$|^Query read timeout$/

/** Whether the database is unavailable, slow or full, so that the same statement may succeed later. */
export function isAway(error: unknown): boolean {
  const code = codeOf(error)
  if (code !== undefined) return awayStates.test(code)
  // The driver's query_timeout, and its messages for a connection that ended before the statement.
  return error instanceof Error && /^Query read timeout$|not queryable$|^Connection terminated/.test(error.message)
}

/**
 * Whether a statement failed only because of what others did at the same time: a deadlock or another rollback (40), a lock that was
 * not available in time (55P03), or a function that an upgrade replaced after this connection had planned its call.
 */
export function isConflict(error: unknown): boolean {
  const code = codeOf(error)
  if (code === undefined || !(error instanceof Error)) return false
  return /^40...$|^55P03$/.test(code) || (code === '0A000' && error.message.startsWith('cached plan must not change'))
}

/** Whether the database refused what was to be stored: data out of range (22), a constraint (23), or a rule of ours (P0001). */
export function isRefusal(error: unknown): boolean {
  return /^(?:22|23)...$|^P0001$/.test(codeOf(error) ?? '')
}

/** The Problem for callers; the cause is for the log. */
export function unavailable(cause: unknown): Problem {
  return new Problem('unavailable', outage, { retryAfter: 1, cause })
}

const outage = 'The database is temporarily unavailable. Try again.'

/** The driver's error, if `error` is one of `unavailable()` or a login that lacks a right. */
export function databaseErrorOf(error: unknown): unknown {
  if (error instanceof Problem && error.message === outage) return error.cause
  return codeOf(error) === '42501' ? error : undefined
}

/** The SQLSTATE of a server error, or the code of a system error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Logs a lost connection without its URL, which may have a password. */
export function logLoss(log: Logger, error: Error): void {
  log.warn({ code: codeOf(error), reason: error.message }, 'a database connection was lost')
}

/** Whether the error is PostgreSQL's violation of this constraint or unique index. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof Error && 'constraint' in error && error.constraint === constraint
}
