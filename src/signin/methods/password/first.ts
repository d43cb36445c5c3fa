import { personActor, type RequestOrigin } from '../../../access/actor.ts'
import type { Audit } from '../../../access/audit/audit.ts'
import type { InvitedPerson, WelcomeStep } from '../../../people/identities.ts'
import type { Hashing } from './hashing.ts'
import { writePassword } from './password-store.ts'
import type { PasswordPolicy } from './policy.ts'
import type { MinimumOf } from './strength.ts'

/** The password that an invited person chooses with the invitation. */
export interface FirstPassword {
  /** The fewest characters. */
  minimum(this: void, invited: Pick<InvitedPerson, 'role'>): Promise<number>
  /** Returns what stores it when its person is created. Throws Problem `invalid_field` with the reason, `overloaded`. */
  prepare(this: void, password: string, invited: InvitedPerson, origin: RequestOrigin): Promise<WelcomeStep>
}

interface Needs {
  readonly audit: Pick<Audit, 'recordWithin'>
  readonly hashing: Hashing
  readonly policy: PasswordPolicy
  readonly minimumOf: MinimumOf
}

export function createFirstPassword({ audit, hashing, policy, minimumOf }: Needs): FirstPassword {
  const minimum = ({ role }: Pick<InvitedPerson, 'role'>) => minimumOf({ role })
  return Object.freeze<FirstPassword>({
    minimum,
    async prepare(password, { email, role }, { requestId, address }) {
      const text = await policy.check({ password, email, minimum: await minimum({ role }) })
      const hash = await hashing.inTurn((turn) => turn.hash(text))
      return async (tx, person) => {
        await writePassword(tx, { personId: person.id, hash, at: new Date() })
        const about = { outcome: 'allowed', noun: 'person', nounId: person.id, requestId, address } as const
        await audit.recordWithin(tx, [{ ...about, actor: personActor(person), action: 'password_set' }])
      }
    },
  })
}
