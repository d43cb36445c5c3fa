import type { Queryable } from '../platform/database/database.ts'

/** The limits of a key and what is left of them now, by the rules of `till()`. Null: no such limit. Levels are as in the till. */
export interface KeyStandingRow {
  readonly requests_per_minute: number | null
  readonly tokens_per_minute: number | null
  readonly request_level: bigint
  readonly token_level: bigint
  /** What instances have of them in allowances, in whole requests and tokens. */
  readonly requests_lent: bigint
  readonly tokens_lent: bigint
  readonly daily_budget: bigint | null
  readonly day_charged: bigint
  /** Microseconds until the day ends (UTC). */
  readonly day_left_us: bigint
  readonly monthly_budget: bigint | null
  readonly month_charged: bigint
  readonly month_left_us: bigint
  readonly held: bigint
}

/** Undefined for a key without limits of its own. Writes nothing. */
export async function readKeyStanding(database: Queryable, keyId: string): Promise<KeyStandingRow | undefined> {
  const [row] = await database.rows<KeyStandingRow>({
    name: 'key_standing',
    text: `
      select l.requests_per_minute, l.tokens_per_minute, daily_budget, monthly_budget, held,
        requests_lent, tokens_lent,
        refilled(request_level, level_at, moment, l.requests_per_minute, requests_lent * 60000000) as request_level,
        refilled(token_level, level_at, moment, l.tokens_per_minute, tokens_lent * 60000000) as token_level,
        (case when day = today then day_charged else key_charged_since(l.id, today) end)::amount as day_charged,
        (extract(epoch from (today + interval '1 day') at time zone 'UTC' - moment) * 1000000)::bigint as day_left_us,
        (case when month = this_month then month_charged else key_charged_since(l.id, this_month) end)::amount as month_charged,
        (extract(epoch from (this_month + interval '1 month') at time zone 'UTC' - moment) * 1000000)::bigint as month_left_us
      from api_key k join key_limit l on l.id = k.limit_id,
        lateral (select clock_timestamp() as moment offset 0) n,
        lateral (select (moment at time zone 'UTC')::date as today,
          date_trunc('month', moment at time zone 'UTC')::date as this_month) d
      where k.id = $1`,
    values: [keyId],
  })
  return row
}
