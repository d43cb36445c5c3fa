// The real timer and clock, even if a test replaces them.
const { setTimeout, clearTimeout } = globalThis
const now = performance.now.bind(performance)

/** Waits for the condition: a minute, and longer where a busy machine has let it look less than two thousand times by then. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  const end = now() + 60_000
  for (let looks = 1; !(await condition()); looks++) {
    if (now() > end && looks >= 2000) throw new Error('it did not come about in a minute')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Waits for `work`, at most two minutes. The runner waits longer for a hook, and does not say for what. */
export async function inTime<Result>(what: string, work: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`${what} takes more than two minutes`)), 120_000)
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer))
}
