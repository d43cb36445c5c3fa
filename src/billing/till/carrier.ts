import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { Problem } from '../../platform/problems.ts'
import type { Allowances } from '../allowances/allowances.ts'
import { isConflict } from '../../platform/database/failure.ts'
import { outageOf, type BatchItem } from './batch-item.ts'
import type { BatchQueue } from './batch-queue.ts'
import { isLeaseLost, type Instance } from '../instance/instance.ts'

type Carry<Of extends BatchItem> = (items: readonly Of[]) => Promise<void>

/** Makes the calls of one round after another, and queues their items again when the connection is lost. */
export interface Carrier {
  /** Notes when the calls of a round begin. */
  begin(): void
  /**
   * Carries the items with one call. Returns false if the connection was lost. Then these items and the following ones are
   * queued again.
   */
  carry<Of extends BatchItem>(items: readonly Of[], by: Carry<Of>, following?: readonly BatchItem[]): Promise<boolean>
  /** After a lost connection it is unknown whether the call was committed, so its items are sent again. */
  recover(error: unknown, items: readonly BatchItem[]): Promise<void>
}

export interface CarrierNeeds {
  readonly queue: BatchQueue
  readonly instance: Instance
  readonly allowances: Allowances
  readonly log: Logger
}

export function createCarrier({ queue, instance, allowances, log }: CarrierNeeds): Carrier {
  let begunAt = 0
  /** Whether the last call failed, so that an outage is logged once. */
  let isAway = false

  async function recover(error: unknown, items: readonly BatchItem[]): Promise<void> {
    if (!isAway) log.warn({ err: error }, 'the till cannot reach the database')
    isAway = true
    allowances.lost()
    await instance.reset(error)
    requeue([...items, ...queue.take(Infinity)])
    await sleep(100)
  }

  function requeue(items: readonly BatchItem[]): void {
    const now = performance.now()
    // An item that may be charged already expires only if its last call began too late. A call that returned too late does
    // not count: this process may have slept, and the next call finds the charge.
    const isOver = ({ kind, sent, deadline }: BatchItem) => deadline <= (sent && kind !== 'admit' ? begunAt : now)
    const kept: BatchItem[] = []
    const dropped: BatchItem[] = []
    for (const item of items) {
      const over = isOver(item)
      if (over) item.reject(outageOf(item))
      if (over && item.received) item.deadline = Infinity
      if (over && !item.received) dropped.push(item)
      // If the database is away during shutdown, the instance that reaps this one releases the holds.
      else if (!queue.closing || item.deadline !== Infinity) kept.push(item)
    }
    queue.restore(kept)
    dropped.forEach(releaseDropped)
  }

  /**
   * An item that was not settled is still held, and an admission that was sent may be: the next call releases it. The batch
   * number keeps out a call that arrives late.
   */
  function releaseDropped(item: BatchItem): void {
    if (item.kind === 'end') {
      allowances.dropped(item.outcome)
      if (item.hold) queue.release(item.hold.hold)
    } else if (item.kind === 'settle' || item.sent) queue.release(item.id)
  }

  /** Its hold stays if its charge must still be made. Otherwise its caller is free to release it. */
  function refuse(item: BatchItem, error: unknown): void {
    const id = item.kind === 'end' ? item.outcome.taken.request.requestId : item.id
    log.error({ err: error, request_id: id, again: item.received }, 'the till refused an item')
    if (item.received) {
      queue.retry(item)
      if (item.kind === 'end') allowances.kept(item.outcome)
    } else if (item.kind === 'end') allowances.dropped(item.outcome)
    item.reject(error)
  }

  /** Sends each item alone, so that one that the database refuses does not fail the others. */
  async function carryEach<Of extends BatchItem>(
    items: readonly Of[],
    by: Carry<Of>,
    following: readonly BatchItem[],
  ): Promise<boolean> {
    for (const [sent, item] of items.entries()) {
      try {
        await by([item])
      } catch (error) {
        if (isTransient(error)) {
          await recover(error, [...items.slice(sent), ...following])
          return false
        }
        refuse(item, error)
      }
    }
    return true
  }

  return Object.freeze({
    begin() {
      begunAt = performance.now()
    },
    async carry<Of extends BatchItem>(items: readonly Of[], by: Carry<Of>, following: readonly BatchItem[] = []) {
      try {
        await by(items)
        if (isAway) log.info('the till reaches the database again')
        isAway = false
        return true
      } catch (error) {
        // Without items there is nothing to send alone, and a call of the reports alone would fail again at once.
        if (!isTransient(error) && items.length > 0) return await carryEach(items, by, following)
        await recover(error, [...items, ...following])
        return false
      }
    },
    recover,
  })
}

/** Whether the same call may succeed later, or over another connection. */
const isTransient = (error: unknown): boolean => error instanceof Problem || isLeaseLost(error) || isConflict(error)
