import type { Audit } from '../access/audit/audit.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { Identities } from '../people/identities.ts'
import type { Config } from '../platform/config/config.ts'
import type { Database } from '../platform/database/database.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import { createGuesses } from './throttle/guesses.ts'
import { createPasskeyFactor } from './methods/passkey/passkey.ts'
import { createRecoveryCodes, type RecoveryCodes } from './methods/recovery-codes/recovery-codes.ts'
import { createSmsGateway } from './methods/sms/gateway.ts'
import { createSmsFactor } from './methods/sms/sms.ts'
import { createTotpFactor } from './methods/totp/totp.ts'
import type { KnownNetworks } from './visitor/known-networks.ts'
import type { SecondFactor } from './methods/method.ts'
import { createPasskeys, type Passkeys } from './methods/passkey/passkeys.ts'
import { passkeySiteOf } from './methods/passkey/site.ts'
import type { Throttle } from './throttle/throttle.ts'

interface Needs {
  readonly config: Pick<Config, 'sign_in' | 'sms' | 'base_url'>
  readonly database: Database
  readonly audit: Pick<Audit, 'record' | 'recordWithin'>
  readonly identities: Pick<Identities, 'byId'>
  readonly encryption: Encryption
  readonly throttle: Throttle
  readonly known: KnownNetworks
  readonly mailer?: Mailer | undefined
}

export interface ConfiguredFactors {
  /** In the order in which people are offered them. */
  readonly factors: readonly SecondFactor[]
  readonly recoveryCodes: RecoveryCodes
  /** Undefined if they are switched off or cannot work at `base_url`. */
  readonly passkeys: Passkeys | undefined
}

/** The second factors: an authenticator app always, passkeys and text messages if they are configured. */
export function createFactors(needs: Needs): ConfiguredFactors {
  const { config, database, audit } = needs
  const guesses = createGuesses(needs)
  const site = config.sign_in.passkey ? passkeySiteOf(config.base_url) : undefined
  const passkeys = site && createPasskeys({ site, database, audit })
  const recoveryCodes = createRecoveryCodes({ ...needs, guesses })
  const send = config.sms && createSmsGateway(config.sms)
  return {
    factors: [
      ...(passkeys ? [createPasskeyFactor(passkeys)] : []),
      createTotpFactor({ ...needs, guesses }),
      ...(send ? [createSmsFactor({ ...needs, guesses, send })] : []),
      recoveryCodes,
    ],
    recoveryCodes,
    passkeys,
  }
}
