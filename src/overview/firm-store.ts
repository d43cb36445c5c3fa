import { joinCreditUse } from '../accounts/credit-use.ts'
import type { Queryable } from '../platform/database/database.ts'

/** What is left of an account. Amounts are in 10⁻¹² of the currency unit. */
export interface AccountCreditRow {
  readonly id: string
  readonly name: string
  readonly own: boolean
  readonly creditLeft: bigint
  readonly monthlyLimit: bigint | null
  /** From 0 to 100, rounded down. */
  readonly usedPercent: number
}

/**
 * The firm's own open accounts, and others of which 90 % or more is used: first those with the smallest share left. An
 * account without any credit is used up.
 */
export function readAccountCredit(database: Queryable, most: number): Promise<AccountCreditRow[]> {
  return database.rows(
    `select id, name, own, "creditLeft", monthly_limit as "monthlyLimit", coalesce("usedPercent", 100) as "usedPercent"
     from account ${joinCreditUse}
     where status = 'open' and (own or credit_use."usedPercent" >= 90)
     order by "usedPercent" desc, own desc, name limit $1`,
    [most],
  )
}

/** The charges of one day in UTC, to all accounts: those of the roll-up, which are those of the ledger. */
export function readDayCost(
  database: Queryable,
  day: string,
): Promise<{ readonly cost: bigint; readonly requests: bigint }[]> {
  return database.rows(
    'select coalesce(sum(cost), 0) as cost, coalesce(sum(requests), 0) as requests from usage_day where day = $1::date',
    [day],
  )
}
