import type { Queryable } from '../../platform/database/database.ts'
import type { UsageSpan } from './store.ts'

/** What to sum: the requests of an account, or of all. */
export interface TagSelection extends UsageSpan {
  readonly accountId?: string | undefined
  /** Only tags with this name. Default: every tag. */
  readonly name?: string | undefined
  /** Whether to sum each day apart. */
  readonly byDay?: boolean | undefined
  readonly most: number
}

/** The sums of the requests with one tag, or of those without any that was selected: then name and value are null. */
export interface TagSums {
  readonly day: string | null
  readonly name: string | null
  readonly value: string | null
  readonly requests: bigint
  /** Input tokens of all three kinds. */
  readonly inputTokens: bigint
  readonly cachedTokens: bigint
  readonly cacheWriteTokens: bigint
  readonly outputTokens: bigint
  readonly cost: bigint
}

const inSpan = `day >= coalesce($1::date, '-infinity') and day <= coalesce($2::date, 'infinity')
  and ($3::uuid is null or account_id = $3)`
const columns = ['requests', 'input_tokens', 'cached_tokens', 'cache_write_tokens', 'output_tokens', 'cost']
const sums = columns.map((column) => `sum(${column}) as ${column}`).join()

/**
 * Reads the daily sums of the tags and, for what has no such tag, the roll-ups of all requests. The most expensive first. A
 * request with several tags is in the row of each.
 */
export function readTagSums(
  database: Queryable,
  { from, to, accountId, name, byDay, most }: TagSelection,
): Promise<TagSums[]> {
  const day = byDay ? 'day' : 'null::date'
  return database.rows(
    `with selected as materialized (
       select ${day} as day, tags, ${sums} from tag_day where ${inSpan} and ($4::text is null or tags ? $4) group by 1, 2
     ), tagged as (
       select day, p.key as name, p.value, ${sums} from selected, jsonb_each_text(tags) p
       where $4::text is null or p.key = $4 group by 1, 2, 3
     ), every as (
       select ${day} as day, ${sums} from usage_day where ${inSpan} group by 1
     ), untagged as (
       select e.day, null::text as name, null::text as value,
         ${columns.map((column) => `e.${column} - coalesce(t.${column}, 0) as ${column}`).join()}
       from every e left join (select day, ${sums} from selected group by day) t on t.day is not distinct from e.day
     )
     select day, name, value, requests, input_tokens + cached_tokens + cache_write_tokens as "inputTokens",
       cached_tokens as "cachedTokens", cache_write_tokens as "cacheWriteTokens", output_tokens as "outputTokens", cost
     from (select * from tagged union all select * from untagged where requests > 0) u
     order by cost desc, requests desc, day, name, value limit $5`,
    [from ?? null, to ?? null, accountId ?? null, name ?? null, most],
  )
}
