/** Hands over from a callback to an `await`, in order, without losing anything. */
export interface Inbox<Item> {
  readonly put: (item: Item) => void
  /** The next item, as soon as there is one. */
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
