import type { Health } from './failure.ts'

/** When an endpoint is given up: after failures in a row, or when half of the last outcomes are failures. */
const limits = { consecutive: 5, outcomes: 20 }

/** Milliseconds until an endpoint that was given up is tried again; doubled each time that fails, too. */
const coolDown = { first: 1000, most: 10_000 }

/** A circuit breaker opened or closed. */
export interface BreakerChange {
  readonly state: 'open' | 'closed'
  /** Failures in a row. */
  readonly failures: number
  /** The request whose outcome caused the change. */
  readonly requestId: string | undefined
}

/** A circuit breaker. Times are milliseconds of one monotonic clock. */
export interface Breaker {
  /** Whether a request may go there now: always while it is well, one at a time once the cool-down is over. */
  permits(now: number): boolean
  /** Starts a request. Report its outcome exactly once. */
  begin(requestId?: string): (health: Health, now: number) => void
  /** When the next request may try it; undefined while it is well. */
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
    // Spread out, so that several instances do not come back at the same moment.
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

  function note(sick: boolean, now: number, requestId: string | undefined): void {
    failures = sick ? failures + 1 : 0
    recent.push(sick)
    if (recent.length > limits.outcomes) recent.shift()
    if (!sick) return
    const many = recent.length === limits.outcomes && recent.filter(Boolean).length * 2 >= limits.outcomes
    if (failures >= limits.consecutive || many) open(now, requestId)
  }

  return Object.freeze({
    permits: (now: number) => retryAt === undefined || (now >= retryAt && !probing),
    begin(requestId?: string) {
      const probe = retryAt !== undefined
      if (probe) probing = true
      return (health: Health, now: number) => {
        if (probe) probing = false
        if (health === 'unknown') return
        if (retryAt === undefined) note(health === 'sick', now, requestId)
        else if (health === 'well') {
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
