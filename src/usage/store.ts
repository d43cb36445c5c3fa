import { joinCreditUse, monthCharged } from '../accounts/credit-use.ts'
import type { Queryable } from '../platform/database/database.ts'
import type { PreparedStatement } from '../platform/database/pipeline.ts'
import type { FigureFilter, FigureRow, FigureSums } from './figures-store.ts'

/** What a partner compares: the models, the spenders (keys and people, each with its account), the clients, the accounts. */
export type Breakdown = 'model' | 'spender' | 'client' | 'account'

/** A row of one of them, or of the total. */
export type BreakdownRow = FigureRow & { readonly set: Breakdown | 'total' }
export type RefusalBreakdownRow = Omit<BreakdownRow, keyof FigureSums> & {
  readonly refused: bigint
}

const inSpan = `day >= $1::date and day <= $2::date and ($3::uuid is null or account_id = $3)
  and ($4::text is null or model = $4)`
const isSelected = `${inSpan} and ($5::uuid is null or key_id = $5 or person_id = $5) and ($6::uuid is null or client_id = $6)`
const sumsOf = (input: string) => `coalesce(sum(requests), 0) as requests, coalesce(sum(${input}), 0) as input_tokens,
  coalesce(sum(cached_tokens), 0) as cached_tokens, coalesce(sum(cache_write_tokens), 0) as cache_write_tokens,
  coalesce(sum(output_tokens), 0) as output_tokens, coalesce(sum(cost), 0) as cost`
/** The sums of roll-ups. Input tokens are of all three kinds. */
const sums = sumsOf('input_tokens + cached_tokens + cache_write_tokens')
const setOf = `case grouping(model, key_id, account_id) when 3 then 'model' when 4 then 'spender' when 6 then 'account'
  else 'total' end`

/**
 * All breakdowns and the total: of each the first `most` rows, most expensive first. There may be very many clients, so
 * they are summed apart, and the others from the few rows that remain without them.
 */
export function readBreakdowns(
  database: Queryable,
  { from, to, accountId, keyId, model, clientId }: FigureFilter,
  most: number,
): Promise<BreakdownRow[]> {
  return database.rows(
    `with spent as materialized (
       select model, key_id, person_id, account_id, ${sums} from usage_day where ${isSelected}
       group by model, key_id, person_id, account_id
     ), summed as (
       select ${setOf} as set, model, key_id, person_id, account_id, null::uuid as client_id, ${sumsOf('input_tokens')} from spent
       group by grouping sets ((model), (key_id, person_id, account_id), (account_id), ())
     ), clients as (
       select 'client' as set, null::text, null::uuid, null::uuid, null::uuid, client_id, ${sums} from usage_day
       where ${isSelected} group by client_id order by cost desc, requests desc limit $7
     ), ranked as (
       select *, row_number() over (partition by set order by cost desc, requests desc) as place
       from (select * from summed union all select * from clients) every
     )
     select set, model, key_id as "keyId", person_id as "personId", client_id as "clientId", account_id as "accountId",
       requests, input_tokens as "inputTokens", cached_tokens as "cachedTokens", cache_write_tokens as "cacheWriteTokens",
       output_tokens as "outputTokens", cost
     from ranked where place <= $7 order by set, place`,
    [from, to, accountId ?? null, model ?? null, keyId ?? null, clientId ?? null, most],
  )
}

/** The same of refused requests, which name no client. */
export async function readRefusalBreakdowns(
  database: Queryable,
  { from, to, accountId, keyId, model, clientId }: FigureFilter,
  most: number,
): Promise<RefusalBreakdownRow[]> {
  if (clientId !== undefined) return []
  return database.rows(
    `with summed as (
       select ${setOf} as set, model, key_id, account_id, coalesce(sum(requests), 0) as refused from refusal_day
       where ${inSpan} and ($5::uuid is null or key_id = $5)
       group by grouping sets ((model), (key_id, account_id), (account_id), ())
     ), ranked as (
       select *, row_number() over (partition by set order by refused desc) as place
       from (select * from summed union all select 'client', null, null, null, refused from summed where set = 'total') every
     )
     select set, model, key_id as "keyId", null::uuid as "personId", null::uuid as "clientId", account_id as "accountId", refused
     from ranked where place <= $6 and refused > 0 order by set, place`,
    [from, to, accountId ?? null, model ?? null, keyId ?? null, most],
  )
}

/** The names of accounts, keys and people, by id. Ids of other things have no name. */
export async function readNames(database: Queryable, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await database.rows<{ id: string; name: string }>(
    `select id, name from account where id = any($1::uuid[])
     union all select id, name from api_key where id = any($1::uuid[])
     union all select id, name from person where id = any($1::uuid[])`,
    [ids],
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** The names of keys, by id. */
export async function readKeyNames(database: Queryable, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await database.rows<{ id: string; name: string }>(
    'select id, name from api_key where id = any($1::text::uuid[])',
    [`{${[...new Set(ids)].join()}}`],
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Whether the transaction has the role of a partner. */
export const readPartner: PreparedStatement<{ readonly partner: boolean }> = {
  name: 'usage reader',
  text: `select current_user = portal_role('partner') as partner`,
}

/** The names of clients, by id. `ids` is an array of UUIDs as text. */
export function readClientNames(ids: string): PreparedStatement<{ readonly id: string; readonly name: string }> {
  return { name: 'usage clients', text: 'select id, name from client where id = any($1::text::uuid[])', values: [ids] }
}

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
