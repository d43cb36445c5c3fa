// The real timer and clock, even if a test replaces them.
const { setTimeout } = globalThis
const now = performance.now.bind(performance)

/** Waits for the condition, at most a minute, which is enough on a busy machine. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  const end = now() + 60_000
  while (!(await condition())) {
    if (now() > end) throw new Error('it did not come about in a minute')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
