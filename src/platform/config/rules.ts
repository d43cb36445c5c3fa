import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { join, type ReadContext } from './check.ts'
import { duration, id } from './values.ts'

/**
 * Rules between settings. Each rule reads the settings as written in the file and skips invalid ones, so that all errors
 * are reported together.
 */

const Models = Type.Object({ models: Type.Array(Type.Unknown()) })
const Identified = Type.Object({ id: Type.String() })
const Sized = Type.Object({ context: Type.Integer(), max_output_tokens: Type.Integer() })
const Timed = Type.Object({ timeout: Type.Object({ first_token: Type.String(), total: Type.String() }) })
const server = Type.Union([Type.Literal('vllm'), Type.Literal('llama-server'), Type.Literal('anthropic')])
const CountedByServer = Type.Object({ engine: Type.Literal('ai-sdk'), tokenizer: server })
const PrefilledByPackage = Type.Object({
  engine: Type.Literal('ai-sdk'),
  package: Type.String(),
  prefill: Type.String(),
})
const CountedAsChat = Type.Object({ kind: Type.Literal('embeddings'), tokenizer: server })
const ForEmbeddings = Type.Object({ kind: Type.Literal('embeddings') })
const FallingBack = Type.Object({ fallback: Type.String() })
const Aliased = Type.Object({ aliases: Type.Record(Type.String(), Type.String()) })
const Providers = Type.Object({ sign_in: Type.Object({ providers: Type.Array(Type.Unknown()) }) })
const SignUp = Type.Object({
  sign_in: Type.Object({ sign_up: Type.Object({ policy: Type.String(), domains: Type.Array(Type.Unknown()) }) }),
})
const Taxes = Type.Object({ invoicing: Type.Object({ tax: Type.Array(Type.Unknown()) }) })
const Processes = Type.Object({ listen: Type.Object({ processes: Type.Unknown() }) })
const Stores = Type.Object({
  documents: Type.Object({
    store: Type.String(),
    former_store: Type.Optional(Type.String()),
    s3: Type.Optional(Type.Unknown()),
  }),
})
const Local = Type.Object({ engine: Type.Literal('local') })
const Session = Type.Object({ session: Type.Object({ idle: Type.String(), absolute: Type.String() }) })

/** Reports contradictions between settings. `shipped` are the model ids if the file has no models. */
export function checkRules(settings: unknown, shipped: readonly string[], { report }: ReadContext): void {
  const models = Value.Check(Models, settings) ? settings.models : []
  models.forEach((model, index) => checkModel(model, `models[${index}]`, report))
  checkUnique(models, 'models', report)
  checkFallbacks(models, report)
  checkAliases(settings, shipped, report)
  checkProcesses(settings, report)
  if (Value.Check(Stores, settings)) checkStores(settings.documents, report)
  if (Value.Check(Providers, settings)) checkUnique(settings.sign_in.providers, 'sign_in.providers', report)
  if (Value.Check(Taxes, settings)) checkUnique(settings.invoicing.tax, 'invoicing.tax', report)
  if (Value.Check(SignUp, settings)) {
    const { policy, domains } = settings.sign_in.sign_up
    if (policy === 'domain' && domains.length === 0) {
      report('sign_in.sign_up.domains', 'must have at least one domain for the policy domain')
    }
  }
  if (
    Value.Check(Session, settings) &&
    duration.parse(settings.session.idle) > duration.parse(settings.session.absolute)
  ) {
    report('session.idle', `must be at most the absolute ${settings.session.absolute}`)
  }
}

function checkModel(model: unknown, path: string, report: ReadContext['report']): void {
  if (Value.Check(Sized, model) && model.max_output_tokens >= model.context) {
    report(`${path}.max_output_tokens`, `must be below the context ${model.context}`)
  }
  if (Value.Check(Timed, model) && duration.parse(model.timeout.first_token) > duration.parse(model.timeout.total)) {
    report(`${path}.timeout.first_token`, `must be at most the total ${model.timeout.total}`)
  }
  if (Value.Check(CountedAsChat, model)) {
    report(`${path}.tokenizer`, `must be another one: ${model.tokenizer} counts chats, not the texts of embeddings`)
  }
  if (Value.Check(PrefilledByPackage, model) && model.package !== '@ai-sdk/anthropic') {
    report(`${path}.prefill`, `must be omitted: ${model.package} is not known to continue a message of the assistant`)
  }
  if (Value.Check(CountedByServer, model)) {
    const needed = model.tokenizer === 'anthropic' ? 'key' : 'url'
    if (!Object.hasOwn(model, needed)) report(`${path}.tokenizer`, `needs ${path}.${needed} to ask the server`)
  }
}

