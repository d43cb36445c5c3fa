import { withinPatience, type Database } from '../../platform/database/database.ts'
import type { Levels } from './limits.ts'
import { readChargedTokens } from './store.ts'
import type { ReplayRow } from './till-row.ts'
import type { Replay } from './till.ts'

/**
 * The stored reply of a row with the outcome `replay`, with what the ledger says was charged for it. Which outcome a repeated key has is
 * decided in `early_outcome()`.
 */
export async function replayOf(database: Database, row: ReplayRow, levels: Levels): Promise<Replay | undefined> {
  const { outcome, original: originalRequestId, headers, body } = row
  if (outcome !== 'replay' || originalRequestId === null || body === null) return undefined
  const charged = await withinPatience(database, readChargedTokens(database, originalRequestId))
  return { kind: 'replay', originalRequestId, headers: headers ?? {}, body, charged, levels }
}
