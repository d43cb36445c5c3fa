// The real ones, whatever clock a test makes for the code that it looks at.
const { setTimeout } = globalThis
const now = performance.now.bind(performance)

/** Waits until something has come about, a minute at most: long enough for a machine that has much else to do. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  const end = now() + 60_000
  while (!(await condition())) {
    if (now() > end) throw new Error('it did not come about in a minute')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
