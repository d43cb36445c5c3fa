import { outageOf, releaseOf, type BatchItem, type TillItem } from './batch-item.ts'

/** Milliseconds until a refused item is sent again: at first, and at most. */
const retryPause = { first: 1000, most: 60_000 }

/** The items for the next calls, and the pause of the loop that sends them. */
export class BatchQueue {
  #items: BatchItem[] = []
  /** Items that the database refused, with the timers after which they are sent again. */
  readonly #refused = new Map<BatchItem, NodeJS.Timeout>()
  readonly #refusals = new WeakMap<BatchItem, number>()
  /** The length that ends the current pause. */
  #awaited = 1
  #wake: (() => void) | undefined
  #closing = false

  get length(): number {
    return this.#items.length
  }

  /** Whether no further items are accepted. */
  get closing(): boolean {
    return this.#closing
  }

  close(): void {
    this.#closing = true
    for (const [item, timer] of this.#refused) {
      clearTimeout(timer)
      this.#items.push(item)
    }
    this.#refused.clear()
    this.#wake?.()
  }

  add(item: BatchItem): void {
    this.#items.push(item)
    if (this.#items.length >= this.#awaited) this.#wake?.()
  }

  /** Removes and returns the first items, at most `count`. */
  take(count: number): BatchItem[] {
    return this.#items.splice(0, count)
  }

  /** Puts items back, before the others. */
  restore(items: readonly BatchItem[]): void {
    this.#items = [...items, ...this.#items]
  }

  /** Sends an item again that the database refused, after a pause that doubles each time. Not after the queue has closed. */
  retry(item: BatchItem): void {
    if (this.#closing) return
    item.deadline = Infinity
    const refusals = this.#refusals.get(item) ?? 0
    this.#refusals.set(item, refusals + 1)
    const pause = Math.min(retryPause.most, retryPause.first * 2 ** refusals)
    const timer = setTimeout(() => {
      this.#refused.delete(item)
      this.add(item)
    }, pause)
    this.#refused.set(item, timer)
  }

  /** Releases a hold with a later call. Does not end a pause. */
  release(id: string): void {
    this.#items.push(releaseOf(id))
  }

  /** Waits `ms` milliseconds, or until there are `items` items, or until the queue closes. */
  async pause(ms: number, items: number): Promise<void> {
    const timer = setTimeout(() => this.#wake?.(), ms)
    this.#awaited = items
    await new Promise<void>((resolve) => (this.#wake = resolve))
    this.#wake = undefined
    clearTimeout(timer)
  }

  /**
   * The same admission, rejected after `patience` ms even if a call with it still waits for the database. If that call
   * admits it after all, its hold is released.
   */
  limited(item: TillItem, patience: number): TillItem {
    const timer = setTimeout(() => {
      limit.abandoned = true
      if (this.#remove(limit) && limit.sent) this.release(limit.id)
      item.reject(outageOf(limit))
    }, patience)
    const limit: TillItem = {
      ...item,
      resolve: (row) => {
        clearTimeout(timer)
        if (limit.abandoned && row?.outcome === 'admitted') this.release(limit.id)
        item.resolve(row)
      },
      reject: (error) => {
        clearTimeout(timer)
        item.reject(error)
      },
    }
    return limit
  }

  #remove(item: BatchItem): boolean {
    const rest = this.#items.filter((other) => other !== item)
    const isRemoved = rest.length < this.#items.length
    this.#items = rest
    return isRemoved
  }
}
