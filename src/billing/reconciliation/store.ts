import type { Queryable } from '../../platform/database/database.ts'

/** What the ledger has for a model on a day. */
export interface LedgerDay {
  /** In UTC. */
  readonly day: string
  readonly model: string
  readonly requests: bigint
  readonly input: bigint
  readonly cached: bigint
  readonly cacheWrite: bigint
  readonly output: bigint
  /** What the upstream reported and nobody was charged for. */
  readonly unchargedInput: bigint
  readonly unchargedOutput: bigint
}

const within = (at: string) =>
  `${at} >= $1::date::timestamp at time zone 'UTC' and ${at} < ($2::date + 1)::timestamp at time zone 'UTC'`

/** Sums the ledger, not its roll-ups: it is what the charges come from. Days are inclusive. */
export function readLedgerDays(
  database: Queryable,
  { from, to, models }: { readonly from: string; readonly to: string; readonly models: readonly string[] },
): Promise<LedgerDay[]> {
  return database.rows(
    `select (at at time zone 'UTC')::date as day, model, count(*) as requests, sum(input_tokens) as input,
       sum(cached_tokens) as cached, sum(cache_write_tokens) as "cacheWrite", sum(output_tokens) as output,
       sum(uncharged_input) as "unchargedInput", sum(uncharged_output) as "unchargedOutput"
     from ledger where ${within('at')} and model = any($3) group by 1, 2 order by 1, 2`,
    [from, to, models],
  )
}

/** A request that the vendor may have counted otherwise, or on another day. */
export interface SuspectRequest {
  readonly day: string
  /** The group of models. */
  readonly name: string
  readonly requestId: string
  /** ISO 8601 in UTC, to the millisecond. */
  readonly at: string
  readonly model: string
  /** Of all three kinds. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly unchargedInput: number
  readonly unchargedOutput: number
  readonly reasons: readonly string[]
  /** How many candidates its day and group have. */
  readonly all: bigint
}

/** Days of groups, each with the ids of its models. */
export interface DayOfGroup {
  readonly day: string
  readonly name: string
  readonly models: readonly string[]
}

/**
 * The most telling candidates of each day and group, at most `most`. One pass over the ledger. A request counts for the day on which it was
 * charged, and is a candidate for the day on which it began as well. Failed requests are kept for 30 days.
 */
export function readCandidates(
  database: Queryable,
  cells: readonly DayOfGroup[],
  most: number,
): Promise<SuspectRequest[]> {
  const flat = cells.flatMap(({ day, name, models }) => models.map((model) => ({ day, name, model })))
  const days = flat.map(({ day }) => day).toSorted()
  return database.rows(
    `with cell as materialized (
       select * from unnest($3::date[], $4::text[], $5::text[]) c(day, name, model)
     ), charged as (
       select c.day, c.name, l.request_id, l.at, l.model, l.input_tokens + l.cached_tokens + l.cache_write_tokens as input,
         l.output_tokens as output, l.uncharged_input, l.uncharged_output,
         array_remove(array[
           case when l.uncharged_input > 0 or l.uncharged_output > 0 then 'uncharged' end,
           case when l.usage_source <> 'upstream' then 'estimated' end,
           case when l.stop_reason in ('cancelled', 'error') then l.stop_reason end,
           case when s.day <> e.day then 'crosses_midnight' end], null) as reasons
       from ledger l
       cross join lateral (select (l.at at time zone 'UTC')::date as day) e
       cross join lateral (
         select ((l.at - coalesce(l.milliseconds, 0) * interval '1 ms') at time zone 'UTC')::date as day) s
       join cell c on c.model = l.model and c.day in (e.day, s.day)
       where l.at >= $1::date::timestamp at time zone 'UTC' and l.at < ($2::date + 2)::timestamp at time zone 'UTC'
         and (l.uncharged_input > 0 or l.uncharged_output > 0 or l.usage_source <> 'upstream'
           or l.stop_reason in ('cancelled', 'error') or s.day <> e.day)
     ), failed as (
       select c.day, c.name, r.request_id, r.at, r.model, 0 as input, 0 as output, 0 as uncharged_input, 0 as uncharged_output,
         array[r.code] as reasons
       from refused_request r join cell c on c.model = r.model and c.day = (r.at at time zone 'UTC')::date
       where ${within('r.at')} and r.code = any($6)
     ), ranked as (
       select *, count(*) over (partition by day, name) as every, row_number() over (
         partition by day, name
         order by uncharged_input + uncharged_output desc, cardinality(reasons) desc, input + output desc, request_id) as place
       from (select * from charged union all select * from failed) candidate
     )
     select day, name, request_id as "requestId", to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at,
       model, input as "inputTokens", output as "outputTokens", uncharged_input as "unchargedInput",
       uncharged_output as "unchargedOutput", reasons, every as all
     from ranked where place <= $7 order by day, name, place`,
    [
      days[0],
      days.at(-1),
      flat.map(({ day }) => day),
      flat.map(({ name }) => name),
      flat.map(({ model }) => model),
      answeredByNobody,
      most,
    ],
  )
}

/** Failures after which a vendor may still count what it did. */
const answeredByNobody = ['upstream_failed', 'upstream_timeout', 'unavailable', 'internal']

/** How many requests failed so that the vendor may have counted them, by day, group and code. Counted exactly, and kept for good. */
export function readFailures(
  database: Queryable,
  cells: readonly DayOfGroup[],
): Promise<{ readonly day: string; readonly name: string; readonly code: string; readonly requests: bigint }[]> {
  const flat = cells.flatMap(({ day, name, models }) => models.map((model) => ({ day, name, model })))
  return database.rows(
    `select c.day, c.name, r.code, sum(r.requests) as requests
     from unnest($1::date[], $2::text[], $3::text[]) c(day, name, model) join refusal_day r on r.day = c.day and r.model = c.model
     where r.code = any($4) group by 1, 2, 3 order by 1, 2, 3`,
    [flat.map(({ day }) => day), flat.map(({ name }) => name), flat.map(({ model }) => model), answeredByNobody],
  )
}

/** The current day in UTC by the database's clock. */
export async function readToday(database: Queryable): Promise<string> {
  const [row] = await database.rows<{ today: string }>(`select (clock_timestamp() at time zone 'UTC')::date as today`)
  return row?.today ?? ''
}
