import type { Audit } from '../../access/audit/audit.ts'
import type { Mailer } from '../../mail/mailer.ts'
import type { Identities } from '../../people/identities.ts'
import type { ReportConfigError } from '../../platform/config/check.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Database, Queryable } from '../../platform/database/database.ts'
import type { Encryption } from '../../platform/encryption/encryption.ts'
import type { Server } from '../../platform/http/server.ts'
import type { Logger } from 'pino'
import type { Attempts } from '../attempt/attempts.ts'
import type { FirstPassword } from '../attempt/invitation-sign-in.ts'
import type { Steps } from '../attempt/steps.ts'
import type { CredentialChanges } from '../credential-change.ts'
import type { FactorPolicy } from '../factor-policy.ts'
import type { Gate } from '../gate.ts'
import type { Refusals } from '../refused-visitors.ts'
import type { Sessions } from '../session/sessions.ts'
import type { SignUp } from '../sign-up.ts'
import type { Guesses } from '../throttle/code-guesses.ts'
import type { Throttle } from '../throttle/throttle.ts'
import type { UsableMethods } from '../usable-methods.ts'
import type { KnownNetworks } from '../visitor/known-networks.ts'
import type { RecoveryCodes, SecondFactor, SignInMethod } from './method.ts'

/**
 * A way to sign in, a second factor, or both: what the rest of the sign-in knows of its folder. Commands load all definitions, so
 * these load on demand what is large.
 */
export interface MethodDefinition {
  /** Names it in the audit log and in sessions. Providers have ids of their own. */
  readonly id: string
  readonly kind: SignInMethod['kind'] | 'factor'
  /** Where its rows are. */
  readonly tables: MethodTables
  /** Reports settings that lack what it needs. They are as in the file, and may be invalid. */
  readonly checkSettings?: (settings: unknown, fault: ReportConfigError) => void
  /** For one by mail, with which people can sign in who never have before. */
  readonly firstWay?: FirstWay
  /** Undefined if it is not configured. */
  readonly openFactor?: (needs: FactorNeeds) => Promise<SecondFactor | undefined>
  /** Throws OperatorError for settings with which it cannot work. */
  readonly open?: (needs: MethodNeeds) => Promise<OpenMethod>
  /** Its rows that someone else wrote or changed, for `verify`. */
  readonly findForged?: (tx: Queryable, encryption: Encryption) => Promise<readonly ForgedRow[]>
}

export interface FirstWay {
  /** The setting in `sign_in` that turns it on. */
  readonly setting: keyof Config['sign_in']
  /** What `doctor` calls it. */
  readonly words: string
  /** Why it needs a mail server. */
  readonly why: string
}

/** The tables of a method, by what happens to their rows. */
export interface MethodTables {
  /** Removed with the sign-in data of their `person_id`. */
  readonly ofPeople?: readonly string[]
  /** Second factors of their `person_id`. */
  readonly ofFactors?: readonly string[]
  /** Removed with the second factors of their `person_id`. */
  readonly withFactors?: readonly string[]
  /** Meaningless after `expires_at`, and removed then. */
  readonly expiring?: readonly string[]
}

export interface ForgedRow {
  readonly table: string
  readonly id: string
  /** Whose sign-in it is, if that is known. */
  readonly person?: string
}

/** A method with the configuration. */
export interface OpenMethod {
  /** Empty if it is not configured; one for each provider. */
  readonly methods: readonly SignInMethod[]
  /** Adds the routes of its own. They exist even if it is not configured, and say so. */
  readonly addRoutes?: (server: Server) => void | Promise<void>
  /** For people who accept an invitation. */
  readonly firstPassword?: FirstPassword | undefined
}

/** The dependencies of second factors. */
export interface FactorNeeds {
  readonly config: Pick<Config, 'sign_in' | 'session' | 'mail' | 'sms' | 'firm' | 'base_url'>
  readonly database: Database
  readonly encryption: Encryption
  readonly audit: Pick<Audit, 'record' | 'recordWithin'>
  readonly throttle: Throttle
  readonly known: KnownNetworks
  readonly guesses: Guesses
  /** Undefined if no mail is configured. */
  readonly mailer?: Mailer | undefined
}

/** The dependencies of sign-in methods. `usable` and `gate` know all of them once they are open. */
export interface MethodNeeds extends FactorNeeds {
  readonly identities: Identities
  readonly signUp: SignUp
  readonly sessions: Sessions
  readonly attempts: Attempts
  readonly refusals: Refusals
  readonly steps: Steps
  readonly gate: Gate
  readonly changes: CredentialChanges
  readonly factorPolicy: FactorPolicy
  readonly recoveryCodes: RecoveryCodes
  readonly usable: UsableMethods
  readonly log: Logger
}
