import { levelsAt, unit, type Levels, type Standing } from './limits.ts'
import type { AdmissionRequest } from './till.ts'

/** A request that was admitted from what this instance has at hand. */
export interface Taken {
  readonly request: AdmissionRequest
  /** The most it can cost. */
  readonly cost: bigint
  /** How the limits stood after that. */
  readonly levels: Levels | undefined
  /** Who took it. What an instance took that was given up is nobody's to charge. */
  readonly instance: string
  /** Under way from when it begins to end: whether it ended as asked. */
  ending: Promise<boolean> | undefined
}

/** How a taken request ends: charged, or else given back. */
export interface Ending {
  readonly taken: Taken
  readonly charge?: { readonly cost: bigint; readonly tokens: number }
}

/** What `exchange()` is told of one account: the type account_report. */
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

/** What `exchange()` answers for one account. */
export interface Renewal extends Standing {
  readonly id: string
  readonly granted: boolean
}

/** For so many ms it is relied upon how an account stood … */
export const trusted = 1000
/** … so that it is asked again after as many, while it is in use. */
export const renewed = 700
/** What an account has not asked for within so many ms is given back. */
export const kept = 10_000
/** In steady use is who has asked so often, with no longer pause. */
const steady = 4
/** An account that has not asked for so many ms is forgotten. */
export const remembered = 60_000
const mostAtHand = 1024
/** What is left of a limit has to be so many times what an instance may have at hand; the database demands it too. */
const plenty = 100n

/** Of one account. */
export interface Stock {
  readonly account: string
  /** What may still be taken. */
  credit: bigint
  requests: number
  tokens: number
  /** Requests that were taken and have not ended, and the most that they can cost. */
  inFlight: number
  held: bigint
  /** Requests that asked since the last report, and what the last of them needs. */
  asked: number
  askedAt: number
  /** How often it has asked without a long pause. */
  streak: number
  cost: bigint
  need: number
  standing: Standing | undefined
  /** When the standing came, and when the last report that was answered was sent; of `performance.now()`. */
  heardAt: number
  toldAt: number
  /** Whether the last report got what it asked for, when one last did not, and how much is worth asking for. */
  granted: boolean
  refusedAt: number
  most: number
  /** Whether the database may have put something aside. */
  lent: boolean
}

/** What a report on its way asks for. */
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
    asked: 0,
    askedAt: -Infinity,
    streak: 0,
    cost: 0n,
    need: 0,
    standing: undefined,
    heardAt: -Infinity,
    toldAt: -Infinity,
    granted: false,
    refusedAt: -Infinity,
    most: mostAtHand,
    lent: false,
  }
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
export const hasFree = (stock: Stock): boolean => stock.requests > 0 || stock.tokens > 0 || stock.credit > 0n
/** Whether requests or tokens are put aside for it. */
export const keeps = (stock: Stock): boolean => stock.granted || hasFree(stock)
/** Whether more is put aside for it than its requests in flight need. */
export const isOwing = (stock: Stock): boolean => keeps(stock) || (stock.lent && stock.inFlight === 0)
export const hasAny = (stock: Stock): boolean => stock.inFlight > 0 || hasFree(stock)

export const isSteady = (stock: Stock): boolean => stock.streak >= steady && performance.now() - stock.askedAt <= kept

/**
 * How many requests an instance should be able to admit, those in flight included: as many as asked lately, and one. A
 * power of two, so that what the database has put aside seldom changes.
 */
function sizeOf(stock: Stock, inFlight: number): number {
  if (!isSteady(stock)) return 0
  const wanted = Math.max(stock.asked, inFlight) + 1
  return Math.min(stock.most, Math.max(2, 2 ** Math.ceil(Math.log2(wanted))))
}

function sumOf(endings: readonly Ending[]) {
  let charged = 0n
  let held = 0n
  let unused = 0
  for (const { taken, charge } of endings) {
    held += taken.cost
    charged += charge?.cost ?? 0n
    unused += taken.request.inputTokens + taken.request.maxOutputTokens - (charge?.tokens ?? 0)
  }
  return { charged, held, unused }
}

/** What was refused whole may be granted by half; who is granted that may ask for more again. */
export function learn(stock: Stock, sentAt: number): void {
  stock.most = stock.granted ? Math.min(mostAtHand, stock.most * 2) : Math.max(2, stock.most / 2)
  if (!stock.granted) stock.refusedAt = sentAt
}

export function hear(stock: Stock, standing: Standing): void {
  stock.standing = standing
  stock.heardAt = performance.now()
}

/** Whether it is worth asking for an allowance. */
export function isPlenty({ standing, need }: Stock): boolean {
  if (standing === undefined) return false
  const few = plenty * 2n * unit
  return standing.request_level >= few && standing.token_level >= few * BigInt(need)
}

export function levelsOfStock({ standing, heardAt, requests, tokens }: Stock): Levels | undefined {
  if (standing === undefined) return undefined
  return levelsAt(standing, performance.now() - heardAt, { requests, tokens })
}

/**
 * What to tell of one account when these requests of it end, and what that asks for. From now on only what is told is at
 * hand. With `givesBack` that is nothing.
 */
export function tell(stock: Stock, endings: readonly Ending[], givesBack: boolean): { report: Report; more: More } {
  const ended = sumOf(endings)
  const inFlight = stock.inFlight - endings.length
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
  Object.assign(stock, keep, { asked: 0 })
  return { report, more }
}
