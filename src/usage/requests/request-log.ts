import type { Queryable } from '../../platform/database/database.ts'
import {
  readCharges,
  readRefused,
  type FoundRequest,
  type LogFilter,
  type LoggedRequest,
  type LogReader,
} from './store.ts'

export type { LogFilter, LoggedRequest, LogReader } from './store.ts'

/** One page of the request log. */
export interface LogPage {
  /** Newest first. */
  readonly requests: readonly LoggedRequest[]
  /** Where the next page begins, even if this page has few rows or none; null on the last. */
  readonly next: string | null
}

export interface LogPageAsked {
  readonly filter: LogFilter
  /** Default: the firm. */
  readonly reader?: LogReader
  /** `charged`: only requests of the ledger; `refused`: only others. */
  readonly outcome?: 'charged' | 'refused' | undefined
  readonly before?: string | undefined
  readonly limit: number
  /** The maximum number of rows to read. */
  readonly reach?: number
}

const defaultReach = 20_000

/** Reads one page from the ledger and the refused requests that are kept. */
export async function readLog(database: Queryable, asked: LogPageAsked): Promise<LogPage> {
  const { filter, reader = 'firm', before, limit, reach = defaultReach } = asked
  // Without these filters, every row that is read matches.
  const isSparse = [filter.model, filter.keyId, filter.clientId, filter.stopReason, filter.code].some(Boolean)
  const search = { filter, reader, before, limit: limit + 1, reach: isSparse ? reach : limit + 1 }
  const outcome = outcomeOf(asked)
  const sources = await Promise.all([
    ...(outcome === 'refused' ? [] : [readCharges(database, search)]),
    ...(outcome === 'charged' ? [] : [readRefused(database, search)]),
  ])
  const parts = sources.map((found) => partOf(found, limit + 1))
  // Below this id, some source may have rows that were not read.
  const end =
    parts
      .map((part) => part.end)
      .toSorted()
      .at(-1) ?? ''
  const merged = parts
    .flatMap(({ requests }) => requests)
    .filter(({ requestId }) => requestId >= end)
    .toSorted((one, other) => (one.requestId < other.requestId ? 1 : -1))
  const requests = merged.slice(0, limit)
  const last = merged.length > limit ? requests.at(-1)?.requestId : undefined
  return { requests, next: last ?? (end === '' ? null : end) }
}

/** A client or a stop reason has only a charged request, an error code only a refused one. */
function outcomeOf({ filter, outcome }: LogPageAsked): LogPageAsked['outcome'] {
  const only = filter.clientId ?? filter.stopReason
  if (only !== undefined) return 'charged'
  return filter.code === undefined ? outcome : 'refused'
}

interface Part {
  readonly requests: readonly LoggedRequest[]
  /** The lowest id down to which the part is complete; empty if there are no others. */
  readonly end: string
}

function partOf(found: readonly FoundRequest[], limit: number): Part {
  const requests = found.filter((row) => row.requestId !== null)
  const last = requests.length === limit ? requests.at(-1)?.requestId : undefined
  const [first] = found
  return { requests, end: last ?? (first?.more === true ? first.seen : null) ?? '' }
}
