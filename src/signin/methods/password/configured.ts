import type { Audit } from '../../../access/audit/audit.ts'
import type { Mailer } from '../../../mail/mailer.ts'
import type { Config } from '../../../platform/config/config.ts'
import type { Database } from '../../../platform/database/database.ts'
import type { Encryption } from '../../../platform/encryption/encryption.ts'
import type { CredentialChanges } from '../../credential-change.ts'
import type { FactorPolicy } from '../../factor-policy.ts'
import type { SignUp } from '../../sign-up.ts'
import type { Steps } from '../../attempt/steps.ts'
import type { KnownNetworks } from '../../visitor/known-networks.ts'
import type { Throttle } from '../../throttle/throttle.ts'
import type { UsableMethods } from '../../usable-methods.ts'
import type { CredentialMethod } from '../method.ts'
import { createPasswordMethod } from './password.ts'
import { createBlocklist } from './blocklist.ts'
import { createPasswordCheck } from './check.ts'
import { createFirstPassword } from './passwords.ts'
import { createGuesses } from './guesses.ts'
import { createHashing } from './hashing.ts'
import { createPasswords } from './passwords.ts'
import { createPasswordPolicy } from './policy.ts'
import { createPasswordReset } from './reset.ts'
import type { PasswordService } from './routes.ts'
import { createMinimum } from './strength.ts'

interface PasswordNeeds {
  readonly config: Pick<Config, 'sign_in' | 'base_url' | 'mail' | 'firm'>
  readonly database: Database
  readonly encryption: Encryption
  readonly audit: Pick<Audit, 'recordWithin'>
  readonly mailer: Mailer
  readonly throttle: Throttle
  readonly known: KnownNetworks
  readonly steps: Steps
  readonly signUp: SignUp
  readonly changes: CredentialChanges
  readonly factorPolicy: FactorPolicy
}

export interface ConfiguredPasswords {
  readonly method: CredentialMethod
  /** `usable` knows all methods, including this one. */
  serve(this: void, usable: UsableMethods): PasswordService
}

/** Sign-in with a password, and everything that people do with passwords. */
export function createConfiguredPasswords(needs: PasswordNeeds): ConfiguredPasswords {
  const { config, factorPolicy } = needs
  const { password_hash: settings, second_factor: setting } = config.sign_in
  const hashing = createHashing({ settings })
  const guesses = createGuesses(needs)
  const check = createPasswordCheck({ ...needs, hashing, guesses })
  const minimumOf = createMinimum({ setting, factorPolicy })
  const policy = createPasswordPolicy({ blocklist: createBlocklist(), names: namesIn(config) })
  const parts = { ...needs, hashing, guesses, policy, minimumOf, check }
  return Object.freeze<ConfiguredPasswords>({
    method: createPasswordMethod({ check, minimumOf }),
    serve: (usable) => ({
      passwords: createPasswords({ ...parts, usable }),
      reset: createPasswordReset(parts),
      first: createFirstPassword(parts),
    }),
  })
}

/** The names of the service and of the firm. */
function namesIn({
  base_url: baseUrl,
  sign_in: { providers, sign_up: signUp },
  mail,
  firm,
}: PasswordNeeds['config']): string[] {
  return [
    'Tollgate',
    new URL(baseUrl).hostname,
    ...providers.map(({ name }) => name),
    ...signUp.domains,
    ...(mail ? [mail.from] : []),
    ...(firm.name === undefined ? [] : [firm.name]),
  ]
}
