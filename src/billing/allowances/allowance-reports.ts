import { unit } from '../till/limits.ts'
import { isSteady, plenty, renewAfter, type RequestedShare, type RequestOutcome, type Stock } from './stock.ts'

/** What the reports of an account and of a key have in common. */
interface AllowanceReport {
  readonly requests_back: number
  readonly tokens_back: number
  readonly held: bigint
  readonly credit: bigint
  readonly requests: number
  /** In the report of a key, with those of its requests in flight. */
  readonly tokens: number
  readonly at_hand: number
  readonly cost: bigint
  readonly need: number
  readonly more_credit: bigint
  readonly more_requests: number
  readonly more_tokens: number
}

/** The report of one account to `exchange_timed()`: the type account_report. */
export interface Report extends AllowanceReport {
  readonly account: string
  readonly charged: bigint
}

/** The report of the limits of one key to `exchange_timed()`: the type key_report. */
export interface KeyReport extends AllowanceReport {
  readonly id: string
}

/** The share of a stock's demand that is left after each report. */
const demandKept = 0.95

/**
 * How many requests the allowance should cover, those in flight included: as many as were lately in flight at once or are expected
 * until the next report, and one more. Rounded up to a power of two, so that what the database sets aside seldom changes.
 */
function sizeOf(stock: Stock, inFlight: number): number {
  if (!isSteady(stock)) return 0
  const wanted = Math.ceil(Math.max(expected(stock), inFlight, stock.demand)) + 1
  return Math.min(stock.most, affordable(stock), Math.max(2, 2 ** Math.ceil(Math.log2(wanted))))
}

/**
 * An account reports with each call, so this is the number since its last report. A key reports after `renewAfter`, or when it runs low. Its
 * rate is that since its first request, not since its last report, which may have been followed by a pause.
 */
function expected({ of, requestsSinceReport, firstRequestAt, renewedAt }: Stock): number {
  if (of === 'account' || renewedAt === -Infinity) return requestsSinceReport
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

function sumOf(outcomes: readonly RequestOutcome[]) {
  let charged = 0n
  let held = 0n
  let unused = 0
  for (const { taken, charge, moves } of outcomes) {
    held += taken.cost
    if (moves) continue
    charged += charge?.cost ?? 0n
    unused += taken.request.inputTokens + taken.request.maxOutputTokens - (charge?.tokens ?? 0)
  }
  return { charged, held, unused }
}

/**
 * Builds the report of one account, with which these requests end, and returns what it requests. The allowance shrinks to
 * what the report keeps; with `givesBack` it keeps nothing.
 */
export function buildReport(
  stock: Stock,
  outcomes: readonly RequestOutcome[],
  givesBack: boolean,
): { report: Report; more: RequestedShare } {
  const ended = sumOf(outcomes)
  const inFlight = stock.inFlight - outcomes.length
  const atHand = givesBack ? 0 : sizeOf(stock, inFlight)
  const { keep, more } = divide(stock, Math.max(0, atHand - inFlight))
  const report = {
    account: stock.id,
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
  Object.assign(stock, keep, { requestsSinceReport: 0, demand: stock.demand * demandKept })
  return { report, more }
}

/** Builds the report of the limits of one key, as `buildReport` does. Requests that end now count as in flight. */
export function buildKeyReport(stock: Stock, givesBack: boolean): { report: KeyReport; more: RequestedShare } {
  const atHand = givesBack ? 0 : sizeOf(stock, stock.inFlight)
  const { keep, more } = divide(stock, Math.max(0, atHand - stock.inFlight))
  const report = {
    id: stock.id,
    requests_back: stock.requests - keep.requests,
    tokens_back: stock.tokens - keep.tokens,
    held: stock.held,
    credit: keep.credit,
    requests: keep.requests,
    tokens: keep.tokens + stock.flightTokens,
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
  { credit, requests, tokens, cost, need }: Stock,
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
