/** Runs work a few at a time, in the order of its arrival. */
export interface Turnstile {
  /** How many wait for their turn. */
  waiting(this: void): number
  /** Waits for a turn, then runs the work. Rejects as the work does. */
  run<T>(this: void, work: () => Promise<T>): Promise<T>
}

/** `pause`: ms between the end of a turn and the next one that waits, which leaves other work its share of a machine. */
export function createTurnstile(atOnce: number, { pause = 0 }: { readonly pause?: number } = {}): Turnstile {
  const waiting: (() => void)[] = []
  let running = 0

  /** The next one takes over a place, or it becomes free. */
  function pass(): void {
    const next = waiting.shift()
    if (next) next()
    else running--
  }

  return Object.freeze({
    waiting: () => waiting.length,
    async run<T>(work: () => Promise<T>) {
      if (running < atOnce) running++
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await work()
      } finally {
        if (pause > 0 && waiting.length > 0) setTimeout(pass, pause)
        else pass()
      }
    },
  } satisfies Turnstile)
}
