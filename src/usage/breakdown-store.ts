import type { Queryable } from '../platform/database/database.ts'
import type { FigureFilter, FigureRow } from './figures-store.ts'

/** What a partner compares: the models, the spenders (keys and people, each with its account), the clients, the accounts. */
export type Breakdown = 'model' | 'spender' | 'client' | 'account'

/** A row of one of them, or of the total. */
export type BreakdownRow = FigureRow & { readonly set: number }
export type RefusalBreakdownRow = Omit<BreakdownRow, 'requests' | 'inputTokens' | 'outputTokens' | 'cost'> & {
  readonly refused: bigint
}

/** What `grouping()` returns for each set. */
export const sets: Readonly<Record<Breakdown | 'total', number>> = {
  model: 0b0111,
  spender: 0b1010,
  client: 0b1101,
  account: 0b1110,
  total: 0b1111,
}

const inSpan = `day >= $1::date and day <= $2::date and ($3::uuid is null or account_id = $3)
  and ($4::text is null or model = $4)`

/** All breakdowns and the total in one pass over the roll-ups: of each the first `most` rows, the most expensive first. */
export function readBreakdowns(
  database: Queryable,
  { from, to, accountId, keyId, model, clientId }: FigureFilter,
  most: number,
): Promise<BreakdownRow[]> {
  return database.rows(
    `select * from (
       select grouping(model, key_id, client_id, account_id) as set, model, key_id as "keyId", person_id as "personId",
         client_id as "clientId", account_id as "accountId", coalesce(sum(requests), 0) as requests,
         coalesce(sum(input_tokens), 0) as "inputTokens", coalesce(sum(output_tokens), 0) as "outputTokens",
         coalesce(sum(cost), 0) as cost,
         row_number() over (partition by grouping(model, key_id, client_id, account_id)
           order by sum(cost) desc, sum(requests) desc) as place
       from usage_day
       where ${inSpan} and ($5::uuid is null or key_id = $5 or person_id = $5) and ($6::uuid is null or client_id = $6)
       group by grouping sets ((model), (key_id, person_id, account_id), (client_id), (account_id), ())) ranked
     where place <= $7 order by set, place`,
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
    `select * from (
       select grouping(model, key_id, client_id, account_id) as set, model, key_id as "keyId", null::uuid as "personId",
         client_id as "clientId", account_id as "accountId", coalesce(sum(requests), 0) as refused,
         row_number() over (partition by grouping(model, key_id, client_id, account_id) order by sum(requests) desc) as place
       from (select *, null::uuid as client_id from refusal_day) r
       where ${inSpan} and ($5::uuid is null or key_id = $5)
       group by grouping sets ((model), (key_id, account_id), (client_id), (account_id), ())) ranked
     where place <= $6 order by set, place`,
    [from, to, accountId ?? null, model ?? null, keyId ?? null, most],
  )
}
