import type { Candidacy } from './candidate.ts'
import type { Job } from './request.ts'

/** A job in progress. Its `signal` stops the model. */
export interface Work extends Candidacy {
  readonly startedAt: number
  /** Aborts when the caller disconnects, which alone does not stop a job with an idempotency key. */
  readonly disconnected: AbortSignal
}

/** The jobs in progress. */
export interface WorkInProgress {
  begin(job: Job): Work
  end(work: Work): void
  /** Stops the jobs whose callers have disconnected, and waits until no job is in progress. */
  close(): Promise<void>
}

export function createWorkInProgress(): WorkInProgress {
  let count = 0
  let idle = Promise.withResolvers<void>()
  /** Of the jobs with an idempotency key, which continue when their callers disconnect. */
  const stops = new Map<Work, AbortController>()

  return Object.freeze({
    begin(job: Job) {
      count++
      const stop = job.idempotency && new AbortController()
      const signal = stop?.signal ?? job.signal
      const work: Work = {
        requestId: job.requestId,
        request: job.request,
        payer: job.payer,
        allowedModels: job.allowedModels,
        idempotency: job.idempotency,
        startedAt: job.startedAt ?? performance.now(),
        signal: job.stop ? AbortSignal.any([signal, job.stop]) : signal,
        stop: job.stop,
        disconnected: job.signal,
        considered: [],
        isHeld: false,
      }
      if (stop) stops.set(work, stop)
      return work
    },
    end(work: Work) {
      stops.delete(work)
      count--
      if (count > 0) return
      idle.resolve()
      idle = Promise.withResolvers()
    },
    async close() {
      for (const stop of stops.values()) stop.abort()
      if (count > 0) await idle.promise
    },
  })
}
