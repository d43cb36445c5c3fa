import { Problem } from '../platform/problems.ts'
import type { ProvenAttempt } from './attempts.ts'
import type { GateResult } from './gate.ts'
import type { Challenge, SecondFactor } from './methods/method.ts'
import { notUsable, type SignInParts } from './steps.ts'
import type { Visitor } from './visitor.ts'

export interface FactorSignIn {
  /** The second factors among which the visitor may choose; undefined if none is due. */
  dueFactors(visitor: Pick<Visitor, 'cookies'>): Promise<readonly SecondFactor[] | undefined>
  /** Throws Problem `not_found`, `sign_in_failed` if no second factor is due, `too_many_sign_ins`. */
  beginFactor(factor: string, visitor: Visitor): Promise<Challenge['challenge']>
  /** Starts the session. Throws Problem `sign_in_failed`, `sign_in_refused`, `too_many_sign_ins`. */
  completeFactor(visitor: Visitor, input: unknown): Promise<GateResult>
}

interface Needs extends SignInParts {
  readonly factors: readonly SecondFactor[]
}

export function createFactorSignIn({ factors, attempts, gate, steps }: Needs): FactorSignIn {
  async function ownFactors(personId: string): Promise<readonly SecondFactor[]> {
    const states = await Promise.all(factors.map((factor) => factor.isSetUp(personId)))
    return factors.filter((_factor, index) => states[index])
  }

  async function provenOf({ cookies }: Pick<Visitor, 'cookies'>): Promise<ProvenAttempt> {
    const attempt = await attempts.proven(cookies)
    if (attempt === undefined) throw notUsable()
    return attempt
  }

  return {
    async dueFactors({ cookies }) {
      const attempt = await attempts.proven(cookies)
      return attempt && ownFactors(attempt.personId)
    },
    beginFactor: (id, visitor) =>
      steps.begin(visitor, async (details) => {
        details.factor = id
        const attempt = await provenOf(visitor)
        const factor = (await ownFactors(attempt.personId)).find((each) => each.id === id)
        if (factor === undefined)
          throw new Problem('not_found', 'You have no such second factor. Choose one at /signin.')
        const { data, challenge } = await factor.begin(attempt.personId)
        await attempts.beginFactor(attempt, { factor: id, data })
        return challenge
      }),
    completeFactor: (visitor, input) =>
      steps.complete(visitor, async (details) => {
        const attempt = await attempts.tryProven(await provenOf(visitor))
        const factor = factors.find(({ id }) => id === attempt?.factor)
        if (attempt === undefined || factor === undefined) throw notUsable()
        Object.assign(details, { method: attempt.method, factor: factor.id })
        await factor.complete(input, { personId: attempt.personId, data: attempt.data })
        if (!(await attempts.finish(attempt, 'proven'))) throw notUsable()
        return gate.admitProven(attempt, factor.id, visitor)
      }),
  }
}
