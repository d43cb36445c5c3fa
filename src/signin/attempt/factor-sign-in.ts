import type { Identities } from '../../people/identities.ts'
import type { Queryable } from '../../platform/database/database.ts'
import type { Encryption } from '../../platform/encryption/encryption.ts'
import { Problem } from '../../platform/problems.ts'
import { maxTries } from './attempts.ts'
import { createEnrolmentSignIn, type EnrolmentSignIn } from './enrolment-sign-in.ts'
import type { Enrolments } from './enrolments.ts'
import type { FactorPolicy, PendingFactors } from '../factor-policy.ts'
import type { GateResult } from '../gate.ts'
import type { Challenge, SecondFactor } from '../methods/method.ts'
import { createPendingSignIn } from './pending-sign-in.ts'
import { notUsable, type SignInParts } from './steps.ts'
import type { Visitor } from '../visitor/visitor.ts'
import { countTries } from './wrong-code.ts'

export interface FactorSignIn extends EnrolmentSignIn {
  /** The choices of the visitor; undefined if no second factor is due. */
  pendingFactors(visitor: Pick<Visitor, 'cookies'>): Promise<PendingFactors | undefined>
  /** Throws Problem `not_found`, `sign_in_failed` if no second factor is due, `too_many_sign_ins`. */
  beginFactor(factor: string, visitor: Visitor): Promise<Challenge['challenge']>
  /** Forgets the first proofs that wait for a second factor. A session stays. */
  abandonFactor(visitor: Pick<Visitor, 'cookies'>): Promise<void>
  /** Starts the session. Throws Problem `sign_in_failed`, `sign_in_refused`, `too_many_sign_ins`. */
  completeFactor(visitor: Visitor, input: unknown): Promise<GateResult>
}

export interface FactorSignInNeeds extends SignInParts {
  readonly factors: readonly SecondFactor[]
  readonly policy: FactorPolicy
  readonly enrolments: Enrolments
  readonly identities: Pick<Identities, 'byId' | 'invitation' | 'closeInvitation'>
  readonly encryption: Encryption
}

/** The steps between a first proof and the session, if a second factor is due. */
export function createFactorSignIn(needs: FactorSignInNeeds): FactorSignIn {
  const { factors, attempts, gate, steps } = needs
  const pending = createPendingSignIn(needs)

  return {
    ...createEnrolmentSignIn(needs, pending),
    async pendingFactors(visitor) {
      return (await pending.find(visitor))?.choice
    },
    abandonFactor: ({ cookies }) => attempts.abandon(cookies),
    beginFactor: (id, visitor) =>
      steps.begin(visitor, async (details) => {
        details.factor = id
        const { attempt, choice } = await pending.require(visitor)
        const factor = choice.due.find((each) => each.id === id)
        if (factor === undefined)
          throw new Problem('not_found', 'You have no such second factor. Choose one at /signin.')
        const { data, challenge } = await factor.begin(attempt.personId, visitor)
        await attempts.beginFactor(attempt, { factor: id, data, enrols: false })
        return challenge
      }),
    completeFactor: (visitor, input) =>
      steps.complete(visitor, async (details) => {
        const attempt = await pending.try(visitor)
        const factor = factors.find(({ id }) => id === attempt.factor)
        if (factor === undefined || attempt.enrols) throw notUsable()
        const { personId, data, triesLeft: left } = attempt
        Object.assign(details, { method: attempt.method, factor: factor.id, of: personId })
        await countTries({ most: maxTries, left }, () => factor.complete(input, { personId, data, visitor }))
        const finish = async (tx: Queryable) => {
          if (!(await attempts.finish(attempt, 'proven', tx))) throw notUsable()
        }
        return gate.admitProven(attempt, factor.id, { visitor, finish })
      }),
  }
}
