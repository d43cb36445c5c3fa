import { Type } from 'typebox'
import type { Message } from '../../models/model.ts'
import { compileBody } from '../../platform/http/validation.ts'
import { responsesExample } from '../examples.ts'
import { metadata, sampling } from '../schema.ts'
import { tagsOf } from '../tags.ts'
import { isFields, mustBe, withoutNeutral, type Unsupported } from './body.ts'
import type { Dialect, DialectRequest } from './dialect.ts'
import { mostMessages, readMessages, textOrParts, type MessageFormat } from './messages.ts'
import { openAiFormat } from './openai-errors.ts'
import { responseObject, responseEvents } from './openai-response-events.ts'

/** OpenAI's responses: `POST /v1/responses`. Responses are not stored, so none can be continued by its id. */
const fields = {
  model: Type.String({ format: 'filled-text', maxLength: 256, description: 'An id or an alias of a model.' }),
  instructions: Type.Optional(Type.String({ format: 'text', description: 'System instructions.' })),
  max_output_tokens: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: "The most tokens to generate. Default: as many as the model's maximum and its context allow.",
    }),
  ),
  temperature: sampling.temperature,
  top_p: sampling.top_p,
  stream: Type.Optional(Type.Boolean({ description: 'Stream the reply as server-sent events.' })),
  user: Type.Optional(Type.String({ maxLength: 512, description: 'Your identifier of the end user. Ignored.' })),
  metadata: Type.Optional(metadata),
}

/** Checked once the input has been read and is a list. */
const checked = Type.Object(
  { ...fields, input: Type.Array(Type.Unknown(), { maxItems: mostMessages }) },
  { additionalProperties: false },
)
type ResponsesRequest = Type.Static<typeof checked>
const check = compileBody(checked)

const message = Type.Object({
  type: Type.Optional(Type.Literal('message')),
  role: Type.Enum(['system', 'developer', 'user', 'assistant']),
  content: textOrParts('input_text', 'output_text'),
})

export const responsesRequest = Type.Object(
  {
    ...fields,
    input: Type.Union([Type.String(), Type.Array(message)], {
      description: "A text, or the conversation so far. The last message is the user's.",
    }),
    store: Type.Optional(Type.Boolean({ description: 'Nothing is stored: only false is accepted.' })),
  },
  { additionalProperties: false, examples: [responsesExample.request] },
)

const unsupported: Unsupported = {
  background: [false],
  context_management: [[]],
  conversation: [],
  include: [[]],
  max_tool_calls: [],
  moderation: [],
  parallel_tool_calls: 'any value',
  previous_response_id: [],
  prompt: [],
  prompt_cache_key: 'any value',
  prompt_cache_options: 'any value',
  prompt_cache_retention: 'any value',
  reasoning: { fields: { effort: ['none'], summary: [], generate_summary: [], context: [], mode: [] } },
  safety_identifier: 'any value',
  service_tier: ['auto', 'default'],
  store: [false],
  stream_options: { fields: { include_obfuscation: [false] } },
  text: { fields: { format: [{ type: 'text' }], verbosity: ['medium'] } },
  tool_choice: ['none', 'auto'],
  tools: [[]],
  top_logprobs: [0],
  truncation: ['disabled'],
}

/** A message of an earlier response may be sent back as it was received. */
const format: MessageFormat = {
  roles: { system: 'system', developer: 'system', user: 'user', assistant: 'assistant' },
  parts: ['input_text', 'output_text'],
  message: { type: ['message'] },
  part: { annotations: [[]], logprobs: [[]], prompt_cache_breakpoint: 'any value' },
  echoed: ['id', 'status', 'phase'],
}

export const openAiResponses: Dialect = Object.freeze({
  ...openAiFormat,
  read(raw: unknown): DialectRequest {
    const kept = withoutNeutral(raw, unsupported)
    if (!isFields(kept)) return requestOf(check(kept), [])
    const input = typeof kept['input'] === 'string' ? [{ role: 'user', content: kept['input'] }] : kept['input']
    refuseOtherItems(input)
    const messages = readMessages(input, 'input', format)
    return requestOf(check(input === undefined ? kept : { ...kept, input }), messages)
  },
})

const isOther = (item: unknown) => isFields(item) && item['type'] !== undefined && item['type'] !== 'message'

function refuseOtherItems(input: unknown): void {
  const place = Array.isArray(input) ? input.findIndex(isOther) : -1
  if (place >= 0) throw mustBe(`input[${place}].type`, 'message: no other type of item is supported here')
}

function requestOf(body: ResponsesRequest, conversation: readonly Message[]): DialectRequest {
  const { instructions } = body
  const messages = instructions ? [{ role: 'system', text: instructions } as const, ...conversation] : conversation
  return {
    request: {
      model: body.model,
      stream: body.stream === true,
      prompt: { messages },
      maxOutputTokens: body.max_output_tokens,
      temperature: body.temperature,
      topP: body.top_p,
      clientId: body.metadata?.client_id,
      tags: tagsOf(body.metadata),
      names: { maxOutputTokens: 'max_output_tokens', input: 'input' },
    },
    wholeBody: (reply) => JSON.stringify(responseObject(body, reply, reply)),
    eventWriter: (start) => responseEvents(body, start),
  }
}
