import { Problem } from '../../platform/problems.ts'

/** The right to use a slot. The first disposal frees the slot; later ones do nothing. */
export interface Turn extends Disposable {
  /** Aborts when the turn yields to another request: it must end then. */
  readonly yielded: AbortSignal | undefined
}

export interface TurnRequest {
  readonly signal: AbortSignal
  /** Accounts take turns. Requests without an account count as one account. */
  readonly account?: string | undefined
  /** Whether its turn yields to requests that would have to wait. It takes a free slot or none. */
  readonly yields?: boolean | undefined
}

/** The queue for the slots of a model. */
export interface Queue {
  /**
   * Resolves when a slot is free, or with undefined if `signal` aborts first. Throws Problem `overloaded`: at once if the
   * queue is full, or later if the request must make room for an account that has fewer requests waiting. A request that yields gets a
   * slot at once, or this problem.
   */
  enter(ask: TurnRequest): Promise<Turn | undefined>
  /** Resolves when no request runs or waits. */
  idle(): Promise<void>
}

export interface QueueLimits {
  /** Slots: requests that run at the same time. */
  readonly turns: number
  /** Requests that may wait. */
  readonly waiting: number
}

type Waiter = PromiseWithResolvers<Turn | undefined>

/** The assumed duration of a turn in milliseconds, until one has ended. */
const firstGuess = 1000
const weightOfLast = 0.2
const mostRetryAfter = 60

/** Requests of one account are served in order. Accounts with waiting requests take turns. */
export function createQueue({ turns, waiting }: QueueLimits): Queue {
  const lines = createLines()
  let taken = 0
  let duration = firstGuess
  let untilIdle: (() => void)[] = []
  /** The turns that can still be made to yield, the newest last. */
  const yielding: AbortController[] = []

  function begin(yields = false): Turn {
    taken += 1
    const startedAt = performance.now()
    const stop = yields ? new AbortController() : undefined
    if (stop) yielding.push(stop)
    let isOver = false
    return {
      yielded: stop?.signal,
      [Symbol.dispose]() {
        if (isOver) return
        isOver = true
        if (stop && yielding.includes(stop)) yielding.splice(yielding.indexOf(stop), 1)
        duration += weightOfLast * (performance.now() - startedAt - duration)
        taken -= 1
        lines.next()?.resolve(begin())
        if (taken > 0) return
        for (const resolve of untilIdle) resolve()
        untilIdle = []
      },
    }
  }

  function overloaded(): Problem {
    const untilPlace = Math.ceil(duration / turns / 1000)
    return new Problem('overloaded', 'Too many requests are waiting for the model. Send the request again later.', {
      retryAfter: Math.min(mostRetryAfter, Math.max(1, untilPlace)),
    })
  }

  async function wait({ signal, account = '' }: TurnRequest): Promise<Turn | undefined> {
    const waiter: Waiter = Promise.withResolvers()
    const leave = (): void => {
      lines.remove(account, waiter)
      waiter.resolve(undefined)
    }
    lines.add(account, waiter)
    signal.addEventListener('abort', leave, { once: true })
    return waiter.promise.finally(() => signal.removeEventListener('abort', leave))
  }

  return Object.freeze<Queue>({
    async enter(ask) {
      if (ask.signal.aborted) return undefined
      if (taken < turns) return begin(ask.yields)
      if (ask.yields) throw overloaded()
      if (lines.waiting() >= waiting) {
        const displaced = lines.makeRoomFor(ask.account ?? '')
        if (!displaced) throw overloaded()
        displaced.reject(overloaded())
      }
      // The newest has done the least work.
      yielding.pop()?.abort()
      return wait(ask)
    },
    async idle() {
      if (taken > 0) await new Promise<void>((resolve) => untilIdle.push(resolve))
    },
  })
}

/** A line of waiting requests per account. The account whose turn is next comes first. */
function createLines() {
  const lines = new Map<string, Waiter[]>()

  function remove(account: string, waiter: Waiter): void {
    const left = lines.get(account)?.filter((other) => other !== waiter) ?? []
    if (left.length === 0) lines.delete(account)
    else lines.set(account, left)
  }

  return {
    waiting: () => [...lines.values()].reduce((sum, line) => sum + line.length, 0),
    add(account: string, waiter: Waiter) {
      lines.set(account, [...(lines.get(account) ?? []), waiter])
    },
    remove,
    next(): Waiter | undefined {
      const [turn] = lines
      if (!turn) return undefined
      const [account, [waiter, ...left]] = turn
      lines.delete(account)
      if (left.length > 0) lines.set(account, left)
      return waiter
    },
    /** Removes the last request of the longest line, if that line is longer than the line of `account` would become. */
    makeRoomFor(account: string): Waiter | undefined {
      const [longest] = [...lines].toSorted(([, a], [, b]) => b.length - a.length)
      if (!longest || longest[1].length <= (lines.get(account)?.length ?? 0) + 1) return undefined
      const last = longest[1].at(-1)
      if (last) remove(longest[0], last)
      return last
    },
  }
}
