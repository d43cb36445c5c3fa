import { Problem } from '../../platform/problems.ts'
import type { Attempts, UnusableReason } from './attempts.ts'
import type { Gate } from '../gate.ts'
import type { SignInLimits } from '../throttle/sign-in-limits.ts'
import type { Refusals } from '../refused-visitors.ts'
import type { Sessions } from '../session/sessions.ts'
import type { Visitor } from '../visitor/visitor.ts'

/** The dependencies of every kind of sign-in. */
export interface SignInParts {
  readonly attempts: Attempts
  readonly sessions: Sessions
  readonly refusals: Refusals
  readonly gate: Gate
  readonly steps: Steps
}

/** The known facts about a step, for the audit row if it fails. */
export interface StepDetails {
  method?: string
  factor?: string
  issuer?: string
  subject?: string
  /** The person whose first proof was accepted. */
  of?: string
  why?: string
}

type Step = <Result>(visitor: Visitor, work: (details: StepDetails) => Promise<Result>) => Promise<Result>

/** Runs the steps of sign-ins under the limits of the visitor's network. A Problem is recorded and rethrown. */
export interface Steps {
  readonly begin: Step
  readonly complete: Step
}

interface StepNeeds {
  readonly limits: SignInLimits
  readonly refusals: Refusals
}

export function createSteps({ limits, refusals }: StepNeeds): Steps {
  const under =
    (limit: (network: string) => void): Step =>
    async (visitor, work) => {
      const details: StepDetails = {}
      try {
        // Before the attempt is used: after the wait, the same request succeeds.
        limit(visitor.network)
        return await work(details)
      } catch (error) {
        if (error instanceof Problem && error.code !== 'not_found') {
          await refusals.record(visitor, { action: 'sign_in_failed', details: { why: error.code, ...details } })
        }
        throw error
      }
    }
  return { begin: under(limits.begin), complete: under(limits.complete) }
}

/** For an attempt that is unknown, expired, used, or of another browser, or whose browser did not keep its cookie. */
export function notUsable(why?: UnusableReason): Problem {
  return new Problem(
    'sign_in_failed',
    why === 'no_cookie'
      ? 'Your browser returned without the cookie for this sign-in. Allow cookies for this site and start again. If its address begins with http://, use https, or another browser: Safari does not keep such cookies without https.'
      : 'This sign-in was not started in this browser, has expired, or was completed before. Start again.',
  )
}
