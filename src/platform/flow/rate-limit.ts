/** A rate limit per key, such as a network. Each bucket holds one minute's worth and refills continuously. */
export interface RateLimit {
  /** Takes one from the key's bucket. Returns 0 or, if the bucket is empty, the whole seconds until it is not. */
  take(this: void, key: string): number
}

interface RateLimitNeeds {
  readonly perMinute: number
  /** ms since 1970; Default `Date.now`. */
  readonly clock?: () => number
}

const minute = 60_000
/** The maximum number of keys to remember. Beyond that, the least recently used key starts again with a full bucket. */
const mostKeys = 10_000

/**
 * Kept in the memory of this instance, because a refused request must not cost a database write. For each key it stores
 * one number, the time at which its bucket will be full.
 */
export function createRateLimit({ perMinute, clock = Date.now }: RateLimitNeeds): RateLimit {
  const fullAt = new Map<string, number>()
  const each = minute / perMinute

  return Object.freeze<RateLimit>({
    take(key) {
      const now = clock()
      const next = Math.max(fullAt.get(key) ?? 0, now) + each
      const wait = next - now - minute
      if (wait > 0) return Math.ceil(wait / 1000)
      // Moves the key to the end, so that the first is the least recently used.
      fullAt.delete(key)
      fullAt.set(key, next)
      const oldest = fullAt.keys().next()
      if (fullAt.size > mostKeys && oldest.done !== true) fullAt.delete(oldest.value)
      return 0
    },
  })
}
