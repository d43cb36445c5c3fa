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

const charged = `case when month = date_trunc('month', now() at time zone 'UTC')::date then month_charged else 0 end`

/**
 * The firm's own open accounts, and others of which 90 % or more is used: first those with the smallest share left. The
 * share of a balance counts from its last change, as for alerts. An account without any credit is used up.
 */
export function readAccountCredit(database: Queryable, most: number): Promise<AccountCreditRow[]> {
  return database.rows(
    `select id, name, own, "creditLeft", monthly_limit as "monthlyLimit", "usedPercent"
     from account
       cross join lateral (select coalesce(monthly_limit, credited - charged_at_credit) as whole,
         greatest(0, coalesce(monthly_limit - ${charged}, credited - charged) - held)::amount as "creditLeft") l
       cross join lateral (select case when whole <= 0 then 100
         else greatest(0, floor(100 * (whole - "creditLeft") / whole)) end::int as "usedPercent") u
     where status = 'open' and (own or whole > 0 and "usedPercent" >= 90)
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
