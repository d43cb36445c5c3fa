import type { Queryable } from '../platform/database/database.ts'
import { withinPatience } from '../platform/database/patience.ts'
import type { Allowances } from './allowances.ts'
import { findKeyStanding, tighterLevels } from './key-standing.ts'
import { readStanding } from './levels-store.ts'
import { projectLevels, levelsOf, type Levels } from './limits.ts'
import type { Payer } from './payer.ts'
import type { TillRow } from './till-row.ts'

/** The levels after an item of `till()`, including this instance's allowance. */
export const levelsAfter = (allowances: Allowances, row: TillRow | undefined): Levels | undefined =>
  (row?.of_account ? allowances.levels(row.of_account) : undefined) ?? levelsOf(row)

/**
 * Levels at most a second old from this instance's memory, or else from the database; those of a key with limits of its own are
 * read at once. Writes nothing.
 */
export async function readLevels(
  { database, allowances }: { readonly database: Queryable; readonly allowances: Allowances },
  payer: Payer,
): Promise<Levels | undefined> {
  if (payer.limited !== true) return accountLevels({ database, allowances }, payer.accountId)
  const [levels, key] = await Promise.all([
    accountLevels({ database, allowances }, payer.accountId),
    findKeyStanding(database, payer.keyId),
  ])
  return levels && tighterLevels(levels, key)
}

async function accountLevels(
  { database, allowances }: { readonly database: Queryable; readonly allowances: Allowances },
  accountId: string,
): Promise<Levels | undefined> {
  const recent = allowances.recentLevels(accountId)
  if (recent !== undefined) return recent
  const standing = await withinPatience(readStanding(database, accountId))
  return standing && projectLevels(standing, 0, allowances.atHand(accountId))
}