/** Several processes would load a local model once each, and their engines would compete for the cores. */
function checkProcesses(settings: unknown, report: ReadContext['report']): void {
  if (!Value.Check(Processes, settings) || !(Number(settings.listen.processes) > 1)) return
  const models = Value.Check(Models, settings) ? settings.models : undefined
  const index = models?.findIndex((model) => Value.Check(Local, model)) ?? 0
  if (index === -1) return
  const name = models === undefined ? 'the shipped model' : `models[${index}]`
  report(
    'listen.processes',
    `must be 1 with a local model, which ${name} is: its engine uses all cores. For more, serve it with llama-server as engine: openai`,
  )
}

function placeOf(address: string): 'database' | 'folder' | 'bucket' {
  if (address === 'database') return 'database'
  return address.startsWith('s3://') ? 'bucket' : 'folder'
}

/** The database knows only whether a file is in the folder or in the bucket, so there is at most one of each. */
function checkStores(
  { store, former_store: former, s3 }: Type.Static<typeof Stores>['documents'],
  report: ReadContext['report'],
): void {
  const kinds = [store, former].flatMap((address) => (address === undefined ? [] : [placeOf(address)]))
  if (kinds[1] === 'database') {
    report('documents.former_store', 'must be omitted: files in the database are always found')
  } else if (kinds[0] === kinds[1]) {
    report(
      'documents.former_store',
      `must not be a ${kinds[1]}, as documents.store is: move the files there, and omit it`,
    )
  }
  if (s3 === undefined && kinds.includes('bucket')) report('documents.s3', 'must be set for a bucket')
}

function checkUnique(entries: readonly unknown[], path: string, report: ReadContext['report']): void {
  const first = new Map<string, number>()
  entries.forEach((entry, index) => {
    if (!Value.Check(Identified, entry)) return
    const earlier = first.get(entry.id)
    if (earlier === undefined) first.set(entry.id, index)
    else report(`${path}[${index}].id`, `must differ from ${path}[${earlier}].id: both are ${entry.id}`)
  })
}

/** A chain of fallbacks may be circular: each model is tried once. */
function checkFallbacks(models: readonly unknown[], report: ReadContext['report']): void {
  const ids = models.flatMap((model) => (Value.Check(Identified, model) ? [model.id] : []))
  models.forEach((model, index) => {
    if (!Value.Check(FallingBack, model)) return
    const path = `models[${index}].fallback`
    const target = models.find((each) => Value.Check(Identified, each) && each.id === model.fallback)
    if (Value.Check(Identified, model) && model.fallback === model.id) report(path, 'must be another model')
    else if (Value.Check(ForEmbeddings, target)) report(path, 'must be a text model, not an embedding model')
    else if (ids.length === models.length && !ids.includes(model.fallback)) {
      report(path, `must be a model: one of ${[...new Set(ids)].join(', ')}`)
    }
  })
}

function checkAliases(settings: unknown, shipped: readonly string[], report: ReadContext['report']): void {
  if (!Value.Check(Aliased, settings)) return
  const written = Value.Check(Models, settings) ? settings.models : undefined
  const ids = written?.flatMap((model) => (Value.Check(Identified, model) ? [model.id] : [])) ?? shipped
  const complete = written === undefined || ids.length === written.length
  for (const [alias, target] of Object.entries(settings.aliases)) {
    const path = join('aliases', alias)
    if (!isId(alias)) report(path, `must itself be ${id.expects}`)
    if (ids.includes(alias)) report(path, 'must not be the id of a model')
    if (complete && !ids.includes(target)) report(path, `must point to a model: one of ${[...new Set(ids)].join(', ')}`)
  }
}

function isId(name: string): boolean {
  try {
    return id.parse(name) === name
  } catch {
    return false
  }
}
