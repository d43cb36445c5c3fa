import type { Queryable } from '../platform/database/database.ts'
import { withinPatience } from '../platform/database/patience.ts'
import type { Allowances } from './allowances.ts'
import { readStanding } from './levels-store.ts'
import { projectLevels, levelsOf, type Levels } from './limits.ts'
import type { TillRow } from './till-row.ts'

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
