import { unit } from '../till/limits.ts'
import {
  isSteady,
  mostAtHand,
  needOf,
  plenty,
  renewAfter,
  unusedBy,
  type RequestedShare,
  type RequestOutcome,
  type Stock,
} from './stock.ts'

/** The reports of one call. */
export interface Reports {
  readonly accounts: readonly Report[]
  readonly keys: readonly Report[]
  readonly budgets: readonly Report[]
}

/** The report of one account, the limits of one key or one budget to `exchange_timed()`: the types account_report and key_report. */
export interface Report {
  readonly id: string
  readonly requests_back: number
  readonly tokens_back: number
  readonly held: bigint
  readonly credit: bigint
  readonly requests: number
  /** With those of its requests in flight. */
  readonly tokens: number
  readonly at_hand: number
  readonly cost: bigint
  readonly need: number
  readonly more_credit: bigint
  readonly more_requests: number
  readonly more_tokens: number
}

/** The share of a stock's demand that is left after each report. */
const demandKept = 0.95

/**
 * How many requests the allowance should cover, those in flight included: as many as were lately in flight at once or expected until the
 * next report, and one more. Rounded up to a power of two, so that what the database sets aside seldom changes. The demand is noted,
 * because a report after a short pause finds next to no requests, and the next burst should not have to begin with a small allowance.
 */
function sizeOf(stock: Stock, inFlight: number): number {
  if (!isSteady(stock)) return 0
  stock.demand = Math.min(mostAtHand, Math.max(expected(stock), inFlight, stock.demand))
  const wanted = Math.ceil(stock.demand) + 1
  return Math.min(stock.most, affordable(stock), Math.max(2, 2 ** Math.ceil(Math.log2(wanted))))
}

/**
 * The requests until the next report, after `renewAfter` or when the allowance runs low. The rate is that since the first request, not
 * since the last report, which may have been followed by a pause.
 */
function expected({ requestsSinceReport, firstRequestAt, renewedAt }: Stock): number {
  if (renewedAt === -Infinity) return requestsSinceReport
  const since = Math.max(performance.now() - firstRequestAt, renewAfter / 8)
  return Math.ceil((requestsSinceReport * renewAfter) / since)
}

/** A hundredth of what a bucket has, with what is already reserved. */
const share = (level: bigint, free: number): number => Math.floor((Number(level / unit) + free) / Number(plenty))

/** How many requests the limits could grant, by their last known levels. */
function affordable({ standing, requests, tokens, need }: Stock): number {
  if (standing === undefined) return Infinity
  const { requests_per_minute: rpm, tokens_per_minute: tpm } = standing
  return Math.max(
    2,
    Math.min(
      rpm === null ? Infinity : share(standing.request_level, requests),
      tpm === null ? Infinity : Math.floor(share(standing.token_level, tokens) / Math.max(1, need)),
    ),
  )
}

/** What requests that end held, and what they return to the allowance. */
function sumOf(outcomes: readonly RequestOutcome[]) {
  const sum = { held: 0n, flightTokens: 0, credit: 0n, tokens: 0 }
  for (const outcome of outcomes) {
    const { taken } = outcome
    const unused = unusedBy(outcome)
    sum.held += taken.cost
    sum.flightTokens += needOf(taken)
    sum.credit += unused.credit
    sum.tokens += unused.tokens
  }
  return sum
}

/**
 * Builds the report of one account, of the limits of one key or of one budget, with which these requests end, and returns what it requests. The
 * allowance shrinks to what the report keeps; with `givesBack` it keeps nothing.
 */
export function buildReport(
  stock: Stock,
  outcomes: readonly RequestOutcome[],
  givesBack: boolean,
): { report: Report; more: RequestedShare } {
  const ended = sumOf(outcomes)
  const has = {
    credit: stock.credit + ended.credit,
    requests: stock.requests,
    tokens: stock.tokens + ended.tokens,
    cost: stock.cost,
    need: stock.need,
  }
  const inFlight = stock.inFlight - outcomes.length
  const atHand = givesBack ? 0 : sizeOf(stock, inFlight)
  const { keep, more } = divide(has, Math.max(0, atHand - inFlight))
  const inFlightCost = stock.held - ended.held
  // Credit in an allowance is no hold, whether a request uses it or not: such a hold would outlast the request until the next report.
  const isHeld = atHand === 0
  const report = {
    id: stock.id,
    requests_back: has.requests - keep.requests,
    tokens_back: has.tokens - keep.tokens,
    held: isHeld ? inFlightCost : 0n,
    credit: isHeld ? keep.credit : keep.credit + inFlightCost,
    requests: keep.requests,
    tokens: keep.tokens + stock.flightTokens - ended.flightTokens,
    at_hand: atHand,
    cost: stock.cost,
    need: stock.need,
    more_credit: more.credit,
    more_requests: more.requests,
    more_tokens: more.tokens,
  }
  Object.assign(stock, keep, { requestsSinceReport: 0, demand: stock.demand * demandKept })
  return { report, more }
}

/** What an allowance of this many free requests keeps of what it has, and what it lacks. */
function divide(
  { credit, requests, tokens, cost, need }: Pick<Stock, keyof RequestedShare | 'cost' | 'need'>,
  free: number,
): { keep: RequestedShare; more: RequestedShare } {
  const keep = {
    credit: least(credit, BigInt(free) * cost),
    requests: Math.min(requests, free),
    tokens: Math.min(tokens, free * need),
  }
  const more = {
    credit: BigInt(free) * cost - keep.credit,
    requests: free - keep.requests,
    tokens: free * need - keep.tokens,
  }
  return { keep, more }
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
