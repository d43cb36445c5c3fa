/** How often somebody may do something: a bucket as large as a minute's worth, which fills continuously. */
export interface Pace {
  /** Takes one of whoever it is. Returns 0, or, where there is none left, the whole seconds until there is. */
  take(this: void, who: string): number
}

interface PaceNeeds {
  readonly perMinute: number
  /** ms since 1970; `Date.now` unless told. */
  readonly clock?: () => number
}

const minute = 60_000
/** Those who are remembered at a time: under a flood from more of them the longest silent begins with a full bucket. */
const most = 10_000

/**
 * In the memory of this instance: what it keeps away must not cost a write. Of each it keeps one number, the time at
 * which the bucket will be full again.
 */
export function createPace({ perMinute, clock = Date.now }: PaceNeeds): Pace {
  const fullAgain = new Map<string, number>()
  const each = minute / perMinute

  return Object.freeze({
    take(who: string) {
      const now = clock()
      const next = Math.max(fullAgain.get(who) ?? 0, now) + each
      const wait = next - now - minute
      if (wait > 0) return Math.ceil(wait / 1000)
      // Behind the others, so that the first is the one who was silent the longest.
      fullAgain.delete(who)
      fullAgain.set(who, next)
      const oldest = fullAgain.keys().next()
      if (fullAgain.size > most && oldest.done !== true) fullAgain.delete(oldest.value)
      return 0
    },
  })
}
