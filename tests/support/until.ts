/** Waits until something has come about, 5 s at most. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  const end = performance.now() + 5000
  while (!(await condition())) {
    if (performance.now() > end) throw new Error('it did not come about in 5 s')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
