import { joinCreditUse, monthCharged } from '../accounts/credit-use.ts'
import type { Queryable } from '../platform/database/database.ts'

/** How close an account is to its limits. Amounts are in 10⁻¹² of the currency unit. */
export interface AccountLimits {
  readonly id: string
  readonly name: string
  readonly status: 'open' | 'closed'
  /** Null for a prepaid account. */
  readonly monthlyLimit: bigint | null
  readonly monthCharged: bigint
  readonly credited: bigint
  readonly held: bigint
  /** What new requests may cost. */
  readonly creditLeft: bigint
  /** The used share of the monthly limit, or of the credit since it was last changed: from 0 to 100, rounded down. Null without either. */
  readonly usedPercent: number | null
  readonly requestsPerMinute: number
  readonly tokensPerMinute: number
  readonly requestsLeft: bigint
  readonly tokensLeft: bigint
}

const left = (what: string) =>
  `refilled(${what}_level + ${what}s_lent, level_at, clock_timestamp(), ${what}s_per_minute, 0) / 60000000`

/** One account, or the open accounts: first those of which the smallest share of the credit is left. */
export function readLimits(
  database: Queryable,
  { accountId, most }: { readonly accountId?: string | undefined; readonly most: number },
): Promise<AccountLimits[]> {
  return database.rows(
    `select id, name, status, monthly_limit as "monthlyLimit", (${monthCharged})::amount as "monthCharged", credited, held,
       "creditLeft", "usedPercent", requests_per_minute as "requestsPerMinute", tokens_per_minute as "tokensPerMinute",
       ${left('request')} as "requestsLeft", ${left('token')} as "tokensLeft"
     from account ${joinCreditUse}
     where case when $1::uuid is null then status = 'open' else id = $1 end
     order by "creditLeft" / nullif(whole, 0) nulls last, name
     limit $2`,
    [accountId ?? null, most],
  )
}
