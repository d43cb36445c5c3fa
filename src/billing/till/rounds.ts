import type { Allowances } from '../allowances/allowances.ts'
import type { BatchQueue } from './batch-queue.ts'
import type { Carrier } from './carrier.ts'
import { heartbeat, type Instance } from '../instance/instance.ts'

const mostPerCall = 256
/**
 * The share of the requests in flight that one call may carry. The process works on the others during the call; if a call
 * carried all, the next one would find an empty queue. Up to `few` items always go together.
 */
const batchShare = { share: 0.75, few: 8 }
/**
 * A call costs the database nearly the same for one item as for many. After a call of at least `items` items, the next
 * waits up to `milliseconds` for `share` of that number, unless fewer requests are in flight.
 */
const gathering = { items: 4, share: 0.75, milliseconds: 2 }
/** Milliseconds between checks for idle allowances. */
const idleCheck = 250

interface RoundsNeeds {
  readonly queue: BatchQueue
  readonly instance: Instance
  readonly carrier: Carrier
  readonly allowances: Allowances
}

/** Makes one call after another until the queue is closed and everything is sent. */
export async function runRounds({ queue, instance, carrier, allowances }: RoundsNeeds): Promise<void> {
  /** How many items the last round carried. */
  let carried = 0
  for (;;) {
    if (queue.length === 0 && !queue.closing && !allowances.due()) await idle(queue, allowances)
    const hasReports = queue.closing ? allowances.giveAllBack() : allowances.due()
    if (queue.closing && queue.length === 0 && (!hasReports || !instance.isConnected())) return
    const awaited = carried * gathering.share
    if (carried >= gathering.items && queue.length < awaited && queue.length < allowances.inFlight()) {
      await queue.pause(gathering.milliseconds, awaited)
    }
    carrier.begin()
    const items = queue.take(batchLimit(Math.max(queue.length, allowances.inFlight())))
    carried = items.length
    const exchangeItems = items.filter((item) => item.kind === 'end')
    const tillItems = items.filter((item) => item.kind !== 'end')
    const hasExchange = exchangeItems.length > 0 || hasReports
    // The exchange goes first, so that the admissions of the same round can use what it returns. If its outcome is
    // unknown, they wait until it is sent again: until then an account may seem to have too little left.
    if (hasExchange && !(await carrier.carry(exchangeItems, instance.exchange, tillItems))) continue
    // A call without items renews the lease.
    if (tillItems.length > 0 || !hasExchange) await carrier.carry(tillItems, instance.till)
    await instance.reap().catch((error: unknown) => carrier.recover(error, []))
  }
}

/** The most items that a round may carry. */
function batchLimit(inFlight: number): number {
  return Math.min(mostPerCall, Math.max(batchShare.few, Math.ceil(inFlight * batchShare.share)))
}

/** Waits for an item, for an allowance that must be reported, or for the next heartbeat. */
async function idle(queue: BatchQueue, allowances: Allowances): Promise<void> {
  const until = performance.now() + heartbeat
  for (;;) {
    await queue.pause(idleCheck, 1)
    if (queue.length > 0 || queue.closing || allowances.due() || performance.now() > until) return
  }
}
