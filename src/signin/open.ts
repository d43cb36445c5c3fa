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
import { createFactors } from './configured-factors.ts'
import { createCredentialChanges } from './credential-change.ts'
import { createEnrolments } from './attempt/enrolments.ts'
import { createFactorPolicy } from './factor-policy.ts'
import { createGate } from './gate.ts'
import { createKnownBrowsers } from './visitor/known-browsers.ts'
import { createKnownNetworks } from './visitor/known-networks.ts'
import { createSignInLimits } from './throttle/limits.ts'
import { createEmailLinkMethod } from './methods/email-link/email-link.ts'
import type { RedirectMethod, SecondFactor, SignInMethod } from './methods/method.ts'
import { createConfiguredPasswords } from './methods/password/configured.ts'
import { createPasskeyMethod } from './methods/passkey/passkey.ts'
import { createOwnAccount } from './me/account.ts'
import { registerMe } from './me/routes.ts'
import { registerPasswords } from './methods/password/routes.ts'
import { createRefusals } from './refusals.ts'
import { registerSignIn, signInExamples } from './routes.ts'
import { registerProviderLogout } from './session/provider-logout.ts'
import type { Sessions } from './session/sessions.ts'
import { checkSignInSettings } from './settings-rule.ts'
import type { SignUp } from './sign-up.ts'
import { createSignIn, type SignIn } from './signin.ts'
import { createSteps } from './attempt/steps.ts'
import { hasStoredFactor } from './store.ts'
import { createThrottle } from './throttle/throttle.ts'
import { createUsableMethods } from './usable-methods.ts'
import { removeExpired, type RemovalNeeds } from './housekeeping/housekeeping.ts'

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

/** Methods and second factors in addition to the configured ones. */
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
  const providers = await createProviders(config, log)
  await refuseWrong(providers)
  const isUsed = providers.length > 0 || otherMethods.length > 0 || mailer !== undefined
  const throttle = createThrottle({ database })
  const known = createKnownNetworks({ database })
  const attempts = createAttempts({ database, baseUrl, clock: Date.now })
  const refusals = createRefusals({ audit })
  const steps = createSteps({ limits: createSignInLimits({ perMinute: settings.starts_per_minute }), refusals })
  const changes = createCredentialChanges({ sessions, audit, mailer })
  const { passkeys, recoveryCodes, ...configured } = createFactors({ ...needs, throttle, known })
  const factors = [...configured.factors, ...otherFactors]
  const policy = createFactorPolicy({
    policy: settings.second_factor,
    factors,
    hasStored: (personId, within = database) => hasStoredFactor(within, personId),
  })
  const mailed = mailer && { ...needs, mailer, throttle, known, attempts, steps, changes, factorPolicy: policy }
  const emailLink = settings.email_link && mailed ? createEmailLinkMethod(mailed) : undefined
  const password = settings.password && mailed ? createConfiguredPasswords(mailed) : undefined
  // Nobody has a passkey before they have signed in with another method.
  const passkey = passkeys && isUsed ? createPasskeyMethod(passkeys) : undefined
  const inOrder = [...providers, emailLink, password?.method, ...otherMethods, passkey]
  const methods = inOrder.filter((method) => method !== undefined)
  const usable = createUsableMethods({ methods, identities, database })
  const passwords = password?.serve(usable)
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
  }
  const own = createOwnAccount({
    ...needs,
    ...parts,
    changes,
    recoveryCodes,
    passkeys,
    password: password?.method,
    clock: Date.now,
  })
  const signIn = createSignIn({ ...parts, methods, factors, emailLink, passwords, own })
  const check = async () => void (await Promise.all(methods.map((method) => method.check())))
  const checking = repeat({ name: 'check of the OpenID providers', pause: checkEvery, work: check, log })
  const cleaning = startSignInHousekeeping({ database, audit, lifetimes, log })
  const routeNeeds = { ...needs, signIn, baseUrl }
  return Object.freeze<OpenSignIn>({
    ...signIn,
    async routes(server) {
      registerSignIn(server, routeNeeds)
      await registerProviderLogout(server, { ...needs, methods, refusals })
      registerPasswords(server, routeNeeds)
      registerMe(server, routeNeeds)
    },
    examples: signInExamples,
    close: async () => void (await Promise.all([checking.stop(), cleaning.stop()])),
  })
}

async function createProviders(config: Pick<Config, 'sign_in' | 'base_url'>, log: Logger): Promise<RedirectMethod[]> {
  const { sign_in: settings, base_url: baseUrl } = config
  if (settings.providers.length === 0) return []
  // Loaded only where a provider is configured: the libraries of OpenID Connect take 2 MB.
  const { createOidcMethod } = await import('./methods/oidc/provider.ts')
  return settings.providers.map((provider) => createOidcMethod({ provider, baseUrl, log }))
}

function refuseUnsupported(config: Pick<Config, 'sign_in' | 'mail'>): void {
  const faults: string[] = []
  checkSignInSettings(config, (path, message) => faults.push(`${path}: ${message}`))
  if (faults.length > 0) throw new OperatorError(faults.join('\n'))
}

async function refuseWrong(providers: readonly RedirectMethod[]): Promise<void> {
  await Promise.all(providers.map((provider) => provider.check()))
  const faults = providers.flatMap(({ issuer, state, fault }, index) =>
    state === 'wrong' ? [`sign_in.providers[${index}].issuer: ${issuer} cannot be used, because ${fault}`] : [],
  )
  if (faults.length > 0) throw new OperatorError(faults.join('\n'))
}

/**
 * A summary of the sign-in methods for `doctor`. Throws OperatorError with the faults that would prevent a start, with
 * settings that let none of the people sign in, and with providers that do not respond.
 */
export async function surveySignIn({ config, log, hasPeople }: SurveyNeeds): Promise<string> {
  const { base_url: baseUrl, sign_in: settings } = config
  const providers = await createProviders(config, log)
  const ways = waysWithoutProvider(settings)
  if (providers.length === 0 && ways.length === 0) {
    if (!hasPeople) return 'no provider is configured: nobody can sign in to the portal'
    throw new OperatorError(
      'Nobody can sign in to the portal: configure a provider in sign_in.providers, or set sign_in.password or sign_in.email_link.',
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

/** Passkeys do not count: nobody has one before they have signed in with another method. */
function waysWithoutProvider({ password, email_link: emailLink }: Config['sign_in']): string[] {
  return [...(password ? ['passwords'] : []), ...(emailLink ? ['email links'] : [])]
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
