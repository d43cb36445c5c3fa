/** How often a budget begins anew; `total` never does. */
export type Period = (typeof periods)[number]
export const periods = ['day', 'week', 'month', 'total'] as const

/** A name and a value that callers set in the metadata of requests. */
export interface BudgetTag {
  readonly name: string
  readonly value: string
}

/** What the requests of some keys of an account, or those with a tag, may cost in each period. Amounts are in 10⁻¹² of the unit. */
export interface Budget extends BudgetState {
  readonly id: string
  readonly accountId: string
  /** Unique among the budgets of the account, in any case. */
  readonly name: string
  /** Null: it is of `keys`. */
  readonly tag: BudgetTag | null
  /** The ids of its keys. Null: it is of `tag`. */
  readonly keys: readonly string[] | null
  readonly period: Period
  /** Where its periods begin at midnight. Weeks begin on Monday. */
  readonly timeZone: string
  /** Whether it refuses requests. Otherwise it is only counted, and alerts are sent. */
  readonly hard: boolean
  /** Without the raise. */
  readonly amount: bigint
  /** What is added to the amount for a time. */
  readonly raise: { readonly by: bigint; readonly until: Date } | null
  readonly createdAt: Date
}

/** A new budget: of some keys, or of a tag. */
export type NewBudget = Pick<Budget, 'accountId' | 'name' | 'period' | 'hard' | 'amount'> & {
  /** Makes a repeated request safe; default: a new one. */
  readonly id?: string | undefined
  /** Default: the firm's. */
  readonly timeZone?: string | undefined
  readonly keys?: readonly string[] | undefined
  readonly tag?: Budget['tag'] | undefined
}

/** What may be spent of a budget now. */
export interface BudgetState {
  /** With the raise. */
  readonly limit: bigint
  /** The charges since the period began. */
  readonly charged: bigint
  /** The maximum cost of its requests in flight. */
  readonly held: bigint
  /** Null: it counts every charge ever made, and is never renewed. */
  readonly renewsAt: Date | null
}

/** The seconds until a budget is renewed. Null: it never is. */
export const renewsIn = ({ renewsAt }: Pick<BudgetState, 'renewsAt'>): number | null =>
  renewsAt && Math.max(0, Math.ceil((renewsAt.getTime() - Date.now()) / 1000))

/** What new requests may cost: never below 0. */
export function leftOf({ limit, charged, held }: Pick<BudgetState, 'limit' | 'charged' | 'held'>): bigint {
  const left = limit - charged - held
  return left > 0n ? left : 0n
}
