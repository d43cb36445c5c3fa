/**
 * What is compared, each with the tokens of the ledger that it stands for. Vendors divide the prompt in different ways:
 * `uncached_input` includes cache writes, and `prompt` is the input of all three kinds.
 */
export const measures = {
  input: ['input'],
  uncached_input: ['input', 'cacheWrite'],
  prompt: ['input', 'cached', 'cacheWrite'],
  cached_input: ['cached'],
  cache_write: ['cacheWrite'],
  output: ['output'],
  requests: ['requests'],
} as const

export type Measure = keyof typeof measures

export const measureNames = Object.keys(measures).filter((name): name is Measure => name in measures)

/** A row of an export: what one model used in a part of a day. */
export interface VendorRow {
  /** Null: the row says only that its time is in the export. */
  readonly model: string | null
  /** ms since the epoch; the end is exclusive. */
  readonly start: number
  readonly end: number
  readonly counts: Readonly<Partial<Record<Measure, bigint>>>
  /** The measures that have rows of their own. Default: a row has all. */
  readonly apart?: readonly Measure[]
  /** The id of a request, which occurs once. */
  readonly id?: string
}
