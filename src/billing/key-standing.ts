import type { Database } from '../platform/database/database.ts'
import { withinPatience } from '../platform/database/patience.ts'
import { readKeyStanding, type KeyStandingRow } from './key-standing-store.ts'
import { levelOf, unit, type OwnLevels, type RefusalRow } from './limits.ts'

/** What a key may spend in a span of time, in 10⁻¹² of the unit. */
export interface Budget {
  readonly limit: bigint
  /** What it spent since the span began. */
  readonly charged: bigint
  /** What new requests may cost: never below 0. */
  readonly left: bigint
  /** Until the next span begins. */
  readonly renewsInSeconds: number
}

/** The limits of a key, besides those of its account. Undefined: no such limit. */
export interface KeyStanding extends OwnLevels {
  readonly daily: Budget | undefined
  readonly monthly: Budget | undefined
  /** The maximum cost of its requests in flight. */
  readonly held: bigint
}

/** Undefined for a key without limits of its own. Throws Problem `unavailable`. */
export async function findKeyStanding(database: Database, keyId: string): Promise<KeyStanding | undefined> {
  const row = await withinPatience(database, readKeyStanding(database, keyId))
  return row && standingIn(row)
}

/**
 * Why `till()` would refuse a request of this key that its account, in this row, could pay; or undefined if it would not.
 * Allowances count as available: their instances would return them.
 */
export async function findKeyRefusal(
  database: Database,
  keyId: string,
  need: Need,
  account: RefusalRow,
): Promise<RefusalRow | undefined> {
  const row = await withinPatience(database, readKeyStanding(database, keyId))
  if (row === undefined) return undefined
  const refusal = refusalIn(row, need)
  if (refusal === undefined) return undefined
  return {
    ...account,
    key_request_level: row.request_level,
    key_token_level: row.token_level,
    key_requests_per_minute: row.requests_per_minute,
    key_tokens_per_minute: row.tokens_per_minute,
    ...refusal,
  }
}

interface Need {
  readonly cost: bigint
  readonly tokens: number
}

type KeyRefusal = Pick<RefusalRow, 'outcome' | 'wait_us'>

/** Checks in the order of `till()`, which decides the outcome if several limits refuse. */
function refusalIn(row: KeyStandingRow, { cost, tokens }: Need): KeyRefusal | undefined {
  const { tokens_per_minute: tpm } = row
  if (tpm !== null && tokens > tpm) return { outcome: 'key_never_fits', wait_us: null }
  return budgetRefusal(row, cost) ?? bucketRefusal(row, tokens)
}

function budgetRefusal(row: KeyStandingRow, cost: bigint): KeyRefusal | undefined {
  if (cost === 0n) return undefined
  const { daily, monthly } = standingIn(row)
  const lacks = (budget: Budget | undefined, held: bigint) =>
    budget !== undefined && cost > budget.limit - budget.charged - held
  // No wait helps if a request costs more than a whole budget.
  const everFits = [daily, monthly].every((budget) => budget === undefined || cost <= budget.limit)
  if (lacks(monthly, 0n)) return { outcome: 'key_month', wait_us: everFits ? row.month_left_us : null }
  if (lacks(daily, 0n)) return { outcome: 'key_day', wait_us: everFits ? row.day_left_us : null }
  if (lacks(monthly, row.held) || lacks(daily, row.held)) return { outcome: 'key_held', wait_us: null }
  return undefined
}

function bucketRefusal(row: KeyStandingRow, tokens: number): KeyRefusal | undefined {
  const { requests_per_minute: rpm, tokens_per_minute: tpm } = row
  const lackingRequest = rpm === null ? 0n : unit - row.request_level - row.requests_lent * unit
  const lackingTokens = tpm === null ? 0n : BigInt(tokens) * unit - row.token_level - row.tokens_lent * unit
  if (lackingRequest <= 0n && lackingTokens <= 0n) return undefined
  const waits = [refillTime(lackingRequest, rpm), refillTime(lackingTokens, tpm)]
  return {
    outcome: lackingRequest > 0n ? 'key_requests' : 'key_tokens',
    wait_us: waits.reduce((longest, wait) => (wait > longest ? wait : longest), 0n),
  }
}

/** Microseconds until a bucket has what it lacks, rounded up: it gains `perMinute` in each. */
function refillTime(lacking: bigint, perMinute: number | null): bigint {
  const rate = BigInt(perMinute ?? 1)
  return lacking <= 0n ? 0n : (lacking + rate - 1n) / rate
}

function standingIn(row: KeyStandingRow): KeyStanding {
  const budget = (limit: bigint | null, charged: bigint, leftUs: bigint): Budget | undefined => {
    if (limit === null) return undefined
    const left = limit - charged - row.held
    return { limit, charged, left: left > 0n ? left : 0n, renewsInSeconds: Math.ceil(Number(leftUs) / 1e6) }
  }
  const { requests_per_minute: rpm, tokens_per_minute: tpm } = row
  return {
    requests: rpm === null ? undefined : levelOf(rpm, Number(row.request_level)),
    tokens: tpm === null ? undefined : levelOf(tpm, Number(row.token_level)),
    daily: budget(row.daily_budget, row.day_charged, row.day_left_us),
    monthly: budget(row.monthly_budget, row.month_charged, row.month_left_us),
    held: row.held,
  }
}
