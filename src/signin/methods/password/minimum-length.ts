import type { Person } from '../../../people/person.ts'
import type { Config } from '../../../platform/config/config.ts'
import type { FactorPolicy } from '../../factor-policy.ts'
import { minimumLength } from './policy.ts'

/** The fewest characters of a person's password: fewer if it never suffices alone. */
export type MinimumOf = (person: Chooser | undefined) => Promise<number>

/** Without an id for someone who is about to become a person. */
type Chooser = Pick<Person, 'role'> & Partial<Pick<Person, 'id'>>

interface MinimumNeeds {
  readonly setting: Config['sign_in']['second_factor']
  readonly factorPolicy: Pick<FactorPolicy, 'isRequired' | 'hasFactor'>
}

/** Someone who is about to sign up becomes a consultant without a second factor. */
export function createMinimum({ setting, factorPolicy }: MinimumNeeds): MinimumOf {
  async function needsFactor(person: Parameters<MinimumOf>[0]): Promise<boolean> {
    if (setting === 'off') return false
    if (factorPolicy.isRequired(person?.role ?? 'consultant')) return true
    return person?.id !== undefined && factorPolicy.hasFactor(person.id)
  }

  return async (person) => ((await needsFactor(person)) ? minimumLength.withFactor : minimumLength.alone)
}
