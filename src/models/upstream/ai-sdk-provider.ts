import { OperatorError } from '../../platform/problems.ts'

/** What is asked of a language model of the AI SDK; every version of its interface from 2 on takes this. */
export interface CallOptions {
  readonly prompt: readonly object[]
  readonly maxOutputTokens: number
  readonly temperature: number
  readonly topP: number | undefined
  readonly seed: number | undefined
  readonly stopSequences: readonly string[] | undefined
  readonly abortSignal: AbortSignal
}

/** A language model of the AI SDK. What it answers is looked at before it is believed: the package is not ours. */
export interface LanguageModel {
  doGenerate(options: CallOptions): PromiseLike<unknown>
  doStream(options: CallOptions): PromiseLike<unknown>
}

/** What a provider package makes its models with. */
export type Provider = (settings: object, model: string) => LanguageModel

const versions = ['v2', 'v3', 'v4']

/**
 * Loads the provider packages, by name. Throws OperatorError with what to run when one is not installed, or not one.
 * They are not dependencies of ours: there are dozens, and nobody needs more than a few.
 */
export async function loadProviders(names: readonly string[]): Promise<ReadonlyMap<string, Provider>> {
  const packages = [...new Set(names)]
  const loaded = new Map<string, Provider>()
  const missing: string[] = []
  for (const name of packages) {
    const provider = await load(name)
    if (provider) loaded.set(name, provider)
    else missing.push(name)
  }
  if (missing.length > 0) throw notInstalled(missing, packages)
  return loaded
}

/** Why a package cannot be used, and what to do; null when it can. `all` are those of the configuration. */
export async function faultOfProvider(name: string, all: readonly string[]): Promise<string | null> {
  try {
    if (!(await load(name))) throw notInstalled([name], [...new Set(all)])
    return null
  } catch (error) {
    if (error instanceof OperatorError) return error.message
    throw error
  }
}

/** npm removes what an earlier --no-save brought: all of them have to be named each time. */
function notInstalled(missing: readonly string[], all: readonly string[]): OperatorError {
  const command = `npm install --no-save ${all.join(' ')}`
  return new OperatorError(`models: the package ${missing.join(', ')} is not installed: run ${command}`)
}

async function load(name: string): Promise<Provider | undefined> {
  let found: unknown
  try {
    found = await import(name)
  } catch (error) {
    const absent = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
    if (absent && error.message.includes(`'${name}'`)) return undefined
    throw new OperatorError(`models: the package ${name} cannot be loaded: ${error instanceof Error ? error.name : ''}`)
  }
  const create = creatorIn(found)
  if (!create) throw new OperatorError(`models: the package ${name} is not an AI SDK provider: name one that is`)
  return (settings, model) => {
    const made = make(create, settings, model)
    if (isLanguageModel(made)) return made
    throw new OperatorError(
      `models: the package ${name} does not have a language model interface of ${versions.join(', ')}: install another version`,
    )
  }
}

/** Every provider package has one export `createX`, whatever else it has. */
function creatorIn(exported: unknown): ((...given: readonly unknown[]) => unknown) | undefined {
  if (typeof exported !== 'object' || exported === null) return undefined
  const name = Object.keys(exported).find((key) => /^create[A-Z]/.test(key))
  const create: unknown = name === undefined ? undefined : Reflect.get(exported, name)
  return isFunction(create) ? create : undefined
}

function make(create: (settings: object) => unknown, settings: object, model: string): unknown {
  try {
    const provider = create(settings)
    return isFunction(provider) ? provider(model) : undefined
  } catch {
    // Whatever it misses; its message may repeat the settings.
    return undefined
  }
}

const isFunction = (value: unknown): value is (...given: readonly unknown[]) => unknown => typeof value === 'function'

function isLanguageModel(value: unknown): value is LanguageModel {
  if (typeof value !== 'object' || value === null) return false
  const version: unknown = Reflect.get(value, 'specificationVersion')
  const does = (name: string): boolean => isFunction(Reflect.get(value, name))
  return typeof version === 'string' && versions.includes(version) && does('doGenerate') && does('doStream')
}
