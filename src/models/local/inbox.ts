/** A queue from a callback to an `await`. It keeps the order and loses nothing. */
export interface Inbox<Item> {
  readonly put: (item: Item) => void
  /** Resolves with the next item when it is there. */
  readonly next: () => Promise<Item>
}

export function createInbox<Item>(): Inbox<Item> {
  const items: Item[] = []
  let waiting: ((item: Item) => void) | undefined
  return {
    put(item) {
      const take = waiting
      waiting = undefined
      if (take) take(item)
      else items.push(item)
    },
    async next() {
      return items.shift() ?? new Promise<Item>((resolve) => (waiting = resolve))
    },
  }
}
