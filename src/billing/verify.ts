import { checkOf, maxFaults, runChecks, type VerifyCheck } from '../platform/verify-checks.ts'
import { withSnapshot } from '../platform/database/snapshot-store.ts'
import type { Database } from '../platform/database/database.ts'
import { sampleOf, type SampleOptions } from '../platform/seals/verify.ts'
import { books, differingRollUps, leakedHolds, readChecksums, sampledLedger, wholeLedger } from './verify-store.ts'

export interface BookOptions {
  /** The longest that a request may take, in seconds; default one hour. */
  readonly longestRequest?: number
  /** The sealed rows of the ledger to read; default all. */
  readonly sample?: SampleOptions
}

/**
 * Proves the books: the ledger, the roll-ups and the accounts' charges agree to the last 10⁻¹², the held credit is the sum of
 * the holds, and no request was charged twice. With a sample, the checksums in the seals stand for the sealed rows.
 */
export async function verifyBooks(
  database: Database,
  { longestRequest = 3600, sample }: BookOptions = {},
): Promise<{ ok: boolean; checks: VerifyCheck[] }> {
  const checks = [
    ...(await runChecks(database, {
      ...books,
      'no hold is older than a request may take': { text: leakedHolds, values: [longestRequest] },
    })),
    await checkRollUps(database, { whole: sample === undefined }),
    ...(sample === undefined ? await runChecks(database, wholeLedger) : await checkSample(database, sample)),
  ]
  return { ok: checks.every(({ ok }) => ok), checks }
}

/** Reads the whole ledger only if it must, or to name the roll-ups at fault. */
function checkRollUps(database: Database, { whole }: { readonly whole: boolean }): Promise<VerifyCheck> {
  const name = 'the daily roll-ups are the sums of the ledger'
  return withSnapshot(database, async (tx) => {
    const sums = whole ? undefined : await readChecksums(tx)
    const wrong =
      sums !== undefined &&
      BigInt(sums.sealed) + BigInt(sums.unsealed) - BigInt(sums.appended) !== BigInt(sums.roll_ups)
    if (!whole && !wrong) return { ...checkOf(name, []), sample: 'sealed rows by the checksums of their seals' }
    const faults = await tx.rows<object>(`${differingRollUps} limit ${maxFaults}`)
    if (faults.length > 0 || !wrong) return checkOf(name, faults)
    return checkOf(name, [{ fault: 'the checksums in the seals do not match the roll-ups', ...sums }])
  })
}

const bigintMax = 2n ** 63n - 1n

/** Reads the sample, and every row that is newer. */
async function checkSample(database: Database, options: SampleOptions): Promise<VerifyCheck[]> {
  const { ranges, part } = await sampleOf(database, 'ledger', options)
  const newest = ranges.at(-1)?.after ?? 0n
  const values = [
    [...ranges.slice(0, -1).map(({ after }) => after), newest],
    [...ranges.slice(0, -1).map(({ upto }) => upto), bigintMax],
  ]
  const checks = await runChecks(
    database,
    Object.fromEntries(Object.entries(sampledLedger).map(([name, text]) => [name, { text, values }])),
  )
  return checks.map((check) => (part === undefined ? check : { ...check, sample: part }))
}
