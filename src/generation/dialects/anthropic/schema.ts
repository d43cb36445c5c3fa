import { Type, type Static } from 'typebox'
import { compileBody } from '../../../platform/http/input/validation.ts'
import { countMessagesExample, messagesExample } from '../../examples.ts'
import { messagesMetadata, sampling } from '../../schema.ts'
import { mostMessages } from '../messages.ts'
import { messagesVendorFields } from '../vendor-fields.ts'

/** The bodies of Anthropic's messages. `field-rules.ts` has what becomes of each field, also of those that are refused or without effect. */
const fields = {
  model: Type.String({ format: 'filled-text', maxLength: 256, description: 'The id or an alias of a model.' }),
  max_tokens: Type.Integer({ minimum: 1, description: 'Maximum tokens to generate.' }),
  temperature: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: "Default: the vendor's, or for local models 0, always the most likely token.",
    }),
  ),
  top_p: sampling.top_p,
  ...messagesVendorFields,
  stop_sequences: sampling.stop,
  stream: Type.Optional(Type.Boolean({ description: 'Stream the reply as server-sent events.' })),
  metadata: Type.Optional(messagesMetadata),
}

/** The rest is read part by part. */
const anything = Type.Optional(Type.Unknown())
const checked = Type.Object(
  {
    ...fields,
    messages: Type.Array(Type.Unknown(), { maxItems: mostMessages }),
    system: anything,
    tools: anything,
    tool_choice: anything,
    thinking: anything,
    output_config: anything,
    output_format: anything,
    cache_control: anything,
  },
  { additionalProperties: false },
)
export const checkMessages = compileBody(checked)

/** A request to count tokens has the same fields, and needs no maximum of output tokens. */
const { max_tokens: maxTokens, ...otherFields } = checked.properties
const counted = Type.Object({ ...otherFields, max_tokens: Type.Optional(maxTokens) }, { additionalProperties: false })
export type CountedRequest = Static<typeof counted>
export const checkCount = compileBody(counted)

const cacheControl = Type.Object(
  { type: Type.Literal('ephemeral'), ttl: Type.Optional(Type.Enum(['5m', '1h'])) },
  { description: 'Cache breakpoint: the upstream should cache the prompt up to here.' },
)
const cached = { cache_control: Type.Optional(cacheControl) }
const textBlock = Type.Object({ type: Type.Literal('text'), text: Type.String(), ...cached })
const fileFields = {
  source: Type.Optional(
    Type.Object(
      {
        type: Type.Enum(['base64', 'text', 'url'], { description: 'text: a document in plain text. url: an image.' }),
        media_type: Type.Optional(
          Type.Enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'application/pdf', 'text/plain'], {
            description: 'Not for a url.',
          }),
        ),
        data: Type.Optional(Type.String({ description: 'Not for a url.' })),
        url: Type.Optional(Type.String({ description: 'Of an image, on a host that the operator has listed.' })),
      },
      { description: 'For an image or a document.' },
    ),
  ),
  title: Type.Optional(Type.String({ description: 'For a document.' })),
}
const texts = (description: string) => Type.Union([Type.String(), Type.Array(textBlock)], { description })
const jsonObject = (description: string) => Type.Object({}, { additionalProperties: true, description })
const text = (description: string) => Type.Optional(Type.String({ description }))

/** The fields that the blocks of a reply have besides their type. */
const blockFields = {
  text: text('For text.'),
  thinking: text('The reasoning text.'),
  signature: text('For thinking: send it back unchanged. Empty if the model does not sign its reasoning.'),
  data: text('For redacted thinking: send it back unchanged.'),
  id: text('For a tool call.'),
  name: text('For a tool call: the tool.'),
  input: Type.Optional(jsonObject('For a tool call: its arguments.')),
}
const blockTypes = ['text', 'thinking', 'redacted_thinking', 'tool_use'] as const

const returned = Type.Union(
  [
    Type.String(),
    Type.Array(
      Type.Object({
        type: Type.Enum(['text', 'image', 'document']),
        text: text('For text.'),
        ...fileFields,
        ...cached,
      }),
    ),
  ],
  { description: 'For a tool result: a text, or a list of texts, images and documents.' },
)

const message = Type.Object({
  role: Type.Enum(['user', 'assistant', 'system'], { description: 'system: instructions from here on, as text.' }),
  content: Type.Union(
    [
      Type.String(),
      Type.Array(
        Type.Object({
          type: Type.Enum([...blockTypes, 'image', 'document', 'tool_result']),
          ...blockFields,
          ...fileFields,
          tool_use_id: text('For a tool result: the id of its call.'),
          content: Type.Optional(returned),
          is_error: Type.Optional(Type.Boolean({ description: 'For a tool result: whether the call failed.' })),
          ...cached,
        }),
      ),
    ],
    { description: 'A text, or a list of blocks. Tool results come first in the message after the calls.' },
  ),
})

