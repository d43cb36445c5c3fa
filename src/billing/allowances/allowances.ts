import { buildReport, type Report, type Reports } from './allowance-reports.ts'
import { tighterLevels, type Levels, type OwnLevels, type Standing } from '../till/limits.ts'
import type { Payer } from '../payer.ts'
import { holdCostOf } from '../till/hold-item.ts'
import {
  adjustMost,
  emptyStock,
  endRequest,
  forgetAfter,
  hasAllowance,
  hasAny,
  hasSurplus,
  isCovered,
  isLow,
  isPlenty,
  isSteady,
  levelsOfStock,
  noteRequest,
  noteShortage,
  noteStanding,
  nothing,
  renewAfter,
  takeRequest,
  validFor,
  type AdmittedRequest,
  type RequestedShare,
  type Renewal,
  type RequestOutcome,
  type Stock,
} from './stock.ts'
import type { HoldRequest } from '../till/till.ts'

export type { RequestOutcome, Renewal, AdmittedRequest } from './stock.ts'

/** Milliseconds between two searches for allowances to renew or return. */
const lookPause = 100
/** The most reports without ended requests in one call. After a lost connection there can be very many. */
const mostReported = 500

/**
 * The allowances of this instance: the part of limits and credit, of accounts, of keys with limits of their own and of shared budgets,
 * that it has taken in advance. The database has set aside at least as much, so nothing admitted from them exceeds a limit or a credit. No method waits.
 */
export class Allowances {
  /** By the id of the account, of the limits of the key, or of the budget. */
  readonly #stocks = new Map<string, Stock>()
  #requests = new Map<string, AdmittedRequest>()
  /** What to report with the next call, and whether to keep anything of it. */
  readonly #pending = new Map<Stock, 'ask' | 'give back'>()
  /** What the reports in flight request, and for how many requests in all. */
  #asking = new Map<Stock, RequestedShare & { readonly atHand: number }>()
  /** What is reported by the call in flight, together with the requests that end with it. */
  #reported: ReadonlySet<Stock> = new Set()
  #instance = ''
  #lookedAt = -Infinity

  /** Admits a request that the allowance of its account covers, and those of its key and its budgets. Returns undefined for any other. */
  take(request: HoldRequest): Levels | undefined {
    const { payer, inputTokens, maxOutputTokens } = request
    const stocks = this.#stocksOf(payer)
    const cost = holdCostOf(request)
    const need = inputTokens + maxOutputTokens
    const now = performance.now()
    let isShort = false
    for (const stock of stocks) {
      noteRequest(stock, cost, need, now)
      if (isCovered(stock, cost, need, now)) continue
      noteShortage(stock, now)
      isShort = true
    }
    if (isShort) return undefined
    for (const stock of stocks) {
      takeRequest(stock, cost, need)
      this.#renewIfLow(stock)
    }
    const levels = this.levelsFor(payer)
    this.#requests.set(request.requestId, { request, cost, levels, instance: this.#instance, settling: undefined })
    return levels
  }

  /** Not while a report is in flight: the next one would follow it at once, find next to no requests since, and ask for few. */
  #renewIfLow(stock: Stock): void {
    if (isLow(stock) && !this.#asking.has(stock)) this.#pending.set(stock, 'ask')
  }

  /** Whether the allowances cover a request now. */
  covers(request: HoldRequest): boolean {
    const { payer, inputTokens, maxOutputTokens } = request
    const cost = holdCostOf(request)
    const now = performance.now()
    return idsOf(payer).every((id) => {
      const stock = this.#stocks.get(id)
      return stock && isCovered(stock, cost, inputTokens + maxOutputTokens, now)
    })
  }

  /** The request with that id, if it was admitted from an allowance and has not ended. */
  taken(requestId: string): AdmittedRequest | undefined {
    return this.#requests.get(requestId)
  }

