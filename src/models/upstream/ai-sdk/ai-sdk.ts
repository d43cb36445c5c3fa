import type { Logger } from 'pino'
import { Agent } from 'undici'
import { everyCapability, type Capability } from '../../capabilities.ts'
import type { Model, RunLimits, WholeReply } from '../../model.ts'
import type { VendorFields } from '../../conversation.ts'
import { createPackageFetch } from './fetch.ts'
import { compatibleName } from './options.ts'
import { callOf, checkSampling, requireSampling, type CalledModel } from './prompt.ts'
import type { Provider } from './provider.ts'
import { failureOf, readResult } from './reply.ts'
import { createAiSdkStream } from './stream.ts'
import { acceptedBy, commonFieldsOf } from '../chat/chat-messages.ts'
import { createDeadline, type Deadline } from '../pool/deadline.ts'
import { unusable } from '../failure.ts'
import { byteTokenizer, type Tokenizer } from '../../tokenizer/tokenizer.ts'
import { createMemberPool } from '../pool/pool.ts'
import { startReply, relay } from '../relay.ts'
import { neverBegun, wholeOf, type UpstreamRun } from '../usage.ts'

export interface AiSdkModelOptions {
  readonly id: string
  /** For the log. */
  readonly package: string
  readonly provider: Provider
  /** The base URL of the API; default the vendor's own. */
  readonly url?: string | undefined
  /** The vendor's key; by default the package reads its own environment variable. */
  readonly key?: string | undefined
  readonly upstreamModel: string
  /** The most tokens that a prompt and its reply may have together. */
  readonly context: number
  readonly maxOutputTokens: number
  /** Default: all that a package is sent. */
  readonly capabilities?: ReadonlySet<Capability> | undefined
  /** Whether the operator has stated that it can reason, so that a request not to is passed on. */
  readonly reasons?: boolean
  /** Whether a reply can continue a last message of the assistant. Default: no. */
  readonly continues?: boolean
  /** Milliseconds, as in the openai engine. */
  readonly timeout: { readonly connect: number; readonly first_token: number; readonly total: number }
  /** Requests in flight, default 512. One more throws Problem `overloaded`. */
  readonly connections?: number
  /** Default: one token per byte. The model closes it. */
  readonly tokenizer?: Tokenizer
  readonly log: Logger
}

/** Bytes of an answer: for its envelope and for each token. */
const mostBytes = { answer: 256 * 1024, token: 4096 }

const defaultConnections = 512

/** What models lose behind each package whose options are known. Behind others, they lose all that needs an option. */
const lostBehind: Readonly<Record<string, readonly Capability[]>> = {
  '@ai-sdk/anthropic': ['verbosity'],
  '@ai-sdk/openai': [],
  '@ai-sdk/openai-compatible': ['verbosity'],
}
const lostBehindOthers: readonly Capability[] = ['reasoning', 'verbosity']

/** The packages whose vendors search the web for their models. */
const searching: ReadonlySet<string> = new Set(['@ai-sdk/anthropic', '@ai-sdk/openai'])

/** The fields that packages pass on besides those of every request. Of packages that are not known, none is certain to arrive. */
function takenBehind(origin: string, upstreamModel: string): ReadonlySet<string> {
  switch (origin) {
    case '@ai-sdk/anthropic':
      return new Set(['top_k', 'inference_geo'])
    case '@ai-sdk/openai':
      return new Set(['service_tier'])
    case '@ai-sdk/openai-compatible':
      return new Set([...commonFieldsOf(upstreamModel), 'service_tier'])
    default:
      return new Set()
  }
}

/**
 * A model behind a provider package of the AI SDK, with the retries, timeouts, usage and Problems of the openai engine.
 * Throws OperatorError when the package has no usable language model.
 */
