import type { Levels, Standing } from './limits.ts'
import { costOf } from './price.ts'
import {
  emptyStock,
  hasAny,
  hasFree,
  hear,
  isOwing,
  isPlenty,
  isSteady,
  keeps,
  kept,
  learn,
  levelsOfStock,
  nothing,
  remembered,
  renewed,
  tell,
  trusted,
  type Ending,
  type More,
  type Renewal,
  type Report,
  type Stock,
  type Taken,
} from './stock.ts'
import type { AdmissionRequest } from './till.ts'

export type { Ending, Renewal, Report, Taken } from './stock.ts'

/**
 * What this instance has taken in advance of the limits and the credit of accounts in steady use. It never has more than
 * the database has put aside for it, so that whoever admits from it exceeds nothing. Nothing here is awaited.
 */
export interface Allowances {
  /** Admits from what is at hand; undefined when that does not suffice. */
  take(request: AdmissionRequest): Levels | undefined
  /** The request of that id, if it was taken and has not ended. */
  taken(requestId: string): Taken | undefined
  /** How many were taken and have not ended. */
  underWay(): number
  /** A call of `till()` that was sent at `sentAt` has told how an account's limits stand. */
  noted(accountId: string, standing: Standing, sentAt: number): void
  /** Has all that is at hand of the account given back with the next call. Returns whether there is any. */
  giveBack(accountId: string): boolean
  /** The same for all accounts. */
  giveAllBack(): boolean
  /** Whether there is something to tell although nothing ended. */
  due(): boolean
  /** What to tell with the next call, which these requests end with. */
  report(endings: readonly Ending[]): Report[]
  /** The call that was sent at `sentAt` has been answered. */
  answered(endings: readonly Ending[], renewals: readonly Renewal[], sentAt: number): void
  /** It has not, and nobody knows whether it was carried out: nothing is at hand until the next one is answered. */
  lost(): void
  /** The request ended otherwise. */
  dropped(ending: Ending): void
  /** How an account's limits stand, as far as this instance knows. */
  levels(accountId: string): Levels | undefined
  /** The same if the database told it within the last second, and undefined otherwise. */
  recentLevels(accountId: string): Levels | undefined
  /** What this instance may still admit of an account's requests and tokens. */
  atHand(accountId: string): { readonly requests: number; readonly tokens: number }
  /** A new instance starts with nothing. */
  startOver(instance: string): void
}

/** How often, in ms, it is looked whether something lies idle. */
const lookRound = 100
/** Accounts that a call tells of although nothing of them ends: after a loss that may be all there are. */
const mostTold = 500

