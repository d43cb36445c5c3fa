import type { Levels, Standing } from './limits.ts'
import { mostCostOf } from './price.ts'
import {
  emptyStock,
  hasAny,
  hasFree,
  noteStanding,
  hasSurplus,
  isPlenty,
  isSteady,
  hasAllowance,
  idleAfter,
  adjustMost,
  levelsOfStock,
  nothing,
  forgetAfter,
  renewAfter,
  buildReport,
  validFor,
  type RequestOutcome,
  type More,
  type Renewal,
  type Report,
  type Stock,
  type AdmittedRequest,
} from './stock.ts'
import type { AdmissionRequest } from './till.ts'

export type { RequestOutcome, Renewal, Report, AdmittedRequest } from './stock.ts'

/** Milliseconds between two searches for idle allowances. */
const lookPause = 100
/** The most accounts without ended requests in one call. After a lost connection there can be very many. */
const mostReported = 500

/**
 * The allowances of this instance: the part of accounts' limits and credit that it has taken in advance. The database has
 * set aside at least as much, so nothing admitted from them exceeds a limit or a credit. No method waits.
 */
export class Allowances {
  readonly #stocks = new Map<string, Stock>()
  #requests = new Map<string, AdmittedRequest>()
  /** Accounts to report although none of their requests ends. */
  readonly #pending = new Map<Stock, 'ask' | 'give back'>()
  /** What the reports in flight request. */
  #asking = new Map<Stock, More>()
  #instance = ''
  #lookedAt = -Infinity

  /** Admits a request from the account's allowance. Returns undefined if that does not cover it. */
  take(request: AdmissionRequest): Levels | undefined {
    const stock = this.#stockOf(request.payer.accountId)
    const cost = mostCostOf(request.price, request.inputTokens, request.maxOutputTokens)
    const need = request.inputTokens + request.maxOutputTokens
    const now = performance.now()
    noteRequest(stock, cost, need, now)
    if (!isCovered(stock, cost, need, now)) return undefined
    stock.requests -= 1
    stock.tokens -= need
    stock.credit -= cost
    stock.inFlight += 1
    stock.held += cost
    const levels = levelsOfStock(stock)
    this.#requests.set(request.requestId, { request, cost, levels, instance: this.#instance, settling: undefined })
    return levels
  }

  /** Whether the account's allowance covers a request now. */
  covers({ payer, price, inputTokens, maxOutputTokens }: AdmissionRequest): boolean {
    const stock = this.#stocks.get(payer.accountId)
    const cost = mostCostOf(price, inputTokens, maxOutputTokens)
    return stock !== undefined && isCovered(stock, cost, inputTokens + maxOutputTokens, performance.now())
  }

  /** The request with that id, if it was admitted from an allowance and has not ended. */
  taken(requestId: string): AdmittedRequest | undefined {
    return this.#requests.get(requestId)
  }

  /** The number of requests that were admitted from allowances and have not ended. */
  underWay(): number {
    return this.#requests.size
  }

  /** Notes the levels of an account from the answer of a `till()` call that was sent at `sentAt`. */
  noted(accountId: string, standing: Standing, sentAt: number): void {
    const stock = this.#stocks.get(accountId)
    if (stock === undefined) return
    noteStanding(stock, standing)
    // After a refused allowance, the next attempt is a second later.
    if (!stock.granted && sentAt - stock.refusedAt > validFor && isSteady(stock) && isPlenty(stock)) {
      this.#pending.set(stock, 'ask')
    }
  }

  /** Returns the account's allowance with the next call. Returns whether there is one. */
  giveBack(accountId: string): boolean {
    const stock = this.#stocks.get(accountId)
    if (stock === undefined || !hasAllowance(stock)) return false
    this.#pending.set(stock, 'give back')
    return true
  }

