import { createRateLimit } from '../../platform/flow/rate-limit.ts'
import { Problem } from '../../platform/problems.ts'

/** How many sign-ins a network may begin and complete per minute: each attempt is a row, and anyone can begin one. */
export interface SignInLimits {
  /** Throws Problem `too_many_sign_ins`. */
  begin(this: void, network: string): void
  /** The same for a callback or a submission. */
  complete(this: void, network: string): void
}

interface LimitNeeds {
  /** Sign-ins per network. */
  readonly perMinute: number
  /** ms since 1970; default `Date.now`. */
  readonly clock?: () => number
}

export function createSignInLimits({ perMinute, clock = Date.now }: LimitNeeds): SignInLimits {
  const begun = createRateLimit({ perMinute, clock })
  const completed = createRateLimit({ perMinute, clock })
  return Object.freeze<SignInLimits>({
    begin: (network) => refuse(begun.take(network), perMinute),
    complete: (network) => refuse(completed.take(network), perMinute),
  })
}

function refuse(wait: number, perMinute: number): void {
  if (wait === 0) return
  throw new Problem('too_many_sign_ins', `Too many sign-ins from your network. Try again in ${wait} s.`, {
    retryAfter: wait,
    limit: { name: 'sign_ins_per_minute', value: perMinute, remaining: 0 },
  })
}
