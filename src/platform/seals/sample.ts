import type { Queryable } from '../database/database.ts'
import { readChains } from './store.ts'

export interface SampleOptions {
  /** Reads every sealed row, not a sample. */
  readonly full?: boolean
  /** Which part of a large table to read; default `today()`. */
  readonly turn?: number
  /** Row numbers to read of one table; default `defaultSample`. */
  readonly sample?: number
}

/** How many rows of a large table are read unless all are. */
const defaultSample = 500_000

/** The days since 1970: the sample is another one each day. */
const today = (): number => Math.floor(Date.now() / 86_400_000)

/** Row numbers that one statement reads. */
export const blockSize = 20_000n

export interface RowRange {
  readonly after: bigint
  readonly upto: bigint
}

export interface Sample {
  readonly ranges: readonly RowRange[]
  /** Which of several parts, unless the ranges are the whole table. */
  readonly part?: string
}

/** The sealed rows of a table to read, in blocks: all of them, or the newest block and every n-th. */
export async function sampleOf(database: Queryable, table: string, options: SampleOptions): Promise<Sample> {
  const { full = false, sample = defaultSample, turn = today() } = options
  const state = (await readChains(database)).find(({ name }) => name === table)
  if (state === undefined || state.upto <= 0n) return { ranges: [] }
  const count = Number((state.upto - 1n) / blockSize) + 1
  const parts = full ? 1 : Math.ceil((count * Number(blockSize)) / Math.max(sample, Number(blockSize)))
  const part = turn % parts
  const ranges = Array.from({ length: count }, (_, block) => block)
    .filter((block) => block % parts === part || block === count - 1)
    .map((block) => ({ after: BigInt(block) * blockSize, upto: BigInt(block + 1) * blockSize }))
  return { ranges, ...(parts > 1 && { part: `part ${part + 1} of ${parts}` }) }
}
