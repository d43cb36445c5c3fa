import type { Health } from './failure.ts'

/** When an endpoint is given up: after failures in a row, or when half of the last outcomes are failures. */
const limits = { consecutive: 5, outcomes: 20 }

/** Milliseconds until an endpoint that was given up is tried again; doubled each time that fails, too. */
const coolDown = { first: 1000, most: 10_000 }

/** A circuit breaker. Times are milliseconds of one clock that never goes back. */
export interface Breaker {
  /** Whether a request may go there now: always while it is well, one at a time once the cool-down is over. */
  permits(now: number): boolean
  /** A request goes there. What it came to must be reported, once. */
  begin(): (health: Health, now: number) => void
  /** When the next request may try it; undefined while it is well. */
  readonly retryAt: number | undefined
}

/** `changed` is told when the endpoint is given up, with the failures in a row, and when it is back. */
export function createBreaker(changed: (state: 'open' | 'closed', failures: number) => void): Breaker {
  let failures = 0
  let recent: boolean[] = []
  let retryAt: number | undefined
  let pause: number = coolDown.first
  let probing = false

  function open(now: number): void {
    // Spread out, so that several instances do not come back at the same moment.
    retryAt = now + pause * (0.9 + Math.random() * 0.2)
    pause = Math.min(pause * 2, coolDown.most)
    recent = []
    changed('open', failures)
  }

  function close(): void {
    retryAt = undefined
    pause = coolDown.first
    recent = []
    changed('closed', 0)
  }

  function note(sick: boolean, now: number): void {
    failures = sick ? failures + 1 : 0
    recent.push(sick)
    if (recent.length > limits.outcomes) recent.shift()
    if (!sick) return
    const many = recent.length === limits.outcomes && recent.filter(Boolean).length * 2 >= limits.outcomes
    if (failures >= limits.consecutive || many) open(now)
  }

  return Object.freeze({
    permits: (now: number) => retryAt === undefined || (now >= retryAt && !probing),
    begin() {
      const probe = retryAt !== undefined
      if (probe) probing = true
      return (health: Health, now: number) => {
        if (probe) probing = false
        if (health === 'unknown') return
        if (retryAt === undefined) note(health === 'sick', now)
        else if (health === 'well') {
          failures = 0
          close()
        } else if (probe) {
          failures++
          open(now)
        }
      }
    },
    get retryAt() {
      return retryAt
    },
  })
}
