import type { Logger } from 'pino'

interface EachNeeds<Item> {
  /** What names the item in the log, such as its id. */
  readonly label: (item: Item) => Readonly<Record<string, string>>
  /** The log message about an item that fails. */
  readonly failure: string
  readonly log: Pick<Logger, 'warn'>
}

/** Works on one item after the other. */
export type Each<Item> = (items: readonly Item[], work: (item: Item) => Promise<void>) => Promise<void>

/**
 * Returns a function that works on one item after the other. One that fails does not hold up the others. Of consecutive failures
 * of an item, only the first is logged.
 */
export function createEach<Item>({ label, failure, log }: EachNeeds<Item>): Each<Item> {
  let failing = new Set<string>()
  return async (items, work) => {
    const failed = new Set<string>()
    for (const item of items) {
      const labels = label(item)
      const name = JSON.stringify(labels)
      await work(item).catch((error: unknown) => {
        failed.add(name)
        if (!failing.has(name)) log.warn({ err: error, ...labels }, failure)
      })
    }
    failing = failed
  }
}
