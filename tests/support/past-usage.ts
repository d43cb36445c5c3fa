import { randomUUID } from 'node:crypto'
import type { Database } from '../../src/platform/database/database.ts'
import type { Customer } from './service.ts'

/** Requests of an account in the past. Prices are in 10⁻¹² of the currency unit per token. */
export interface PastUsage {
  /** A day in UTC, at the latest today. */
  readonly day: string
  readonly model: string
  readonly input: number
  readonly output: number
  readonly prices: readonly [input: bigint, output: bigint]
  /** Tokens, and their price; null: they are charged as input. */
  readonly cached?: readonly [tokens: number, price: bigint | null]
  readonly cacheWrite?: readonly [tokens: number, price: bigint | null]
  /** The client whom it concerns. */
  readonly client?: string
  /** What the rules of its price charged besides. */
  readonly terms?: { readonly cost: string; readonly [kept: string]: unknown }
}

/** Charges an account as the till would have done then. */
export async function addPastUsage(
  database: Database,
  { accountId, keyId }: Customer,
  usage: readonly PastUsage[],
): Promise<void> {
  await database.transaction(async (tx) => {
    for (const { day } of usage) await tx.rows('select ledger_partitions($1, $1)', [day])
    for (const { day, model, input, output, prices, client, cached, cacheWrite, terms } of usage) {
      const of = [day, randomUUID(), accountId, keyId, model, input, output, ...prices, client]
      await tx.rows(
        `insert into ledger (at, request_id, account_id, key_id, model, input_tokens, output_tokens, input_price, output_price,
           cached_tokens, cached_price, cache_write_tokens, cache_write_price, cost, stop_reason, usage_source, client_id, terms)
         values (least(($1::date + time '12:00') at time zone 'UTC', clock_timestamp()), $2, $3, $4, $5, $6::integer, $7::integer, $8::bigint, $9::bigint,
           $11::integer, $12::bigint, $13::integer, $14::bigint,
           tokens_cost($6, $7, $11, $13, $8, $9, $12, $14) + coalesce(($15::jsonb ->> 'cost')::numeric, 0), 'complete', 'model', $10, $15::jsonb)`,
        [
          ...of,
          ...(cached ?? [0, null]),
          ...(cacheWrite ?? [0, null]),
          terms === undefined ? null : JSON.stringify(terms),
        ],
      )
    }
    await tx.rows('delete from usage_day where account_id = $1', [accountId])
    await tx.rows(
      `insert into usage_day (day, account_id, key_id, person_id, model, client_id, requests, input_tokens, output_tokens,
         cached_tokens, cache_write_tokens, cost)
       select (at at time zone 'UTC')::date, account_id, key_id, person_id, model, client_id, count(*), sum(input_tokens),
         sum(output_tokens), sum(cached_tokens), sum(cache_write_tokens), sum(cost) from ledger where account_id = $1 group by 1, 2, 3, 4, 5, 6`,
      [accountId],
    )
    await tx.rows(
      `update account set charged = (select sum(cost) from ledger where account_id = $1),
         month_charged = (select coalesce(sum(cost), 0) from usage_day where account_id = $1 and day >= month)
       where id = $1`,
      [accountId],
    )
  })
}