const tool = Type.Object({
  type: Type.Optional(Type.Literal('custom')),
  name: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
  description: Type.Optional(Type.String()),
  input_schema: jsonObject('A JSON schema of type object.'),
  strict: Type.Optional(Type.Boolean({ description: 'Whether the input must follow the schema exactly.' })),
  ...cached,
})

const format = Type.Object({
  type: Type.Literal('json_schema'),
  schema: jsonObject('The JSON schema that the reply follows.'),
})

export const messagesRequest = Type.Object(
  {
    ...fields,
    messages: Type.Array(message, {
      maxItems: mostMessages,
      description:
        "The conversation so far. The last message is the user's, or system messages follow it, or it is a text of the assistant to continue, if the model does that.",
    }),
    system: Type.Optional(texts('A text, or a list of text blocks.')),
    tools: Type.Optional(Type.Array(tool, { maxItems: 128, description: 'The tools that the model may call.' })),
    tool_choice: Type.Optional(
      Type.Object({
        type: Type.Enum(['auto', 'any', 'tool', 'none'], {
          description: 'Default auto. any: at least one call. tool: a call of the tool name.',
        }),
        name: Type.Optional(Type.String({ description: 'The tool to call.' })),
        disable_parallel_tool_use: Type.Optional(Type.Boolean({ description: 'At most one tool call per reply.' })),
      }),
    ),
    thinking: Type.Optional(
      Type.Object({
        type: Type.Enum(['enabled', 'adaptive', 'disabled'], {
          description: 'Whether to think: within a budget, as the model sees fit, or not at all.',
        }),
        budget_tokens: Type.Optional(
          Type.Integer({ minimum: 1024, description: 'Maximum tokens to think, for the type enabled.' }),
        ),
        display: Type.Optional(
          Type.Enum(['summarized', 'omitted'], {
            description:
              'summarized: return a summary of the reasoning. omitted: return it without its text, at the same cost. Default: as the model does.',
          }),
        ),
      }),
    ),
    output_config: Type.Optional(
      Type.Object({
        effort: Type.Optional(
          Type.Enum(['low', 'medium', 'high', 'xhigh', 'max'], { description: 'How much effort to spend.' }),
        ),
        format: Type.Optional(format),
      }),
    ),
    output_format: Type.Optional({ ...format, description: 'The former place of output_config.format.' }),
    cache_control: Type.Optional(cacheControl),
  },
  { additionalProperties: false, examples: [messagesExample.request] },
)

export const countTokensRequest = Type.Object(
  { ...messagesRequest.properties, max_tokens: Type.Optional(maxTokens) },
  { additionalProperties: false, examples: [countMessagesExample.request] },
)

export const countTokensResponse = Type.Object(
  {
    input_tokens: Type.Integer({
      description: 'The tokens of the prompt and the tools. An estimate for an upstream model.',
    }),
  },
  { examples: [countMessagesExample.response] },
)

const cacheTokens = (what: string) =>
  Type.Integer({ description: `Tokens of the prompt that the upstream ${what}. Not part of input_tokens.` })

export const messagesResponse = Type.Object(
  {
    id: Type.String(),
    type: Type.Literal('message'),
    role: Type.Literal('assistant'),
    model: Type.String(),
    content: Type.Array(
      Type.Object({
        type: Type.Enum([...blockTypes]),
        ...blockFields,
        caller: Type.Optional(
          Type.Object({ type: Type.Literal('direct') }, { description: 'For a tool call: the model made it.' }),
        ),
      }),
    ),
    stop_reason: Type.Enum(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal']),
    stop_sequence: Type.Union([Type.String(), Type.Null()], {
      description: 'The sequence that was hit, if the request had only one.',
    }),
    stop_details: Type.Null(),
    container: Type.Null(),
    usage: Type.Object({
      input_tokens: Type.Integer(),
      output_tokens: Type.Integer(),
      cache_read_input_tokens: cacheTokens('read from its cache'),
      cache_creation_input_tokens: cacheTokens('wrote to its cache'),
      output_tokens_details: Type.Optional(
        Type.Object({ thinking_tokens: Type.Integer({ description: 'Output tokens spent on thinking.' }) }),
      ),
    }),
  },
  { examples: [messagesExample.response] },
)

export const anthropicError = Type.Object({
  type: Type.Literal('error'),
  error: Type.Object({
    type: Type.String(),
    message: Type.String({ description: 'For people: what is wrong and what to do.' }),
    details: Type.Optional(
      Type.Object(
        { error_code: Type.Literal('thread_unsupported_request'), unsupported: Type.Array(Type.String()) },
        { description: 'Only if the field thread was refused: tells clients to send the whole conversation.' },
      ),
    ),
  }),
  request_id: Type.String({ format: 'uuid' }),
})
