import { Problem } from '../problems.ts'
import type { Database } from './database.ts'

/** Rejects with Problem `unavailable` if `reading` takes longer than a caller waits for the database. */
export async function withinPatience<T>({ callerPatience }: Database, reading: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const error = new Problem('unavailable', 'The database does not respond. Try again.', { retryAfter: 1 })
  const timer = setTimeout(() => late.reject(error), callerPatience)
  return Promise.race([reading, late.promise]).finally(() => clearTimeout(timer))
}
