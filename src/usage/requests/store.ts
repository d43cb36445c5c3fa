import type { Tags } from '../../billing/till/till.ts'
import type { Queryable } from '../../platform/database/database.ts'
import type { FigureFilter } from '../figures-store.ts'

/** Selects requests. */
export interface LogFilter extends FigureFilter {
  readonly requestId?: string | undefined
  /** A stop reason of the ledger. */
  readonly stopReason?: string | undefined
  /** An error code of a refused request. */
  readonly code?: string | undefined
}

/** Who reads the log: the firm, or an account its own requests, without the people, clients and tags of them. */
export type LogReader = 'firm' | 'account'

/**
 * The part of the log that one search reads: the requests before an id, newest first. Ids are in chronological order.
 */
export interface LogSearch {
  readonly filter: LogFilter
  readonly reader: LogReader
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
  /** Null for refused requests, and if an account reads it. */
  readonly usageSource: string | null
  /** Null without any, for refused requests, and if an account reads it. */
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

function search(table: string, read: string, columns: string, matches: string): string {
  return `with look as materialized (
      select ${read} from ${table} where ${range} order by request_id desc limit $7
    ), found as (
      select * from look where ($8::text is null or model = $8) and ${matches} order by request_id desc limit $6
    )
    select (select min(request_id::text) from look) as seen, (select count(*) from look) >= $7 as more,
      request_id as "requestId", to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at,
      account_id as "accountId", key_id as "keyId", model, milliseconds, ${columns}
    from (select) one left join found on true order by request_id desc`
}

const ofLedger = `request_id, at, account_id, key_id, model, milliseconds, input_tokens, cached_tokens, cache_write_tokens, output_tokens,
  cost, stop_reason`
const chargedColumns = `input_tokens + cached_tokens + cache_write_tokens as "inputTokens", output_tokens as "outputTokens", cost,
  stop_reason as "stopReason", case when request_id is not null then 200 end as status, null::text as code, null::jsonb as call`

const charged: Readonly<Record<LogReader, string>> = {
  firm: search(
    'ledger',
    `${ofLedger}, person_id, client_id, usage_source, tags`,
    `${chargedColumns}, person_id as "personId", client_id as "clientId", usage_source as "usageSource", tags`,
    `($9::uuid is null or key_id = $9 or person_id = $9) and ($10::uuid is null or client_id = $10)
     and ($11::text is null or stop_reason = $11)`,
  ),
  account: search(
    'ledger',
    ofLedger,
    `${chargedColumns}, null::uuid as "personId", null::uuid as "clientId", null::text as "usageSource", null::jsonb as tags`,
    `($9::uuid is null or key_id = $9) and $10::uuid is null and ($11::text is null or stop_reason = $11)`,
  ),
}

const refused = search(
  'refused_request',
  '*',
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
  return database.rows(charged[asked.reader], [...common(asked), clientId ?? null, stopReason ?? null])
}

/** Searches the refused requests that are kept. */
export function readRefused(database: Queryable, asked: LogSearch): Promise<FoundRequest[]> {
  return database.rows(refused, [...common(asked), asked.filter.code ?? null])
}

/** How many requests with a key were refused in the same way. */
export interface RefusalCount {
  readonly accountId: string
  readonly keyId: string
  /** Undefined if the request names no known model. */
  readonly model: string | undefined
  readonly code: string
  readonly requests: number
}

/** What was called and why it was refused, without any text of a customer. */
export interface RefusedCall {
  /** The field that the error names. */
  readonly field: string | null
  readonly reason: string | null
  /** The URL, without the prefix of calls that people try. */
  readonly route: string
  /** The API in whose format the call was. */
  readonly dialect: 'tollgate' | 'openai' | 'anthropic'
  readonly user_agent: string | null
  /** Whether it asked for a stream. */
  readonly streamed: boolean
}

/** One of those requests, `ageMs` after it ended. */
export interface RefusedRequest extends Omit<RefusalCount, 'requests'> {
  readonly requestId: string
  readonly call: RefusedCall
  readonly status: number
  readonly milliseconds: number
  readonly ageMs: number
}

/** A batch of one instance. Batches have ascending numbers, and each counts once however often it is sent. */
export interface RefusalBatch {
  readonly source: string
  readonly number: bigint
  readonly counts: readonly RefusalCount[]
  readonly requests: readonly RefusedRequest[]
}

/** Adds a batch. Its counts belong to the day on which it arrives, by the clock of the database. */
export async function addRefusals(database: Queryable, batch: RefusalBatch): Promise<void> {
  const { source, number, counts, requests } = batch
  await database.rows({
    name: 'refusals',
    text: `with batch as (
        insert into refusal_batch as b (source, number) values ($1, $2)
        on conflict (source) do update set number = excluded.number, at = now() where b.number < excluded.number
        returning 1
      ), counted as (
        insert into refusal_day as r (day, account_id, key_id, model, code, requests)
          select (now() at time zone 'UTC')::date, "accountId", "keyId", model, code, requests
          from jsonb_to_recordset($3) as c("accountId" uuid, "keyId" uuid, model text, code text, requests bigint)
          where exists (select from batch)
          order by "accountId", "keyId", model, code
        on conflict (day, account_id, key_id, model, code) do update set requests = r.requests + excluded.requests
      )
      insert into refused_request (request_id, at, account_id, key_id, model, status, code, milliseconds, call)
        select "requestId", now() - "ageMs" * interval '1 ms', "accountId", "keyId", model, status, code, milliseconds, call
        from jsonb_to_recordset($4) as c("requestId" uuid, "ageMs" float, "accountId" uuid, "keyId" uuid, model text,
          status integer, code text, milliseconds integer, call jsonb)
        where exists (select from batch)
      on conflict do nothing`,
    values: [source, number, JSON.stringify(counts), JSON.stringify(requests)],
  })
}

/** Rows that one statement deletes at most. */
const most = 1000

/** Deletes refused requests after 30 days, and the batch numbers of instances that ended long ago. */
export async function deleteOldRefusals(database: Queryable): Promise<void> {
  const statement = `delete from refused_request where request_id = any(array(
    select request_id from refused_request where at < now() - interval '30 days' limit ${most} for update skip locked))
    returning 1`
  while ((await database.rows(statement)).length === most);
  await database.rows(`delete from refusal_batch where at < now() - interval '1 day'`)
}
