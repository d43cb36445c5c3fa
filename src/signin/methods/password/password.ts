import { readEmail } from '../../../people/email.ts'
import type { Queryable } from '../../../platform/database/database.ts'
import { Problem } from '../../../platform/problems.ts'
import type { CredentialMethod } from '../method.ts'
import type { CheckPassword } from './check.ts'
import { hasPassword, isUnchanged } from './store.ts'
import { passwordLength } from './policy.ts'
import type { MinimumOf } from './strength.ts'

interface PasswordNeeds {
  readonly check: CheckPassword
  readonly minimumOf: MinimumOf
}

/** An address and a password. */
export function createPasswordMethod({ check, minimumOf }: PasswordNeeds): CredentialMethod {
  return Object.freeze<CredentialMethod>({
    kind: 'credential',
    id: 'password',
    name: 'Password',
    state: 'ready',
    fault: undefined,
    check: async () => 'ready' as const,
    begin: async () => ({ data: {}, challenge: {} }),
    async complete(input, { visitor }) {
      const { email, password } = readInput(input)
      const owner = await check({ email, password }, visitor)
      if (passwordLength(password) < (await minimumOf(owner))) throw tooShortAlone()
      const stillHolds = (tx: Queryable) => isUnchanged(tx, owner)
      return { claim: { by: 'person', personId: owner.id }, factors: ['password'], stillHolds } as const
    },
    isUsableBy: ({ id }, database) => hasPassword(database, id),
  })
}

function readInput(input: unknown) {
  const { email, password }: { email?: unknown; password?: unknown } =
    typeof input === 'object' && input !== null ? input : {}
  const read = typeof email === 'string' ? readEmail(email) : undefined
  if (read === undefined) {
    throw new Problem('invalid_field', 'Enter your email address.', { field: 'input.email' })
  }
  if (typeof password !== 'string' || password === '') {
    throw new Problem('invalid_field', 'Enter your password.', { field: 'input.password' })
  }
  return { email: read, password }
}

/** The password was only long enough with a second factor, which has since been removed. */
function tooShortAlone(): Problem {
  return new Problem(
    'sign_in_refused',
    'Your password is too short to sign in without a second factor. Choose a longer one with "Forgot your password?".',
  )
}
