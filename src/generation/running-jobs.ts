import type { Job, TextRequest } from './request.ts'

/** A job in progress. Its `signal` stops the model. */
export interface RunningJob extends Job {
  /** The pages of its documents are counted at its admission. */
  request: TextRequest
  /** Ids of the models considered so far. Each is considered once. */
  readonly considered: string[]
  /** Whether the till has a hold for the job, which must be settled or released. */
  isHeld: boolean
  readonly startedAt: number
  /** Aborts when the caller disconnects, which alone does not stop a job with an idempotency key. */
  readonly disconnected: AbortSignal
}

/** The jobs in progress. */
export interface RunningJobs {
  begin(job: Job): RunningJob
  end(job: RunningJob): void
  /** Stops the jobs whose callers have disconnected, and waits until no job is in progress. */
  close(): Promise<void>
}

export function createRunningJobs(): RunningJobs {
  let count = 0
  let idle = Promise.withResolvers<void>()
  /** Stops jobs with an idempotency key, which continue when their callers disconnect. */
  const stops = new Map<RunningJob, AbortController>()

  return Object.freeze<RunningJobs>({
    begin(asked) {
      count++
      const stop = asked.idempotency && new AbortController()
      const signal = stop?.signal ?? asked.signal
      const job: RunningJob = {
        requestId: asked.requestId,
        request: asked.request,
        payer: asked.payer,
        allowedModels: asked.allowedModels,
        idempotency: asked.idempotency,
        startedAt: asked.startedAt ?? performance.now(),
        signal: asked.stop ? AbortSignal.any([signal, asked.stop]) : signal,
        stop: asked.stop,
        background: asked.background,
        disconnected: asked.signal,
        considered: [],
        isHeld: false,
      }
      if (stop) stops.set(job, stop)
      return job
    },
    end(job) {
      stops.delete(job)
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