  /** The number of requests that were admitted from allowances and have not ended. */
  inFlight(): number {
    return this.#requests.size
  }

  /** Notes the levels of an account or a key from the answer of a `till()` call that was sent at `sentAt`. */
  noted(id: string, standing: Standing | undefined, sentAt: number): void {
    const stock = this.#stocks.get(id)
    if (stock === undefined || standing === undefined) return
    noteStanding(stock, standing)
    if (!stock.granted && sentAt > stock.askAgainAt && isSteady(stock) && isPlenty(stock)) {
      this.#pending.set(stock, 'ask')
    }
  }

  /** Returns the allowance of an account, a key or a budget with the next call. Returns whether there is one. */
  giveBack(id: string): boolean {
    const stock = this.#stocks.get(id)
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

  /**
   * The reports for the next call, with which these requests end. None if their allowances are still good: then the charges need only be
   * written, and what the requests did not use stays with the allowances.
   */
  report(outcomes: readonly RequestOutcome[]): Reports {
    const ending = new Map<Stock, RequestOutcome[]>()
    for (const outcome of outcomes) {
      for (const stock of this.#stocksOf(outcome.taken.request.payer)) {
        const others = ending.get(stock)
        if (others === undefined) ending.set(stock, [outcome])
        else others.push(outcome)
        if ((outcome.moves || !stock.granted) && !this.#pending.has(stock)) this.#pending.set(stock, 'ask')
      }
    }
    const isEnding = (stock: Stock) => ending.has(stock)
    const all = [...this.#pending.keys()]
    const stocks = [...all.filter(isEnding), ...all.filter((stock) => !isEnding(stock)).slice(0, mostReported)]
    this.#reported = new Set(stocks)
    const reportsOf = (of: Stock['of']) =>
      stocks
        .filter((stock) => stock.of === of)
        .map((stock) => this.#sent(stock, buildReport(stock, ending.get(stock) ?? [], this.#givesBack(stock))))
    return { accounts: reportsOf('account'), keys: reportsOf('key'), budgets: reportsOf('budget') }
  }

  #stocksOf({ accountId, limitId, budgets }: Payer): Stock[] {
    const stocks = [this.#stockOf(accountId, 'account')]
    if (limitId !== undefined) stocks.push(this.#stockOf(limitId, 'key'))
    if (budgets !== undefined) for (const { id } of budgets) stocks.push(this.#stockOf(id, 'budget'))
    return stocks
  }

  #givesBack(stock: Stock): boolean {
    return this.#pending.get(stock) === 'give back'
  }

  #sent(stock: Stock, { report, more }: { report: Report; more: RequestedShare }): Report {
    this.#pending.delete(stock)
    if (report.at_hand > 0) this.#asking.set(stock, { ...more, atHand: report.at_hand })
    // Granted or not: the response may never arrive.
    if (report.at_hand > 0) stock.lent = true
    return report
  }

  /** Applies the response to the call that was sent at `sentAt`. */
  answered(outcomes: readonly RequestOutcome[], renewals: readonly Renewal[], sentAt: number): void {
    for (const outcome of outcomes) this.#end(outcome, (stock) => !this.#reported.has(stock))
    for (const renewal of renewals) this.#renew(renewal, sentAt)
    const renewed = new Set(renewals.map(({ id }) => id))
    // The key no longer has limits of its own, or the budget was removed.
    for (const { id, of } of this.#reported) if (of !== 'account' && !renewed.has(id)) this.#stocks.delete(id)
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
    this.#end(outcome, () => false)
    this.kept(outcome)
  }

  /** The database refused the end of the request, and the reports in the same call. */
  kept(outcome: RequestOutcome): void {
    for (const id of idsOf(outcome.taken.request.payer)) {
      const stock = this.#stocks.get(id)
      if (stock?.lent) this.#pending.set(stock, 'give back')
    }
  }

  /** The levels of an account or a key, as known to this instance. */
  levels(id: string): OwnLevels | undefined {
    const stock = this.#stocks.get(id)
    return stock && levelsOfStock(stock)
  }

  /** The levels of a payer: those of the key where it has less left. */
  levelsFor({ accountId, limitId }: Payer): Levels | undefined {
    return tighterLevels(this.levels(accountId), limitId === undefined ? undefined : this.levels(limitId))
  }

  /** The levels of an account or a key if the database sent them within the last second, and undefined otherwise. */
  recentLevels(id: string): OwnLevels | undefined {
    const stock = this.#stocks.get(id)
    return stock && performance.now() - stock.standingAt <= validFor ? levelsOfStock(stock) : undefined
  }

  /** What this instance may still admit from its allowance of an account or a key. */
  atHand(id: string): RequestedShare {
    return this.#stocks.get(id) ?? nothing
  }

  /** Drops all allowances and continues as a new instance. */
  startOver(instance: string): void {
    this.#instance = instance
    this.#stocks.clear()
    this.#pending.clear()
    this.#asking = new Map()
  }

  #stockOf(id: string, of: Stock['of']): Stock {
    const known = this.#stocks.get(id)
    if (known !== undefined) return known
    const stock = emptyStock(id, of)
    this.#stocks.set(id, stock)
    return stock
  }

  /** Idempotent: reported again after a lost connection. */
  #end(outcome: RequestOutcome, returns: (stock: Stock) => boolean): void {
    const { taken } = outcome
    if (!this.#requests.delete(taken.request.requestId) || taken.instance !== this.#instance) return
    for (const id of idsOf(taken.request.payer)) {
      const stock = this.#stocks.get(id)
      if (stock) endRequest(stock, outcome, returns(stock))
    }
  }

  #renew(renewal: Renewal, sentAt: number): void {
    const stock = this.#stocks.get(renewal.id)
    if (stock === undefined) return
    const requested = this.#asking.get(stock)
    const more = renewal.granted && requested !== undefined ? requested : nothing
    // A request for an allowance is granted once.
    this.#asking.delete(stock)
    noteStanding(stock, renewal)
    stock.renewedAt = sentAt
    stock.granted = renewal.granted
    if (requested !== undefined) adjustMost(stock, requested.atHand, sentAt)
    stock.credit += more.credit
    stock.requests += more.requests
    stock.tokens += more.tokens
    stock.supply = stock.requests
    stock.lent = stock.granted || hasAny(stock)
    // Too little is left for any instance to have an allowance: only what its requests in flight hold stays.
    if (!stock.granted && requested !== undefined && hasAny(stock)) this.#pending.set(stock, 'give back')
  }

  /**
   * Finds the allowances that no call has renewed lately, and forgets accounts and keys that are no longer used. If one is due, those that
   * soon would be are reported with it: a report makes the database add up all charges, whomever they are of.
   */
  #look(now: number): void {
    if (now - this.#lookedAt < lookPause) return
    this.#lookedAt = now
    const soon: Stock[] = []
    let isDue = false
    for (const [id, stock] of this.#stocks) {
      const age = now - stock.renewedAt
      if (hasSurplus(stock)) {
        if (age > renewAfter / 2) soon.push(stock)
        if (age > renewAfter) isDue = true
      } else if (!stock.lent && stock.inFlight === 0 && now - stock.lastRequestAt > forgetAfter) this.#stocks.delete(id)
    }
    if (isDue) for (const stock of soon) this.#pending.set(stock, isSteady(stock) ? 'ask' : 'give back')
  }
}

/** The ids of what a request needs an allowance of. */
function idsOf({ accountId, limitId, budgets }: Payer): string[] {
  const ids = [accountId]
  if (limitId !== undefined) ids.push(limitId)
  if (budgets !== undefined) for (const { id } of budgets) ids.push(id)
  return ids
}

export const createAllowances = (): Allowances => new Allowances()
