import type { Logger } from 'pino'
import type { People } from '../people/people.ts'
import type { PersonSummary } from '../people/person.ts'
import { isLoopback } from '../platform/config/values.ts'
import type { Config } from '../platform/config/config.ts'
import { demoPeople } from './people.ts'
import { loadSamples, type SampleNeeds } from './samples.ts'

/** What runs beside the service while it is tried out. */
export interface Demo {
  /** The configuration with the provider of the demo in it. */
  readonly config: Config
  close(): Promise<void>
}

/**
 * Whether people may be let in without a password: the demo is on, nothing else is there to sign in with, and people's
 * browsers are on this machine.
 */
export function isTryOut({ demo, sign_in: signIn, base_url: baseUrl }: Config): boolean {
  return demo && signIn.providers.length === 0 && isLoopback(new URL(baseUrl).hostname)
}

/** Starts the provider of the demo where this is a try-out; undefined otherwise, and then nothing of it is loaded. */
export async function openDemo(config: Config, log: Logger): Promise<Demo | undefined> {
  if (!isTryOut(config)) return undefined
  const { startDemoProvider } = await import('./provider-process.ts')
  const { port } = config.listen
  const provider = await startDemoProvider({ baseUrl: config.base_url, port: port < 65_535 ? port + 1 : 0, log })
  const signIn = Object.freeze({ ...config.sign_in, providers: [provider.settings] })
  return Object.freeze({
    config: Object.freeze({ ...config, sign_in: signIn }),
    close: () => provider.close(),
  })
}

/**
 * Enters the sample people and clients where there is nobody yet. `settings` is the configuration without the provider of
 * the demo, `config` the one with it; where this is no try-out, nothing happens.
 */
export async function loadDemo(config: Config, settings: Config, service: SampleNeeds): Promise<void> {
  const [provider] = config.sign_in.providers
  if (isTryOut(settings) && provider !== undefined) await loadSamples(service, provider.issuer)
}

/** Those of the demo's people who may sign in now, as they are now: a partner may have changed that. */
export async function whoMaySignIn(people: Pick<People, 'list'>): Promise<PersonSummary[]> {
  const active = (await people.list()).filter(({ status }) => status === 'active')
  return demoPeople.flatMap((person) => active.find(({ email }) => email === person.email) ?? [])
}
