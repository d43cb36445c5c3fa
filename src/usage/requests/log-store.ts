import type { Tags } from '../../billing/till/till.ts'
import type { Queryable } from '../../platform/database/database.ts'
import type { FigureFilter } from '../figures-store.ts'
import type { RefusedCall } from './refusals-store.ts'

/** Selects requests. */
export interface LogFilter extends FigureFilter {
  readonly requestId?: string | undefined
  /** A stop reason of the ledger. */
  readonly stopReason?: string | undefined
  /** An error code of a refused request. */
  readonly code?: string | undefined
}

/**
 * The part of the log that one search reads: the requests before an id, newest first. Ids are in chronological order.
 */
export interface LogSearch {
  readonly filter: LogFilter
  readonly before: string | undefined
  /** The maximum number of rows to return. */
  readonly limit: number
  /** The maximum number of rows to read. */
  readonly reach: number
}

/** A request, charged or refused. `cost` is in 10⁻¹² of the currency unit. */
export interface LoggedRequest {
  readonly requestId: string
  /** ISO 8601 in UTC, to the millisecond: when it was charged, or when it was refused. */
  readonly at: string
  readonly accountId: string
  readonly keyId: string | null
  readonly personId: string | null
  readonly clientId: string | null
  readonly model: string | null
  /** Input tokens of all three kinds. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cost: bigint
  readonly milliseconds: number | null
  /** Null for a refused request. */
  readonly stopReason: string | null
  readonly usageSource: string | null
  /** Null without any, and for refused requests. */
  readonly tags: Tags | null
  readonly status: number
  /** Why it was refused; null for a charged one. */
  readonly code: string | null
  /** Null for a charged request. */
  readonly call: RefusedCall | null
}

/** Rows of a search, newest first. Every row says where the search ended; if nothing matched, there is one without a request. */
export type FoundRequest = (LoggedRequest | { readonly [Column in keyof LoggedRequest]: null }) & {
  /** The lowest id that the search read; null if it read nothing. */
  readonly seen: string | null
  readonly more: boolean
}

// A request id begins with the time at which the request began. A day more on each side allows for clocks that differ and
// for requests that take long.
const idAt = (time: string) =>
  `encode(substring(int8send(greatest(0, floor(extract(epoch from ${time}) * 1000))::bigint) from 3), 'hex')`
const lowest = (time: string) => `rpad(${idAt(`${time} - interval '1 day'`)}, 32, '0')::uuid`
const range = `request_id < coalesce($5::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  and request_id >= ${lowest(`$1::date::timestamp at time zone 'UTC'`)}
  and request_id <= ${lowest(`($2::date + 3)::timestamp at time zone 'UTC'`)}
  and at >= $1::date::timestamp at time zone 'UTC' and at < ($2::date + 1)::timestamp at time zone 'UTC'
  and ($3::uuid is null or account_id = $3) and ($4::uuid is null or request_id = $4)`

function search(table: string, columns: string, matches: string): string {
  return `with look as materialized (
      select * from ${table} where ${range} order by request_id desc limit $7
    ), found as (
      select * from look where ($8::text is null or model = $8) and ${matches} order by request_id desc limit $6
    )
    select (select min(request_id::text) from look) as seen, (select count(*) from look) >= $7 as more,
      request_id as "requestId", to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at,
      account_id as "accountId", key_id as "keyId", model, milliseconds, ${columns}
    from (select) one left join found on true order by request_id desc`
}

const charged = search(
  'ledger',
  `person_id as "personId", client_id as "clientId", input_tokens + cached_tokens + cache_write_tokens as "inputTokens",
   output_tokens as "outputTokens", cost,
   stop_reason as "stopReason", usage_source as "usageSource", tags,
   case when request_id is not null then 200 end as status,
   null::text as code, null::jsonb as call`,
  `($9::uuid is null or key_id = $9 or person_id = $9) and ($10::uuid is null or client_id = $10)
   and ($11::text is null or stop_reason = $11)`,
)

const refused = search(
  'refused_request',
  `null::uuid as "personId", null::uuid as "clientId", case when request_id is not null then 0 end as "inputTokens",
   case when request_id is not null then 0 end as "outputTokens", case when request_id is not null then 0::numeric end as cost,
   null::text as "stopReason", null::text as "usageSource", null::jsonb as tags, status, code, call`,
  `($9::uuid is null or key_id = $9) and ($10::text is null or code = $10)`,
)

const common = ({ filter, before, limit, reach }: LogSearch) => [
  filter.from,
  filter.to,
  filter.accountId ?? null,
  filter.requestId ?? null,
  before ?? null,
  limit,
  reach,
  filter.model ?? null,
  filter.keyId ?? null,
]

/** Searches the ledger. */
export function readCharges(database: Queryable, asked: LogSearch): Promise<FoundRequest[]> {
  const { clientId, stopReason } = asked.filter
  return database.rows(charged, [...common(asked), clientId ?? null, stopReason ?? null])
}

/** Searches the refused requests that are kept. */
export function readRefused(database: Queryable, asked: LogSearch): Promise<FoundRequest[]> {
  return database.rows(refused, [...common(asked), asked.filter.code ?? null])
}
