import { Problem } from '../../platform/problems.ts'

/** A turn to generate. Disposing of it lets the next one in; doing so again does nothing. */
export type Turn = Disposable

export interface Ask {
  readonly signal: AbortSignal
  /** Whose work it is. Accounts take turns; work without one counts as one account's. */
  readonly account?: string | undefined
}

/** Who runs and who waits. */
export interface Queue {
  /**
   * Resolves when it is this one's turn; undefined when `signal` aborted first. Throws Problem `overloaded`: at once when
   * too many wait already, or later when it has to make room for an account that has fewer waiting.
   */
  enter(ask: Ask): Promise<Turn | undefined>
  /** Resolves when nobody runs or waits any more. */
  idle(): Promise<void>
}

export interface QueueLimits {
  /** How many have their turn at the same time. */
  readonly turns: number
  /** How many may wait for one. */
  readonly waiting: number
}

type Waiter = PromiseWithResolvers<Turn | undefined>

/** Milliseconds that a turn is taken to last until one has ended. */
const firstGuess = 1000
const weightOfLast = 0.2
const mostRetryAfter = 60

/** First come, first served within an account; the accounts that have work waiting take turns. */
export function createQueue({ turns, waiting }: QueueLimits): Queue {
  const lines = createLines()
  let taken = 0
  let duration = firstGuess
  let untilIdle: (() => void)[] = []

  function begin(): Turn {
    taken += 1
    const startedAt = performance.now()
    let isOver = false
    return {
      [Symbol.dispose]() {
        if (isOver) return
        isOver = true
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
    return new Problem(
      'overloaded',
      'The model has more work waiting than it can take. Send the request again later.',
      {
        retryAfter: Math.min(mostRetryAfter, Math.max(1, untilPlace)),
      },
    )
  }

  async function wait({ signal, account = '' }: Ask): Promise<Turn | undefined> {
    const waiter: Waiter = Promise.withResolvers()
    const leave = (): void => {
      lines.remove(account, waiter)
      waiter.resolve(undefined)
    }
    lines.add(account, waiter)
    signal.addEventListener('abort', leave, { once: true })
    return waiter.promise.finally(() => signal.removeEventListener('abort', leave))
  }

  return Object.freeze({
    async enter(ask: Ask) {
      if (ask.signal.aborted) return undefined
      if (taken < turns) return begin()
      if (lines.waiting() >= waiting) {
        const displaced = lines.makeRoomFor(ask.account ?? '')
        if (!displaced) throw overloaded()
        displaced.reject(overloaded())
      }
      return wait(ask)
    },
    async idle() {
      if (taken > 0) await new Promise<void>((resolve) => untilIdle.push(resolve))
    },
  })
}

/** A line of waiters for each account that has any, the account whose turn is next first. */
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
    /** Takes out the last of the longest line, where that is longer than the one of `account` would become. */
    makeRoomFor(account: string): Waiter | undefined {
      const [longest] = [...lines].toSorted(([, a], [, b]) => b.length - a.length)
      if (!longest || longest[1].length <= (lines.get(account)?.length ?? 0) + 1) return undefined
      const last = longest[1].at(-1)
      if (last) remove(longest[0], last)
      return last
    },
  }
}
