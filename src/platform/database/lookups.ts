/** One query for several lookups. */
interface Batch<Value> {
  readonly ids: Set<string>
  readonly found: Promise<ReadonlyMap<string, Value>>
  startedAt: number
}

/**
 * Combines lookups into shared queries: while one query runs, further ids are collected for the next. A lookup also
 * joins a running query for the same id that began at most `shareable` ms ago. With 0, the default, every result was read
 * after its lookup began. Nothing is cached after a query ends.
 */
export function createLookups<Value>(
  read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
  shareable = 0,
): (id: string) => Promise<Value | undefined> {
  let running: Batch<Value> | undefined
  let next: Batch<Value> | undefined

  const gather = (before: Batch<Value> | undefined): Batch<Value> => {
    const ids = new Set<string>()
    const start = () => {
      running = batch
      next = undefined
      batch.startedAt = performance.now()
      return read([...ids]).finally(() => {
        if (running === batch) running = undefined
      })
    }
    const previous = before === undefined ? Promise.resolve() : before.found.then(ignore, ignore)
    const batch: Batch<Value> = { ids, found: previous.then(start), startedAt: 0 }
    return batch
  }

  return async (id) => {
    if (running?.ids.has(id) && performance.now() - running.startedAt < shareable) {
      return (await running.found).get(id)
    }
    next ??= gather(running)
    next.ids.add(id)
    return (await next.found).get(id)
  }
}

function ignore(): void {}
