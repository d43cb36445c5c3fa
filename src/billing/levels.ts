import type { Queryable } from '../platform/database/database.ts'
import { withinPatience } from '../platform/database/patience.ts'
import type { Allowances } from './allowances.ts'
import { findKeyStanding } from './key-standing.ts'
import { readStanding } from './levels-store.ts'
import {
  accountStanding,
  keyStanding,
  levelsNow,
  projectLevels,
  tighterLevels,
  type Levels,
  type OwnLevels,
} from './limits.ts'
import type { Payer } from './payer.ts'
import type { TillRow } from './till-row.ts'

/** The levels after an item of `till()`, including this instance's allowances. */
export function levelsAfter(allowances: Allowances, row: TillRow | undefined): Levels | undefined {
  const known = (id: string | null | undefined) => (id ? allowances.levels(id) : undefined)
  return tighterLevels(
    known(row?.of_account) ?? levelsNow(accountStanding(row)),
    known(row?.of_limit) ?? levelsNow(keyStanding(row)),
  )
}

/** Levels at most a second old from this instance's memory, or else from the database. Writes nothing. */
export async function readLevels(
  { database, allowances }: { readonly database: Queryable; readonly allowances: Allowances },
  { accountId, keyId, limitId }: Payer,
): Promise<Levels | undefined> {
  const ofKey = async (id: string) => allowances.recentLevels(id) ?? findKeyStanding(database, keyId ?? '')
  const [account, key] = await Promise.all([
    accountLevels({ database, allowances }, accountId),
    limitId === undefined ? undefined : ofKey(limitId),
  ])
  return account && tighterLevels(account, key)
}

async function accountLevels(
  { database, allowances }: { readonly database: Queryable; readonly allowances: Allowances },
  accountId: string,
): Promise<OwnLevels | undefined> {
  const recent = allowances.recentLevels(accountId)
  if (recent !== undefined) return recent
  const standing = await withinPatience(readStanding(database, accountId))
  return standing && projectLevels(standing, 0, allowances.atHand(accountId))
}
