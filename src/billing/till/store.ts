import type { PreparedStatement } from '../../platform/database/batch.ts'
import { rowsText } from '../../platform/database/rows.ts'
import type { Renewal } from '../allowances/allowances.ts'
import type { Reports } from '../allowances/allowance-reports.ts'
import { accountReportRow, keyReportRow } from './exchange-rows.ts'
import type { ReplayRow, TillRow } from './till-row.ts'
import type { Queryable } from '../../platform/database/database.ts'
import type { RefusalRow, Standing } from './limits.ts'
import type { ChargedTokens } from '../prices/tokens.ts'
import { holdCostOf } from './hold-item.ts'
import type { HoldRequest, TakenSpare } from './till.ts'
import type { Payer } from '../payer.ts'

/** The instance that sends a batch, and the batch's number. The database refuses a number that is not above the last. */
interface BatchId {
  readonly instance: string
  readonly batch: bigint
}

/** One call of `till()`, with the items of its parameters p_settle and p_admit. */
export function tillCall(
  { instance, batch }: BatchId,
  { settle, admit }: { readonly settle: readonly object[]; readonly admit: readonly object[] },
): PreparedStatement<TillRow> {
  return {
    name: 'till',
    text: 'select * from till($1, $2, $3, $4)',
    values: [instance, batch, JSON.stringify(settle), JSON.stringify(admit)],
  }
}

/** Terms of charges by the ids of their requests. */
type Terms = readonly (readonly [requestId: string, kept: object])[]

/** One call of `append_charges()`, with rows of the type timed_charge. */
export function appendCall(
  { instance, batch }: BatchId,
  { charges, terms }: Pick<ExchangeParts, 'charges' | 'terms'>,
): PreparedStatement<object> {
  const values = [instance, batch, rowsText(charges)]
  if (terms.length === 0) return { name: 'append', text: 'select * from append_charges($1, $2, $3)', values }
  const text = 'select * from append_charges($1, $2, $3, p_terms => $4)'
  return { name: 'append with terms', text, values: [...values, termsText(terms)] }
}

/** What one call of `exchange_timed()` carries. `charges` are rows of the type timed_charge. */
export interface ExchangeParts extends Reports {
  readonly charges: readonly string[]
  readonly terms: Terms
  /** Items of the parameter p_holds of `exchange_moving()`. */
  readonly holds: readonly object[]
}

/** One call of `exchange_timed()`, or of `exchange_moving()` if there are holds. */
export function exchangeCall(
  { instance, batch }: BatchId,
  { accounts, keys, budgets, charges, terms, holds }: ExchangeParts,
): PreparedStatement<Renewal> {
  const reports = [rowsText(accounts.map(accountReportRow)), rowsText(charges), rowsText(keys.map(keyReportRow))]
  const values = [instance, batch, ...reports]
  const ofBudgets = rowsText(budgets.map(keyReportRow))
  if (holds.length > 0) {
    const text = 'select * from exchange_moving($1, $2, $3, $4, $5, $6, $7, $8)'
    return { name: 'exchange_moving', text, values: [...values, JSON.stringify(holds), ofBudgets, termsText(terms)] }
  }
  if (terms.length > 0) {
    const text = 'select * from exchange_timed($1, $2, $3, $4, $5, p_budget_reports => $6, p_terms => $7)'
    return { name: 'exchange_terms', text, values: [...values, ofBudgets, termsText(terms)] }
  }
  if (budgets.length > 0) {
    const text = 'select * from exchange_timed($1, $2, $3, $4, $5, p_budget_reports => $6)'
    return { name: 'exchange_budgets', text, values: [...values, ofBudgets] }
  }
  return { name: 'exchange', text: 'select * from exchange_timed($1, $2, $3, $4, $5)', values }
}

const termsText = (terms: Terms): string | null =>
  terms.length === 0 ? null : JSON.stringify(Object.fromEntries(terms))

/** The limits of an account and the current levels of its buckets, by the rules of `till()`. Writes nothing. */
export async function readStanding(database: Queryable, accountId: string): Promise<Standing | undefined> {
  const [row] = await database.rows<Standing>({
    name: 'levels',
    text: `select requests_per_minute, tokens_per_minute,
             refilled(request_level, level_at, clock_timestamp(), requests_per_minute, requests_lent) as request_level,
             refilled(token_level, level_at, clock_timestamp(), tokens_per_minute, tokens_lent) as token_level
           from account where id = $1`,
    values: [accountId],
  })
  return row
}

/** The tokens that a request was charged for. Undefined if it is not in the ledger. */
export async function readChargedTokens(database: Queryable, requestId: string): Promise<ChargedTokens | undefined> {
  const [charged] = await database.rows<ChargedTokens>({
    name: 'charged tokens',
    text: `select input_tokens as "inputTokens", output_tokens as "outputTokens", cached_tokens as "cachedTokens",
             cache_write_tokens as "cacheWriteTokens"
           from ledger where request_id = $1`,
    values: [requestId],
  })
  return charged
}

/**
 * The outcome of a request by the rules of `till()`, except that allowances count as available: their instances would return
 * them. Undefined if there is no such account. Writes nothing.
 */
