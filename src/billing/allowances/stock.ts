import { projectLevels, unit, type Levels, type OwnLevels, type Standing } from '../till/limits.ts'
import type { HoldRequest } from '../till/till.ts'

/** A request that was admitted from an allowance. */
export interface AdmittedRequest {
  readonly request: HoldRequest
  /** The most it can cost. */
  readonly cost: bigint
  /** The levels after its admission. */
  readonly levels: Levels | undefined
  /** The instance that admitted it. If that instance was reaped, the request can no longer be charged. */
  readonly instance: string
  /** Set when it begins to end. Resolves with whether the charge or the release took effect. */
  settling: Promise<boolean> | undefined
}

/** How a request admitted from an allowance ends: charged, moved or released. */
export interface RequestOutcome {
  readonly taken: AdmittedRequest
  /** Its hold moves to `till()`, with everything it took. */
  readonly moves?: true
  readonly charge?: { readonly cost: bigint; readonly tokens: number }
}

/** The reply of `exchange_timed()` for one account, the limits of one key, or one budget. */
export interface Renewal extends Standing {
  readonly id: string
  readonly granted: boolean
}

/** Milliseconds for which an allowance and an account's levels may be used after they were read. */
export const validFor = 1000
/** Milliseconds after which an allowance in use is renewed, before it expires. */
export const renewAfter = 700
/** Milliseconds without a request after which an account's allowance is returned. */
const idleAfter = 10_000
/** Milliseconds after a refusal in which no more is requested. */
const modestFor = 10_000
/** Requests without such a pause after which an account is in steady use. */
const steady = 4
/** Milliseconds without a request after which an account is forgotten. */
export const forgetAfter = 60_000
/** The largest allowance, in requests. */
export const mostAtHand = 1024
/** The smallest allowance that is worth a report, in requests. */
const fewest = 2
/** A limit must have this many times an instance's allowance left. `exchange_timed()` demands the same. */
export const plenty = 100n

/** What this instance knows of one account, of the limits of one key, or of one shared budget, and its allowance of it. */
export interface Stock {
  readonly id: string
  readonly of: 'account' | 'key' | 'budget'
  /** What may still be admitted from the allowance. */
  credit: bigint
  requests: number
  tokens: number
  /** Requests admitted from the allowance that have not ended, and the most that they can cost. */
  inFlight: number
  held: bigint
  /** The tokens with which they were admitted. */
  flightTokens: number
  /** The requests in the allowance after it was last granted. */
  supply: number
  /** Requests since the last report, the time of the first of them, and the time, cost and tokens of the last one. */
  requestsSinceReport: number
  firstRequestAt: number
  lastRequestAt: number
  /** The most requests that were lately in flight at once, or expected between two reports. It declines with each report. */
  demand: number
  /** Requests in a row without a long pause. */
  streak: number
  cost: bigint
  need: number
  standing: Standing | undefined
  /** When the standing was read, and when the call that last renewed the allowance was sent; of `performance.now()`. */
  standingAt: number
  renewedAt: number
  /** Whether the last request for an allowance was granted, when one was last refused, and when and how much to request next. */
  granted: boolean
  refusedAt: number
  askAgainAt: number
  most: number
  /** Whether the database may have set something aside. */
  lent: boolean
}

/** What a report in flight requests. */
export interface RequestedShare {
  readonly credit: bigint
  readonly requests: number
  readonly tokens: number
}

export const nothing: RequestedShare = { credit: 0n, requests: 0, tokens: 0 }

export function emptyStock(id: string, of: Stock['of']): Stock {
  return {
    id,
    of,
    ...nothing,
    inFlight: 0,
    held: 0n,
    flightTokens: 0,
    supply: 0,
    requestsSinceReport: 0,
    firstRequestAt: -Infinity,
    lastRequestAt: -Infinity,
    demand: 0,
    streak: 0,
    cost: 0n,
    need: 0,
    standing: undefined,
    standingAt: -Infinity,
    renewedAt: -Infinity,
    granted: false,
    refusedAt: -Infinity,
    askAgainAt: -Infinity,
    most: mostAtHand,
    lent: false,
  }
}

