import type { Logger } from 'pino'
import type { Audit } from '../access/audit/audit.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { Identities } from '../people/identities.ts'
import type { Config } from '../platform/config/config.ts'
import type { Database } from '../platform/database/database.ts'
import { isSecure } from '../platform/config/values.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import type { Feature } from '../platform/feature.ts'
import { OperatorError } from '../platform/problems.ts'
import { repeat, type RepeatedWork } from '../platform/flow/repeat.ts'
import { createAttempts } from './attempt/attempts.ts'
import { createCredentialChanges } from './credential-change.ts'
import { createEnrolments } from './attempt/enrolments.ts'
import { createFactorPolicy } from './factor-policy.ts'
import { createGate } from './gate.ts'
import { createKnownBrowsers } from './visitor/known-browsers.ts'
import { createKnownNetworks } from './visitor/known-networks.ts'
import { createSignInLimits } from './throttle/sign-in-limits.ts'
import type { SecondFactor, SignInMethod } from './methods/method.ts'
import { methods as definitions } from './methods/methods.ts'
import { createProviders, refuseWrong } from './methods/oidc/oidc.ts'
import { openPasskeys } from './methods/passkey/passkeys.ts'
import { createRecoveryCodes } from './methods/recovery-codes/recovery-codes.ts'
import { createGuesses } from './throttle/code-guesses.ts'
import { createOwnAccount } from './me/account.ts'
import { registerMe } from './me/routes.ts'
import { createRefusals } from './refused-visitors.ts'
import { registerSignIn, signInExamples } from './routes.ts'
import type { Sessions } from './session/sessions.ts'
import { checkSignInSettings } from './settings-rule.ts'
import type { SignUp } from './sign-up.ts'
import { createSignIn, type SignIn } from './signin.ts'
import { createSteps } from './attempt/steps.ts'
import { hasRow } from './store.ts'
import { createThrottle } from './throttle/throttle.ts'
import { createUsableMethods } from './usable-methods.ts'
import { removeExpired, type RemovalNeeds } from './housekeeping.ts'

interface Needs {
  readonly config: Pick<Config, 'sign_in' | 'session' | 'mail' | 'sms' | 'firm' | 'base_url'>
  readonly database: Database
  readonly encryption: Encryption
  readonly identities: Identities
  readonly signUp: SignUp
  readonly audit: Pick<Audit, 'record' | 'recordWithin'>
  readonly sessions: Sessions
  /** Undefined if no mail is configured. */
  readonly mailer?: Mailer | undefined
  readonly log: Logger
  readonly additional?: AdditionalMethods | undefined
}

/** Methods and second factors in addition to the configured ones, and after them. */
export interface AdditionalMethods {
  readonly methods: readonly SignInMethod[]
  readonly factors: readonly SecondFactor[]
}

export interface OpenSignIn extends SignIn, Feature {
  close(this: void): Promise<void>
}

/** How often providers are checked, in ms. A check causes a request only if the provider is unknown or was not asked for long. */
const checkEvery = 30_000

/**
 * The configured sign-in methods. Throws OperatorError for settings that this version does not support, and for a
 * provider that contradicts the configuration. A provider that does not respond is retried later.
 */
