import type { Logger } from 'pino'
import type { Database } from '../../platform/database/database.ts'
import { Problem } from '../../platform/problems.ts'
import type { Allowances, RequestOutcome } from '../allowances/allowances.ts'
import type { BatchItem, TillItem } from './batch-item.ts'
import { BatchQueue } from './batch-queue.ts'
import { createCarrier } from './carrier.ts'
import { openInstance } from '../instance/instance.ts'
import { runRounds } from './rounds.ts'
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
    end: ({ outcome, charge, hold, late }: RequestEnding, { patience, received = false }: Urgency) =>
      enqueue<boolean>((then) => {
        const deadline = performance.now() + patience
        return { kind: 'end', outcome, charge, hold, deadline, received, sent: false, ...withLate(then, late) }
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
