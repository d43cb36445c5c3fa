import type { Mailer } from '../../../mail/mailer.ts'
import { readEmail } from '../../../people/email.ts'
import type { Queryable } from '../../../platform/database/database.ts'
import { Problem } from '../../../platform/problems.ts'
import type { MethodNeeds, OpenMethod } from '../definition.ts'
import type { CredentialMethod } from '../method.ts'
import { createBlocklist } from './blocklist.ts'
import { createPasswordCheck, type CheckPassword } from './check.ts'
import { createGuesses } from './guesses.ts'
import { createHashing } from './hashing.ts'
import { createFirstPassword, createPasswords } from './passwords.ts'
import { createPasswordPolicy, passwordLength } from './policy.ts'
import { createPasswordReset } from './reset.ts'
import { registerPasswords } from './routes.ts'
import { hasPassword, isUnchanged } from './store.ts'
import { createMinimum, type MinimumOf } from './minimum-length.ts'

/** Sign-in with a password, and everything else that people do with passwords. */
export function openPasswords({ mailer, ...needs }: MethodNeeds): OpenMethod {
  const { sign_in: settings, base_url: baseUrl } = needs.config
  const service = settings.password && mailer ? createService({ ...needs, mailer }) : undefined
  return {
    methods: service ? [service.method] : [],
    addRoutes: (server) => registerPasswords(server, { ...needs, service, baseUrl }),
    firstPassword: service?.first,
  }
}

function createService(needs: MethodNeeds & { readonly mailer: Mailer }) {
  const { config, factorPolicy } = needs
  const { password_hash: settings, second_factor: setting } = config.sign_in
  const hashing = createHashing({ settings })
  const guesses = createGuesses(needs)
  const check = createPasswordCheck({ ...needs, hashing, guesses })
  const minimumOf = createMinimum({ setting, factorPolicy })
  const policy = createPasswordPolicy({ blocklist: createBlocklist(), names: namesIn(config) })
  const parts = { ...needs, hashing, guesses, policy, minimumOf, check }
  return {
    method: createMethod({ check, minimumOf }),
    passwords: createPasswords(parts),
    reset: createPasswordReset(parts),
    first: createFirstPassword(parts),
  }
}

/** The names of the service and of the firm. */
function namesIn({
  base_url: baseUrl,
  sign_in: { providers, sign_up: signUp },
  mail,
  firm,
}: MethodNeeds['config']): string[] {
  return [
    'Tollgate',
    new URL(baseUrl).hostname,
    ...providers.map(({ name }) => name),
    ...signUp.domains,
    ...(mail ? [mail.from] : []),
    ...(firm.name === undefined ? [] : [firm.name]),
  ]
}

interface PasswordNeeds {
  readonly check: CheckPassword
  readonly minimumOf: MinimumOf
}

function createMethod({ check, minimumOf }: PasswordNeeds): CredentialMethod {
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
    mustBeSetUp: true,
    confirmation: (input, { email }) => ({ ...(typeof input === 'object' && input), email }),
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
