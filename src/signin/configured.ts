import type { Logger } from 'pino'
import type { Audit } from '../access/audit.ts'
import type { Identities } from '../people/identities.ts'
import type { Config } from '../platform/config/config.ts'
import type { Database } from '../platform/database/database.ts'
import { OperatorError } from '../platform/problems.ts'
import { repeat } from '../platform/repeat.ts'
import { createAttempts } from './attempts.ts'
import { startSignInHousekeeping } from './housekeeping.ts'
import { createSignInLimits } from './limits.ts'
import type { Method } from './methods/method.ts'
import { createOidcMethod } from './methods/oidc.ts'
import type { Sessions } from './sessions.ts'
import { checkSignInSettings } from './settings-rule.ts'
import { createSignUp } from './sign-up.ts'
import { createSignIn, type SignIn } from './signin.ts'

interface Needs {
  readonly config: Pick<Config, 'sign_in' | 'session' | 'base_url'>
  readonly database: Database
  readonly identities: Identities
  readonly audit: Pick<Audit, 'record' | 'recordWithin'>
  readonly sessions: Sessions
  readonly log: Logger
}

export interface OpenSignIn extends SignIn {
  close(): Promise<void>
}

/** ms between two looks at the providers, which asks those that were not asked for long or are not known yet. */
const lookEvery = 30_000

/**
 * The ways to sign in that the configuration names. Throws OperatorError for what this version cannot do and for a
 * provider that is somebody else; one that does not answer is waited for.
 */
export async function openSignIn({ config, database, identities, audit, sessions, log }: Needs): Promise<OpenSignIn> {
  const { sign_in: settings, base_url: baseUrl, session: lifetimes } = config
  refuseUnsupported(settings)
  const methods = settings.providers.map((provider) => createOidcMethod({ provider, baseUrl, log }))
  await refuseWrong(methods, settings)
  const signIn = createSignIn({
    methods,
    attempts: createAttempts({ database, baseUrl, clock: Date.now }),
    limits: createSignInLimits({ perMinute: settings.starts_per_minute }),
    signUp: createSignUp({ policy: settings.sign_up, identities }),
    sessions,
    secondFactor: settings.second_factor,
    audit,
  })
  const look = async () => void (await Promise.all(methods.map((method) => method.check())))
  const looking = repeat({ name: 'looking at the OpenID providers', pause: lookEvery, work: look, log })
  const cleaning = startSignInHousekeeping({ database, audit, lifetimes, log })
  return Object.freeze({
    ...signIn,
    close: async () => void (await Promise.all([looking.stop(), cleaning.stop()])),
  })
}

function refuseUnsupported(settings: Config['sign_in']): void {
  const faults: string[] = []
  checkSignInSettings({ sign_in: settings }, (path, message) => void faults.push(`${path}: ${message}`))
  if (faults.length > 0) throw new OperatorError(faults.join('\n'))
}

async function refuseWrong(methods: readonly Method[], { providers }: Config['sign_in']): Promise<void> {
  await Promise.all(methods.map((method) => method.check()))
  const faults = providers.flatMap(({ issuer }, index) => {
    const { state, fault } = methods[index] ?? {}
    if (state !== 'wrong') return []
    return [`sign_in.providers[${index}].issuer: ${issuer} cannot be used, because ${fault}`]
  })
  if (faults.length > 0) throw new OperatorError(faults.join('\n'))
}

/**
 * What there is to sign in with, in words. Throws OperatorError with what would keep the service from starting, and with
 * the providers that do not answer.
 */
export async function surveySignIn({ config, log }: Pick<Needs, 'config' | 'log'>): Promise<string> {
  const { sign_in: settings, base_url: baseUrl } = config
  if (settings.providers.length === 0) return 'no provider is configured: nobody can sign in to the portal'
  const methods = settings.providers.map((provider) => createOidcMethod({ provider, baseUrl, log }))
  await refuseWrong(methods, settings)
  const silent = settings.providers.filter((_provider, index) => methods[index]?.state !== 'ready')
  if (silent.length === 0) return `${methods.map(({ id }) => id).join(', ')}: every provider answers`
  const addresses = silent.map(({ issuer }) => issuer).join(', ')
  throw new OperatorError(
    `Does not answer as an OpenID provider: ${addresses}. Correct the issuer, or check the network.`,
  )
}