  /** Returns all allowances with the next call. Returns whether there is anything to report. */
  giveAllBack(): boolean {
    for (const stock of this.#stocks.values()) if (hasSurplus(stock)) this.#pending.set(stock, 'give back')
    return this.#pending.size > 0
  }

  /** Whether there is something to report although no request ends. */
  due(): boolean {
    this.#look(performance.now())
    return this.#pending.size > 0
  }

  /** The reports for the next call, with which these requests end. */
  report(outcomes: readonly RequestOutcome[]): Report[] {
    const byStock = new Map<Stock, RequestOutcome[]>(
      [...this.#pending.keys()].slice(0, mostReported).map((it) => [it, []]),
    )
    for (const outcome of outcomes) {
      const stock = this.#stockOf(outcome.taken.request.payer.accountId)
      const others = byStock.get(stock)
      if (others === undefined) byStock.set(stock, [outcome])
      else others.push(outcome)
    }
    return [...byStock].map(([stock, ended]) => this.#reportOf(stock, ended))
  }

  #reportOf(stock: Stock, ended: readonly RequestOutcome[]): Report {
    const { report, more } = buildReport(stock, ended, this.#pending.get(stock) === 'give back')
    this.#pending.delete(stock)
    if (report.at_hand > 0) this.#asking.set(stock, more)
    // Granted or not: the response may never arrive.
    if (report.at_hand > 0) stock.lent = true
    return report
  }

  /** Applies the response to the call that was sent at `sentAt`. */
  answered(outcomes: readonly RequestOutcome[], renewals: readonly Renewal[], sentAt: number): void {
    for (const outcome of outcomes) this.#end(outcome)
    for (const renewal of renewals) this.#renew(this.#stockOf(renewal.id), renewal, sentAt)
    // A Map that has grown old rehashes into old space, where its garbage keeps whole requests until a full collection.
    // The garbage of a young one is collected with it.
    this.#asking = new Map()
    this.#requests = new Map(this.#requests)
  }

  /** The outcome of a call is unknown: no allowance is used until the next call returns. */
  lost(): void {
    this.#asking = new Map()
    for (const stock of this.#stocks.values()) {
      Object.assign(stock, nothing, { granted: false })
      if (stock.lent) this.#pending.set(stock, 'give back')
    }
  }

  /** The request ended in another way. */
  dropped(outcome: RequestOutcome): void {
    this.#end(outcome)
    const stock = this.#stocks.get(outcome.taken.request.payer.accountId)
    if (stock?.lent) this.#pending.set(stock, 'give back')
  }

  /** The account's levels, as known to this instance. */
  levels(accountId: string): Levels | undefined {
    const stock = this.#stocks.get(accountId)
    return stock && levelsOfStock(stock)
  }

  /** The same if the database sent them within the last second, and undefined otherwise. */
  recentLevels(accountId: string): Levels | undefined {
    const stock = this.#stocks.get(accountId)
    return stock && performance.now() - stock.standingAt <= validFor ? levelsOfStock(stock) : undefined
  }

  /** What this instance may still admit of an account's requests and tokens. */
  atHand(accountId: string): { readonly requests: number; readonly tokens: number } {
    return this.#stocks.get(accountId) ?? nothing
  }

  /** Drops all allowances and continues as a new instance. */
  startOver(instance: string): void {
    this.#instance = instance
    this.#stocks.clear()
    this.#pending.clear()
    this.#asking = new Map()
  }

  #stockOf(account: string): Stock {
    const known = this.#stocks.get(account)
    if (known !== undefined) return known
    const stock = emptyStock(account)
    this.#stocks.set(account, stock)
    return stock
  }

  /** Idempotent: reported again after a lost connection. */
  #end({ taken }: RequestOutcome): void {
    if (!this.#requests.delete(taken.request.requestId)) return
    const stock = this.#stocks.get(taken.request.payer.accountId)
    if (stock === undefined || taken.instance !== this.#instance) return
    stock.inFlight -= 1
    stock.held -= taken.cost
  }

  #renew(stock: Stock, renewal: Renewal, sentAt: number): void {
    const requested = this.#asking.get(stock)
    const more = renewal.granted && requested !== undefined ? requested : nothing
    // A request for an allowance is granted once.
    this.#asking.delete(stock)
    noteStanding(stock, renewal)
    stock.renewedAt = sentAt
    stock.granted = renewal.granted
    if (requested !== undefined) adjustMost(stock, sentAt)
    stock.credit += more.credit
    stock.requests += more.requests
    stock.tokens += more.tokens
    stock.lent = stock.granted || hasAny(stock)
    // Too little is left for any instance to have an allowance.
    if (!stock.granted && hasFree(stock)) this.#pending.set(stock, 'give back')
  }

  /** Finds the allowances that no call has renewed lately, and forgets accounts that are no longer used. */
  #look(now: number): void {
    if (now - this.#lookedAt < lookPause) return
    this.#lookedAt = now
    for (const [account, stock] of this.#stocks) {
      if (hasSurplus(stock) && now - stock.renewedAt > renewAfter)
        this.#pending.set(stock, isSteady(stock) ? 'ask' : 'give back')
      else if (!stock.lent && stock.inFlight === 0 && now - stock.lastRequestAt > forgetAfter)
        this.#stocks.delete(account)
    }
  }
}

export const createAllowances = (): Allowances => new Allowances()

function isCovered(stock: Stock, cost: bigint, need: number, now: number): boolean {
  if (!stock.granted || now - stock.renewedAt > validFor) return false
  return stock.requests >= 1 && stock.tokens >= need && stock.credit >= cost
}

function noteRequest(stock: Stock, cost: bigint, need: number, now: number): void {
  stock.streak = now - stock.lastRequestAt > idleAfter ? 1 : stock.streak + 1
  stock.requestsSinceReport += 1
  stock.lastRequestAt = now
  stock.cost = cost
  stock.need = need
}
