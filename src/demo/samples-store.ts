import type { Queryable } from '../platform/database/database.ts'

/** Requests of an account in the past. Prices are in 10⁻¹² of the currency unit per token. */
export interface SampleUse {
  readonly accountId: string
  readonly keyId: string
  readonly model: string
  readonly price: { readonly input: bigint; readonly output: bigint }
  /** Days in UTC, all before today. */
  readonly days: readonly string[]
  /** The most requests in a day. */
  readonly most: number
}

/**
 * Charges an account for requests in the past, as the till would have done then. The till itself has no time but now. How many there
 * are in a day, and of which size, varies, but is the same at every start on a day.
 */
export async function chargeSampleUse(tx: Queryable, use: SampleUse): Promise<void> {
  const { accountId, keyId, model, price, days, most } = use
  await tx.rows('select ledger_partitions($1, $2)', [days[0] ?? '', days.at(-1) ?? ''])
  await tx.rows(
    `insert into ledger (at, request_id, account_id, key_id, model, input_tokens, output_tokens, input_price, output_price, cost,
       stop_reason, usage_source)
     select (d.day + time '07:40' + n * interval '51 minutes' + v.chance % 3000 * interval '1 second') at time zone 'UTC',
       gen_random_uuid(), $1, $2, $3, t.input, t.output, $4, $5, tokens_cost(t.input, t.output, 0, 0, $4, $5, null, null),
       'complete', 'model'
     from (select day::date from jsonb_array_elements_text($6::jsonb) day) d
       cross join generate_series(1, $7::integer) n
       cross join lateral (select abs(hashtext($3 || d.day || n || $7)) as chance) v
       cross join lateral (select 900 + v.chance % 6100 as input, 120 + v.chance % 1380 as output) t
     where n <= 1 + abs(hashtext($7 || d.day::text)) % $7
     order by 1`,
    [accountId, keyId, model, price.input, price.output, JSON.stringify(days), most],
  )
  await tx.rows(
    `insert into usage_day (day, account_id, key_id, model, requests, input_tokens, output_tokens, cost)
     select (at at time zone 'UTC')::date, account_id, key_id, model, count(*), sum(input_tokens), sum(output_tokens), sum(cost)
     from ledger where account_id = $1 group by 1, 2, 3, 4`,
    [accountId],
  )
  await tx.rows(
    `update account set charged = (select sum(cost) from ledger where account_id = $1),
       month_charged = (select coalesce(sum(cost), 0) from usage_day where account_id = $1 and day >= month)
     where id = $1`,
    [accountId],
  )
}

/** Waits until no other transaction is entering samples. */
export async function lockSamples(tx: Queryable): Promise<void> {
  await tx.rows(`select pg_advisory_xact_lock(hashtext('tollgate samples'))`)
}

/** Returns to the portal's login, which sets the role of the next actor. */
export async function leaveRole(tx: Queryable): Promise<void> {
  await tx.rows(`select set_config('role', 'none', true)`)
}

/** Sets the time of the transaction's writes, in ISO format. Empty: now. */
export async function setSampleTime(tx: Queryable, time: string): Promise<void> {
  await tx.rows(`select set_config('tollgate.time', $1, true)`, [time])
}
