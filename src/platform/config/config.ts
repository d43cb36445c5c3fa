import { isIPv6 } from 'node:net'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { Value } from 'typebox/value'
import { readValue, type Fault, type Reading, type Rule } from './check.ts'
import { readConfigFile } from './file.ts'
import { checkRules } from './rules.ts'
import { configSchema, environmentVariables, type Settings } from './schema.ts'
import type { Kind } from './values.ts'
import { OperatorError } from '../problems.ts'

/** A model of the configuration; `engine` tells the kinds apart. */
export type ModelConfig = NonNullable<Settings['models']>[number]

/** Everything that an operator decides, checked and resolved: durations in ms, sizes in bytes, prices as bigint. */
export interface Config extends Settings {
  readonly base_url: string
  /** With the number of processes resolved. */
  readonly listen: Settings['listen'] & { readonly processes: number }
  readonly models: ModelConfig[]
  /** The absolute path of the file it came from; null when every setting has its default. */
  readonly file: string | null
  /** The absolute path of the folder for the embedded database and for secrets. */
  readonly data: string
  /** Whether a first start sets up samples. */
  readonly demo: boolean
}

export type Environment = Readonly<Record<string, string | undefined>>

/** What `loadConfig` reads. */
export interface ConfigSource {
  readonly environment: Environment
  /** The project's folder. */
  readonly root: string
  /** Where relative paths in environment variables start. Default: the current folder. */
  readonly cwd?: string
  /** What the features demand of the settings. */
  readonly rules?: readonly Rule[]
}

/** The model in the repository, for when the file names none. */
const shipped = { id: 'tiny', alias: 'default', file: 'models/tiny/tiny.gguf' }

/**
 * The configuration from the environment and `tollgate.yaml`, frozen. Throws an OperatorError with one line for every
 * fault: its path in the file, and what would be right.
 */
export function loadConfig({ environment, root, cwd = process.cwd(), rules = [] }: ConfigSource): Config {
  const faults: Fault[] = []
  const reading: Reading = {
    environment,
    fault: (place, message) => {
      faults.push({ path: place, message })
    },
  }
  const variables = readVariables(environment, reading)
  const source = readConfigFile(variables.file, root, cwd, reading)
  const content = source.content === undefined ? undefined : readValue(configSchema, source.content, '', reading)
  checkRules(content, [shipped.id], reading)
  for (const rule of rules) rule(content, reading.fault)
  if (faults.length > 0) throw new OperatorError(faults.map(describe).join('\n'))
  return freeze(resolve(Value.Decode(configSchema, content), variables, source, { root, cwd }))
}

interface Variables {
  readonly file: string | undefined
  readonly data: string | undefined
  readonly port: number | undefined
  readonly host: string | undefined
  readonly database: string | undefined
  readonly demo: boolean | undefined
}

/** A variable that is set to nothing counts as not set: compose files and service managers write them so. */
function readVariables(environment: Environment, { fault }: Reading): Variables {
  const read = <Value>(name: string, { kind }: { kind: Kind<Value> }): Value | undefined => {
    const text = environment[name]
    if (text === undefined || text === '') return undefined
    try {
      return kind.parse(text)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      return fault(name, error.message)
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

function resolve(
  settings: Settings,
  variables: Variables,
  source: { file: string | null; directory: string },
  { root, cwd }: { root: string; cwd: string },
): Config {
  const listen = {
    ...settings.listen,
    host: variables.host ?? settings.listen.host,
    port: variables.port ?? settings.listen.port,
  }
  const where = variables.database ?? settings.database
  const models = settings.models?.map((model) => withAbsoluteFile(model, source.directory)) ?? [shippedModel(root)]
  return {
    ...settings,
    base_url: settings.base_url ?? ownAddress(listen.host, listen.port),
    database: where,
    listen: { ...listen, processes: processesFor(listen.processes, models) },
    models,
    aliases: settings.models === undefined ? { [shipped.alias]: shipped.id, ...settings.aliases } : settings.aliases,
    file: source.file,
    data: variables.data === undefined ? path.join(root, 'data') : path.resolve(cwd, variables.data),
    demo: variables.demo ?? (where === 'embedded' && settings.sign_in.providers.length === 0),
  }
}

/** Where a browser of this machine finds what listens there. Its own name is kept where it is as good. */
export function ownAddress(host: string, port: number): string {
  const address = `http://${isIPv6(host) ? `[${host}]` : host}:${port}`
  // An address with a zone is none of a URL.
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

function describe({ path: place, message }: Fault): string {
  return place === '' ? `the configuration ${message}` : `${place}: ${message}`
}

function freeze<Part>(part: Part): Part {
  if (typeof part === 'object' && part !== null) Object.values(Object.freeze(part)).forEach(freeze)
  return part
}
