import type { Queryable } from '../platform/database/database.ts'
import type { RefusalRow } from './limits.ts'
import { mostCostOf } from './price.ts'
import type { ReplayRow } from './replay.ts'
import type { AdmissionRequest } from './till.ts'

/**
 * The outcome of a request by the rules of `till()`, except that allowances count as available: their instances would return
 * them. Undefined if there is no such account. Writes nothing.
 */
export async function readPrecheck(
  database: Queryable,
  { payer, inputTokens, maxOutputTokens, price, idempotency }: AdmissionRequest,
): Promise<(RefusalRow & ReplayRow) | undefined> {
  const cost = mostCostOf(price, inputTokens, maxOutputTokens)
  const [row] = await database.rows<RefusalRow & ReplayRow>({
    name: 'precheck',
    text: `
      with standing as materialized (
        select status, requests_per_minute, tokens_per_minute, coalesce(monthly_limit - charged_now, credited - charged) as credit,
          held, requests_per_minute * unit as request_most, tokens_per_minute * unit as token_most,
          least(requests_per_minute * unit, request_level + requests_lent + passed * requests_per_minute) as request_level,
          least(tokens_per_minute * unit, token_level + tokens_lent + passed * tokens_per_minute) as token_level
        from account, lateral (
          select 60000000::bigint as unit, date_trunc('month', clock_timestamp() at time zone 'UTC')::date as this_month,
            least(60000000, greatest(0, extract(epoch from clock_timestamp() - level_at) * 1000000))::bigint as passed) moment,
          lateral (select case when month = this_month then month_charged else charged_since(id, this_month) end as charged_now) m
        where id = $1
      ), need as (select 60000000::bigint as request, $4::bigint * 60000000 as tokens, $5::numeric as cost)
      select requests_per_minute, tokens_per_minute, request_level, token_level, i.hold_id as original, i.headers, i.body,
        case
          when status <> 'open' then 'no_billing_account'
          when i.request_hash <> $3 then 'mismatch'
          when i.body is not null then 'replay'
          when i.hold_id is not null then 'in_progress'
          when need.tokens > token_most then 'never_fits'
          when need.cost > greatest(0, credit) then 'insufficient_credit'
          when need.cost > greatest(0, credit - held) then 'credit_held'
          when request_level < need.request then 'requests'
          when token_level < need.tokens then 'tokens'
          else 'admitted'
        end as outcome,
        greatest(ceil((need.request - request_level)::numeric / requests_per_minute),
          ceil((need.tokens - token_level)::numeric / tokens_per_minute)) as wait_us
      from standing cross join need left join idempotency i on i.account_id = $1 and i.key = $2
        and i.created_at > clock_timestamp() - interval '24 hours'`,
    values: [payer.accountId, idempotency?.key, idempotency?.hash, inputTokens + maxOutputTokens, String(cost)],
  })
  return row
}
