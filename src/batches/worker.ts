import { randomUUIDv7 } from 'node:crypto'
import type { Logger } from 'pino'
import type { Caller, Keys } from '../accounts/keys/keys.ts'
import { repeat } from '../platform/flow/repeat.ts'
import { Problem, type ProblemCode } from '../platform/problems.ts'
import * as store from './queue-store.ts'
import { createRunner, type RunnerNeeds } from './runner.ts'

export interface WorkerNeeds extends RunnerNeeds {
  readonly keys: Pick<Keys, 'identifyAgain'>
  readonly log: Logger
  /** The most lines that this instance runs at a time. */
  readonly parallel: number
}

/** Runs the lines of batches, of all accounts and together with the other instances. */
export interface Worker {
  /** Looks for lines at once. */
  wake(this: void): void
  /** Takes no more lines, and gives up those that are running: another instance takes them. Idempotent. */
  close(this: void): Promise<void>
}

/** Batches that are looked at in one round. */
const mostBatches = 100
/** ms between two looks for lines: after a line was taken, while none can be, and while there are none. */
const pace = { busy: 50, waiting: 1000, idle: 2000 }
/** ms between two reports that lines are running. */
const renewal = 5000
/** ms between two looks for what has expired. */
const cleaning = 600_000
/** The share of its time in which an instance counts as busy: it then runs one line at a time. */
const busyShare = 0.8

/** Why a key can no longer pay. */
const ofKey: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'invalid_key',
  'expired_key',
  'revoked_key',
  'no_billing_account',
])

export function startWorker(needs: WorkerNeeds): Worker {
  const { database, keys, log, parallel } = needs
  const running = new Map<
    string,
    { readonly claim: store.LineClaim; readonly accountId: string; readonly ended: Promise<void> }
  >()
  const closing = new AbortController()
  const runLine = createRunner(needs, closing.signal)
  let nextLook = 0
  let renewedAt = performance.now()
  let measured = performance.eventLoopUtilization()

  const wake = (): void => void (nextLook = 0)

  /** How many more lines may run. */
  function room(): number {
    const before = measured
    measured = performance.eventLoopUtilization()
    const isBusy = performance.eventLoopUtilization(measured, before).utilization > busyShare
    return Math.max(0, (isBusy ? 1 : parallel) - running.size)
  }

  /** Of the places that are free, how many an account may have: it leaves the last to others, whose lines need not wait until its own have ended. */
  function placesFor({ accountId }: store.DueBatch, free: number): number {
    const isRunning = Array.from(running.values()).some((line) => line.accountId === accountId)
    return Math.max(free - 1, isRunning ? 0 : Math.min(free, 1))
  }

  async function keep(): Promise<void> {
    const now = performance.now()
    if (now - renewedAt < renewal) return
    renewedAt = now
    await store.renewLines(
      database,
      Array.from(running.values(), ({ claim }) => claim),
    )
    await store.queueLapsedLines(database)
  }

  function start(batch: store.DueBatch, line: store.TakenLine, caller: Caller | undefined): void {
    const fields = { batch: batch.id, line: line.number, request_id: line.requestId }
    const ended = runLine(batch, line, caller)
      .catch((error: unknown) => log.warn({ ...fields, err: error }, 'a line of a batch will be taken again'))
      .finally(() => {
        running.delete(line.requestId)
        wake()
      })
    const { number, requestId } = line
    running.set(requestId, { claim: { batchId: batch.id, number, requestId }, accountId: batch.accountId, ended })
  }

  /** Undefined if the key can no longer pay; the batch then ends. */
  async function callerOf({ id, publicId }: store.DueBatch): Promise<Caller | undefined> {
    try {
      return await keys.identifyAgain({ publicId })
    } catch (error) {
      if (!(error instanceof Problem) || !ofKey.has(error.code)) throw error
      const { code, message: reason } = error
      await store.failBatch(database, id, { code, line: null, field: null, reason })
      return undefined
    }
  }

  /** Takes lines of a batch. Returns how many. */
  async function take(batch: store.DueBatch, most: number): Promise<number> {
    const caller = await callerOf(batch)
    if (closing.signal.aborted) return 0
    const ids = Array.from({ length: most }, () => randomUUIDv7())
    const lines = await store.takeLines(database, batch.id, ids)
    for (const line of lines) start(caller === undefined ? { ...batch, isEnding: true } : batch, line, caller)
    return lines.length
  }

  /** Returns the ms until the next. */
  async function round(): Promise<number> {
    await keep()
    const due = await store.readDueBatches(database, mostBatches)
    const all = room()
    let left = all
    for (const [index, batch] of due.entries()) {
      const most = Math.min(Math.ceil(left / (due.length - index)), placesFor(batch, left))
      if (most > 0) left -= await take(batch, most)
    }
    for (const { id, status } of await store.endBatches(database)) log.info({ batch: id, status }, 'a batch has ended')
    if (left < all) return pace.busy
    return due.length > 0 || running.size > 0 ? pace.waiting : pace.idle
  }

  const looking = repeat({
    name: 'batches',
    pause: pace.busy,
    log,
    async work() {
      if (performance.now() < nextLook) return
      nextLook = Infinity
      let pause = pace.idle
      try {
        pause = await round()
      } finally {
        // Unless it was woken meanwhile.
        if (nextLook === Infinity) nextLook = performance.now() + pause
      }
    },
  })

  // It may wait for others, and claims must be renewed meanwhile.
  const cleanings = repeat({
    name: 'expired batches',
    pause: cleaning,
    log,
    work: () => store.removeExpiredBatches(database),
  })

  return Object.freeze<Worker>({
    wake,
    async close() {
      closing.abort()
      await Promise.all([looking.stop(), cleanings.stop()])
      await Promise.all(Array.from(running.values(), ({ ended }) => ended))
    },
  })
}
