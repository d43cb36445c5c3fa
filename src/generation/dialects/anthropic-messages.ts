import { Type } from 'typebox'
import type { Level, Levels } from '../../billing/till.ts'
import type { Message, StopReason } from '../../models/model.ts'
import { compileBody } from '../../platform/http/validation.ts'
import { countMessagesExample, messagesExample } from '../examples.ts'
import type { Reply } from '../generation.ts'
import type { TextRequest } from '../request.ts'
import { messagesMetadata, sampling } from '../schema.ts'
import { tagsOf } from '../tags.ts'
import { isFields, withoutNeutral, type Unsupported } from './body.ts'
import { event, jsonAround, type Dialect, type DialectRequest, type ErrorDetails, type EventWriter } from './dialect.ts'
import { mostMessages, readMessages, contentText, textOrParts, type MessageFormat } from './messages.ts'

/** Anthropic's messages: `POST /v1/messages`. */
const fields = {
  model: Type.String({ format: 'filled-text', maxLength: 256, description: 'An id or an alias of a model.' }),
  max_tokens: Type.Integer({ minimum: 1, description: 'The most tokens to generate.' }),
  temperature: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'Default 0: always the most likely token.' }),
  ),
  top_p: sampling.top_p,
  stop_sequences: sampling.stop,
  stream: Type.Optional(Type.Boolean({ description: 'Stream the reply as server-sent events.' })),
  metadata: Type.Optional(messagesMetadata),
}

/** Checked once the messages and the system text have been read. */
const checked = Type.Object(
  { ...fields, messages: Type.Array(Type.Unknown(), { maxItems: mostMessages }) },
  { additionalProperties: false },
)
const check = compileBody(checked)

/** A request to count tokens has the same fields, and needs no maximum of output tokens. */
const { max_tokens: maxTokens, ...otherFields } = checked.properties
const countedFields = { ...otherFields, max_tokens: Type.Optional(maxTokens) }
const counted = Type.Object(countedFields, { additionalProperties: false })
type CountedRequest = Type.Static<typeof counted>
const checkCount = compileBody(counted)

const message = Type.Object({ role: Type.Enum(['user', 'assistant']), content: textOrParts('text') })

export const messagesRequest = Type.Object(
  {
    ...fields,
    messages: Type.Array(message, {
      maxItems: mostMessages,
      description: "The conversation so far. The last message is the user's.",
    }),
    system: Type.Optional(textOrParts('text')),
  },
  { additionalProperties: false, examples: [messagesExample.request] },
)

export const countTokensRequest = Type.Object(
  { ...messagesRequest.properties, max_tokens: Type.Optional(maxTokens) },
  { additionalProperties: false, examples: [countMessagesExample.request] },
)

export const countTokensResponse = Type.Object(
  {
    input_tokens: Type.Integer({ description: 'The tokens of the prompt. An estimate if the model is an upstream.' }),
  },
  { examples: [countMessagesExample.response] },
)

export const messagesResponse = Type.Object(
  {
    id: Type.String(),
    type: Type.Literal('message'),
    role: Type.Literal('assistant'),
    model: Type.String(),
    content: Type.Array(Type.Object({ type: Type.Literal('text'), text: Type.String() })),
    stop_reason: Type.Enum(['end_turn', 'max_tokens', 'stop_sequence', 'refusal']),
    stop_sequence: Type.Union([Type.String(), Type.Null()], {
      description: 'The sequence that was met, if the request had only one.',
    }),
    usage: Type.Object({ input_tokens: Type.Integer(), output_tokens: Type.Integer() }),
  },
  { examples: [messagesExample.response] },
)

export const anthropicError = Type.Object({
  type: Type.Literal('error'),
  error: Type.Object({
    type: Type.String(),
    message: Type.String({ description: 'For people: what is wrong and what to do.' }),
  }),
  request_id: Type.String({ format: 'uuid' }),
})

const unsupported: Unsupported = {
  cache_control: 'any value',
  container: [],
  context_management: [],
  diagnostics: [],
  inference_geo: [],
  mcp_servers: [[]],
  output_config: [],
  output_format: [],
  service_tier: ['auto', 'standard_only'],
  speed: ['standard'],
  thinking: [{ type: 'disabled' }],
  tool_choice: [{ type: 'none' }, { type: 'auto' }],
  tools: [[]],
  top_k: [],
  user_profile_id: 'any value',
  workspace_id: 'any value',
}

