import type { Queryable } from '../../platform/database/database.ts'

/** An account and its charges since the first of this month (UTC), by the clock of the database. */
export interface AccountMonth {
  readonly id: string
  /** The first and the last day of the month. */
  readonly from: string
  readonly to: string
  /** In 10⁻¹² of the currency unit. */
  readonly charged: bigint
  /** The seconds of the month that are over, and all of them. */
  readonly elapsed: bigint
  readonly whole: bigint
}

/** Undefined if there is no such account. */
export async function readMonth(database: Queryable, accountId: string): Promise<AccountMonth | undefined> {
  const [row] = await database.rows<AccountMonth>(
    `select id, to_char(first, 'YYYY-MM-DD') as "from", to_char(next - interval '1 day', 'YYYY-MM-DD') as "to",
       (case when month = first::date then month_charged else 0 end)::amount as charged,
       floor(extract(epoch from time - first))::bigint as elapsed, extract(epoch from next - first)::bigint as whole
     from account, lateral (select clock_timestamp() at time zone 'UTC' as time) t,
       lateral (select date_trunc('month', time) as first, date_trunc('month', time) + interval '1 month' as next) m
     where id = $1`,
    [accountId],
  )
  return row
}
