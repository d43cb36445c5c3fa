import type { Logger } from 'pino'
import type { People } from '../people/people.ts'
import type { PersonSummary } from '../people/person.ts'
import { isDemo, type Config } from '../platform/config/config.ts'
import { demoFirm, demoPeople } from './people.ts'
import { loadSamples, type SampleNeeds } from './samples.ts'

export { isSampleAccount } from './sample-usage.ts'

/** What a demo adds to the service: a provider, a mail server, sample people and sample clients. */
export interface Demo {
  /** The configuration with the demo's provider, mail server, drafting and tried calls. The first start creates the account. */
  readonly config: Config
  close(): Promise<void>
}

/** Starts the demo's provider and mail server. Undefined, with nothing loaded, if this is not a demo. */
export async function openDemo(config: Config, log: Logger): Promise<Demo | undefined> {
  if (!isDemo(config)) return undefined
  const { startDemoProvider } = await import('./provider/provider-process.ts')
  const { port } = config.listen
  const near = (distance: number) => (port + distance <= 65_535 ? port + distance : 0)
  const ports = { port: near(1), mailPort: near(2) }
  const provider = await startDemoProvider({ baseUrl: config.base_url, ...ports, log })
  const signIn = Object.freeze({ ...config.sign_in, providers: [provider.settings], email_link: true, password: true })
  const caught = {
    url: `smtp://127.0.0.1:${provider.mailPort}`,
    from: 'Penhallow Advisory <tollgate@penhallow.example>',
  }
  const model = Object.keys(config.aliases)[0] ?? config.models[0]?.id
  const drafting = config.drafting ?? (model === undefined ? undefined : Object.freeze({ account: 'Portal', model }))
  const tryIt = config.try_it ?? (drafting && Object.freeze({ account: drafting.account }))
  return Object.freeze({
    config: Object.freeze({
      ...withDemoFirm(config),
      sign_in: signIn,
      mail: Object.freeze(config.mail ?? caught),
      ...(drafting && { drafting }),
      ...(tryIt && { try_it: tryIt }),
    }),
    close: () => provider.close(),
  })
}

/** The configuration with the demo's firm, unless it has its own or this is not a demo. */
export function withDemoFirm(config: Config): Config {
  if (!isDemo(config) || config.firm.name !== undefined) return config
  return Object.freeze({ ...config, firm: Object.freeze({ ...config.firm, ...demoFirm }) })
}

/**
 * Adds the samples to an empty database. `settings` is the configuration without the demo's provider, that of the service the one
 * with it. Does nothing if this is not a demo.
 */
export async function loadDemo(settings: Config, service: SampleNeeds): Promise<void> {
  const [provider] = service.config.sign_in.providers
  if (isDemo(settings) && provider !== undefined) await loadSamples(service, provider.issuer)
}

/** Where a browser on this machine reads the demo's mail. Undefined if this is not a demo, or it has a mail server. */
export function demoMailPage(config: Config, settings: Config): string | undefined {
  const [provider] = config.sign_in.providers
  return isDemo(settings) && settings.mail === undefined && provider ? `${provider.issuer}/mail` : undefined
}

/** The demo's people who may sign in now, with their current names and roles. */
export async function whoMaySignIn(people: Pick<People, 'list'>): Promise<PersonSummary[]> {
  const active = (await people.list()).filter(({ status }) => status === 'active')
  return demoPeople.flatMap((person) => active.find(({ email }) => email === person.email) ?? [])
}
