import type { Queryable } from '../platform/database/database.ts'
import type { DaySpan } from './span.ts'

/** What a report can be grouped by. A key or a person spends. */
export type Dimension = 'day' | 'model' | 'key' | 'person' | 'client' | 'account'

/** Selects usage. All ids are UUIDs. */
export interface FigureFilter extends DaySpan {
  readonly accountId?: string | undefined
  /** A key or a person. */
  readonly keyId?: string | undefined
  readonly model?: string | undefined
  readonly clientId?: string | undefined
}

/** The group of a row. Without a dimension its columns are undefined. Null: no such thing in these requests. */
export interface FigureGroup {
  readonly day?: string
  readonly model?: string | null
  readonly keyId?: string | null
  readonly personId?: string | null
  readonly clientId?: string | null
  readonly accountId?: string
}

/** Sums over the requests of a group. Input tokens are of all three kinds. `cost` is in 10⁻¹² of the currency unit. */
export interface FigureSums {
  readonly requests: bigint
  readonly inputTokens: bigint
  /** Those of the input tokens that the upstream read from its cache. */
  readonly cachedTokens: bigint
  /** Those of them that it wrote to its cache. */
  readonly cacheWriteTokens: bigint
  readonly outputTokens: bigint
  readonly cost: bigint
}

export type FigureRow = FigureGroup & FigureSums
export type RefusedRow = FigureGroup & { readonly refused: bigint }

const columns: Readonly<Record<Dimension, readonly [name: string, column: string]>> = {
  day: ['day', 'day'],
  model: ['model', 'model'],
  key: ['keyId', 'key_id'],
  person: ['personId', 'person_id'],
  client: ['clientId', 'client_id'],
  account: ['accountId', 'account_id'],
}

interface Grouping {
  readonly select: string
  readonly groupBy: string
}

/** The columns of a grouping; `null` stands for those that the table lacks. */
function groupingOf(by: readonly Dimension[], lacking: readonly string[] = []): Grouping {
  const all = by.map((dimension) => columns[dimension])
  const select = all.map(([name, column]) => `${lacking.includes(column) ? 'null::uuid' : column} as "${name}", `)
  const own = all.filter(([, column]) => !lacking.includes(column)).map(([, column]) => column)
  return { select: select.join(''), groupBy: own.length === 0 ? '' : `group by ${own.join(', ')}` }
}

const inSpan = `day >= $1::date and day <= $2::date and ($3::uuid is null or account_id = $3)
  and ($4::text is null or model = $4)`

/** The sums of each group, most expensive first, at most `most` of them. Exact once the charges are folded. */
export function readFigures(
  database: Queryable,
  filter: FigureFilter,
  by: readonly Dimension[],
  most: number,
): Promise<FigureRow[]> {
  const { from, to, accountId, keyId, model, clientId } = filter
  const { select, groupBy } = groupingOf(by)
  // The role of developers does not read the columns of people and clients.
  const spender = keyId === undefined ? '$5::uuid is null' : '(key_id = $5 or person_id = $5)'
  const client = clientId === undefined ? '$6::uuid is null' : 'client_id = $6'
  return database.rows(
    `select ${select}coalesce(sum(requests), 0) as requests, coalesce(sum(input_tokens + cached_tokens + cache_write_tokens), 0) as "inputTokens",
       coalesce(sum(cached_tokens), 0) as "cachedTokens", coalesce(sum(cache_write_tokens), 0) as "cacheWriteTokens",
       coalesce(sum(output_tokens), 0) as "outputTokens", coalesce(sum(cost), 0) as cost
     from usage_day
     where ${inSpan} and ${spender} and ${client}
     ${groupBy} order by sum(cost) desc nulls last, sum(requests) desc limit $7`,
    [from, to, accountId ?? null, model ?? null, keyId ?? null, clientId ?? null, most],
  )
}

/** How many requests of each group were refused, at most `most` groups. Refusals name no client and no person. */
export async function readRefusals(
  database: Queryable,
  { from, to, accountId, keyId, model, clientId }: FigureFilter,
  by: readonly Dimension[],
  most: number,
): Promise<RefusedRow[]> {
  if (clientId !== undefined) return []
  const { select, groupBy } = groupingOf(by, ['person_id', 'client_id'])
  return database.rows(
    `select ${select}coalesce(sum(requests), 0) as refused from refusal_day
     where ${inSpan} and ($5::uuid is null or key_id = $5)
     ${groupBy} order by sum(requests) desc nulls last limit $6`,
    [from, to, accountId ?? null, model ?? null, keyId ?? null, most],
  )
}

/** How many requests were refused with each code, most frequent first. */
export async function readReasons(
  database: Queryable,
  { from, to, accountId, keyId, model, clientId }: FigureFilter,
): Promise<{ readonly code: string; readonly refused: bigint }[]> {
  if (clientId !== undefined) return []
  return database.rows(
    `select code, sum(requests) as refused from refusal_day where ${inSpan} and ($5::uuid is null or key_id = $5)
     group by code order by sum(requests) desc, code`,
    [from, to, accountId ?? null, model ?? null, keyId ?? null],
  )
}
