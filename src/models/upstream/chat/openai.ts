import type { Logger } from 'pino'
import { everyCapability, type Capability } from '../../capabilities.ts'
import type { Model, RunLimits, WholeReply } from '../../model.ts'
import { pricedFields } from '../../vendor-fields.ts'
import { readCompletion, readErrorCode } from './chat-completions.ts'
import { commonFieldsOf } from './chat-messages.ts'
import { createRequestWriter, type Prefill } from './chat-request.ts'
import { createChatStream } from './chat-stream.ts'
import { createEndpoint, type Endpoint, type EndpointOptions } from '../pool/endpoint.ts'
import { refused, type Failure } from '../failure.ts'
import { byteTokenizer, type Tokenizer } from '../../tokenizer/tokenizer.ts'
import { createMemberPool } from '../pool/pool.ts'
import { readRefusal } from '../pool/reception.ts'
import { startReply, relay, type StartedReply } from '../relay.ts'
import { createForms, formAfterRefusal } from './request-form.ts'
import { neverBegun, wholeOf, type UpstreamReply, type UpstreamRun } from '../usage.ts'

export interface OpenAiModelOptions {
  readonly id: string
  readonly endpoints: readonly EndpointOptions[]
  /** The model's name at the endpoints. */
  readonly upstreamModel: string
  /** The most tokens that a prompt and its reply may have together. */
  readonly context: number
  readonly maxOutputTokens: number
  /** Default: all of them. */
  readonly capabilities?: ReadonlySet<Capability> | undefined
  /** Whether the operator has stated that it can reason. Default: no. */
  readonly reasons?: boolean
  /** How to ask it to continue a final assistant message. Default: it cannot. */
  readonly prefill?: Prefill | undefined
  /** The fields of requests that the operator lets through to it, besides those that are common. */
  readonly pass?: readonly string[] | undefined
  /**
   * Milliseconds. `connect` and `first_token` bound one attempt at one endpoint: until the first byte of a stream's body.
   * `total` bounds all attempts and the waits between them.
   */
  readonly timeout: { readonly connect: number; readonly first_token: number; readonly total: number }
  /** Requests in flight to one endpoint, default 512. If all are full, a run throws Problem `overloaded`. */
  readonly connections?: number
  /** Default: one token per byte. The model closes it. */
  readonly tokenizer?: Tokenizer
  readonly log: Logger
}

/** The most bytes of a response: its envelope, plus bytes per token of a whole reply or of a stream. */
const mostBytes = { answer: 256 * 1024, token: 256, event: 4096, logprob: 512 }

/** `each`: the bytes of one token without log probabilities. */
function mostBytesOf({ maxOutputTokens, choices = 1, logprobs }: RunLimits, each: number): number {
  const scores = logprobs === undefined ? 0 : (1 + logprobs) * mostBytes.logprob
  return mostBytes.answer + (each + scores) * maxOutputTokens * choices
}

/**
 * A model behind servers that speak OpenAI's `POST /chat/completions`. The endpoints share the requests by weight. An
 * endpoint that keeps failing is skipped for a while. A request that fails before its first token is sent to another
 * endpoint, or to the same one after a pause.
 *
 * A run throws Problem `upstream_failed`, `upstream_timeout`, `overloaded` (with the server's Retry-After), `unavailable`
 * or `context_length_exceeded`. No Problem quotes the server.
 */
export function createOpenAiModel(options: OpenAiModelOptions): Model {
  const { id, upstreamModel, context, maxOutputTokens, timeout, connections = 512, tokenizer = byteTokenizer } = options
  const { capabilities = everyCapability, reasons = false, prefill, pass = [] } = options
  const takes = new Set([...commonFieldsOf(upstreamModel), ...pricedFields, ...pass])
  const write = createRequestWriter({ name: upstreamModel, reasons, prefill })
  const log = options.log.child({ model: id })
  const endpoints = options.endpoints.map((endpoint) =>
    createEndpoint('/chat/completions', endpoint, { connections, connect: timeout.connect }),
  )
  const pool = createMemberPool({
    members: endpoints,
    total: timeout.total,
    pause: Math.max(timeout.first_token, 1000),
    log,
  })

  const forms = createForms()

  // The busiest path: one promise per step and no async function.
  function run(upstreamRun: UpstreamRun): Promise<WholeReply> {
    const { prompt, limits, signal } = upstreamRun
    if (signal.aborted) return Promise.resolve({ text: '', ...neverBegun })
    const bytes = mostBytesOf(limits, mostBytes.token)
    const ask = (
      endpoint: Endpoint,
      total: number,
      form = forms.of(endpoint.name),
    ): Promise<UpstreamReply | undefined> => {
      const ends = performance.now() + total
      return endpoint.post(write(prompt, limits, false, form), { total, mostBytes: bytes, signal }).then((answer) => {
        if (answer === undefined || answer.status === 200) {
          if (answer) forms.keep(endpoint.name, form)
          return answer && readCompletion(answer.body, upstreamRun)
        }
        const text = answer.body.toString()
        const next = formAfterRefusal(form, answer.status, text)
        if (next) return ask(endpoint, ends - performance.now(), next)
        throw refusal(endpoint, answer, text, context, limits)
      })
    }
    return pool
      .run((endpoint, total) => ask(endpoint, total), upstreamRun)
      .then((answered) => wholeOf(answered?.value, upstreamRun))
  }

  async function beginStream(upstreamRun: UpstreamRun) {
    const { prompt, limits, signal } = upstreamRun
    const bytes = mostBytesOf(limits, mostBytes.event)
    const bounds = { first: timeout.first_token, mostBytes: bytes, signal }
    async function ask(
      endpoint: Endpoint,
      total: number,
      form = forms.of(endpoint.name),
    ): Promise<StartedReply | undefined> {
      const ends = performance.now() + total
      const reception = endpoint.open(write(prompt, limits, true, form), { ...bounds, total })
      // While the upstream is at work.
      const stream = createChatStream(reception, upstreamRun)
      if (!(await reception.opened)) return undefined
      if (reception.status === 200) {
        forms.keep(endpoint.name, form)
        return startReply(stream)
      }
      const text = await readRefusal(reception)
      const next = formAfterRefusal(form, reception.status, text)
      if (next) return ask(endpoint, ends - performance.now(), next)
      throw refusal(endpoint, reception, text, context, limits)
    }
    const answered = await pool.run((endpoint, total) => ask(endpoint, total), upstreamRun)
    return (
      answered?.value && {
        ...answered.value,
        reportFailure: () => pool.reportFailure(answered.member, limits.requestId),
      }
    )
  }

  return Object.freeze<Model>({
    id,
    contextTokens: context,
    maxOutputTokens,
    capabilities,
    takes,
    continues: prefill !== undefined,
    cheapPrompt: tokenizer.cheapPrompt,
    count: tokenizer.count,
    mostTokens: tokenizer.mostTokens,
    run: (prompt, limits, signal) => run({ prompt, limits, signal, log, tokenizer }),
    stream(prompt, limits, signal) {
      const upstreamRun = { prompt, limits, signal, log, tokenizer }
      return relay(upstreamRun, () => beginStream(upstreamRun))
    },
    health: () => pool.health(),
    close: async () => void (await Promise.all([tokenizer, ...endpoints].map((each) => each.close()))),
  })
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
