import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Database } from '../platform/database/database.ts'
import { Problem } from '../platform/problems.ts'
import type { Allowances, RequestOutcome } from './allowances.ts'
import { heartbeat, isLeaseLost, openInstance, type TillItem, type BatchItem } from './instance.ts'
import type { TillRow } from './till-row.ts'

/** The queue of calls to `till()` and `exchange()`. Items that arrive during a call go with the next one. */
export interface Batches {
  /** Sends an item to `till()`. Rejects with Problem `unavailable` after `patience` ms without the database. */
  send(kind: TillItem['kind'], payload: TillItem['payload'], patience: number): Promise<TillRow | undefined>
  /**
   * Ends a request admitted from an allowance. `charge` is its row of the type charge, or undefined to release it. Returns
   * false if this instance was reaped in the meantime, and then nothing is charged. Rejects as `send` does.
   */
  end(outcome: RequestOutcome, charge: string | undefined, patience: number): Promise<boolean>
  /** Sends what is queued and removes this instance. */
  drain(): Promise<void>
}

const mostPerCall = 256
/**
 * The share of the requests in flight that one call may carry. The process works on the others during the call; if a call
 * carried all, the next one would find an empty queue. Up to `few` items always go together.
 */
const batchShare = { share: 0.75, few: 8 }
/**
 * A call costs the database nearly the same for one item as for many. After a call of at least `items` items, the next
 * waits up to `milliseconds` for `share` of that number, unless fewer requests are in flight.
 */
const gathering = { items: 4, share: 0.75, milliseconds: 2 }
/** Milliseconds between checks for idle allowances. */
const idleCheck = 250

