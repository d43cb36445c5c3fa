import { OperatorError } from '../../../platform/problems.ts'

/** The options of a call to an AI SDK language model. Every interface version since 2 accepts them. */
export interface CallOptions {
  readonly prompt: readonly object[]
  readonly maxOutputTokens: number
  readonly temperature: number | undefined
  readonly topP: number | undefined
  readonly topK?: unknown
  readonly frequencyPenalty?: unknown
  readonly presencePenalty?: unknown
  readonly seed: number | undefined
  readonly stopSequences: readonly string[] | undefined
  readonly abortSignal: AbortSignal
  readonly tools?: readonly object[] | undefined
  readonly toolChoice?: object | undefined
  readonly responseFormat?: object | undefined
  readonly providerOptions?: Readonly<Record<string, object>> | undefined
}

/** An AI SDK language model. Its results are `unknown` because the package is third-party code: validate them. */
export interface LanguageModel {
  readonly specificationVersion: (typeof versions)[number]
  doGenerate(options: CallOptions): PromiseLike<unknown>
  doStream(options: CallOptions): PromiseLike<unknown>
}

/** Creates the models of one provider package. */
export type Provider = (settings: object, model: string) => LanguageModel

const versions = ['v2', 'v3', 'v4'] as const

/**
 * Loads provider packages by name. Throws OperatorError if a package is not installed or is not a provider. Tollgate does
 * not depend on them: there are dozens, and an installation needs only a few.
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

/** Returns why a package cannot be used and what to do, or null if it can. `all` are the configured packages. */
export async function faultOfProvider(name: string, all: readonly string[]): Promise<string | null> {
  try {
    if (!(await load(name))) throw notInstalled([name], [...new Set(all)])
    return null
  } catch (error) {
    if (error instanceof OperatorError) return error.message
    throw error
  }
}

/** The command names every package because npm removes those that an earlier `--no-save` installed. */
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
  if (!create) throw new OperatorError(`models: the package ${name} is not an AI SDK provider: name a package that is`)
  return (settings, model) => {
    const made = make(create, settings, model)
    if (isLanguageModel(made)) return made
    throw new OperatorError(
      `models: the package ${name} does not have a language model interface of ${versions.join(', ')}: install another version`,
    )
  }
}

/** Every provider package exports a function `createX`. */
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
    // The error is dropped because its message may quote the settings.
    return undefined
  }
}

const isFunction = (value: unknown): value is (...given: readonly unknown[]) => unknown => typeof value === 'function'

function isLanguageModel(value: unknown): value is LanguageModel {
  if (typeof value !== 'object' || value === null) return false
  const version: unknown = Reflect.get(value, 'specificationVersion')
  const does = (name: string): boolean => isFunction(Reflect.get(value, name))
  return versions.some((known) => known === version) && does('doGenerate') && does('doStream')
}