export function createAiSdkModel(options: AiSdkModelOptions): Model {
  const { id, package: origin, context, maxOutputTokens, timeout, tokenizer = byteTokenizer } = options
  const { connections = defaultConnections } = options
  const log = options.log.child({ model: id })
  const { model, agent, exchanges } = openModel(options)
  const called: CalledModel = {
    upstreamModel: options.upstreamModel,
    reasons: options.reasons === true,
    version: model.specificationVersion,
    takesReasoning:
      origin !== '@ai-sdk/openai-compatible' || acceptedBy(options.upstreamModel).earlierReasoning !== 'refused',
    isAnthropic: origin === '@ai-sdk/anthropic',
  }
  const lost = new Set(lostBehind[origin] ?? lostBehindOthers)
  const takes = takenBehind(origin, options.upstreamModel)
  let running = 0
  const member = { name: origin, full: () => running >= connections }
  const pool = createMemberPool({
    members: [member],
    total: timeout.total,
    pause: Math.max(timeout.first_token, 1000),
    log,
  })

  /** Makes one attempt. Resolves with undefined when the caller disconnects. */
  async function attempt<Value>(deadline: Deadline, limits: RunLimits, work: () => Promise<Value>) {
    try {
      return await work()
    } catch (error) {
      deadline.end()
      if (deadline.reason === 'disconnected') return undefined
      throw deadline.reason ?? failureOf(error, origin, { maxOutputTokens: limits.maxOutputTokens, context })
    }
  }

  function openDeadline(
    { signal, limits, prompt: { vendorFields } }: UpstreamRun,
    bounds: Parameters<typeof createDeadline>[1],
  ): Deadline {
    running++
    const deadline = createDeadline(signal, bounds, () => running--)
    exchanges.set(deadline.signal, { limits, vendorFields, ...(bounds.first !== undefined && { stream: deadline }) })
    return deadline
  }

  async function run(upstreamRun: UpstreamRun): Promise<WholeReply> {
    const { signal, limits } = upstreamRun
    if (signal.aborted) return { text: '', ...neverBegun }
    checkSampling(upstreamRun, called)
    const answered = await pool.run(async (_, total) => {
      const deadline = openDeadline(upstreamRun, { total })
      return attempt(deadline, limits, async () => {
        const result = readResult(await model.doGenerate(callOf(upstreamRun, called, deadline.signal)), upstreamRun)
        deadline.end()
        return result
      })
    }, upstreamRun)
    return wholeOf(answered?.value, upstreamRun)
  }

  async function beginStream(upstreamRun: UpstreamRun) {
    const { limits } = upstreamRun
    checkSampling(upstreamRun, called)
    const sizes = { maxOutputTokens: limits.maxOutputTokens, context }
    const answered = await pool.run(async (_, total) => {
      const deadline = openDeadline(upstreamRun, { first: timeout.first_token, total })
      return attempt(deadline, limits, async () => {
        const parts = partsOf(await model.doStream(callOf(upstreamRun, called, deadline.signal)))
        return startReply(createAiSdkStream(parts, deadline, origin, sizes, upstreamRun))
      })
    }, upstreamRun)
    return answered?.value && { ...answered.value, reportFailure: () => pool.reportFailure(member, limits.requestId) }
  }

  return Object.freeze<Model>({
    id,
    contextTokens: context,
    maxOutputTokens,
    get capabilities() {
      return (options.capabilities ?? everyCapability).difference(lost)
    },
    takes,
    searches: searching.has(origin),
    continues: options.continues,
    cheapPrompt: tokenizer.cheapPrompt,
    count: tokenizer.count,
    mostTokens: tokenizer.mostTokens,
    run: (prompt, limits, signal) => run({ prompt, limits, signal, log, tokenizer }),
    stream(prompt, limits, signal) {
      const upstreamRun = { prompt, limits, signal, log, tokenizer }
      return relay(upstreamRun, () => beginStream(upstreamRun))
    },
    health: () => pool.health(),
    close: async () => void (await Promise.all([tokenizer.close(), agent.close()])),
  })
}

/** A request that is sent. */
interface Exchange {
  readonly limits: RunLimits
  readonly vendorFields: VendorFields | undefined
  /** Of a stream. */
  readonly stream?: Deadline
}

/** Opens the package's model with its own connections. */
function openModel({
  provider,
  key,
  url,
  upstreamModel,
  timeout,
  maxOutputTokens,
  connections,
  ...options
}: AiSdkModelOptions) {
  const agent = new Agent({
    connections: connections ?? defaultConnections,
    connect: { timeout: timeout.connect },
    maxResponseSize: mostBytes.answer + mostBytes.token * maxOutputTokens,
    // Our own timers cover the whole exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  /** By the signal of the request. */
  const exchanges = new WeakMap<AbortSignal, Exchange>()
  const isKnown = Object.hasOwn(lostBehind, options.package)
  const settings = {
    // @ai-sdk/openai-compatible requires a name, reports the usage of streams only with `includeUsage`, and sends a schema
    // only with `supportsStructuredOutputs`.
    name: compatibleName,
    includeUsage: true,
    supportsStructuredOutputs: true,
    ...(key !== undefined && { apiKey: key }),
    ...(url !== undefined && { baseURL: url }),
    fetch: createPackageFetch(agent, {
      sending(signal, body) {
        const sent = exchanges.get(signal)
        if (isKnown) requireSampling(body, sent?.limits, sent?.vendorFields)
      },
      received: (signal) => exchanges.get(signal)?.stream?.begun(),
    }),
  }
  return { model: provider(settings, upstreamModel), agent, exchanges }
}

function partsOf(answer: unknown): ReadableStream<unknown> {
  const stream: unknown = typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'stream') : undefined
  if (stream instanceof ReadableStream) return stream
  throw unusable('not a stream of a language model')
}
