import { Problem } from '../problems.ts'

/** Milliseconds that a caller waits for a database that does not respond. */
export const callerPatience = 4000

/** Rejects with Problem `unavailable` if `reading` takes longer than `callerPatience`. */
export async function withinPatience<T>(reading: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const error = new Problem('unavailable', 'The database does not respond. Try again.', { retryAfter: 1 })
  const timer = setTimeout(() => late.reject(error), callerPatience)
  return Promise.race([reading, late.promise]).finally(() => clearTimeout(timer))
}
