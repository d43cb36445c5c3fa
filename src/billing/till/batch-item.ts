import { Problem } from '../../platform/problems.ts'
import type { RequestOutcome } from '../allowances/allowances.ts'
import type { TillRow } from './till-row.ts'

interface QueuedItem {
  /** A time of `performance.now()` after which the item is rejected. Infinite for one that must be carried out. */
  deadline: number
  /** Whether it charges a reply that its caller has already received, so that it must be carried out. */
  readonly received: boolean
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

/** A request admitted from an allowance that ends with `exchange_timed()` or `exchange_moving()`. */
export interface ExchangeItem extends QueuedItem {
  readonly kind: 'end'
  readonly outcome: RequestOutcome
  /** A row of the type timed_charge, or undefined if the request is not charged. */
  readonly charge: string | undefined
  /** As of `RequestEnding`. */
  readonly terms: readonly [requestId: string, kept: object] | undefined
  /** The hold to place instead, if it moves. */
  readonly hold: { readonly hold: string } | undefined
  readonly resolve: (done: boolean) => void
}

export type BatchItem = TillItem | ExchangeItem

const ignore = (): void => undefined

/** Releases the hold with this id, whenever the database can be reached again. */
export function releaseOf(id: string): TillItem {
  const item = { kind: 'settle' as const, id, payload: { hold: id }, deadline: Infinity, received: false }
  return { ...item, sent: true, abandoned: false, resolve: ignore, reject: ignore }
}

/** Why an item fails without the database. After an interrupted settlement it is unknown whether the request was charged. */
export function outageOf(item: BatchItem): Problem {
  return new Problem('unavailable', outageReason(item), { retryAfter: 1 })
}

function outageReason({ kind, sent, received }: BatchItem): string {
  if (received) return 'The database is unavailable. The reply will be charged when it is available again.'
  return sent && kind !== 'admit'
    ? 'The database failed during the charge. The ledger shows whether it succeeded.'
    : 'The database is unavailable. Nothing was charged; try again.'
}
