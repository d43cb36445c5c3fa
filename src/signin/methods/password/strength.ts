import type { PersonSummary } from '../../../people/person.ts'
import type { Config } from '../../../platform/config/config.ts'
import type { SecondFactor } from '../method.ts'
import { minimumLength } from './policy.ts'

/** The fewest characters of a person's password: fewer if it never suffices alone. */
export type MinimumOf = (person: Pick<PersonSummary, 'id' | 'role'> | undefined) => Promise<number>

interface MinimumNeeds {
  readonly policy: Config['sign_in']['second_factor']
  readonly factors: readonly SecondFactor[]
}

/** Someone who is about to sign up becomes a consultant without a second factor. */
export function createMinimum({ policy, factors }: MinimumNeeds): MinimumOf {
  async function needsFactor(person: Parameters<MinimumOf>[0]): Promise<boolean> {
    if (policy === 'off') return false
    if (policy === 'required' || (policy === 'partners' && person?.role === 'partner')) return true
    if (person === undefined) return false
    return (await Promise.all(factors.map((factor) => factor.isSetUp(person.id)))).includes(true)
  }

  return async (person) => ((await needsFactor(person)) ? minimumLength.withFactor : minimumLength.alone)
}
