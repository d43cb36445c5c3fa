import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Database } from '../platform/database/database.ts'
import { Problem } from '../platform/problems.ts'
import type { Allowances, Ending } from './allowances.ts'
import { heartbeat, isGivenUp, openInstance, type Errand, type Item } from './instance.ts'
import type { TillRow } from './till-row.ts'

/** The one queue to the database's till: whatever gathers while a call is under way goes with the next. */
export interface Batches {
  /** For `till()`. Rejects with Problem `unavailable` after `patience` ms without the database. */
  send(kind: Errand['kind'], payload: Errand['payload'], patience: number): Promise<TillRow | undefined>
  /**
   * Ends a request that was taken from an allowance, with its row of the type charge if it is charged. False when this
   * instance was given up meanwhile: it is not charged. Rejects as `send` does.
   */
  end(ending: Ending, charge: string | undefined, patience: number): Promise<boolean>
  /** Settles what is queued, gives the instance up and closes. */
  drain(): Promise<void>
}

const mostPerCall = 256
/**
 * Of what is under way a call carries no more than this share: the process works at the others until it is answered, and
 * one that carried all would find nobody when it is. A call of so few leaves out none.
 */
const carriedAtOnce = { share: 0.75, few: 8 }
/**
 * A call costs the database nearly the same whatever it carries. So after one that carried at least so many items, the
 * next waits until such a share of as many is there, or for so many milliseconds; not where nobody else is on the way.
 */
