import { createPace } from '../platform/pace.ts'
import { Problem } from '../platform/problems.ts'

/** Refusals that the audit log gets of one network in a minute: it keeps its rows for ever. */
const notedPerMinute = 10

/** Networks whose refusals are counted at a time. */
const mostCounted = 10_000

/**
 * What those who are not signed in may cause, by the network that they come from: each sign-in begun is a row, and each
 * refused one a row that is never taken away.
 */
export interface SignInLimits {
  /** Throws Problem `too_many_sign_ins`. */
  begin(this: void, network: string): void
  /** The same for one that comes back. */
  complete(this: void, network: string): void
  /**
   * Whether a refused sign-in goes into the audit log: undefined where it does not, else the number of those before it
   * that did not.
   */
  note(this: void, network: string): number | undefined
}

interface LimitNeeds {
  /** Sign-ins of one network. */
  readonly perMinute: number
  /** ms since 1970; `Date.now` unless told. */
  readonly clock?: () => number
}

export function createSignInLimits({ perMinute, clock = Date.now }: LimitNeeds): SignInLimits {
  const begun = createPace({ perMinute, clock })
  const completed = createPace({ perMinute, clock })
  const noted = createPace({ perMinute: notedPerMinute, clock })
  const unnoted = new Map<string, number>()

  return Object.freeze({
    begin: (network: string) => refuse(begun.take(network), perMinute),
    complete: (network: string) => refuse(completed.take(network), perMinute),
    note(network: string) {
      const before = unnoted.get(network) ?? 0
      if (noted.take(network) === 0) {
        unnoted.delete(network)
        return before
      }
      if (unnoted.size < mostCounted || before > 0) unnoted.set(network, before + 1)
      return undefined
    },
  })
}

function refuse(wait: number, perMinute: number): void {
  if (wait === 0) return
  throw new Problem(
    'too_many_sign_ins',
    `There are too many sign-ins from your network at the moment. Wait ${wait} s, then try again.`,
    { retryAfter: wait, limit: { name: 'sign_ins_per_minute', value: perMinute, remaining: 0 } },
  )
}