const format: MessageFormat = {
  roles: { user: 'user', assistant: 'assistant' },
  parts: ['text'],
  message: {},
  part: { cache_control: 'any value', citations: [[]] },
  echoed: [],
}

export const anthropicMessages: Dialect = Object.freeze({
  read: (raw: unknown) => readRequest(raw, check),
  errorBody: anthropicErrorOf,
  limitHeaders: ({ requests, tokens }: Levels) => ({
    ...levelHeaders('requests', requests),
    ...levelHeaders('tokens', tokens),
  }),
})

/** Reads the body of `POST /v1/messages/count_tokens`. Throws a Problem for its first fault. */
export const readCountRequest = (raw: unknown): TextRequest => readRequest(raw, checkCount).request

function readRequest(raw: unknown, checkBody: (body: unknown) => CountedRequest): DialectRequest {
  const kept = withoutNeutral(raw, unsupported)
  if (!isFields(kept)) return requestOf(checkBody(kept), [])
  const { system, ...rest } = kept
  const instructions = system === undefined ? '' : contentText(system, 'system', format)
  const conversation = readMessages(rest['messages'], 'messages', format)
  const messages =
    instructions === '' ? conversation : [{ role: 'system', text: instructions } as const, ...conversation]
  return requestOf(checkBody(rest), messages)
}

function requestOf(body: CountedRequest, messages: readonly Message[]): DialectRequest {
  const stops = body.stop_sequences ?? []
  return {
    request: {
      model: body.model,
      stream: body.stream === true,
      prompt: { messages },
      maxOutputTokens: body.max_tokens,
      temperature: body.temperature,
      topP: body.top_p,
      stop: body.stop_sequences,
      clientId: body.metadata?.client_id,
      tags: tagsOf(body.metadata),
      names: { maxOutputTokens: 'max_tokens', input: 'messages' },
    },
    wholeBody: (reply) =>
      JSON.stringify({
        ...envelope(reply.id, reply.model, [{ type: 'text', text: reply.text }]),
        ...ending(reply, stops),
        usage: usageOf(reply.usage),
      }),
    eventWriter: (start) => eventWriter(start, stops),
  }
}

const envelope = (id: string, model: string, content: readonly object[]) => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  model,
  content,
  container: null,
  stop_details: null,
})

const stopReasons: Readonly<Partial<Record<StopReason, string>>> = {
  max_output_tokens: 'max_tokens',
  stop_sequence: 'stop_sequence',
  content_filter: 'refusal',
}

/** Models do not report which of several stop sequences was met. */
function ending({ stopReason }: Reply, stops: readonly string[]) {
  const [only] = stopReason === 'stop_sequence' && stops.length === 1 ? stops : []
  return { stop_reason: stopReasons[stopReason] ?? 'end_turn', stop_sequence: only ?? null }
}

const usageOf = ({ inputTokens, outputTokens }: Reply['usage']) => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
})

const deltaOf = jsonAround((text) => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text },
}))

const writeEvent = (type: string, data: object = {}) => event(type, { type, ...data })

/** The first event may carry an estimate of the input tokens; the last one has the final usage. */
function eventWriter(
  { id, model, inputTokens }: { readonly id: string; readonly model: string; readonly inputTokens: number },
  stops: readonly string[],
): EventWriter {
  const opened = {
    ...envelope(id, model, []),
    stop_reason: null,
    stop_sequence: null,
    usage: usageOf({ inputTokens, outputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0 }),
  }
  return {
    opening: [
      writeEvent('message_start', { message: opened }),
      writeEvent('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      writeEvent('ping'),
    ],
    text: (text) => event('content_block_delta', deltaOf(text)),
    deltas: () => [],
    closing: (reply) => [
      writeEvent('content_block_stop', { index: 0 }),
      writeEvent('message_delta', { delta: ending(reply, stops), usage: usageOf(reply.usage) }),
      writeEvent('message_stop'),
    ],
    failure: (details, status) => event('error', anthropicErrorOf(details, status)),
  }
}

const errorTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

function anthropicErrorOf({ reason, request_id }: ErrorDetails, status: number) {
  const type = errorTypes[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
  return { type: 'error', error: { type, message: reason }, request_id }
}

function levelHeaders(what: string, { limit, remaining, resetSeconds }: Level): Record<string, string> {
  return {
    [`anthropic-ratelimit-${what}-limit`]: String(limit),
    [`anthropic-ratelimit-${what}-remaining`]: String(remaining),
    [`anthropic-ratelimit-${what}-reset`]: new Date(Date.now() + resetSeconds * 1000).toISOString(),
  }
}