const gathered = { items: 4, share: 0.75, milliseconds: 2 }
/** How often it is looked whether an allowance lies idle. */
const lookRound = 250

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
  let queue: Item[] = []
  const instance = await openInstance({ database, allowances, log })
  /** Items of the last call. */
  let carried = 0
  /** With how many the present pause ends. */
  let awaited = 1
  let closing = false
  /** When the present call was begun. */
  let begunAt = 0
  /** Whether the last call failed: what follows from it is not said again. */
  let isAway = false
  let wake: (() => void) | undefined

  /** A lost connection leaves open whether the call was committed: what it carried is sent again, never guessed at. */
  async function recover(error: unknown, items: readonly Item[]): Promise<void> {
    if (!isAway) log.warn({ err: error }, 'the till cannot reach the database')
    isAway = true
    allowances.lost()
    await instance.reset(error)
    const now = performance.now()
    const all = [...items, ...queue]
    // What may be charged already is given up by a call that was begun too late, not by one that came back too late: this
    // process may have slept meanwhile, and the next call finds the charge.
    const isOver = ({ kind, sent, deadline }: Item) => deadline <= (sent && kind !== 'admit' ? begunAt : now)
    // The releases are left to whoever reaps this instance when the database is away while it stops.
    queue = all.filter((item) => !isOver(item) && !(closing && item.deadline === Infinity))
    for (const item of all.filter(isOver)) {
      item.reject(new Problem('unavailable', reasonOf(item), { retryAfter: 1 }))
      // What is not settled is still held, and what nobody heard of may be: the next call that gets through releases it.
      // The batch number keeps out a late one.
      if (item.kind === 'end') allowances.dropped(item.ending)
      else if (item.kind === 'settle' || item.sent) queue.push(releaseOf(item.id))
    }
    await sleep(100)
  }

  /** An item that the database refuses must not take down those that were sent with it: each is sent alone. */
  async function carryEach<Of extends Item>(items: readonly Of[], carry: (items: readonly Of[]) => Promise<void>) {
    for (const [sent, item] of items.entries()) {
      try {
        await carry([item])
      } catch (error) {
        if (isPassing(error)) return recover(error, items.slice(sent))
        const id = item.kind === 'end' ? item.ending.taken.request.requestId : item.id
        log.error({ err: error, request_id: id }, 'the till refused an item')
        if (item.kind === 'end') allowances.dropped(item.ending)
        item.reject(error)
      }
    }
  }

  /** Returns false if the connection was lost: the items and those to follow are queued again. */
  async function carryAll<Of extends Item>(
    items: readonly Of[],
    carry: (items: readonly Of[]) => Promise<void>,
    following: readonly Item[] = [],
  ): Promise<boolean> {
    try {
      await carry(items)
      if (isAway) log.info('the till reaches the database again')
      isAway = false
      return true
    } catch (error) {
      // Without items there is nothing to send alone, and the same report would fail again at once.
      if (!isPassing(error) && items.length > 0) {
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
        carried >= gathered.items &&
        queue.length < carried * gathered.share &&
        queue.length < allowances.underWay()
      ) {
        await pause(gathered.milliseconds, carried * gathered.share)
      }
      begunAt = performance.now()
      const items = queue.splice(0, most())
      carried = items.length
      const endings = items.filter((item) => item.kind === 'end')
      const errands = items.filter((item) => item.kind !== 'end')
      // First, so that the admissions of the same round find what is returned. If its outcome is unknown, they wait until
      // it is sent again: until then the account may seem to have too little left.
      const exchanges = endings.length > 0 || due
      if (exchanges && !(await carryAll(endings, (some) => instance.exchange(some), errands))) continue
      if (errands.length > 0 || (endings.length === 0 && !due)) await carryAll(errands, (some) => instance.till(some))
      await instance.reap().catch((error: unknown) => recover(error, []))
    }
  }

  /**
   * The same admission, refused when its patience ends, also while a call that carries it waits for the database. If that
   * call admits it after all, its hold is released.
   */
  function limited(errand: Errand, patience: number): Errand {
    const timer = setTimeout(() => {
      limit.abandoned = true
      const isQueued = queue.includes(limit)
      if (isQueued) queue = queue.filter((item) => item !== limit)
      if (isQueued && limit.sent) queue.push(releaseOf(limit.id))
      errand.reject(new Problem('unavailable', reasonOf(limit), { retryAfter: 1 }))
    }, patience)
    const limit: Errand = {
      ...errand,
      resolve(row) {
        clearTimeout(timer)
        if (limit.abandoned && row?.outcome === 'admitted') queue.push(releaseOf(limit.id))
        errand.resolve(row)
      },
      reject(error) {
        clearTimeout(timer)
        errand.reject(error)
      },
    }
    return limit
  }

  /** Items of the next call, at most. */
  function most(): number {
    const underWay = Math.max(queue.length, allowances.underWay())
    return Math.min(mostPerCall, Math.max(carriedAtOnce.few, Math.ceil(underWay * carriedAtOnce.share)))
  }

  /** Until something is queued, or it is time to look round, or to say that this instance lives. */
  async function idle(): Promise<void> {
    const until = performance.now() + heartbeat
    for (;;) {
      await pause(lookRound, 1)
      if (queue.length > 0 || closing || allowances.due() || performance.now() > until) return
    }
  }

  /** For so long, or until so many items are there. */
  async function pause(ms: number, items: number): Promise<void> {
    const timer = setTimeout(() => wake?.(), ms)
    awaited = items
    await new Promise<void>((resolve) => (wake = resolve))
    wake = undefined
    clearTimeout(timer)
  }

  const running = loop()

  function enqueue<Answer>(itemOf: (waiting: Resolvers<Answer>) => Item): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      if (closing) return reject(new Problem('unavailable', 'The service is stopping; try again.', { retryAfter: 1 }))
      queue.push(itemOf({ resolve, reject }))
      if (queue.length >= awaited) wake?.()
    })
  }

  return Object.freeze({
    send: (kind: Errand['kind'], payload: Errand['payload'], patience: number) =>
      enqueue<TillRow | undefined>((then) => {
        const deadline = performance.now() + patience
        const errand: Errand = { kind, id: payload.hold, payload, deadline, sent: false, abandoned: false, ...then }
        return kind === 'admit' ? limited(errand, patience) : errand
      }),
    end: (ending: Ending, charge: string | undefined, patience: number) =>
      enqueue<boolean>((then) => {
        return { kind: 'end', ending, charge, deadline: performance.now() + patience, sent: false, ...then }
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

const nobody = (): void => undefined

function releaseOf(id: string): Errand {
  const item = { kind: 'settle' as const, id, payload: { hold: id }, deadline: Infinity }
  return { ...item, sent: true, abandoned: false, resolve: nobody, reject: nobody }
}

/** What is said of an item that the database is away for. Of a call whose answer was lost nobody knows what it did. */
const reasonOf = ({ kind, sent }: Item): string =>
  sent && kind !== 'admit'
    ? 'The database went away while it was charging this. Whether it did, the ledger will show.'
    : 'The database is away. Nothing was charged; try again.'

/** Whether the same call may succeed later, as it is. */
const isPassing = (error: unknown): boolean => error instanceof Problem || isGivenUp(error)
