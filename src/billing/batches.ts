import type { Logger } from 'pino'
import type { Database } from '../platform/database/database.ts'
import { Problem } from '../platform/problems.ts'
import type { Allowances, RequestOutcome } from './allowances.ts'
import type { BatchItem, TillItem } from './batch-item.ts'
import { BatchQueue } from './batch-queue.ts'
import { createCarrier } from './carrier.ts'
import { openInstance } from './instance.ts'
import { runRounds } from './rounds.ts'
import type { TillRow } from './till-row.ts'

/** The queue of calls to `till()` and `exchange_timed()`. Items that arrive during a call go with the next one. */
export interface Batches {
  /** Sends an item to `till()`. Rejects with Problem `unavailable` after `patience` ms without the database. */
  send(kind: TillItem['kind'], payload: TillItem['payload'], patience: number): Promise<TillRow | undefined>
  /**
   * Ends a request admitted from an allowance. `charge` is its row of the type timed_charge, or undefined to release it. Returns
   * false if this instance was reaped in the meantime, and then nothing is charged. Rejects as `send` does.
   */
  end(outcome: RequestOutcome, charge: string | undefined, patience: number): Promise<boolean>
  /** Sends what is queued and removes this instance. */
  drain(): Promise<void>
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
    send: (kind: TillItem['kind'], payload: TillItem['payload'], patience: number) =>
      enqueue<TillRow | undefined>((then) => {
        const deadline = performance.now() + patience
        const item: TillItem = { kind, id: payload.hold, payload, deadline, sent: false, abandoned: false, ...then }
        return kind === 'admit' ? queue.limited(item, patience) : item
      }),
    end: (outcome: RequestOutcome, charge: string | undefined, patience: number) =>
      enqueue<boolean>((then) => {
        return { kind: 'end', outcome, charge, deadline: performance.now() + patience, sent: false, ...then }
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

const stopping = (): Problem => new Problem('unavailable', 'The service is stopping; try again.', { retryAfter: 1 })
