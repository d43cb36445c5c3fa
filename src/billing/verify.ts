import { runChecks, type Check } from '../platform/checks.ts'
import type { Database } from '../platform/database/database.ts'
import { books, duplicateCharges, duplicateChargesInSample, leakedHolds } from './verify-store.ts'

export interface BookOptions {
  /** The longest that a request may take, in seconds; default one hour. */
  readonly longestRequest?: number
  /** How many sealed ledger rows to look at for double charges, default all; and which part, if that is not all. */
  readonly sample?: number
  readonly turn?: number
}

/**
 * Proves the books on one snapshot of the database: the ledger, the roll-ups and the accounts' charges agree to the last
 * 10⁻¹², the held credit is the sum of the holds, and no request was charged twice.
 */
export async function verifyBooks(
  database: Database,
  { longestRequest = 3600, sample, turn = 0 }: BookOptions = {},
): Promise<{ ok: boolean; checks: Check[] }> {
  const checks = await runChecks(database, {
    ...books,
    'no request was charged twice':
      sample === undefined ? duplicateCharges : { text: duplicateChargesInSample, values: [sample, turn] },
    'no hold is older than a request may take': { text: leakedHolds, values: [longestRequest] },
  })
  return { ok: checks.every(({ ok }) => ok), checks }
}
