import type { Logger } from 'pino'
import { Agent, fetch, type RequestInfo, type RequestInit } from 'undici'
import type { Message, Model, Prompt, RunLimits, WholeReply } from '../model.ts'
import type { CallOptions, Provider } from './ai-sdk-provider.ts'
import { failureOf, readResult } from './ai-sdk-reply.ts'
import { createAiSdkStream } from './ai-sdk-stream.ts'
import { createDeadline, type Deadline } from './deadline.ts'
import { unusable } from './failure.ts'
import { createPool } from './pool.ts'
import { begin, relay } from './relay.ts'
import { mostTokens, neverBegun, wholeOf, type Asked } from './usage.ts'

export interface AiSdkModelOptions {
  readonly id: string
  /** For the log. */
  readonly package: string
  readonly provider: Provider
  /** Where the API begins; the vendor's usual place when left out. */
  readonly url?: string | undefined
  /** The vendor's key; when left out, the package looks where it usually does. */
  readonly key?: string | undefined
  readonly upstreamModel: string
  /** Tokens of prompt and reply together. */
  readonly context: number
  readonly maxOutputTokens: number
  /** Milliseconds, as of the openai engine. */
  readonly timeout: { readonly connect: number; readonly first_token: number; readonly total: number }
  /** Most requests at a time, 512 unless told; one more is Problem `overloaded`. */
  readonly connections?: number
  readonly log: Logger
}

/** Bytes of an answer: for what goes with it, and for each token. */
const mostBytes = { answer: 256 * 1024, token: 4096 }

/**
 * A model behind a provider package of the AI SDK. Attempts, times, usage and Problems are those of the openai engine.
 * Throws OperatorError when the package has no language model that can be used.
 */
export function createAiSdkModel(options: AiSdkModelOptions): Model {
  const { id, package: origin, context, maxOutputTokens, timeout, connections = 512 } = options
  const log = options.log.child({ model: id })
  const agent = new Agent({
    connections,
    connect: { timeout: timeout.connect },
    maxResponseSize: mostBytes.answer + mostBytes.token * maxOutputTokens,
    // The timers are ours, over the whole exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const settings = {
    // What compatible servers are called does not matter, but the package for them insists; so do their streams' counts.
    name: 'upstream',
    includeUsage: true,
    ...(options.key !== undefined && { apiKey: options.key }),
    ...(options.url !== undefined && { baseURL: options.url }),
    // A redirect would carry the key to wherever it leads.
    fetch: (input: RequestInfo, init: RequestInit) => fetch(input, { ...init, redirect: 'error', dispatcher: agent }),
  }
  const model = options.provider(settings, options.upstreamModel)
  let running = 0
  const member = { name: origin, full: () => running >= connections }
  const pool = createPool({ members: [member], total: timeout.total, pause: Math.max(timeout.first_token, 1000), log })

  /** One attempt; it comes to nothing when the caller leaves. */
  async function attempt<Value>(deadline: Deadline, limits: RunLimits, work: () => Promise<Value>) {
    try {
      return await work()
    } catch (error) {
      deadline.end()
      if (deadline.reason === 'left') return undefined
      throw deadline.reason ?? failureOf(error, origin, { maxOutputTokens: limits.maxOutputTokens, context })
    }
  }

  function openDeadline(signal: AbortSignal, total: number, first?: number): Deadline {
    running++
    return createDeadline(signal, { first, total }, () => running--)
  }

  async function run(asked: Asked): Promise<WholeReply> {
    const { signal, limits } = asked
    if (signal.aborted) return { text: '', ...neverBegun }
    const answered = await pool.ask(async (_, total) => {
      const deadline = openDeadline(signal, total)
      return attempt(deadline, limits, async () => {
        const result = readResult(await model.doGenerate(callOf(asked, deadline.signal)))
        deadline.end()
        return result
      })
    }, asked)
    return wholeOf(answered?.value, asked)
  }

  async function beginStream(asked: Asked) {
    const { signal, limits } = asked
    const sizes = { maxOutputTokens: limits.maxOutputTokens, context }
    const answered = await pool.ask(async (_, total) => {
      const deadline = openDeadline(signal, total, timeout.first_token)
      return attempt(deadline, limits, async () => {
        const parts = partsOf(await model.doStream(callOf(asked, deadline.signal)))
        return begin(createAiSdkStream(parts, deadline, origin, sizes))
      })
    }, asked)
    return answered?.value && { ...answered.value, blame: () => pool.blame(member, limits.requestId) }
  }

  return Object.freeze({
    id,
    contextTokens: context,
    maxOutputTokens,
    count: async (prompt: Prompt) => ({ tokens: mostTokens(prompt), exact: false }),
    run: (prompt: Prompt, limits: RunLimits, signal: AbortSignal) => run({ prompt, limits, signal, log }),
    stream(prompt: Prompt, limits: RunLimits, signal: AbortSignal) {
      const asked = { prompt, limits, signal, log }
      return relay(asked, () => beginStream(asked))
    },
    health: () => pool.health(),
    close: () => agent.close(),
  })
}

function callOf({ prompt: { messages }, limits }: Asked, abortSignal: AbortSignal): CallOptions {
  return {
    prompt: messages.map(({ role, text }: Message) =>
      role === 'system' ? { role, content: text } : { role, content: [{ type: 'text', text }] },
    ),
    maxOutputTokens: limits.maxOutputTokens,
    temperature: limits.temperature ?? 0,
    topP: limits.topP,
    seed: limits.seed,
    stopSequences: limits.stop,
    abortSignal,
  }
}

function partsOf(answer: unknown): ReadableStream<unknown> {
  const stream: unknown = typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'stream') : undefined
  if (stream instanceof ReadableStream) return stream
  throw unusable('not a stream of a language model')
}
