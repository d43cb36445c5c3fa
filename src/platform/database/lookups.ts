/** One query for many: what was asked for, and the answer that all who asked share. */
interface Batch<Value> {
  readonly ids: Set<string>
  readonly found: Promise<ReadonlyMap<string, Value>>
  startedAt: number
}

/**
 * Turns single look-ups into shared queries: while one query is under way, further ids gather for the next. For as many
 * ms as are given a query under way is fresh enough to be shared, and an id that it carries is not asked for again; with
 * none, what is found was always read after it was asked for. Nothing is remembered once a query has ended.
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
