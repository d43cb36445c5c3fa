import { isIPv6 } from 'node:net'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { Value } from 'typebox/value'
import { readValue, type ConfigError, type ConfigRule, type ReadContext, type ReportConfigError } from './check.ts'
import { readConfigFile } from './file.ts'
import { checkRules } from './rules.ts'
import { configSchema, environmentVariables, type ParsedSettings } from './schema.ts'
import { isLoopback, type DocumentStore, type SettingFormat } from './values.ts'
import { OperatorError } from '../problems.ts'

/** A configured model, discriminated by `engine`. */
export type ModelConfig = NonNullable<ParsedSettings['models']>[number]

/** An embedding model. */
type EmbeddingConfig = Extract<ModelConfig, { kind: 'embeddings' }>

/** What a model produces. */
export type ModelKind = 'text' | 'embeddings'

export function isForEmbeddings(model: ModelConfig): model is EmbeddingConfig {
  return 'kind' in model && model.kind === 'embeddings'
}

export const kindOf = (model: ModelConfig): ModelKind => (isForEmbeddings(model) ? 'embeddings' : 'text')

/** All settings, validated and resolved: durations in ms, sizes in bytes, prices as bigint. */
export interface Config extends ParsedSettings {
  readonly base_url: string
  /** With the number of processes and the delay resolved. */
  readonly listen: ParsedSettings['listen'] & { readonly processes: number; readonly drain_delay: number }
  readonly models: ModelConfig[]
  /** The absolute path of the configuration file; null if there is none. */
  readonly file: string | null
  /** The absolute path of the folder for the embedded database and for secrets. */
  readonly data: string
  /** Whether the first start creates sample data. */
  readonly demo: boolean
}

/**
 * Whether people may sign in without a password: the demo is on, no provider is configured, and the service is reachable
 * from this machine only.
 */
export function isDemo({ demo, sign_in: signIn, base_url: baseUrl }: Config): boolean {
  return demo && signIn.providers.length === 0 && isLoopback(new URL(baseUrl).hostname)
}

export type Environment = Readonly<Record<string, string | undefined>>

export interface ConfigSource {
  readonly environment: Environment
  /** The project's folder. */
  readonly root: string
  /** The base of relative paths in environment variables. Default: the current folder. */
  readonly cwd?: string
  /** The rules of the features. */
  readonly rules?: readonly ConfigRule[]
  /** Further rules, for which the environment matters. They are checked if the settings themselves are valid. */
  readonly resolvedRules?: readonly ResolvedRule[]
}

export type ResolvedRule = (config: Config, report: ReportConfigError) => void

/** The model in the repository, used if the file has no models. */
const shipped = { id: 'tiny', alias: 'default', file: 'models/tiny/tiny.gguf' }

/**
 * Loads the configuration from the environment and `tollgate.yaml`, frozen. Throws OperatorError with one line per error:
 * its path in the file, and what is expected.
 */
export function loadConfig(needs: ConfigSource): Config {
  const { environment, root, cwd = process.cwd(), rules = [], resolvedRules = [] } = needs
  const errors: ConfigError[] = []
  const context: ReadContext = {
    environment,
    report: (where, message) => {
      errors.push({ path: where, message })
    },
  }
  const variables = readVariables(environment, context)
  const source = readConfigFile(variables.file, root, cwd, context)
  const content = source.content === undefined ? undefined : readValue(configSchema, source.content, '', context)
  checkRules(content, [shipped.id], context)
  for (const rule of rules) rule(content, context.report)
  throwIfAny(errors)
  const config = freeze(resolve(Value.Decode(configSchema, content), variables, source, { root, cwd }))
  for (const rule of resolvedRules) rule(config, context.report)
  throwIfAny(errors)
  return config
}

function throwIfAny(errors: readonly ConfigError[]): void {
  if (errors.length > 0) throw new OperatorError(errors.map(describe).join('\n'))
}

interface Variables {
  readonly file: string | undefined
  readonly data: string | undefined
  readonly port: number | undefined
  readonly host: string | undefined
  readonly database: string | undefined
  readonly demo: boolean | undefined
}

