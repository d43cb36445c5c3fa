import type { Logger } from 'pino'
import type { Database } from '../../platform/database/database.ts'
import { Problem } from '../../platform/problems.ts'
import type { Allowances, RequestOutcome } from '../allowances/allowances.ts'
import type { BatchItem, TillItem } from './batch-item.ts'
import { BatchQueue } from './batch-queue.ts'
import { createCarrier, type Carrier } from './carrier.ts'
import { heartbeat, openInstance, type Instance } from '../instance/instance.ts'
import type { TillRow } from './till-row.ts'

/** The queue of calls to `till()` and `exchange_timed()`. Items that arrive during a call go with the next one. */
export interface Batches {
  /**
   * Sends an item to `till()`. Rejects with Problem `unavailable` after `patience` ms without the database, and with the error of the
   * database if it refuses the item. An item whose reply was `received` is then sent again until the database accepts it.
   */
  send(
    kind: TillItem['kind'],
    payload: TillItem['payload'],
    { patience, received }: Urgency,
  ): Promise<TillRow | undefined>
  /**
   * Ends a request admitted from an allowance. Returns false if this instance was reaped in the meantime, and then nothing is charged
   * or moved. Rejects as `send` does.
   */
  end(ending: RequestEnding, { patience, received }: Urgency): Promise<boolean>
  /** Sends what is queued and removes this instance. */
  drain(): Promise<void>
}

export interface Urgency {
  readonly patience: number
  readonly received?: boolean
}

/** How a request admitted from an allowance ends. Without a charge and without a hold to move, it is released. */
export interface RequestEnding {
  readonly outcome: RequestOutcome
  /** A row of the type timed_charge. */
  readonly charge?: string
  /** Of such a charge, if its price has rules: the id of the request, and what the ledger keeps of them. */
  readonly terms?: readonly [requestId: string, kept: object] | undefined
  /** An item of the parameter p_holds of `exchange_moving()`. */
  readonly hold?: { readonly hold: string }
  /** Called if a reply that was `received` ends after `end` has rejected. */
  readonly late?: () => void
}

export interface BatchesNeeds {
  readonly database: Database
  readonly allowances: Allowances
  readonly log: Logger
}

/** Registers this process as an instance and keeps it alive. Throws Problem `unavailable` without a database. */
export async function openBatches(needs: BatchesNeeds): Promise<Batches> {
  const { allowances, log } = needs
  const queue = new BatchQueue()
  const instance = await openInstance(needs)
  const carrier = createCarrier({ queue, instance, allowances, log })
  const running = runRounds({ queue, instance, carrier, allowances })

  function enqueue<Answer>(itemOf: (waiting: Resolvers<Answer>) => BatchItem): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      if (queue.closing) reject(stopping())
      else queue.add(itemOf({ resolve, reject }))
    })
  }

  return Object.freeze({
    send: (kind: TillItem['kind'], payload: TillItem['payload'], { patience, received = false }: Urgency) =>
      enqueue<TillRow | undefined>((then) => {
        const common = { deadline: performance.now() + patience, received, sent: false, ...then }
        const item: TillItem = { kind, id: payload.hold, payload, abandoned: false, ...common }
        return kind === 'admit' ? queue.limited(item, patience) : item
      }),
    end: ({ outcome, charge, terms, hold, late }: RequestEnding, { patience, received = false }: Urgency) =>
      enqueue<boolean>((then) => {
        const deadline = performance.now() + patience
        return { kind: 'end', outcome, charge, terms, hold, deadline, received, sent: false, ...withLate(then, late) }
      }),
    async drain() {
      queue.close()
      await running
      await instance.close()
    },
  })
}

interface Resolvers<Answer> {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

function withLate(then: Resolvers<boolean>, late: (() => void) | undefined): Resolvers<boolean> {
  if (!late) return then
  let isRejected = false
  return {
    resolve: (done) => (isRejected && done ? late() : then.resolve(done)),
    reject: (error) => {
      isRejected = true
      then.reject(error)
    },
  }
}

const stopping = (): Problem =>
  new Problem('unavailable', 'The service is stopping. Send the request again.', { retryAfter: 1 })

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
async function runRounds({ queue, instance, carrier, allowances }: RoundsNeeds): Promise<void> {
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
