import type { Role } from '../access/actor.ts'
import type { Person } from '../people/person.ts'
import type { Config } from '../platform/config/config.ts'
import type { Queryable } from '../platform/database/database.ts'
import { Problem } from '../platform/problems.ts'
import type { FactorEnrolment, SecondFactor } from './methods/method.ts'

export type SecondFactorPolicy = Config['sign_in']['second_factor']

/** A second factor that people set up themselves. */
export type EnrollableFactor = SecondFactor & { readonly enrol: FactorEnrolment }

/** A person's next step after the first proof: give one of the factors they have, or set one up. */
export interface PendingFactors {
  readonly due: readonly SecondFactor[]
  /** Not empty only if the person has none. */
  readonly enrol: readonly EnrollableFactor[]
}

/** Which second factor a sign-in needs (section 3 of the specification). The same for every method. */
export interface FactorPolicy {
  /** Whether people of this role need a second factor. */
  isRequired(this: void, role: Role): boolean
  /** Throws Problem `sign_in_refused` if a factor is due that the person cannot give. */
  isDue(this: void, person: Pick<Person, 'id' | 'role'>, shown: readonly string[], within?: Queryable): Promise<boolean>
  /** The choice of a person for whom a factor is due. */
  pending(this: void, personId: string, shown: readonly string[]): Promise<PendingFactors>
  /** Whether the person has set up a factor, other than as a backup. */
  hasFactor(this: void, personId: string, within?: Queryable): Promise<boolean>
  /** The factors that people set up themselves. */
  readonly enrollable: readonly EnrollableFactor[]
}

interface Needs {
  readonly policy: SecondFactorPolicy
  readonly factors: readonly SecondFactor[]
  /** Whether the person has set up any factor, also one that the configuration no longer offers. */
  readonly hasStored: (personId: string, within?: Queryable) => Promise<boolean>
}

export function createFactorPolicy({ policy, factors, hasStored }: Needs): FactorPolicy {
  const enrollable = factors.filter(isEnrollable)
  const isRequired = (role: Role) => isFactorRequired(policy, role)

  async function ownOf(personId: string, within?: Queryable): Promise<readonly SecondFactor[]> {
    const own: SecondFactor[] = []
    // One after the other: a transaction has one connection.
    for (const factor of factors) if (await factor.isSetUp(personId, within)) own.push(factor)
    return own
  }

  async function setUp(personId: string, within?: Queryable): Promise<SetUp> {
    const own = await ownOf(personId, within)
    return { own, isUnusable: !hasOne(own) && (await hasStored(personId, within)) }
  }

  function choose({ own, isUnusable }: SetUp, shown: readonly string[]): PendingFactors {
    if (!hasOne(own) && !isUnusable) return { due: [], enrol: enrollable }
    // A factor cannot be its own second one.
    return { due: own.filter(({ id }) => !shown.includes(id)), enrol: [] }
  }

  return Object.freeze<FactorPolicy>({
    enrollable,
    isRequired,
    pending: async (personId, shown) => choose(await setUp(personId), shown),
    hasFactor: async (personId: string, within?: Queryable) => hasOne(await ownOf(personId, within)),
    async isDue({ id, role }: Pick<Person, 'id' | 'role'>, shown: readonly string[], within?: Queryable) {
      if (policy === 'off' || shown.length > 1) return false
      const { own, isUnusable } = await setUp(id, within)
      if (!hasOne(own) && !isUnusable && !isRequired(role)) return false
      const { due, enrol } = choose({ own, isUnusable }, shown)
      if (due.length + enrol.length > 0) return true
      if (isUnusable) throw withoutUsable()
      throw new Problem(
        'sign_in_refused',
        'You need another second factor, and have none. Let the passkey verify you with a PIN or a fingerprint, or ask a partner of the firm.',
      )
    },
  })
}

/** Whether people of this role need a second factor under this policy. */
export const isFactorRequired = (policy: SecondFactorPolicy, role: Role): boolean =>
  policy === 'required' || (policy === 'partners' && role === 'partner')

/** What a person has set up. */
interface SetUp {
  readonly own: readonly SecondFactor[]
  /** Whether they have only factors that the configuration no longer offers. Recovery codes stand in for those. */
  readonly isUnusable: boolean
}

function withoutUsable(): Problem {
  return new Problem(
    'sign_in_refused',
    'Your second factor can no longer be used here, and you have no recovery codes. Ask a partner of the firm to reset it.',
  )
}

const hasOne = (own: readonly SecondFactor[]): boolean => own.some(({ isBackup }) => !isBackup)

function isEnrollable(factor: SecondFactor): factor is EnrollableFactor {
  return factor.enrol !== undefined
}
