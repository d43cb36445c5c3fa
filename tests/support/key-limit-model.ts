/** The rules of keys with limits of their own, as `till()` has them. Used by `till-model.ts`. Times are in microseconds. */

const unit = 60_000_000n
const minute = 60_000_000n

/** What changes with the requests of an account, or of keys with limits. */
export interface ModelState {
  held: bigint
  month: string
  monthCharged: bigint
  requestLevel: bigint
  tokenLevel: bigint
  levelAt: bigint
  creditLent: bigint
  /** Of keys, in whole requests and tokens. */
  requestsLent: bigint
  tokensLent: bigint
  recalledAt: bigint | null
}

/** The limits that some keys share. Null: no such limit. */
export interface ModelKeyLimit extends ModelState {
  id: string
  requestsPerMinute: number | null
  tokensPerMinute: number | null
  dailyBudget: bigint | null
  monthlyBudget: bigint | null
  day: string
  dayCharged: bigint
}

/** What an instance has of the limits of a key. */
export interface ModelKeyAllowance {
  readonly held: bigint
  readonly credit: bigint
  readonly requests: bigint
  readonly tokens: bigint
}

/** What an instance has of the limits of a key, returns and wants. */
export interface ModelKeyReport extends ModelKeyAllowance {
  readonly id: string
  readonly requestsBack: bigint
  readonly tokensBack: bigint
  readonly atHand: bigint
  readonly cost: bigint
  readonly need: bigint
  readonly moreCredit: bigint
  readonly moreRequests: bigint
  readonly moreTokens: bigint
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

/** The most that a bucket may hold beside what is lent of it. */
const room = (perMinute: number | null, lent: bigint): bigint => most(0n, BigInt(perMinute ?? 0) - lent) * unit

/** Refills the buckets, and begins a day or a month if the clock has. `chargedSince` sums the charges from a day on. */
export function bringKeyUpTo(limit: ModelKeyLimit, now: bigint, chargedSince: (day: string) => bigint): void {
  const passed = least(minute, most(0n, now - limit.levelAt))
  const refilled = (perMinute: number | null, level: bigint, lent: bigint) =>
    perMinute === null ? 0n : least(room(perMinute, lent), level + passed * BigInt(perMinute))
  limit.requestLevel = refilled(limit.requestsPerMinute, limit.requestLevel, limit.requestsLent)
  limit.tokenLevel = refilled(limit.tokensPerMinute, limit.tokenLevel, limit.tokensLent)
  limit.levelAt = now
  startSpans(limit, now, chargedSince)
}

/** Replaces what the limits of a key have lent to an instance. */
export function lendOfKey(limit: ModelKeyLimit, before: ModelKeyAllowance, after: ModelKeyAllowance): void {
  limit.held += after.held - before.held
  limit.creditLent += after.credit - before.credit
  limit.requestsLent += after.requests - before.requests
  limit.tokensLent += after.tokens - before.tokens
}

export const noKeyAllowance: ModelKeyAllowance = { held: 0n, credit: 0n, requests: 0n, tokens: 0n }

/** Does what `renew_key_allowances()` does with limits that are up to date. Returns whether it grants, and what the instance then has. */
export function renewKey(limit: ModelKeyLimit, report: ModelKeyReport, had: ModelKeyAllowance, now: bigint) {
  const { atHand, cost, need } = report
  const left = budgetLeft(limit)
  const kept = { held: report.held, credit: report.credit, requests: report.requests, tokens: report.tokens }
  lendOfKey(limit, had, kept)
  const returned = (perMinute: number | null, level: bigint, lent: bigint, back: bigint) =>
    perMinute === null ? 0n : least(room(perMinute, lent), level + least(back, BigInt(perMinute)) * unit)
  limit.requestLevel = returned(limit.requestsPerMinute, limit.requestLevel, limit.requestsLent, report.requestsBack)
  limit.tokenLevel = returned(limit.tokensPerMinute, limit.tokenLevel, limit.tokensLent, report.tokensBack)
  const isRecalled = limit.recalledAt !== null && limit.recalledAt >= now - 2_000_000n && limit.recalledAt <= now
  const granted =
    atHand > 0n &&
    !isRecalled &&
    (limit.requestsPerMinute === null || limit.requestLevel >= 100n * atHand * unit) &&
    (limit.tokensPerMinute === null || limit.tokenLevel >= 100n * atHand * need * unit) &&
    (left === undefined || left >= 100n * atHand * cost)
  if (!granted) return { granted, has: kept }
  const has = {
    ...kept,
    credit: kept.credit + report.moreCredit,
    requests: kept.requests + report.moreRequests,
    tokens: kept.tokens + report.moreTokens,
  }
  lendOfKey(limit, kept, has)
  if (limit.requestsPerMinute !== null) limit.requestLevel -= report.moreRequests * unit
  if (limit.tokensPerMinute !== null) limit.tokenLevel -= report.moreTokens * unit
  return { granted, has }
}

/** What is left of the budgets, without what is held and lent. Undefined without budgets. */
function budgetLeft(limit: ModelKeyLimit): bigint | undefined {
  const left = [
    [limit.dailyBudget, limit.dayCharged] as const,
    [limit.monthlyBudget, limit.monthCharged] as const,
  ].flatMap(([budget, charged]) => (budget === null ? [] : [budget - charged - limit.held - limit.creditLent]))
  return left.length === 0 ? undefined : left.reduce(least)
}

/** Begins a day or a month if the clock has. */
function startSpans(limit: ModelKeyLimit, now: bigint, chargedSince: (day: string) => bigint): void {
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
  const { dayCharged = 0n, monthCharged = 0n, requestLevel = 0n, tokenLevel = 0n } = limit ?? {}
  const taken = (limit?.held ?? 0n) + (limit?.creditLent ?? 0n)
  return {
    key_never_fits: tpm !== null && tokens > tpm,
    key_month: lacks(limit?.monthlyBudget, monthCharged),
    key_day: lacks(limit?.dailyBudget, dayCharged),
    key_held: lacks(limit?.monthlyBudget, monthCharged + taken) || lacks(limit?.dailyBudget, dayCharged + taken),
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
  return {
    credit: budgetLeft(limit),
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
  const most60 = room(limit.tokensPerMinute, limit.tokensLent)
  limit.tokenLevel = most(0n, least(most60, limit.tokenLevel + tokensBack * unit))
}
