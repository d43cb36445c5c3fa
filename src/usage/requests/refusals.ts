import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Database } from '../../platform/database/database.ts'
import { repeat } from '../../platform/flow/repeat.ts'
import {
  addRefusals,
  deleteOldRefusals,
  type RefusalBatch,
  type RefusalCount,
  type RefusedCall,
  type RefusedRequest,
} from './store.ts'

export type { RefusedCall } from './store.ts'

/** A request with a key that was refused or failed, and so was not charged. */
export interface ApiRefusal extends Omit<RefusalCount, 'requests'> {
  readonly requestId: string
  readonly call: RefusedCall
  readonly status: number
  /** From the start of the request to its refusal. */
  readonly milliseconds: number
}

/** Counts refusals in memory and writes the counts twice a second. A crash loses what was not written yet. */
export interface ApiRefusals {
  note(this: void, refusal: ApiRefusal): void
  /** Writes what is not written yet, and stops. */
  close(): Promise<void>
}

interface RefusalsNeeds {
  readonly database: Database
  readonly log: Logger
  /** ms between two batches. Default 500. */
  readonly pause?: number
}

/** How many of the refused requests between two batches are kept one by one. */
const mostKept = 5
/** Kinds of refusals between two batches. The limit matters only while the database is away. */
const mostKinds = 10_000
const hour = 3_600_000

/** What was noted since the last batch. */
interface Noted {
  readonly counts: Map<string, RefusalCount>
  readonly requests: (Omit<RefusedRequest, 'ageMs'> & { readonly endedAt: number })[]
  /** Refusals that were not counted, because there were too many kinds. */
  dropped: number
}

const nothingNoted = (): Noted => ({ counts: new Map(), requests: [], dropped: 0 })

export function createApiRefusals({ database, log, pause = 500 }: RefusalsNeeds): ApiRefusals {
  const source = randomUUID()
  let noted = nothingNoted()
  let number = 0n
  /** A batch whose outcome is unknown is sent again as it is. */
  let unsent: RefusalBatch | undefined

  const write = async (): Promise<void> => {
    if (unsent === undefined) {
      if (noted.counts.size === 0) return
      if (noted.dropped > 0) log.warn({ refusals: noted.dropped }, 'refusals were not counted: too many kinds')
      number += 1n
      unsent = batchOf(noted, source, number)
      noted = nothingNoted()
    }
    await addRefusals(database, unsent)
    unsent = undefined
  }
  const writing = repeat({ name: 'counting refusals', pause, work: write, log })
  const deleting = repeat({
    name: 'deleting old refusals',
    pause: hour,
    work: () => deleteOldRefusals(database),
    log,
  })

  return Object.freeze<ApiRefusals>({
    note: (refusal) => add(noted, refusal),
    async close() {
      await Promise.all([writing.stop(), deleting.stop()])
      // Once for a batch that failed before, and once for what was noted since.
      for (const _ of [1, 2]) {
        await write().catch((error: unknown) => log.warn({ err: error }, 'refusals were not counted'))
      }
    },
  })
}

function add(noted: Noted, { requestId, call, status, milliseconds, ...kind }: ApiRefusal): void {
  const { accountId, keyId, model, code } = kind
  const id = `${accountId} ${keyId} ${code} ${model ?? ''}`
  const known = noted.counts.get(id)
  if (known === undefined && noted.counts.size >= mostKinds) {
    noted.dropped += 1
    return
  }
  noted.counts.set(id, { ...kind, requests: (known?.requests ?? 0) + 1 })
  if (noted.requests.length >= mostKept) return
  noted.requests.push({ ...kind, requestId, call, status, milliseconds, endedAt: performance.now() })
}

function batchOf({ counts, requests }: Noted, source: string, number: bigint): RefusalBatch {
  const now = performance.now()
  const aged = requests.map(({ endedAt, ...request }) => ({ ...request, ageMs: now - endedAt }))
  return { source, number, counts: [...counts.values()], requests: aged }
}
