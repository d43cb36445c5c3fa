import type { Health } from '../failure.ts'

/** A breaker opens after this many consecutive failures, or if half of this many recent outcomes are failures. */
const limits = { consecutive: 5, outcomes: 20 }

/** Milliseconds until an open breaker permits a probe. Each failed probe doubles the time. */
const coolDown = { first: 1000, most: 10_000 }

/** A circuit breaker opened or closed. */
export interface BreakerChange {
  readonly state: 'open' | 'closed'
  /** Consecutive failures. */
  readonly failures: number
  /** The request whose outcome caused the change. */
  readonly requestId: string | undefined
}

/** A circuit breaker. Times are milliseconds of a monotonic clock. */
export interface Breaker {
  /** Whether a request may use the endpoint now. After the cool-down, an open breaker permits one request at a time. */
  permits(now: number): boolean
  /** Starts a request. Report its outcome exactly once. */
  begin(requestId?: string): (health: Health, now: number) => void
  /** When an open breaker permits the next request; undefined while it is closed. */
  readonly retryAt: number | undefined
}

/** Calls `changed` each time the breaker opens or closes. */
export function createBreaker(changed: (change: BreakerChange) => void): Breaker {
  let failures = 0
  let recent: boolean[] = []
  let retryAt: number | undefined
  let pause: number = coolDown.first
  let probing = false

  function open(now: number, requestId: string | undefined): void {
    // The jitter keeps several instances from probing at the same moment.
    retryAt = now + pause * (0.9 + Math.random() * 0.2)
    pause = Math.min(pause * 2, coolDown.most)
    recent = []
    changed({ state: 'open', failures, requestId })
  }

  function close(requestId: string | undefined): void {
    retryAt = undefined
    pause = coolDown.first
    recent = []
    changed({ state: 'closed', failures: 0, requestId })
  }

  function record(failed: boolean, now: number, requestId: string | undefined): void {
    failures = failed ? failures + 1 : 0
    recent.push(failed)
    if (recent.length > limits.outcomes) recent.shift()
    if (!failed) return
    const many = recent.length === limits.outcomes && recent.filter(Boolean).length * 2 >= limits.outcomes
    if (failures >= limits.consecutive || many) open(now, requestId)
  }

  return Object.freeze<Breaker>({
    permits: (now) => retryAt === undefined || (now >= retryAt && !probing),
    begin(requestId?: string) {
      const probe = retryAt !== undefined
      if (probe) probing = true
      return (health: Health, now: number) => {
        if (probe) probing = false
        if (health === 'unknown') return
        if (retryAt === undefined) record(health === 'failing', now, requestId)
        else if (health === 'healthy') {
          failures = 0
          close(requestId)
        } else if (probe) {
          failures++
          open(now, requestId)
        }
      }
    },
    get retryAt() {
      return retryAt
    },
  })
}
