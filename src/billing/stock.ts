import { projectLevels, unit, type Levels, type Standing } from './limits.ts'
import type { AdmissionRequest } from './till.ts'

/** A request that was admitted from an allowance. */
export interface AdmittedRequest {
  readonly request: AdmissionRequest
  /** The most it can cost. */
  readonly cost: bigint
  /** The levels after its admission. */
  readonly levels: Levels | undefined
  /** The instance that admitted it. If that instance was reaped, the request can no longer be charged. */
  readonly instance: string
  /** Set when it begins to end. Resolves with whether the charge or the release took effect. */
  settling: Promise<boolean> | undefined
}

/** How a request admitted from an allowance ends: charged or released. */
export interface RequestOutcome {
  readonly taken: AdmittedRequest
  readonly charge?: { readonly cost: bigint; readonly tokens: number }
}

/** The report of one account to `exchange_timed()`: the type account_report. */
export interface Report {
  readonly account: string
  readonly charged: bigint
  readonly requests_back: number
  readonly tokens_back: number
  readonly held: bigint
  readonly credit: bigint
  readonly requests: number
  readonly tokens: number
  readonly at_hand: number
  readonly cost: bigint
  readonly need: number
  readonly more_credit: bigint
  readonly more_requests: number
  readonly more_tokens: number
}

/** The reply of `exchange_timed()` for one account. */
export interface Renewal extends Standing {
  readonly id: string
  readonly granted: boolean
}

/** Milliseconds for which an allowance and an account's levels may be used after they were read. */
export const validFor = 1000
/** Milliseconds after which an allowance in use is renewed, before it expires. */
export const renewAfter = 700
/** Milliseconds without a request after which an account's allowance is returned. */
export const idleAfter = 10_000
/** Requests without such a pause after which an account is in steady use. */
const steady = 4
/** Milliseconds without a request after which an account is forgotten. */
export const forgetAfter = 60_000
const mostAtHand = 1024
/** A limit must have this many times an instance's allowance left. `exchange_timed()` demands the same. */
const plenty = 100n

/** What this instance knows of one account, and its allowance of it. */
export interface Stock {
  readonly account: string
  /** What may still be admitted from the allowance. */
  credit: bigint
  requests: number
  tokens: number
  /** Requests admitted from the allowance that have not ended, and the most that they can cost. */
  inFlight: number
  held: bigint
  /** Requests since the last report, and the time, cost and tokens of the last one. */
  requestsSinceReport: number
  lastRequestAt: number
  /** Requests in a row without a long pause. */
  streak: number
  cost: bigint
  need: number
  standing: Standing | undefined
  /** When the standing was read, and when the call that last renewed the allowance was sent; of `performance.now()`. */
  standingAt: number
  renewedAt: number
  /** Whether the last request for an allowance was granted, when one was last refused, and the most to request next. */
  granted: boolean
  refusedAt: number
  most: number
  /** Whether the database may have set something aside. */
  lent: boolean
}

/** What a report in flight requests. */
export interface More {
  readonly credit: bigint
  readonly requests: number
  readonly tokens: number
}

export const nothing: More = { credit: 0n, requests: 0, tokens: 0 }

export function emptyStock(account: string): Stock {
  return {
    account,
    ...nothing,
    inFlight: 0,
    held: 0n,
    requestsSinceReport: 0,
    lastRequestAt: -Infinity,
    streak: 0,
    cost: 0n,
    need: 0,
    standing: undefined,
    standingAt: -Infinity,
    renewedAt: -Infinity,
    granted: false,
    refusedAt: -Infinity,
    most: mostAtHand,
    lent: false,
  }
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
export const hasFree = (stock: Stock): boolean => stock.requests > 0 || stock.tokens > 0 || stock.credit > 0n
/** Whether the database has set requests or tokens aside for it. */
export const hasAllowance = (stock: Stock): boolean => stock.granted || hasFree(stock)
/** Whether the database may have set aside more than the requests in flight need. */
export const hasSurplus = (stock: Stock): boolean => hasAllowance(stock) || (stock.lent && stock.inFlight === 0)
export const hasAny = (stock: Stock): boolean => stock.inFlight > 0 || hasFree(stock)

export const isSteady = (stock: Stock): boolean =>
  stock.streak >= steady && performance.now() - stock.lastRequestAt <= idleAfter

/**
 * How many requests the allowance should cover, those in flight included: as many as came since the last report, and one
 * more. Rounded up to a power of two, so that what the database sets aside seldom changes.
 */
function sizeOf(stock: Stock, inFlight: number): number {
  if (!isSteady(stock)) return 0
  const wanted = Math.max(stock.requestsSinceReport, inFlight) + 1
  return Math.min(stock.most, Math.max(2, 2 ** Math.ceil(Math.log2(wanted))))
}

function sumOf(outcomes: readonly RequestOutcome[]) {
  let charged = 0n
  let held = 0n
  let unused = 0
  for (const { taken, charge } of outcomes) {
    held += taken.cost
    charged += charge?.cost ?? 0n
    unused += taken.request.inputTokens + taken.request.maxOutputTokens - (charge?.tokens ?? 0)
  }
  return { charged, held, unused }
}

/** Halves the next request for an allowance after a refusal, and doubles it after a grant. */
export function adjustMost(stock: Stock, sentAt: number): void {
  stock.most = stock.granted ? Math.min(mostAtHand, stock.most * 2) : Math.max(2, stock.most / 2)
  if (!stock.granted) stock.refusedAt = sentAt
}

export function noteStanding(stock: Stock, standing: Standing): void {
  stock.standing = standing
  stock.standingAt = performance.now()
}

/** Whether the limits have enough left for `exchange_timed()` to grant an allowance. */
export function isPlenty({ standing, need }: Stock): boolean {
  if (standing === undefined) return false
  const few = plenty * 2n * unit
  return standing.request_level >= few && standing.token_level >= few * BigInt(need)
}

export function levelsOfStock({ standing, standingAt, requests, tokens }: Stock): Levels | undefined {
  if (standing === undefined) return undefined
  return projectLevels(standing, performance.now() - standingAt, { requests, tokens })
}

/**
 * Builds the report of one account, with which these requests end, and returns what it requests. The allowance shrinks to
 * what the report keeps; with `givesBack` it keeps nothing.
 */
export function buildReport(
  stock: Stock,
  outcomes: readonly RequestOutcome[],
  givesBack: boolean,
): { report: Report; more: More } {
  const ended = sumOf(outcomes)
  const inFlight = stock.inFlight - outcomes.length
  const atHand = givesBack ? 0 : sizeOf(stock, inFlight)
  const free = Math.max(0, atHand - inFlight)
  const keep = {
    credit: least(stock.credit, BigInt(free) * stock.cost),
    requests: Math.min(stock.requests, free),
    tokens: Math.min(stock.tokens, free * stock.need),
  }
  const more = {
    credit: BigInt(free) * stock.cost - keep.credit,
    requests: free - keep.requests,
    tokens: free * stock.need - keep.tokens,
  }
  const report = {
    account: stock.account,
    charged: ended.charged,
    requests_back: stock.requests - keep.requests,
    tokens_back: stock.tokens - keep.tokens + ended.unused,
    held: stock.held - ended.held,
    credit: keep.credit,
    requests: keep.requests,
    tokens: keep.tokens,
    at_hand: atHand,
    cost: stock.cost,
    need: stock.need,
    more_credit: more.credit,
    more_requests: more.requests,
    more_tokens: more.tokens,
  }
  Object.assign(stock, keep, { requestsSinceReport: 0 })
  return { report, more }
}
