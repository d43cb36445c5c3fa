import { Problem } from '../platform/problems.ts'
import type { RequestOutcome } from './allowances.ts'
import type { TillRow } from './till-row.ts'

interface QueuedItem {
  /** A time of `performance.now()` after which the item is rejected. Infinite for a release, which must happen. */
  readonly deadline: number
  /** Whether a call with this item may have been committed. */
  sent: boolean
  readonly reject: (error: unknown) => void
}

/** An item of `till()`. */
export interface TillItem extends QueuedItem {
  readonly kind: 'admit' | 'settle'
  /** The hold's id, unique among the items of one kind. */
  readonly id: string
  readonly payload: { readonly hold: string; readonly account?: string }
  /** Whether the caller has stopped waiting. */
  abandoned: boolean
  readonly resolve: (row: TillRow | undefined) => void
}

/** A request admitted from an allowance that ends with `exchange_timed()`. */
export interface ExchangeItem extends QueuedItem {
  readonly kind: 'end'
  readonly outcome: RequestOutcome
  /** A row of the type timed_charge, or undefined if the request is released. */
  readonly charge: string | undefined
  readonly resolve: (done: boolean) => void
}

export type BatchItem = TillItem | ExchangeItem

const ignore = (): void => undefined

/** Releases the hold with this id, whenever the database can be reached again. */
export function releaseOf(id: string): TillItem {
  const item = { kind: 'settle' as const, id, payload: { hold: id }, deadline: Infinity }
  return { ...item, sent: true, abandoned: false, resolve: ignore, reject: ignore }
}

/** Why an item fails without the database. After an interrupted settlement it is unknown whether the request was charged. */
export function outageOf({ kind, sent }: BatchItem): Problem {
  const reason =
    sent && kind !== 'admit'
      ? 'The database failed while this was charged. The ledger shows whether it was.'
      : 'The database is away. Nothing was charged; try again.'
  return new Problem('unavailable', reason, { retryAfter: 1 })
}