export async function openSignIn(needs: Needs): Promise<OpenSignIn> {
  const { config, database, encryption, identities, signUp, audit, sessions, mailer, log } = needs
  const { sign_in: settings, base_url: baseUrl, session: lifetimes } = config
  const { methods: otherMethods = [], factors: otherFactors = [] } = needs.additional ?? {}
  refuseUnsupported(config)
  const throttle = createThrottle({ database })
  const known = createKnownNetworks({ database })
  const attempts = createAttempts({ database, encryption, baseUrl, clock: Date.now })
  const refusals = createRefusals({ audit })
  const steps = createSteps({ limits: createSignInLimits({ perMinute: settings.starts_per_minute }), refusals })
  const changes = createCredentialChanges({ sessions, audit, mailer })
  const factorNeeds = { ...needs, throttle, known, guesses: createGuesses({ ...needs, throttle }) }
  const recoveryCodes = createRecoveryCodes(factorNeeds)
  const configured = await Promise.all(definitions.map(async ({ openFactor }) => openFactor?.(factorNeeds)))
  const factors = [...configured.filter((factor) => factor !== undefined), ...otherFactors]
  const policy = createFactorPolicy({
    policy: settings.second_factor,
    factors,
    hasStored: (personId, within = database) => hasRow(within, factorTables, personId),
  })
  const methods: SignInMethod[] = []
  const usable = createUsableMethods({ methods, identities, database })
  const knownBrowsers = createKnownBrowsers({ baseUrl, mailer, timeZone: config.firm.time_zone })
  const gate = createGate({
    attempts,
    signUp,
    sessions,
    policy,
    encryption,
    changes,
    knownNetworks: known,
    knownBrowsers,
    usable,
  })
  const methodNeeds = {
    ...factorNeeds,
    attempts,
    refusals,
    steps,
    gate,
    changes,
    factorPolicy: policy,
    recoveryCodes,
    usable,
  }
  const opened = await Promise.all(definitions.map(async ({ open }) => open?.(methodNeeds)))
  methods.push(...inUse([...opened.flatMap((each) => each?.methods ?? []), ...otherMethods], mailer))
  const firstPassword = opened.find((each) => each?.firstPassword)?.firstPassword
  const enrolments = createEnrolments({ database, audit, changes, recoveryCodes })
  const parts = {
    attempts,
    signUp,
    sessions,
    refusals,
    gate,
    steps,
    policy,
    enrolments,
    identities,
    encryption,
    usable,
    methods,
  }
  const passkeys = openPasskeys(needs)
  const mailing = { hasMail: mailer !== undefined, timeZone: config.firm.time_zone }
  const own = createOwnAccount({ ...needs, ...parts, changes, recoveryCodes, passkeys, ...mailing, clock: Date.now })
  const signIn = createSignIn({ ...parts, factors, firstPassword, own })
  const check = async () => void (await Promise.all(methods.map((method) => method.check())))
  const checking = repeat({ name: 'check of the OpenID providers', pause: checkEvery, work: check, log })
  const cleaning = startSignInHousekeeping({ database, audit, lifetimes, log })
  const routeNeeds = { ...needs, signIn, baseUrl }
  return Object.freeze<OpenSignIn>({
    ...signIn,
    async routes(server) {
      registerSignIn(server, routeNeeds)
      for (const each of opened) await each?.addRoutes?.(server)
      registerMe(server, routeNeeds)
    },
    examples: signInExamples,
    close: async () => void (await Promise.all([checking.stop(), cleaning.stop()])),
  })
}

/** The tables of the second factors, also of those that are not configured. */
const factorTables = definitions.flatMap(({ tables }) => tables.ofFactors ?? [])

/** None, if all must be set up in a session, and none can start. A mailed invitation or link starts one. */
function inUse(methods: readonly SignInMethod[], mailer: Mailer | undefined): readonly SignInMethod[] {
  const canStart = mailer !== undefined || methods.some((each) => each.kind === 'redirect' || !each.mustBeSetUp)
  return canStart ? methods : []
}

function refuseUnsupported(config: Pick<Config, 'sign_in' | 'mail'>): void {
  const faults: string[] = []
  checkSignInSettings(config, (path, message) => faults.push(`${path}: ${message}`))
  if (faults.length > 0) throw new OperatorError(faults.join('\n'))
}

/**
 * A summary of the sign-in methods for `doctor`. Throws OperatorError with the faults that would prevent a start, with
 * settings that let none of the people sign in, and with providers that do not respond.
 */
export async function surveySignIn({ config, log, hasPeople }: SurveyNeeds): Promise<string> {
  const { base_url: baseUrl, sign_in: settings } = config
  const providers = await createProviders(config, log)
  // The best known first.
  const others = definitions.flatMap(({ firstWay }) => firstWay ?? []).toReversed()
  const ways = others.filter(({ setting }) => settings[setting] === true).map(({ words }) => words)
  if (providers.length === 0 && ways.length === 0) {
    if (!hasPeople) return 'no provider is configured: nobody can sign in to the portal'
    throw new OperatorError(
      `Nobody can sign in to the portal: configure a provider in sign_in.providers, or set ${others.map(({ setting }) => `sign_in.${setting}`).join(' or ')}.`,
    )
  }
  if (!isSecure(new URL(baseUrl))) {
    throw new OperatorError(
      `Nobody can sign in at ${baseUrl}: browsers keep the session cookie only for https. Set base_url to the https:// address that people enter.`,
    )
  }
  if (providers.length === 0) {
    return `no provider is configured: people sign in to the portal with ${ways.join(' or ')}`
  }
  await refuseWrong(providers)
  const silent = providers.filter(({ state }) => state !== 'ready')
  if (silent.length === 0) return `${providers.map(({ id }) => id).join(', ')}: every provider responds`
  const addresses = silent.map(({ issuer }) => issuer).join(', ')
  throw new OperatorError(`No OpenID provider responds at ${addresses}. Correct the issuer, or check the network.`)
}

interface SurveyNeeds extends Pick<Needs, 'config' | 'log'> {
  /** Whether there are people who may sign in. */
  readonly hasPeople: boolean
}

const minute = 60_000

/** Removes expired rows every minute. Safe on any number of instances at once. */
function startSignInHousekeeping(needs: RemovalNeeds & { readonly log: Logger }): RepeatedWork {
  return repeat({
    name: 'removal of expired sign-ins',
    pause: minute,
    work: () => removeExpired(needs),
    log: needs.log,
  })
}