export function createAllowances(): Allowances {
  const stocks = new Map<string, Stock>()
  let requests = new Map<string, Taken>()
  /** To be told of although nothing ends. */
  const pending = new Map<Stock, 'ask' | 'give back'>()
  /** What the reports on their way ask for. */
  let asking = new Map<Stock, More>()
  let instance = ''
  let lookedAt = -Infinity

  function stockOf(account: string): Stock {
    const known = stocks.get(account)
    if (known !== undefined) return known
    const stock = emptyStock(account)
    stocks.set(account, stock)
    return stock
  }

  /** Once: a connection that is lost while it is told of has it told of again. */
  function end({ taken }: Ending): void {
    if (!requests.delete(taken.request.requestId)) return
    const stock = stocks.get(taken.request.payer.accountId)
    if (stock === undefined || taken.instance !== instance) return
    stock.inFlight -= 1
    stock.held -= taken.cost
  }

  function renew(stock: Stock, renewal: Renewal, sentAt: number): void {
    const asked = asking.get(stock)
    const more = renewal.granted && asked !== undefined ? asked : nothing
    // What was asked for is granted once.
    asking.delete(stock)
    hear(stock, renewal)
    stock.toldAt = sentAt
    stock.granted = renewal.granted
    if (asked !== undefined) learn(stock, sentAt)
    stock.credit += more.credit
    stock.requests += more.requests
    stock.tokens += more.tokens
    stock.lent = stock.granted || hasAny(stock)
    // Too little is left for anybody to have some in advance.
    if (!stock.granted && hasFree(stock)) pending.set(stock, 'give back')
  }

  /** What has to be renewed or given back, since nothing else has told of it lately. */
  function lookAround(now: number): void {
    if (now - lookedAt < lookRound) return
    lookedAt = now
    for (const [account, stock] of stocks) {
      if (isOwing(stock) && now - stock.toldAt > renewed) pending.set(stock, isSteady(stock) ? 'ask' : 'give back')
      else if (!stock.lent && stock.inFlight === 0 && now - stock.askedAt > remembered) stocks.delete(account)
    }
  }

  return Object.freeze({
    take(request: AdmissionRequest) {
      const stock = stockOf(request.payer.accountId)
      const cost = costOf(request.price, request.inputTokens, request.maxOutputTokens)
      const need = request.inputTokens + request.maxOutputTokens
      const now = performance.now()
      stock.streak = now - stock.askedAt > kept ? 1 : stock.streak + 1
      stock.asked += 1
      stock.askedAt = now
      stock.cost = cost
      stock.need = need
      if (!stock.granted || now - stock.toldAt > trusted) return undefined
      if (stock.requests < 1 || stock.tokens < need || stock.credit < cost) return undefined
      stock.requests -= 1
      stock.tokens -= need
      stock.credit -= cost
      stock.inFlight += 1
      stock.held += cost
      const levels = levelsOfStock(stock)
      requests.set(request.requestId, { request, cost, levels, instance, ending: undefined })
      return levels
    },
    taken: (requestId: string) => requests.get(requestId),
    underWay: () => requests.size,
    noted(accountId: string, standing: Standing, sentAt: number) {
      const stock = stocks.get(accountId)
      if (stock === undefined) return
      hear(stock, standing)
      // Who has been refused an allowance waits a second before the next try.
      if (!stock.granted && sentAt - stock.refusedAt > trusted && isSteady(stock) && isPlenty(stock)) {
        pending.set(stock, 'ask')
      }
    },
    giveBack(accountId: string) {
      const stock = stocks.get(accountId)
      if (stock === undefined || !keeps(stock)) return false
      pending.set(stock, 'give back')
      return true
    },
    giveAllBack() {
      for (const stock of stocks.values()) if (isOwing(stock)) pending.set(stock, 'give back')
      return pending.size > 0
    },
    due() {
      lookAround(performance.now())
      return pending.size > 0
    },
    report(endings: readonly Ending[]) {
      const byStock = new Map<Stock, Ending[]>([...pending.keys()].slice(0, mostTold).map((stock) => [stock, []]))
      for (const ending of endings) {
        const stock = stockOf(ending.taken.request.payer.accountId)
        const others = byStock.get(stock)
        if (others === undefined) byStock.set(stock, [ending])
        else others.push(ending)
      }
      return [...byStock].map(([stock, ended]) => {
        const { report, more } = tell(stock, ended, pending.get(stock) === 'give back')
        pending.delete(stock)
        if (report.at_hand > 0) asking.set(stock, more)
        // Granted or not: the answer may never arrive.
        if (report.at_hand > 0) stock.lent = true
        return report
      })
    },
    answered(endings: readonly Ending[], renewals: readonly Renewal[], sentAt: number) {
      endings.forEach(end)
      for (const renewal of renewals) renew(stockOf(renewal.id), renewal, sentAt)
      // A Map that has grown old makes itself anew among what is old, and its garbage there keeps all that it held, whole
      // requests, until everything is collected. One that is young takes its garbage with it.
      asking = new Map()
      requests = new Map(requests)
    },
    lost() {
      asking = new Map()
      for (const stock of stocks.values()) {
        Object.assign(stock, nothing, { granted: false })
        if (stock.lent) pending.set(stock, 'give back')
      }
    },
    dropped(ending: Ending) {
      end(ending)
      const stock = stocks.get(ending.taken.request.payer.accountId)
      if (stock?.lent) pending.set(stock, 'give back')
    },
    levels(accountId: string) {
      const stock = stocks.get(accountId)
      return stock && levelsOfStock(stock)
    },
    recentLevels(accountId: string) {
      const stock = stocks.get(accountId)
      return stock && performance.now() - stock.heardAt <= trusted ? levelsOfStock(stock) : undefined
    },
    atHand: (accountId: string) => stocks.get(accountId) ?? nothing,
    startOver(id: string) {
      instance = id
      stocks.clear()
      pending.clear()
      asking = new Map()
    },
  })
}
