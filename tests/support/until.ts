// The real timer and clock, even if a test replaces them.
const { setTimeout, clearTimeout } = globalThis
const now = performance.now.bind(performance)

/** Waits for the condition, at most a minute, which is enough on a busy machine. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  const end = now() + 60_000
  while (!(await condition())) {
    if (now() > end) throw new Error('it did not come about in a minute')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Waits for `work`, at most two minutes. The runner waits longer for a hook, and does not say for what. */
export async function inTime<Result>(what: string, work: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`${what} takes more than two minutes`)), 120_000)
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer))
}
