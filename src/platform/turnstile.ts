/** Runs work a few at a time, in the order of its arrival. */
export interface Turnstile {
  /** How many wait for their turn. */
  waiting(this: void): number
  /** Waits for a turn, then runs the work. Rejects as the work does. */
  run<T>(this: void, work: () => Promise<T>): Promise<T>
}

export function createTurnstile(atOnce: number): Turnstile {
  const waiting: (() => void)[] = []
  let running = 0

  return Object.freeze({
    waiting: () => waiting.length,
    async run<T>(work: () => Promise<T>) {
      if (running < atOnce) running++
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await work()
      } finally {
        // The next one takes over this place.
        const next = waiting.shift()
        if (next) next()
        else running--
      }
    },
  } satisfies Turnstile)
}
