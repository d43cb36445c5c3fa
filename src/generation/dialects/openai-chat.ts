import { Type } from 'typebox'
import type { Message, StopReason } from '../../models/model.ts'
import { compileBody } from '../../platform/http/validation.ts'
import { chatExample } from '../examples.ts'
import type { Reply } from '../generation.ts'
import { metadata, sampling } from '../schema.ts'
import { tagsOf } from '../tags.ts'
import { isFields, mustBe, withoutNeutral, type Unsupported } from './body.ts'
import { createdAt, event, jsonAround, type Dialect, type DialectRequest, type EventWriter } from './dialect.ts'
import { mostMessages, readMessages, textOrParts, type MessageFormat } from './messages.ts'
import { openAiErrorOf, openAiFormat } from './openai-errors.ts'

/** OpenAI's chat completions: `POST /v1/chat/completions`. */
const tokens = (description: string) => Type.Optional(Type.Integer({ minimum: 1, description }))

const fields = {
  model: Type.String({ format: 'filled-text', maxLength: 256, description: 'An id or an alias of a model.' }),
  max_completion_tokens: tokens(
    "The most tokens to generate. Default: as many as the model's maximum and its context allow.",
  ),
  max_tokens: tokens('The former name of max_completion_tokens.'),
  temperature: sampling.temperature,
  top_p: sampling.top_p,
  seed: sampling.seed,
  stream: Type.Optional(Type.Boolean({ description: 'Stream the reply as server-sent events.' })),
  stream_options: Type.Optional(
    Type.Object(
      {
        include_usage: Type.Optional(Type.Boolean({ description: 'Whether the last chunk has the usage.' })),
        include_obfuscation: Type.Optional(
          Type.Literal(false, { description: 'Streams are not padded: only false is accepted.' }),
        ),
      },
      { additionalProperties: false },
    ),
  ),
  user: Type.Optional(Type.String({ maxLength: 512, description: 'Your identifier of the end user. Ignored.' })),
  metadata: Type.Optional(metadata),
}

/** Checked once the messages have been read and a single stop has become a list. */
const checked = Type.Object(
  { ...fields, messages: Type.Array(Type.Unknown(), { maxItems: mostMessages }), stop: sampling.stop },
  { additionalProperties: false },
)
type ChatRequest = Type.Static<typeof checked>
const check = compileBody(checked)

const message = Type.Object({
  role: Type.Enum(['system', 'developer', 'user', 'assistant']),
  content: textOrParts('text'),
})

export const chatRequest = Type.Object(
  {
    ...fields,
    messages: Type.Array(message, {
      maxItems: mostMessages,
      description: "The conversation so far. The last message is the user's.",
    }),
    stop: Type.Optional(
      Type.Union([Type.String(), sampling.stop], {
        description: 'A text, or up to 4 texts, at which generation stops.',
      }),
    ),
  },
  { additionalProperties: false, examples: [chatExample.request] },
)

const usage = Type.Object({
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
})

export const chatResponse = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion'),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        message: Type.Object({ role: Type.Literal('assistant'), content: Type.String(), refusal: Type.Null() }),
        logprobs: Type.Null(),
        finish_reason: Type.Enum(['stop', 'length', 'content_filter']),
      }),
    ),
    usage,
  },
  { examples: [chatExample.response] },
)

const unsupported: Unsupported = {
  audio: [],
  frequency_penalty: [0],
  function_call: ['none'],
  functions: [[]],
  logit_bias: [{}],
  logprobs: [false],
  modalities: [['text']],
  moderation: [],
  n: [1],
  parallel_tool_calls: 'any value',
  prediction: [],
  presence_penalty: [0],
  prompt_cache_key: 'any value',
  prompt_cache_options: 'any value',
  prompt_cache_retention: 'any value',
  reasoning_effort: ['none'],
  response_format: [{ type: 'text' }],
  safety_identifier: 'any value',
  service_tier: ['auto', 'default'],
  store: [false],
  tool_choice: ['none', 'auto'],
  tools: [[]],
  top_logprobs: [0],
  verbosity: ['medium'],
  web_search_options: [],
}

/** An agent framework sends an assistant's part back with the fields of the message it came in. */
const format: MessageFormat = {
  roles: { system: 'system', developer: 'system', user: 'user', assistant: 'assistant' },
  parts: ['text'],
  message: { annotations: [[]], tool_calls: [[]] },
  part: { annotations: [[]], cache_control: 'any value', prompt_cache_breakpoint: 'any value', role: ['assistant'] },
  echoed: ['name'],
}

export const openAiChat: Dialect = Object.freeze({
  ...openAiFormat,
  read(raw: unknown): DialectRequest {
    const kept = withoutNeutral(raw, unsupported)
    if (!isFields(kept)) return requestOf(check(kept), [])
    const messages = readMessages(kept['messages'], 'messages', format)
    const { stop } = kept
    return requestOf(check(typeof stop === 'string' ? { ...kept, stop: [stop] } : kept), messages)
  },
})

function requestOf(body: ChatRequest, messages: readonly Message[]): DialectRequest {
  const newer = body.max_completion_tokens !== undefined
  if (newer && body.max_tokens !== undefined) throw mustBe('max_tokens', 'omitted if max_completion_tokens is set')
  return {
    request: {
      model: body.model,
      stream: body.stream === true,
      prompt: { messages },
      maxOutputTokens: body.max_completion_tokens ?? body.max_tokens,
      temperature: body.temperature,
      topP: body.top_p,
      seed: body.seed,
      stop: body.stop,
      clientId: body.metadata?.client_id,
      tags: tagsOf(body.metadata),
      names: { maxOutputTokens: newer ? 'max_completion_tokens' : 'max_tokens', input: 'messages' },
    },
    wholeBody: (reply) => JSON.stringify(completion(reply)),
    eventWriter: ({ id, model }) => eventWriter(id, model, body.stream_options?.include_usage === true),
  }
}

const finishReasons: Readonly<Partial<Record<StopReason, string>>> = {
  max_output_tokens: 'length',
  content_filter: 'content_filter',
}

const finishReason = ({ stopReason }: Reply): string => finishReasons[stopReason] ?? 'stop'

function completion(reply: Reply): object {
  return {
    id: `chatcmpl-${reply.id}`,
    object: 'chat.completion',
    created: createdAt(reply.id),
    model: reply.model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: reply.text, refusal: null },
        logprobs: null,
        finish_reason: finishReason(reply),
      },
    ],
    usage: usageOf(reply),
  }
}

function usageOf({ usage: { inputTokens, outputTokens } }: Reply) {
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens }
}

function eventWriter(id: string, model: string, withUsage: boolean): EventWriter {
  const common = { id: `chatcmpl-${id}`, object: 'chat.completion.chunk', created: createdAt(id), model }
  const usageOn = withUsage ? { usage: null } : {}
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...common,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...usageOn,
  })
  const textChunk = jsonAround((content) => chunk({ content }))
  return {
    opening: [event(undefined, chunk({ role: 'assistant', content: '', refusal: null }))],
    text: (content) => event(undefined, textChunk(content)),
    deltas: () => [],
    closing: (reply) => [
      event(undefined, chunk({}, finishReason(reply))),
      ...(withUsage ? [event(undefined, { ...common, choices: [], usage: usageOf(reply) })] : []),
      event(undefined, '[DONE]'),
    ],
    failure: (details, status) => event(undefined, { error: openAiErrorOf(details, status) }),
  }
}
