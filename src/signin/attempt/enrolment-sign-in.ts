import type { Identities } from '../../people/identities.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { Problem } from '../../platform/problems.ts'
import { maxTries } from './attempts.ts'
import type { Enrolments } from './enrolments.ts'
import type { FactorPolicy } from '../factor-policy.ts'
import type { GateResult } from '../gate.ts'
import type { Challenge } from '../methods/method.ts'
import type { PendingSignIn } from './pending-sign-in.ts'
import { notUsable, type SignInParts } from './steps.ts'
import type { Visitor } from '../visitor/visitor.ts'
import { countTries } from './wrong-code.ts'

/** The set-up of a second factor that the policy requires and the person does not have yet. */
export interface EnrolmentSignIn {
  /** Throws Problem `not_found`, `sign_in_failed` if none must be set up, `too_many_sign_ins`. */
  beginEnrolment(factor: string, visitor: Visitor, input: unknown): Promise<Challenge['challenge']>
  /** Starts the session. Throws Problem `sign_in_failed`, `sign_in_refused`, `too_many_sign_ins`. */
  completeEnrolment(visitor: Visitor, input: unknown): Promise<EnrolledGateResult>
}

export interface EnrolledGateResult extends GateResult {
  readonly recoveryCodes: readonly string[] | undefined
}

interface Needs extends SignInParts {
  readonly policy: FactorPolicy
  readonly enrolments: Enrolments
  readonly identities: Pick<Identities, 'byId'>
}

export function createEnrolmentSignIn(needs: Needs, pending: PendingSignIn): EnrolmentSignIn {
  const { attempts, gate, steps, policy, enrolments, identities } = needs
  return {
    beginEnrolment: (id, visitor, input) =>
      steps.begin(visitor, async (details) => {
        details.factor = id
        const { attempt, choice } = await pending.require(visitor)
        const factor = choice.enrol.find((each) => each.id === id)
        const person = await identities.byId(attempt.personId)
        if (factor === undefined || person === undefined) {
          throw new Problem('not_found', 'No such second factor can be set up. Choose one at /signin.')
        }
        const { data, challenge } = await factor.enrol.begin(person, input, visitor)
        await attempts.beginFactor(attempt, { factor: id, data, enrols: true })
        return challenge
      }),
    completeEnrolment: (visitor, input) =>
      steps.complete(visitor, async (details) => {
        const attempt = await pending.try(visitor)
        const factor = policy.enrollable.find(({ id }) => id === attempt.factor)
        if (factor === undefined || !attempt.enrols) throw notUsable()
        const { personId, data, triesLeft: left } = attempt
        Object.assign(details, { method: attempt.method, factor: factor.id, of: personId })
        const { requestId, address, device: name } = visitor
        const request = { factor, personId, data, input, name, origin: { requestId, address } }
        const before = async (tx: Queryable) => {
          // The second of two attempts at once finds the factor that the first has set up.
          if (await policy.hasFactor(personId, tx)) throw notUsable()
          if (!(await attempts.finish(attempt, 'proven', tx))) throw notUsable()
        }
        const tries = { most: maxTries, left }
        const { recoveryCodes } = await countTries(tries, () => enrolments.complete(request, before))
        // A partner may have removed the factor again before the session starts.
        const finish = async (tx: Queryable) => {
          if (!(await policy.hasFactor(personId, tx))) throw notUsable()
        }
        return { ...(await gate.admitProven(attempt, factor.id, { visitor, finish })), recoveryCodes }
      }),
  }
}
