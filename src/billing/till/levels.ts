import { withinPatience, type Database } from '../../platform/database/database.ts'
import type { Allowances } from '../allowances/allowances.ts'
import { readKeyStanding } from '../key-standing-store.ts'
import { readStanding } from './store.ts'
import {
  accountStanding,
  keyStanding,
  levelsNow,
  projectLevels,
  tighterLevels,
  type Levels,
  type OwnLevels,
  type Standing,
} from './limits.ts'
import type { Payer } from '../payer.ts'
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
  { database, allowances }: { readonly database: Database; readonly allowances: Allowances },
  { accountId, keyId, limitId }: Payer,
): Promise<Levels | undefined> {
  const levelsOf = async (id: string, read: Promise<Standing | undefined>): Promise<OwnLevels | undefined> => {
    const standing = await withinPatience(database, read)
    return standing && projectLevels(standing, 0, allowances.atHand(id))
  }
  const [account, key] = await Promise.all([
    allowances.recentLevels(accountId) ?? levelsOf(accountId, readStanding(database, accountId)),
    limitId === undefined
      ? undefined
      : (allowances.recentLevels(limitId) ?? levelsOf(limitId, readKeyStanding(database, keyId ?? ''))),
  ])
  return account && tighterLevels(account, key)
}
