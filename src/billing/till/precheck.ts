import type { Database } from '../../platform/database/database.ts'
import { withinPatience } from '../../platform/database/patience.ts'
import type { Allowances } from '../allowances/allowances.ts'
import { levelsOf, refusalOf } from './limits.ts'
import { readPrecheck } from './precheck-store.ts'
import { replayOf } from './replay.ts'
import type { AdmissionRequest, Replay } from './till.ts'

/** Implements `precheck` of the till. Needs no database if the account's allowance covers the request. */
export async function precheck(
  { database, allowances }: { readonly database: Database; readonly allowances: Allowances },
  least: AdmissionRequest,
): Promise<Replay | undefined> {
  if (least.idempotency === undefined && allowances.covers(least)) return undefined
  const row = await withinPatience(database, readPrecheck(database, least))
  const levels = levelsOf(row)
  if (row === undefined || levels === undefined) return undefined
  const tokens = least.inputTokens + least.maxOutputTokens
  if (row.outcome === 'admitted') return undefined
  const replay = await replayOf(database, row, levels)
  if (replay) return replay
  throw refusalOf(row, `at least ${tokens}`)
}