/** An empty variable counts as not set: compose files and service managers set variables to nothing. */
function readVariables(environment: Environment, { report }: ReadContext): Variables {
  const read = <Value>(name: string, { format }: { format: SettingFormat<Value> }): Value | undefined => {
    const text = environment[name]
    if (text === undefined || text === '') return undefined
    try {
      return format.parse(text)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      return report(name, error.message)
    }
  }
  return {
    file: read('TOLLGATE_CONFIG', environmentVariables.TOLLGATE_CONFIG),
    data: read('TOLLGATE_DATA', environmentVariables.TOLLGATE_DATA),
    port: read('PORT', environmentVariables.PORT),
    host: read('HOST', environmentVariables.HOST),
    database: read('DATABASE_URL', environmentVariables.DATABASE_URL),
    demo: read('TOLLGATE_DEMO', environmentVariables.TOLLGATE_DEMO),
  }
}

/** Proxies check `/readyz` every few seconds. */
const behindProxy = 5000

function resolve(
  settings: ParsedSettings,
  variables: Variables,
  source: { file: string | null; directory: string },
  { root, cwd }: { root: string; cwd: string },
): Config {
  const listen = {
    ...settings.listen,
    host: variables.host ?? settings.listen.host,
    port: variables.port ?? settings.listen.port,
    drain_delay: settings.listen.drain_delay ?? (settings.listen.trusted_proxies.length > 0 ? behindProxy : 0),
  }
  const database = variables.database ?? settings.database
  const models = settings.models?.map((model) => withAbsoluteFile(model, source.directory)) ?? [shippedModel(root)]
  return {
    ...settings,
    base_url: settings.base_url ?? ownAddress(listen.host, listen.port),
    database,
    listen: { ...listen, processes: processesFor(listen.processes, models) },
    models,
    firm: withAbsoluteLogo(settings.firm, source.directory),
    documents: withAbsoluteFolders(settings.documents, source.directory),
    aliases: settings.models === undefined ? { [shipped.alias]: shipped.id, ...settings.aliases } : settings.aliases,
    file: source.file,
    data: variables.data === undefined ? path.join(root, 'data') : path.resolve(cwd, variables.data),
    demo: variables.demo ?? (database === 'embedded' && !hasSignIn(settings)),
  }
}

/** Whether the file configures a provider or mail: then the demo, with its passwordless sign-in, runs only if it is asked for. */
function hasSignIn({ sign_in: { providers }, mail }: ParsedSettings): boolean {
  return providers.length > 0 || mail !== undefined
}

/** The URL of this server for a browser on this machine. Loopback and wildcard addresses become `localhost`. */
export function ownAddress(host: string, port: number): string {
  const address = `http://${isIPv6(host) ? `[${host}]` : host}:${port}`
  // A URL cannot contain an address with a zone.
  const { hostname } = new URL(URL.canParse(address) ? address : 'http://localhost')
  const everywhere = /^(?:0\.0\.0\.0|127\.0\.0\.1|\[::1?\])$/.test(hostname)
  return `http://${everywhere ? 'localhost' : hostname}:${port}`
}

function processesFor(setting: number | 'auto', models: readonly ModelConfig[]): number {
  if (setting !== 'auto') return setting
  return models.some(({ engine }) => engine === 'local') ? 1 : availableParallelism()
}

function withAbsoluteFile(model: ModelConfig, directory: string): ModelConfig {
  if (model.engine === 'local') return { ...model, file: path.resolve(directory, model.file) }
  return model.tokenizer.endsWith('.json') ? { ...model, tokenizer: path.resolve(directory, model.tokenizer) } : model
}

function withAbsoluteLogo(firm: ParsedSettings['firm'], directory: string): ParsedSettings['firm'] {
  return firm.logo === undefined ? firm : { ...firm, logo: path.resolve(directory, firm.logo) }
}

function withAbsoluteFolders(documents: ParsedSettings['documents'], directory: string): ParsedSettings['documents'] {
  const resolved = (store: DocumentStore): DocumentStore =>
    store.kind === 'folder' ? { ...store, folder: path.resolve(directory, store.folder) } : store
  const { store, former_store: former } = documents
  return { ...documents, store: resolved(store), ...(former && { former_store: resolved(former) }) }
}

function shippedModel(root: string): ModelConfig {
  return {
    id: shipped.id,
    engine: 'local',
    file: path.join(root, shipped.file),
    context: 1024,
    max_output_tokens: 512,
    parallel: 8,
    price: { input: 100_000n, output: 400_000n },
  }
}

function describe({ path: where, message }: ConfigError): string {
  return where === '' ? `the configuration ${message}` : `${where}: ${message}`
}

function freeze<Part>(part: Part): Part {
  if (typeof part === 'object' && part !== null) Object.values(Object.freeze(part)).forEach(freeze)
  return part
}
