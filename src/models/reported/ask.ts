import { createEndpoint, type Endpoint, type UpstreamAnswer } from '../upstream/pool/endpoint.ts'
import { Failure } from '../upstream/failure.ts'
import { readLiteLlm } from '../vendors/litellm.ts'
import { readProps } from '../vendors/llama-server.ts'
import { readOllama } from '../vendors/ollama.ts'
import { combine, nameIn, type Findings, type ReportedModel } from './reported-model.ts'
import { at, isJsonObject, listOf } from '../../platform/text/json.ts'
import { vendors } from '../vendors/vendors.ts'

/** A server that can be asked for its models. */
export interface AskedServer {
  /** Up to and including the version: http://127.0.0.1:9101/v1 */
  readonly url: string
  readonly key?: string | undefined
  /** Whose headers it expects. */
  readonly api: 'openai' | 'anthropic'
}

/** The vendor's own address. */
export const anthropicUrl = 'https://api.anthropic.com/v1'

export function apiAt(url: string): AskedServer['api'] {
  return new URL(url).origin === new URL(anthropicUrl).origin ? 'anthropic' : 'openai'
}

/** The server gave no list of models. The message completes "The server …" and quotes nothing from it but the status. */
export class NoModelList extends Error {
  override readonly name = 'NoModelList'
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

interface AskOptions {
  /** Servers with a request for each model are asked about these only. Default: every model. */
  readonly wanted?: ReadonlySet<string>
  readonly signal: AbortSignal
  /** Milliseconds for all requests together. Default: a minute. */
  readonly deadline?: number
}

/** Milliseconds and bytes of one answer. The list of a large vendor has a few megabytes. */
const bounds = { first: 10_000, total: 30_000, mostBytes: 16 * 1024 * 1024 }
const limits = { connections: 1, connect: 5000 }
const mostPages = 20

/**
 * The models of a server, with what it reports about them in the form of OpenRouter, LiteLLM, vLLM, llama-server, Ollama,
 * Mistral, Anthropic or Tollgate. Throws NoModelList.
 */
export async function askModels(server: AskedServer, options: AskOptions): Promise<readonly ReportedModel[]> {
  const deadline = AbortSignal.timeout(options.deadline ?? 60_000)
  return askWithin(server, { ...options, signal: AbortSignal.any([options.signal, deadline]) })
}

async function askWithin(server: AskedServer, options: AskOptions): Promise<readonly ReportedModel[]> {
  const { models, isLlamaServer } = await askList(server, options.signal)
  if (isLlamaServer) {
    const props = readProps(await tryAsk(server, root(server), '/props', options))
    return models.map((model) => ({ id: model.id, ...combine(model, props) }))
  }
  if (!models.every(isBare)) return models
  const deployments = readLiteLlm(await tryAsk(server, server.url, '/model/info', options))
  if (!deployments) return askOllama(server, models, options)
  return models.map((model) => ({ id: model.id, ...combine(model, deployments.get(model.id) ?? {}) }))
}

/** Whether the list only names the model, as that of OpenAI, LiteLLM and Ollama. */
function isBare({ can = {}, context }: ReportedModel): boolean {
  return context === undefined && Object.keys(can).length === 0
}

async function askList(server: AskedServer, signal: AbortSignal): Promise<ModelList> {
  let whole: ModelList | undefined
  let path = server.api === 'anthropic' ? '/models?limit=1000' : '/models'
  for (let page = 0; page < mostPages; page++) {
    const list = readModelList(jsonIn(await ask(server, server.url, path, signal)))
    if (!list) throw new NoModelList('answered with something other than a list of models')
    whole = { ...list, models: [...(whole?.models ?? []), ...list.models] }
    if (server.api !== 'anthropic' || list.next === undefined) break
    path = `/models?limit=1000&after_id=${encodeURIComponent(list.next)}`
  }
  if (!whole || whole.models.length === 0) throw new NoModelList('lists no models')
  return whole
}

/** Ollama is asked about one model at a time. Any other server has no such path, so the first answer decides. */
async function askOllama(server: AskedServer, models: readonly ReportedModel[], options: AskOptions) {
  const described: ReportedModel[] = []
  for (const model of models) {
    if (options.wanted && !options.wanted.has(model.id)) continue
    const shown = readOllama(await tryAsk(server, root(server), '/api/show', options, { model: model.id }))
    if (!shown) return models
    described.push({ id: model.id, ...combine(model, shown) })
  }
  return described
}

const root = ({ url }: AskedServer): string => url.replace(/\/v1$/, '')

/** The JSON of the answer; undefined unless there is one. */
async function tryAsk(server: AskedServer, url: string, path: string, { signal }: AskOptions, body?: object) {
  try {
    return jsonIn(await ask(server, url, path, signal, body))
  } catch (error) {
    if (error instanceof NoModelList && !signal.aborted) return undefined
    throw error
  }
}

async function ask(server: AskedServer, url: string, path: string, signal: AbortSignal, body?: object) {
  if (signal.aborted) throw stopped(signal)
  const { key } = server
  const headers =
    server.api === 'anthropic' ? ['anthropic-version', '2023-06-01', ...(key ? ['x-api-key', key] : [])] : undefined
  const endpoint = createEndpoint(path, { url, key, ...(headers && { headers }) }, limits)
  try {
    return checked(await answerOf(endpoint, signal, body), key)
  } finally {
    await endpoint.close()
  }
}

async function answerOf(endpoint: Endpoint, signal: AbortSignal, body?: object): Promise<UpstreamAnswer> {
  const all = { ...bounds, signal }
  try {
    const answer = await (body ? endpoint.post(JSON.stringify(body), all) : endpoint.get(all))
    if (answer) return answer
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const { code, details } = error.problem
    if (code === 'upstream_timeout') throw new NoModelList(late)
    const reason = details.cause instanceof Error ? `: ${details.cause.message}` : ''
    throw new NoModelList(`${error.repeatable ? 'cannot be reached' : 'sent no usable response'}${reason}`)
  }
  throw stopped(signal)
}

const late = 'did not answer in time'

function stopped({ reason }: AbortSignal): NoModelList {
  const isLate = reason instanceof DOMException && reason.name === 'TimeoutError'
  return new NoModelList(isLate ? late : 'was not queried completely: Tollgate is stopping')
}

function checked(answer: UpstreamAnswer, key: string | undefined): UpstreamAnswer {
  const { status } = answer
  if (status === 200) return answer
  if (status === 401 || status === 403) {
    throw new NoModelList(key === undefined ? `needs a key (${status})` : `refuses the key (${status})`, status)
  }
  if (status === 404 || status === 405) throw new NoModelList(`has no list of models there (${status})`, status)
  if (status >= 300 && status < 400) {
    throw new NoModelList(`redirects to another address (${status}), which would receive the key`, status)
  }
  throw new NoModelList(`answered with status ${status}`, status)
}

function jsonIn({ body }: UpstreamAnswer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

/** A list of models in the shape of OpenAI's `GET /models`, with what each kind of server adds to it. */
interface ModelList {
  readonly models: readonly ReportedModel[]
  readonly isLlamaServer: boolean
  /** The id after which the next page begins, if there is one. */
  readonly next: string | undefined
}

/** Undefined if the body is something else. Entries that are none, and models with unusable names, are left out. */
function readModelList(body: unknown): ModelList | undefined {
  const data = at(body, 'data')
  const entries = listOf(data).filter(isJsonObject)
  if (!Array.isArray(data) || (data.length > 0 && entries.length === 0)) return undefined
  const last = at(body, 'last_id')
  return {
    models: entries.flatMap((entry) => {
      const id = nameIn(entry['id'])
      return id === undefined ? [] : [{ id, ...readers.map((read) => read(entry)).reduce(combine) }]
    }),
    isLlamaServer: entries.some((entry) => entry['owned_by'] === 'llamacpp'),
    next: at(body, 'has_more') === true && typeof last === 'string' ? last : undefined,
  }
}

const otherKinds = /embed|rerank|moderat|classif|image|video|audio|speech|voice|transcri/i

/** Together, Novita and Hugging Face name the kind of a model; Azure and Fireworks say whether it can chat. */
function readKind(entry: unknown): Findings {
  const named = ['type', 'model_type', 'task'].map((name) => at(entry, name))
  const chats = [at(entry, 'capabilities', 'chat_completion'), at(entry, 'supports_chat')]
  const isOther = named.some((kind) => typeof kind === 'string' && otherKinds.test(kind) && !/text/i.test(kind))
  return { writesText: !isOther && !chats.includes(false) }
}

const readers = [...vendors.flatMap(({ listed }) => listed ?? []), readKind]
