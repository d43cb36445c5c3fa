import type { Logger } from 'pino'
import type { Model, Prompt, RunLimits, WholeReply } from '../model.ts'
import { readCompletion, readErrorCode, writeRequest } from './chat-completions.ts'
import { createChatStream } from './chat-stream.ts'
import { createEndpoint, type Endpoint, type EndpointOptions } from './exchange.ts'
import { Failure, refused } from './failure.ts'
import { createPool } from './pool.ts'
import type { Reception } from './reception.ts'
import { begin, relay } from './relay.ts'
import { mostTokens, neverBegun, wholeOf, type Asked } from './usage.ts'

export interface OpenAiModelOptions {
  readonly id: string
  readonly endpoints: readonly EndpointOptions[]
  /** The model's name at the endpoints. */
  readonly upstreamModel: string
  /** Tokens of prompt and reply together. */
  readonly context: number
  readonly maxOutputTokens: number
  /**
   * Milliseconds. `connect` and `first_token` bound one attempt at one endpoint, the latter for streams alone: a reply
   * in one piece shows its first token together with its last. `total` bounds everything, pauses included.
   */
  readonly timeout: { readonly connect: number; readonly first_token: number; readonly total: number }
  /** Most requests at a time to one endpoint, 512 unless told; when all are full it is Problem `overloaded`. */
  readonly connections?: number
  readonly log: Logger
}

/** Bytes of an answer: for what goes with it, for a token of one in one piece, and for a token of a stream. */
const mostBytes = { answer: 256 * 1024, token: 256, event: 4096 }

/**
 * A model behind servers that speak OpenAI's `POST /chat/completions`. They share the work by weight; who keeps failing
 * is left out for a while. A request that fails before its first token goes to another, or to the same after a pause.
 *
 * Usage is what the server reports, at most what `count` and the request's own cap allow: more than that was never held
 * and cannot be charged. A run throws Problem `upstream_failed`, `upstream_timeout`, `overloaded` (with the server's
 * Retry-After), `unavailable` or `context_length_exceeded`; none of them repeats what the server said.
 */
export function createOpenAiModel(options: OpenAiModelOptions): Model {
  const { id, upstreamModel, context, maxOutputTokens, timeout, connections = 512 } = options
  const log = options.log.child({ model: id })
  const endpoints = options.endpoints.map((endpoint) =>
    createEndpoint('/chat/completions', endpoint, { connections, connect: timeout.connect }),
  )
  const pool = createPool({ members: endpoints, total: timeout.total, pause: Math.max(timeout.first_token, 1000), log })

  // Whole replies are most of the work: with a promise for each step, and no function that waits for it.
  function run(asked: Asked): Promise<WholeReply> {
    const { prompt, limits, signal } = asked
    if (signal.aborted) return Promise.resolve({ text: '', ...neverBegun })
    const body = writeRequest(upstreamModel, prompt, limits, false)
    const bytes = mostBytes.answer + mostBytes.token * limits.maxOutputTokens
    const ask = (endpoint: Endpoint, total: number) =>
      endpoint.post(body, { total, mostBytes: bytes, signal }).then((answer) => {
        if (answer === undefined || answer.status === 200) return answer && readCompletion(answer.body, limits)
        throw refusal(endpoint, answer, answer.body.toString(), context, limits)
      })
    return pool.ask(ask, asked).then((answered) => wholeOf(answered?.value, asked))
  }

  async function beginStream(asked: Asked) {
    const { prompt, limits, signal } = asked
    const body = writeRequest(upstreamModel, prompt, limits, true)
    const bytes = mostBytes.answer + mostBytes.event * limits.maxOutputTokens
    const bounds = { first: timeout.first_token, mostBytes: bytes, signal }
    const answered = await pool.ask(async (endpoint, total) => {
      const reception = await endpoint.open(body, { ...bounds, total })
      if (reception && reception.status !== 200) {
        throw refusal(endpoint, reception, await readWhole(reception), context, limits)
      }
      return reception && begin(createChatStream(reception, limits))
    }, asked)
    return answered?.value && { ...answered.value, blame: () => pool.blame(answered.member, limits.requestId) }
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
    close: async () => void (await Promise.all(endpoints.map((endpoint) => endpoint.close()))),
  })
}

/** The body of a refusal; nothing, where it does not come whole: its status is what matters. */
async function readWhole(reception: Reception): Promise<string> {
  const chunks: Buffer[] = []
  try {
    for (;;) {
      const bytes = await reception.read()
      if (typeof bytes === 'string') break
      chunks.push(bytes)
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
  }
  return Buffer.concat(chunks).toString()
}

function refusal(
  endpoint: Endpoint,
  { status, retryAfter }: { readonly status: number; readonly retryAfter: string | undefined },
  body: string,
  context: number,
  { maxOutputTokens }: RunLimits,
): Failure {
  const code = readErrorCode(body)
  return refused({ status, retryAfter, body, origin: endpoint.name, code }, { maxOutputTokens, context })
}