/** Registers this process as an instance and keeps it alive. Throws Problem `unavailable` without a database. */
export async function openBatches({
  database,
  allowances,
  log,
}: {
  database: Database
  allowances: Allowances
  log: Logger
}): Promise<Batches> {
  let queue: BatchItem[] = []
  const instance = await openInstance({ database, allowances, log })
  /** How many items the last call carried. */
  let carried = 0
  /** The queue length that ends the current pause. */
  let awaited = 1
  let closing = false
  /** When the current call began. */
  let begunAt = 0
  /** Whether the last call failed, so that an outage is logged once. */
  let isAway = false
  let wake: (() => void) | undefined

  /** After a lost connection it is unknown whether the call was committed, so its items are sent again. */
  async function recover(error: unknown, items: readonly BatchItem[]): Promise<void> {
    if (!isAway) log.warn({ err: error }, 'the till cannot reach the database')
    isAway = true
    allowances.lost()
    await instance.reset(error)
    const now = performance.now()
    const all = [...items, ...queue]
    // An item that may be charged already expires only if its last call began too late. A call that returned too late does
    // not count: this process may have slept, and the next call finds the charge.
    const isOver = ({ kind, sent, deadline }: BatchItem) => deadline <= (sent && kind !== 'admit' ? begunAt : now)
    // If the database is away during shutdown, the instance that reaps this one releases the holds.
    queue = all.filter((item) => !isOver(item) && !(closing && item.deadline === Infinity))
    for (const item of all.filter(isOver)) {
      item.reject(new Problem('unavailable', reasonOf(item), { retryAfter: 1 }))
      // An item that was not settled is still held, and an admission that was sent may be: the next call releases it. The
      // batch number keeps out a call that arrives late.
      if (item.kind === 'end') allowances.dropped(item.outcome)
      else if (item.kind === 'settle' || item.sent) queue.push(releaseOf(item.id))
    }
    await sleep(100)
  }

  /** Sends each item alone, so that one that the database refuses does not fail the others. */
  async function carryEach<Of extends BatchItem>(items: readonly Of[], carry: (items: readonly Of[]) => Promise<void>) {
    for (const [sent, item] of items.entries()) {
      try {
        await carry([item])
      } catch (error) {
        if (isTransient(error)) return recover(error, items.slice(sent))
        const id = item.kind === 'end' ? item.outcome.taken.request.requestId : item.id
        log.error({ err: error, request_id: id }, 'the till refused an item')
        if (item.kind === 'end') allowances.dropped(item.outcome)
        item.reject(error)
      }
    }
  }

  /** Returns false if the connection was lost. Then these items and the following ones are queued again. */
  async function carryAll<Of extends BatchItem>(
    items: readonly Of[],
    carry: (items: readonly Of[]) => Promise<void>,
    following: readonly BatchItem[] = [],
  ): Promise<boolean> {
    try {
      await carry(items)
      if (isAway) log.info('the till reaches the database again')
      isAway = false
      return true
    } catch (error) {
      // Without items there is nothing to send alone, and a call of the reports alone would fail again at once.
      if (!isTransient(error) && items.length > 0) {
        await carryEach(items, carry)
        return true
      }
      await recover(error, [...items, ...following])
      return false
    }
  }

  async function loop(): Promise<void> {
    for (;;) {
      if (queue.length === 0 && !closing && !allowances.due()) await idle()
      const due = closing ? allowances.giveAllBack() : allowances.due()
      if (queue.length === 0 && closing && (!due || !instance.isConnected())) return
      if (
        carried >= gathering.items &&
        queue.length < carried * gathering.share &&
        queue.length < allowances.underWay()
      ) {
        await pause(gathering.milliseconds, carried * gathering.share)
      }
      begunAt = performance.now()
      const items = queue.splice(0, batchLimit())
      carried = items.length
      const exchangeItems = items.filter((item) => item.kind === 'end')
      const tillItems = items.filter((item) => item.kind !== 'end')
      // The exchange goes first, so that the admissions of the same round can use what it returns. If its outcome is
      // unknown, they wait until it is sent again: until then an account may seem to have too little left.
      const exchanges = exchangeItems.length > 0 || due
      if (exchanges && !(await carryAll(exchangeItems, (some) => instance.exchange(some), tillItems))) continue
      if (tillItems.length > 0 || (exchangeItems.length === 0 && !due))
        await carryAll(tillItems, (some) => instance.till(some))
      await instance.reap().catch((error: unknown) => recover(error, []))
    }
  }

  /**
   * The same admission, rejected after `patience` ms even if a call with it still waits for the database. If that call
   * admits it after all, its hold is released.
   */
  function limited(item: TillItem, patience: number): TillItem {
    const timer = setTimeout(() => {
      limit.abandoned = true
      const isQueued = queue.includes(limit)
      if (isQueued) queue = queue.filter((other) => other !== limit)
      if (isQueued && limit.sent) queue.push(releaseOf(limit.id))
      item.reject(new Problem('unavailable', reasonOf(limit), { retryAfter: 1 }))
    }, patience)
    const limit: TillItem = {
      ...item,
      resolve(row) {
        clearTimeout(timer)
        if (limit.abandoned && row?.outcome === 'admitted') queue.push(releaseOf(limit.id))
        item.resolve(row)
      },
      reject(error) {
        clearTimeout(timer)
        item.reject(error)
      },
    }
    return limit
  }

  /** The most items that the next call may carry. */
  function batchLimit(): number {
    const underWay = Math.max(queue.length, allowances.underWay())
    return Math.min(mostPerCall, Math.max(batchShare.few, Math.ceil(underWay * batchShare.share)))
  }

  /** Waits for an item, for an allowance that must be reported, or for the next heartbeat. */
  async function idle(): Promise<void> {
    const until = performance.now() + heartbeat
    for (;;) {
      await pause(idleCheck, 1)
      if (queue.length > 0 || closing || allowances.due() || performance.now() > until) return
    }
  }

  /** Waits `ms` milliseconds, or until `items` items are queued. */
  async function pause(ms: number, items: number): Promise<void> {
    const timer = setTimeout(() => wake?.(), ms)
    awaited = items
    await new Promise<void>((resolve) => (wake = resolve))
    wake = undefined
    clearTimeout(timer)
  }

  const running = loop()

  function enqueue<Answer>(itemOf: (waiting: Resolvers<Answer>) => BatchItem): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      if (closing) return reject(new Problem('unavailable', 'The service is stopping; try again.', { retryAfter: 1 }))
      queue.push(itemOf({ resolve, reject }))
      if (queue.length >= awaited) wake?.()
    })
  }

  return Object.freeze({
    send: (kind: TillItem['kind'], payload: TillItem['payload'], patience: number) =>
      enqueue<TillRow | undefined>((then) => {
        const deadline = performance.now() + patience
        const item: TillItem = { kind, id: payload.hold, payload, deadline, sent: false, abandoned: false, ...then }
        return kind === 'admit' ? limited(item, patience) : item
      }),
    end: (outcome: RequestOutcome, charge: string | undefined, patience: number) =>
      enqueue<boolean>((then) => {
        return { kind: 'end', outcome, charge, deadline: performance.now() + patience, sent: false, ...then }
      }),
    async drain() {
      closing = true
      wake?.()
      await running
      await instance.close()
    },
  })
}

interface Resolvers<Answer> {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

const ignore = (): void => undefined

function releaseOf(id: string): TillItem {
  const item = { kind: 'settle' as const, id, payload: { hold: id }, deadline: Infinity }
  return { ...item, sent: true, abandoned: false, resolve: ignore, reject: ignore }
}

/** The reason of the Problem. After an interrupted settlement it is unknown whether the request was charged. */
const reasonOf = ({ kind, sent }: BatchItem): string =>
  sent && kind !== 'admit'
    ? 'The database went away while it was charging this. Whether it did, the ledger will show.'
    : 'The database is away. Nothing was charged; try again.'

/** Whether the same call may succeed later. */
const isTransient = (error: unknown): boolean => error instanceof Problem || isLeaseLost(error)
