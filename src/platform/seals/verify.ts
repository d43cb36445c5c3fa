import { checkOf, maxFaults, turnOfToday, type VerifyCheck } from '../verify-checks.ts'
import { withSnapshot } from '../database/snapshot-store.ts'
import type { Database, Queryable } from '../database/database.ts'
import { chains, type Chain } from './chains.ts'
import { formatSeal, type SealLine } from './seal-line.ts'
import * as store from './store.ts'

export interface SealOptions extends SampleOptions {
  /** Seals that were kept outside the database. */
  readonly kept?: readonly SealLine[]
  /** Statement timeout in ms. Default: no limit. */
  readonly mostTime?: number
  /** Called at most every two seconds with a line of progress. */
  readonly onProgress?: (line: string) => void
}

/**
 * Proves that the rows of every append-only table are unchanged since they were sealed, and that the seals form one chain.
 * Of a table with more rows than `sample`, it reads the newest rows and one of several equal parts, in rotation.
 */
export async function verifySeals(database: Database, options: SealOptions = {}): Promise<VerifyCheck[]> {
  const checks: VerifyCheck[] = [await checkChains(database)]
  for (const chain of chains) checks.push(...(await checkChain(database, chain, options)))
  if (options.kept !== undefined) checks.push(await checkKept(database, options.kept))
  return checks
}

/** What one chain has, and whether it is intact. */
export interface VerifiedChain {
  readonly checks: readonly VerifyCheck[]
  /** The number of sealed rows. */
  readonly rows: bigint
  /** The last seal; undefined if there is none. */
  readonly last: SealLine | undefined
}

/** The same proof for the table of one chain. Throws RangeError if there is no such chain. */
export async function verifyChain(database: Database, name: string, options: SealOptions): Promise<VerifiedChain> {
  const chain = chains.find((each) => each.name === name)
  if (chain === undefined) throw new RangeError(`there is no chain of ${name}`)
  const [last] = await store.readLastSeal(database, name)
  return { checks: await checkChain(database, chain, options), rows: last?.rows ?? 0n, last }
}

async function checkChain(database: Database, chain: Chain, options: SealOptions): Promise<VerifyCheck[]> {
  const find = async (tx: Queryable) => ({
    links: await store.findBrokenLinks(tx, chain),
    strays: await store.findStrayNumbers(tx, chain),
  })
  const { links, strays } = await withSnapshot(database, find, options.mostTime)
  return [
    checkOf(`the seals of ${chain.name} are one chain`, links),
    checkOf(`the rows of ${chain.name} are numbered by its sequence`, strays),
    await checkRows(database, chain, options),
  ]
}

async function checkChains(database: Database): Promise<VerifyCheck> {
  const known = new Set((await store.readChains(database)).map(({ name }) => name))
  const missing = chains.filter(({ name }) => !known.has(name))
  return checkOf(
    'every append-only table is sealed',
    missing.map(({ name }) => ({ table: name, fault: 'it has no chain of seals' })),
  )
}

async function checkKept(database: Database, kept: readonly SealLine[]): Promise<VerifyCheck> {
  const faults = await withSnapshot(database, async (tx) => {
    const found: object[] = []
    for (const seal of kept) found.push(...(await store.findOtherSeal(tx, seal)))
    return found
  })
  return checkOf(`the chains contain the given seals (${kept.map(formatSeal).join(', ')})`, faults)
}

/** Sealed rows never change, so each range can be read on its own snapshot. No snapshot is held for long. */
async function checkRows(database: Database, chain: Chain, options: SealOptions): Promise<VerifyCheck> {
  const faults: object[] = []
  const { ranges, part } = await sampleOf(database, chain.name, options)
  const progress = createProgress(options)
  for (const [index, range] of ranges.entries()) {
    faults.push(...(await changedRowsOf(database, chain, range, options.mostTime)))
    if (faults.length >= maxFaults) break
    progress(`${chain.name}: ${index + 1} of ${ranges.length} blocks of ${blockSize} rows`)
  }
  const check = checkOf(`the sealed rows of ${chain.name} are unchanged`, faults)
  return part === undefined ? check : { ...check, sample: part }
}

/** At most one line every two seconds. */
function createProgress({ onProgress }: SealOptions): (line: string) => void {
  let shownAt = performance.now()
  return (line) => {
    if (performance.now() - shownAt < 2000) return
    shownAt = performance.now()
    onProgress?.(line)
  }
}

async function changedRowsOf(
  database: Database,
  chain: Chain,
  range: RowRange,
  mostTime: number | undefined,
): Promise<object[]> {
  const find = async (tx: Queryable) => {
    const faults: object[] = []
    for (const { seal, after, upto, sealed_rows, rows_there } of await store.findFaultySeals(tx, chain, range)) {
      const rows = await store.findFaultyRows(tx, chain, seal)
      const unnamed = { table: chain.name, seal, from: after + 1n, to: upto, sealed_rows, rows_there }
      faults.push(...(rows.length > 0 ? rows : [{ ...unnamed, fault: 'the seal does not match its rows' }]))
      if (faults.length >= maxFaults) break
    }
    return faults.length > 0 ? faults : store.findWrongChecksum(tx, chain, range)
  }
  return withSnapshot(database, find, mostTime)
}

export interface SampleOptions {
  /** Reads every sealed row, not a sample. */
  readonly full?: boolean
  /** Which part of a large table to read; default `turnOfToday()`. */
  readonly turn?: number
  /** Row numbers to read of one table; default `defaultSample`. */
  readonly sample?: number
}

/** How many rows of a large table are read unless all are. */
const defaultSample = 500_000

/** Row numbers that one statement reads. */
const blockSize = 20_000n

interface RowRange {
  readonly after: bigint
  readonly upto: bigint
}

interface Sample {
  readonly ranges: readonly RowRange[]
  /** Which of several parts, unless the ranges are the whole table. */
  readonly part?: string
}

/** The sealed rows of a table to read, in blocks: all of them, or the newest block and every n-th. */
export async function sampleOf(database: Queryable, table: string, options: SampleOptions): Promise<Sample> {
  const { full = false, sample = defaultSample, turn = turnOfToday() } = options
  const state = (await store.readChains(database)).find(({ name }) => name === table)
  if (state === undefined || state.upto <= 0n) return { ranges: [] }
  const count = Number((state.upto - 1n) / blockSize) + 1
  const parts = full ? 1 : Math.ceil((count * Number(blockSize)) / Math.max(sample, Number(blockSize)))
  const part = turn % parts
  const ranges = Array.from({ length: count }, (_, block) => block)
    .filter((block) => block % parts === part || block === count - 1)
    .map((block) => ({ after: BigInt(block) * blockSize, upto: BigInt(block + 1) * blockSize }))
  return { ranges, ...(parts > 1 && { part: `part ${part + 1} of ${parts}` }) }
}