export async function readPrecheck(
  database: Queryable,
  least: HoldRequest,
): Promise<(RefusalRow & ReplayRow) | undefined> {
  const { payer, inputTokens, maxOutputTokens, idempotency } = least
  const cost = holdCostOf(least)
  const [row] = await database.rows<RefusalRow & ReplayRow>({
    name: 'precheck',
    text: `
      with moment as materialized (
        select now, (now at time zone 'UTC')::date as today, date_trunc('month', now at time zone 'UTC')::date as this_month,
          60000000::bigint as unit, coalesce($2 like 'background %', false) as background from (select clock_timestamp() as now offset 0) n
      ), standing as materialized (
        select status, has_budgets, requests_per_minute, tokens_per_minute, coalesce(monthly_limit - charged_now, credited - charged) as credit,
          held, tokens_per_minute * unit as token_most,
          refilled(request_level + requests_lent, level_at, now, requests_per_minute, 0) as request_level,
          refilled(token_level + tokens_lent, level_at, now, tokens_per_minute, 0) as token_level
        from account, moment,
          lateral (select case when month = this_month then month_charged else charged_since(id, this_month) end as charged_now) m
        where id = $1
      ), own as materialized (
        select l.requests_per_minute, l.tokens_per_minute, l.held, least(monthly_budget, daily_budget) as most,
          monthly_budget - case when month = this_month then month_charged else key_charged_since(l.id, this_month) end as month_left,
          daily_budget - case when day = today then day_charged else key_charged_since(l.id, today) end as day_left,
          case when l.requests_per_minute is not null
            then refilled(request_level + requests_lent * unit, level_at, now, l.requests_per_minute, 0) end as request_level,
          case when l.tokens_per_minute is not null
            then refilled(token_level + tokens_lent * unit, level_at, now, l.tokens_per_minute, 0) end as token_level
        from api_key k join key_limit l on l.id = k.limit_id, moment
        where k.id = $6
      ), shared as materialized (
        select budgets, (select min(budget_limit(b, now) - b.charged) from unnest(budgets) b where b.hard) as budget_left,
          (select min(budget_limit(b, now) - b.charged - b.held) from unnest(budgets) b where b.hard) as budget_free
        from standing, moment, lateral (select array(
          select current_budget(b, now) from budgets_of($1, $7, $8) o (id) join budget b on b.id = o.id where has_budgets offset 0) as budgets) e
      ), decided as (
        select s.*, budgets, o.request_level as key_request_level, o.token_level as key_token_level,
          o.requests_per_minute as key_requests_per_minute, o.tokens_per_minute as key_tokens_per_minute, o.most, now, unit,
          $4::bigint * unit as tokens, $5::numeric as cost,
          refusal(unit, $4::bigint * unit, $5::numeric, token_most, credit,
            case when background then (s.held + greatest(s.held, credit)) / 2 else s.held end,
            case when not background then s.request_level end, case when not background then s.token_level end,
            o.tokens_per_minute * unit, month_left, day_left,
            case when background then (o.held + greatest(o.held, least(month_left, day_left))) / 2 else o.held end,
            case when not background then o.request_level end, case when not background then o.token_level end,
            budget_left, case when background then budget_free / 2 else budget_free end) as refused
        from standing s cross join moment cross join shared left join own o on true
      )
      select requests_per_minute, tokens_per_minute, request_level, token_level, key_request_level, key_token_level,
        key_requests_per_minute, key_tokens_per_minute, i.hold_id as original, i.headers, i.body,
        coalesce(early_outcome(status, i, $3), refused, 'admitted') as outcome,
        coalesce(refusal_wait(refused, now, unit, tokens, cost, request_level, token_level, requests_per_minute, tokens_per_minute,
          key_request_level, key_token_level, key_requests_per_minute, key_tokens_per_minute, most), b.wait_us) as wait_us, b.id as of_budget
      from decided
        left join lateral (select * from refusing_budget(budgets, cost, now) where refused in ('budget', 'budget_held')) b on true
        left join idempotency i on i.account_id = $1 and i.key = $2 and i.created_at > now - interval '24 hours'`,
    values: [
      payer.accountId,
      idempotency?.key,
      idempotency?.hash,
      inputTokens + maxOutputTokens,
      String(cost),
      payer.limitId === undefined ? null : payer.keyId,
      payer.keyId,
      payer.tags === undefined ? null : JSON.stringify(payer.tags),
    ],
  })
  return row
}

/** The reply stored for an idempotency key, as a row of `till()` that replays it. One whose text was removed is none. */
export async function readStoredReply(
  database: Queryable,
  accountId: string,
  key: string,
): Promise<ReplayRow | undefined> {
  const [row] = await database.rows<ReplayRow>({
    name: 'stored reply',
    text: `select 'replay' as outcome, hold_id as original, headers, body from idempotency where account_id = $1 and key = $2 and body <> ''`,
    values: [accountId, key],
  })
  return row
}

/** The milliseconds to wait, at least; 0 if the request and its tokens were taken, or if there is no such account. */
export async function takeSpare(database: Queryable, { accountId, limitId }: Payer, tokens: number): Promise<number> {
  const [row] = await database.rows<{ wait: bigint | null }>({
    name: 'take spare',
    text: 'select take_spare($1, $2, $3) as wait',
    values: [accountId, limitId, tokens],
  })
  return Math.ceil(Number(row?.wait ?? 0n) / 1000)
}

export async function returnSpare(
  database: Queryable,
  { accountId, limitId }: Payer,
  { requests, taken, used }: TakenSpare,
): Promise<void> {
  await database.rows('select return_spare($1, $2, $3, $4, $5)', [accountId, limitId, requests, taken, used])
}
