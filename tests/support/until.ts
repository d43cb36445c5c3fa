/** Waits until something has come about, 30 s at most. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  const end = performance.now() + 30_000
  while (!(await condition())) {
    if (performance.now() > end) throw new Error('it did not come about in 30 s')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
