/** The rules of keys with limits of their own, as `till()` has them. Used by `till-model.ts`. Times are in microseconds. */

const unit = 60_000_000n
const minute = 60_000_000n

/** The limits that some keys share. Null: no such limit. */
export interface ModelKeyLimit {
  id: string
  requestsPerMinute: number | null
  tokensPerMinute: number | null
  dailyBudget: bigint | null
  monthlyBudget: bigint | null
  held: bigint
  day: string
  dayCharged: bigint
  month: string
  monthCharged: bigint
  requestLevel: bigint
  tokenLevel: bigint
  levelAt: bigint
}

/** A request that a key makes. */
export interface KeyNeed {
  readonly cost: bigint
  readonly tokens: number
}

export const dayOf = (now: bigint): string => new Date(Number(now / 1000n)).toISOString().slice(0, 10)
const monthOf = (now: bigint): string => `${dayOf(now).slice(0, 7)}-01`
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const ceiling = (a: bigint, b: bigint): bigint => (a + b - 1n) / b

/** Refills the buckets, and begins a day or a month if the clock has. `chargedSince` sums the charges from a day on. */
export function bringKeyUpTo(limit: ModelKeyLimit, now: bigint, chargedSince: (day: string) => bigint): void {
  const passed = least(minute, most(0n, now - limit.levelAt))
  const refilled = (perMinute: number | null, level: bigint) =>
    perMinute === null ? 0n : least(BigInt(perMinute) * unit, level + passed * BigInt(perMinute))
  limit.requestLevel = refilled(limit.requestsPerMinute, limit.requestLevel)
  limit.tokenLevel = refilled(limit.tokensPerMinute, limit.tokenLevel)
  limit.levelAt = now
  startSpans(limit, now, chargedSince)
}

/** Begins a day or a month if the clock has. */
export function startSpans(limit: ModelKeyLimit, now: bigint, chargedSince: (day: string) => bigint): void {
  if (limit.day !== dayOf(now)) Object.assign(limit, { day: dayOf(now), dayCharged: chargedSince(dayOf(now)) })
  if (limit.month !== monthOf(now)) {
    Object.assign(limit, { month: monthOf(now), monthCharged: chargedSince(monthOf(now)) })
  }
}

/** Each outcome by which the limits refuse a request, and whether they do. */
export function keyRefusals(limit: ModelKeyLimit | undefined, { cost, tokens }: KeyNeed) {
  const lacks = (budget: bigint | null | undefined, taken: bigint) =>
    cost > 0n && typeof budget === 'bigint' && cost > budget - taken
  const { requestsPerMinute: rpm = null, tokensPerMinute: tpm = null } = limit ?? {}
  const { dayCharged = 0n, monthCharged = 0n, held = 0n, requestLevel = 0n, tokenLevel = 0n } = limit ?? {}
  return {
    key_never_fits: tpm !== null && tokens > tpm,
    key_month: lacks(limit?.monthlyBudget, monthCharged),
    key_day: lacks(limit?.dailyBudget, dayCharged),
    key_held: lacks(limit?.monthlyBudget, monthCharged + held) || lacks(limit?.dailyBudget, dayCharged + held),
    key_requests: rpm !== null && requestLevel < unit,
    key_tokens: tpm !== null && tokenLevel < BigInt(tokens) * unit,
  }
}

/** Microseconds until both buckets admit a request. */
export function keyWait(limit: ModelKeyLimit | undefined, { tokens }: KeyNeed): bigint {
  const wait = (perMinute: number | null | undefined, lacking: bigint) =>
    typeof perMinute === 'number' ? ceiling(most(0n, lacking), BigInt(perMinute)) : 0n
  return most(
    wait(limit?.requestsPerMinute, unit - (limit?.requestLevel ?? 0n)),
    wait(limit?.tokensPerMinute, BigInt(tokens) * unit - (limit?.tokenLevel ?? 0n)),
  )
}

/** Microseconds until a used-up budget is renewed; null if the request would exceed it even then. */
export function renewalWait(limit: ModelKeyLimit, span: 'day' | 'month', cost: bigint, now: bigint): bigint | null {
  for (const budget of [limit.dailyBudget, limit.monthlyBudget]) if (budget !== null && cost > budget) return null
  const [year = 0, month = 0, day = 0] = dayOf(now).split('-').map(Number)
  const next = span === 'day' ? Date.UTC(year, month - 1, day + 1) : Date.UTC(year, month, 1)
  return BigInt(next) * 1000n - now
}

/** What a settlement may cost and use beyond its hold, as far as the key decides. Undefined: all that the account allows. */
export function keyRoom(limit: ModelKeyLimit | undefined) {
  if (limit === undefined) return { credit: undefined, tokens: undefined }
  const left = [
    [limit.dailyBudget, limit.dayCharged] as const,
    [limit.monthlyBudget, limit.monthCharged] as const,
  ].flatMap(([budget, charged]) => (budget === null ? [] : [budget - charged - limit.held]))
  return {
    credit: left.length === 0 ? undefined : left.reduce(least),
    tokens: limit.tokensPerMinute === null ? undefined : limit.tokenLevel,
  }
}

/** Takes an admitted request from the limits. `held`: the most that it can cost. */
export function takeFromKey(limit: ModelKeyLimit, tokens: number, held: bigint): void {
  if (limit.requestsPerMinute !== null) limit.requestLevel -= unit
  if (limit.tokensPerMinute !== null) limit.tokenLevel -= BigInt(tokens) * unit
  limit.held += held
}

/** Ends a hold with a charge and returns tokens, of which there can be less than none. */
export function settleAtKey(limit: ModelKeyLimit, held: bigint, charge: bigint, tokensBack: bigint): void {
  limit.held -= held
  limit.dayCharged += charge
  limit.monthCharged += charge
  if (limit.tokensPerMinute === null) return
  const most60 = BigInt(limit.tokensPerMinute) * unit
  limit.tokenLevel = most(0n, least(most60, limit.tokenLevel + tokensBack * unit))
}
