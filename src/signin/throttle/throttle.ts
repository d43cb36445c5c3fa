import type { Database } from '../../platform/database/database.ts'
import { hashOf } from '../session/cookies.ts'
import * as store from './store.ts'

/** At most `most` uses within any `window` ms. */
export interface ThrottleRule {
  readonly kind: string
  readonly most: number
  readonly window: number
}

/**
 * Limits that survive a restart and that all instances share. A key is an address, a person or a network; only its hash is
 * stored. Use a different `kind` for uses and for failures.
 */
export interface Throttle {
  /** Takes one use. Returns 0 or, if there is none left, the seconds until there is. */
  take(this: void, rule: ThrottleRule, key: string): Promise<number>
  /** The seconds until the next of at most `most` guesses in succession is allowed; 0 means now. Counts nothing. */
  wait(this: void, guessed: { readonly kind: string; readonly most: number }, key: string): Promise<number>
  /**
   * Counts a failure and returns how many there were in succession. To include guesses that run at the same time, count
   * each one before it is checked and call `succeed` if it was right.
   */
  fail(this: void, kind: string, key: string): Promise<number>
  /** Forgets the failures. */
  succeed(this: void, kind: string, key: string): Promise<void>
}

interface ThrottleNeeds {
  readonly database: Database
  /** ms since 1970; default `Date.now`. */
  readonly clock?: () => number
}

const [second, minute, day] = [1000, 60_000, 86_400_000]
/** Failures before the first wait. It starts at a second and doubles with each further failure. */
const freeFailures = 4
const longestWait = 15 * minute
/** Failures are forgotten this long after the last one. */
const memory = 30 * day

export function createThrottle({ database, clock = Date.now }: ThrottleNeeds): Throttle {
  return Object.freeze<Throttle>({
    async take({ kind, most, window }, key) {
      const [now, row] = [clock(), keyOf(kind, key)]
      const times = { now: new Date(now), since: new Date(now - window), expiresAt: new Date(now + window) }
      if (await store.insertUse(database, row, { most, ...times })) return 0
      const { taken = [] } = (await store.readThrottle(database, row, times.now)) ?? {}
      const next = taken.at(-most)?.getTime() ?? now
      return secondsUntil(next + window, now, 1)
    },
    async wait({ kind, most }, key) {
      const now = clock()
      const found = await store.readThrottle(database, keyOf(kind, key), new Date(now))
      if (!found?.failedAt) return 0
      return secondsUntil(found.failedAt.getTime() + waitAfter(found.failures, most), now, 0)
    },
    fail(kind, key) {
      const now = clock()
      const times = { now: new Date(now), expiresAt: new Date(now + memory) }
      return store.insertFailure(database, keyOf(kind, key), times)
    },
    succeed: (kind, key) => store.deleteThrottle(database, keyOf(kind, key)),
  })
}

const keyOf = (kind: string, key: string) => ({ kind, key: hashOf(`${kind} ${key}`) })

function waitAfter(failures: number, most: number): number {
  if (failures <= freeFailures) return 0
  return failures < most ? Math.min(second * 2 ** (failures - freeFailures - 1), longestWait) : memory
}

function secondsUntil(time: number, now: number, atLeast: number): number {
  return Math.max(atLeast, Math.ceil((time - now) / second))
}