const hasFree = (stock: Stock): boolean => stock.requests > 0 || stock.tokens > 0 || stock.credit > 0n
/** Whether the database has set requests or tokens aside for it. */
export const hasAllowance = (stock: Stock): boolean => stock.granted || hasFree(stock)
/** Whether the database may have set aside more than the requests in flight need. */
export const hasSurplus = (stock: Stock): boolean => hasAllowance(stock) || (stock.lent && stock.inFlight === 0)
export const hasAny = (stock: Stock): boolean => stock.inFlight > 0 || hasFree(stock)

export const isSteady = (stock: Stock): boolean =>
  stock.streak >= steady && performance.now() - stock.lastRequestAt <= idleAfter

/**
 * After a refusal, the next request for an allowance is at most half of the one for `atHand` requests, and after a refusal of the smallest
 * one a second later. A grant doubles the bound, unless a refusal was too recent: what is left of credit and limits seldom grows.
 */
export function adjustMost(stock: Stock, atHand: number, sentAt: number): void {
  if (!stock.granted) {
    stock.most = Math.max(fewest, Math.floor(atHand / 2))
    stock.refusedAt = sentAt
    stock.askAgainAt = atHand > fewest ? sentAt : sentAt + validFor
  } else if (sentAt - stock.refusedAt > modestFor) stock.most = Math.min(mostAtHand, stock.most * 2)
}

export function noteStanding(stock: Stock, standing: Standing): void {
  stock.standing = standing
  stock.standingAt = performance.now()
}

/** Whether the limits have enough left for `exchange_timed()` to grant an allowance. */
export function isPlenty({ standing, need }: Stock): boolean {
  if (standing === undefined) return false
  const few = plenty * 2n * unit
  const { requests_per_minute: rpm, tokens_per_minute: tpm } = standing
  return (rpm === null || standing.request_level >= few) && (tpm === null || standing.token_level >= few * BigInt(need))
}

export function levelsOfStock({ standing, standingAt, requests, tokens }: Stock): OwnLevels | undefined {
  if (standing === undefined) return undefined
  return projectLevels(standing, performance.now() - standingAt, { requests, tokens })
}

/** Whether the allowance may be used. */
const isValid = (stock: Stock, now: number): boolean => stock.granted && now - stock.renewedAt <= validFor

export function isCovered(stock: Stock, cost: bigint, need: number, now: number): boolean {
  return isValid(stock, now) && stock.requests >= 1 && stock.tokens >= need && stock.credit >= cost
}

/** Notes a request, whether the allowance covers it or not. */
export function noteRequest(stock: Stock, cost: bigint, need: number, now: number): void {
  stock.streak = now - stock.lastRequestAt > idleAfter ? 1 : stock.streak + 1
  if (stock.requestsSinceReport === 0) stock.firstRequestAt = now
  stock.requestsSinceReport += 1
  stock.lastRequestAt = now
  stock.cost = cost
  stock.need = need
}

/** Notes a request that the allowance did not cover. If that is because it was too small, the next one is larger. */
export function noteShortage(stock: Stock, now: number): void {
  if (isValid(stock, now)) stock.demand += 1
}

/** Takes a covered request from the allowance. */
export function takeRequest(stock: Stock, cost: bigint, need: number): void {
  stock.requests -= 1
  stock.tokens -= need
  stock.credit -= cost
  stock.inFlight += 1
  stock.held += cost
  stock.flightTokens += need
  stock.demand = Math.max(stock.demand, stock.inFlight)
}

/** The tokens with which a request was admitted. */
export const needOf = ({ request }: AdmittedRequest): number => request.inputTokens + request.maxOutputTokens

/** What a request that ends did not use of what it took. A hold that moves takes everything with it. */
export function unusedBy({ taken, charge, moves }: RequestOutcome): {
  readonly credit: bigint
  readonly tokens: number
} {
  if (moves) return nothing
  return { credit: taken.cost - (charge?.cost ?? 0n), tokens: needOf(taken) - (charge?.tokens ?? 0) }
}

/** Ends a request in flight. With `returns`, the allowance gets back what it did not use. */
export function endRequest(stock: Stock, outcome: RequestOutcome, returns: boolean): void {
  const { taken } = outcome
  stock.inFlight -= 1
  stock.held -= taken.cost
  stock.flightTokens -= needOf(taken)
  if (!returns) return
  const unused = unusedBy(outcome)
  stock.credit += unused.credit
  stock.tokens += unused.tokens
}

/** Whether most of the allowance is used. */
export const isLow = (stock: Stock): boolean =>
  stock.granted && (stock.requests < 2 || stock.requests * 4 < stock.supply)
