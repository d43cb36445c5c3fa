import type { Queryable } from '../../platform/database/database.ts'
import type { Tags } from '../till/till.ts'
import type { ChargedTokens } from '../prices/tokens.ts'

/** The charge of one request. Prices and `cost` are in 10⁻¹² of the currency unit. */
export interface LedgerRow extends ChargedTokens {
  readonly requestId: string
  /** ISO 8601 in UTC, to the microsecond. */
  readonly at: string
  /** Either a key or a person spent. */
  readonly keyId: string | null
  readonly personId: string | null
  readonly model: string
  readonly clientId: string | null
  readonly inputPrice: bigint
  readonly outputPrice: bigint
  /** Null: charged as input. */
  readonly cachedPrice: bigint | null
  readonly cacheWritePrice: bigint | null
  readonly cost: bigint
  readonly stopReason: string
  readonly usageSource: 'model' | 'upstream' | 'estimated'
  /** Tokens reported beyond the hold that neither the credit nor the limits covered; input of all three kinds. */
  readonly unchargedInput: number
  readonly unchargedOutput: number
  readonly tags: Tags | null
}

/**
 * Selects rows: of an account, of a key, of one request, or all. `from` is inclusive, `to` exclusive, and `after` is the
 * last row of the previous page.
 */
export interface LedgerPage {
  readonly accountId?: string | undefined
  readonly keyId?: string | undefined
  readonly requestId?: string | undefined
  readonly limit: number
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  readonly after?: Pick<LedgerRow, 'at' | 'requestId'> | undefined
}

/** Days in UTC as `YYYY-MM-DD`, both inclusive. Default: no bound. */
export interface UsageSpan {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

// Rows of one batch share their time, so the request id decides among them; a Date would lose the microseconds.
export function readLedgerPage(database: Queryable, page: LedgerPage): Promise<LedgerRow[]> {
  const { accountId, keyId, requestId, limit, from, to, after } = page
  return database.rows(
    `select request_id as "requestId",
       to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, key_id as "keyId",
       person_id as "personId", model,
       client_id as "clientId", input_tokens as "inputTokens", output_tokens as "outputTokens", cached_tokens as "cachedTokens",
       cache_write_tokens as "cacheWriteTokens", input_price as "inputPrice", output_price as "outputPrice",
       cached_price as "cachedPrice", cache_write_price as "cacheWritePrice", cost, stop_reason as "stopReason",
       usage_source as "usageSource", uncharged_input as "unchargedInput", uncharged_output as "unchargedOutput", tags
     from ledger
     where ($1::uuid is null or account_id = $1) and ($7::uuid is null or key_id = $7)
       and ($8::uuid is null or request_id = $8)
       and ledger.at >= coalesce($2::timestamptz, '-infinity') and ledger.at < coalesce($3::timestamptz, 'infinity')
       and (ledger.at, request_id) < (coalesce($4::timestamptz, 'infinity'),
                                      coalesce($5::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
     order by ledger.at desc, request_id desc
     limit $6`,
    [
      accountId ?? null,
      from ?? null,
      to ?? null,
      after?.at ?? null,
      after?.requestId ?? null,
      limit,
      keyId ?? null,
      requestId ?? null,
    ],
  )
}

interface UsageRow {
  readonly requests: bigint
  /** Input tokens of all three kinds. */
  readonly inputTokens: bigint
  readonly cachedTokens: bigint
  readonly cacheWriteTokens: bigint
  readonly outputTokens: bigint
  readonly cost: bigint
}

const sums = `sum(requests) as requests, sum(input_tokens + cached_tokens + cache_write_tokens) as "inputTokens",
  sum(cached_tokens) as "cachedTokens", sum(cache_write_tokens) as "cacheWriteTokens", sum(output_tokens) as "outputTokens",
  sum(cost) as cost`

export function readUsageByModel(
  database: Queryable,
  { accountId, from, to }: UsageSpan & { readonly accountId: string },
): Promise<(UsageRow & { readonly model: string })[]> {
  return database.rows(
    `select model, ${sums}
     from usage_day
     where account_id = $1 and day >= coalesce($2::date, '-infinity') and day <= coalesce($3::date, 'infinity')
     group by model order by sum(cost) desc, model`,
    [accountId, from ?? null, to ?? null],
  )
}

export function readUsageByAccount(
  database: Queryable,
  { from, to }: UsageSpan,
): Promise<(UsageRow & { readonly accountId: string })[]> {
  return database.rows(
    `select account_id as "accountId", ${sums}
     from usage_day
     where day >= coalesce($1::date, '-infinity') and day <= coalesce($2::date, 'infinity')
     group by account_id order by sum(cost) desc, account_id`,
    [from ?? null, to ?? null],
  )
}

/** Calls `fold_charges()` for all instances that have appended charges. Seldom does one have any. */
export async function addAppended(database: Queryable): Promise<void> {
  await database.rows({
    name: 'fold charges',
    text: 'select fold_charges() from (select from instance where appended_since is not null limit 1) any_of_them',
    values: [],
  })
}
