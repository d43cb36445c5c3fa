import type { Queryable } from '../platform/database/database.ts'
import { Problem } from '../platform/problems.ts'
import type { Allowances } from './allowances.ts'
import { readStanding } from './levels-store.ts'
import { projectLevels, levelsOf, type Levels } from './limits.ts'
import type { TillRow } from './till-row.ts'

/** Milliseconds within which the database must respond to an admission or a reading of levels. */
export const admissionPatience = 4000

/** The levels after an item of `till()`, including this instance's allowance. */
export const levelsAfter = (allowances: Allowances, row: TillRow | undefined): Levels | undefined =>
  (row?.of_account ? allowances.levels(row.of_account) : undefined) ?? levelsOf(row)

/** Levels at most a second old from this instance's memory, or else from the database. Writes nothing. */
export async function readLevels(
  { database, allowances }: { readonly database: Queryable; readonly allowances: Allowances },
  accountId: string,
): Promise<Levels | undefined> {
  const recent = allowances.recentLevels(accountId)
  if (recent !== undefined) return recent
  const standing = await withinPatience(readStanding(database, accountId))
  return standing && projectLevels(standing, 0, allowances.atHand(accountId))
}

async function withinPatience<T>(reading: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const error = new Problem('unavailable', 'The database does not respond. Try again.', { retryAfter: 1 })
  const timer = setTimeout(() => late.reject(error), admissionPatience)
  return Promise.race([reading, late.promise]).finally(() => clearTimeout(timer))
}
