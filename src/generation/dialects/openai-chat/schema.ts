import { Type } from 'typebox'
import { efforts } from '../../../models/conversation.ts'
import { compileBody } from '../../../platform/http/input/validation.ts'
import { chatExample } from '../../examples.ts'
import { sampling, stopText } from '../../schema.ts'
import { mostMessages } from '../messages.ts'
import { logprobsSchema, openAiFields, topLogprobs, verbosity } from '../openai.ts'
import { chatVendorFields } from '../vendor-fields.ts'

/** The bodies of OpenAI's chat completions. `field-rules.ts` has what becomes of each field, also of those that are refused or without effect. */
const tokens = (description: string) => Type.Optional(Type.Integer({ minimum: 1, description }))

const fields = {
  model: Type.String({ format: 'filled-text', maxLength: 256, description: 'The id or an alias of a model.' }),
  max_completion_tokens: tokens(
    "Maximum tokens to generate. Default: as many as the model's maximum and its context allow.",
  ),
  max_tokens: tokens('The former name of max_completion_tokens.'),
  seed: sampling.seed,
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
  reasoning_effort: Type.Optional(
    Type.Enum([...efforts], {
      description: "How much the model should think before it replies. Default: the model's.",
    }),
  ),
  reasoning: Type.Optional(
    Type.Object(
      {
        effort: Type.Optional(Type.Enum([...efforts], { description: 'As reasoning_effort.' })),
        max_tokens: Type.Optional(
          Type.Integer({ minimum: 1, description: 'Maximum tokens to think, where the vendor takes a number.' }),
        ),
        enabled: Type.Optional(
          Type.Boolean({ description: 'Without an effort and a maximum: true is the effort medium, false is none.' }),
        ),
        summary: Type.Optional(Type.Enum(['auto', 'concise', 'detailed'])),
        exclude: Type.Optional(
          Type.Boolean({ description: 'Whether to leave the reasoning out of the reply. It costs the same.' }),
        ),
      },
      { additionalProperties: false, description: 'How much the model should think, as OpenRouter writes it.' },
    ),
  ),
  include_reasoning: Type.Optional(
    Type.Boolean({ description: 'False: leave the reasoning out of the reply, as reasoning.exclude.' }),
  ),
  verbosity,
  logprobs: Type.Optional(
    Type.Boolean({
      description:
        'Whether to return the log probabilities of the tokens of the text. Only for models whose upstream takes it.',
    }),
  ),
  top_logprobs: topLogprobs,
  n: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 8,
      description:
        'How many replies to generate, each with up to the maximum of tokens. Default 1. More only for models whose upstream takes it.',
    }),
  ),
  ...chatVendorFields,
  ...openAiFields,
}

/** Checked once the messages have been read and a single stop has become a list. Tools and formats are read afterwards. */
const checked = Type.Object(
  {
    ...fields,
    messages: Type.Array(Type.Unknown(), { maxItems: mostMessages }),
    stop: sampling.stop,
    tools: Type.Optional(Type.Unknown()),
    tool_choice: Type.Optional(Type.Unknown()),
    response_format: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: false },
)
export type ChatRequest = Type.Static<typeof checked>
export const checkChatRequest = compileBody(checked)
export const checkStreamOptions = compileBody(Type.Object({ stream_options: fields.stream_options }))
/** Checks a single stop before it becomes a list, so that a refusal does not name a place in one. */
export const checkSingleStop = compileBody(Type.Object({ stop: stopText }))

const cacheControl = Type.Optional(
  Type.Object(
    { type: Type.Literal('ephemeral'), ttl: Type.Optional(Type.Enum(['5m', '1h'])) },
    { description: 'Cache breakpoint: the vendor should cache the prompt up to here.' },
  ),
)

const textPart = Type.Object({ type: Type.Literal('text'), text: Type.String(), cache_control: cacheControl })
const texts = Type.Union([Type.String(), Type.Array(textPart)], { description: 'A text, or a list of text parts.' })

const image = Type.Object({
  type: Type.Literal('image_url'),
  image_url: Type.Object({
    url: Type.String({
      description:
        'A data URL of a PNG, JPEG, GIF or WebP image: at most 5 MiB and 8000 by 8000 pixels. Or its URL, on a host that the operator has listed.',
    }),
    detail: Type.Optional(
      Type.Enum(['low', 'high', 'auto'], { description: "How much detail the model sees. Default: the vendor's." }),
    ),
  }),
  cache_control: cacheControl,
})

const file = Type.Object({
  type: Type.Literal('file'),
  file: Type.Object({
    filename: Type.Optional(Type.String()),
    file_data: Type.String({ description: 'A data URL of a PDF: at most 24 MiB and 600 pages, without a password.' }),
  }),
  cache_control: cacheControl,
})

const shown = Type.Union([Type.String(), Type.Array(Type.Union([textPart, image, file]))], {
  description: 'A text, or a list of texts, images and documents.',
})

const call = Type.Object({
  id: Type.String(),
  type: Type.Literal('function'),
  function: Type.Object({
    name: Type.String(),
    arguments: Type.String({ description: 'The arguments: the text of a JSON object.' }),
  }),
})

/** A part of the model's reasoning. A vendor accepts it back only unchanged. */
const detail = Type.Object({
  type: Type.Enum(['reasoning.text', 'reasoning.summary', 'reasoning.encrypted']),
  text: Type.Optional(Type.String()),
  summary: Type.Optional(Type.String()),
  signature: Type.Optional(Type.String()),
  data: Type.Optional(Type.String()),
  index: Type.Optional(Type.Integer({ description: 'Its index among the parts of its message.' })),
})

const spoken = {
  reasoning_content: Type.Optional(Type.String({ description: "The model's reasoning, as far as it is shown." })),
  reasoning_details: Type.Optional(
    Type.Array(detail, { description: 'The same with signatures. Send it back unchanged.' }),
  ),
  tool_calls: Type.Optional(Type.Array(call)),
}

const message = Type.Union([
  Type.Object({ role: Type.Enum(['system', 'developer']), content: texts }),
  Type.Object({ role: Type.Literal('user'), content: shown }),
  Type.Object({
    role: Type.Literal('assistant'),
    content: Type.Optional(Type.Union([texts, Type.Null()], { description: 'Null beside calls.' })),
    ...spoken,
  }),
  Type.Object(
    { role: Type.Literal('tool'), tool_call_id: Type.String(), content: texts },
    { description: 'The result of a tool call.' },
  ),
])

const schemaOf = (description: string) => Type.Object({}, { additionalProperties: true, description })

const tool = Type.Object({
  type: Type.Literal('function'),
  function: Type.Object({
    name: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
    description: Type.Optional(Type.String()),
    parameters: Type.Optional(
      schemaOf('A JSON schema of type object: at most 64 KiB and 32 levels, without recursion. Default: no arguments.'),
    ),
    strict: Type.Optional(
      Type.Boolean({ description: "Whether the arguments must follow the schema. Default: the vendor's." }),
    ),
  }),
  cache_control: cacheControl,
})

const toolChoice = Type.Union(
  [
    Type.Enum(['none', 'auto', 'required']),
    Type.Object({ type: Type.Literal('function'), function: Type.Object({ name: Type.String() }) }),
  ],
  { description: 'Whether the model may or must call a tool, or which one. Default auto.' },
)

const responseFormat = Type.Union(
  [
    Type.Object({
      type: Type.Enum(['text', 'json_object']),
      schema: Type.Optional(schemaOf('With json_object: the schema of the reply, as in json_schema.')),
    }),
    Type.Object({
      type: Type.Literal('json_schema'),
      json_schema: Type.Object({
        name: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
        description: Type.Optional(Type.String()),
        schema: schemaOf('A JSON schema: at most 64 KiB and 32 levels, without recursion.'),
        strict: Type.Optional(Type.Boolean()),
      }),
    }),
  ],
  { description: 'The form of the reply. Default text.' },
)

export const chatRequest = Type.Object(
  {
    ...fields,
    messages: Type.Array(message, {
      maxItems: mostMessages,
      description:
        "The conversation so far. The last message is the user's, a tool result, or a text of the assistant to continue, if the model does that. A body with input instead is read as that of a response, as Cursor sends it, and answered with a chat completion.",
    }),
    stop: Type.Optional(
      Type.Union([Type.String(), sampling.stop], {
        description:
          'A text, or up to 4 texts, at which generation stops. The one that the model wrote counts as output.',
      }),
    ),
    tools: Type.Optional(
      Type.Array(tool, {
        maxItems: 128,
        description:
          'The tools that the model may call. Custom tools in the form of responses are accepted too, as Cursor sends them: their calls are those of functions whose arguments are the input itself, a text.',
      }),
    ),
    tool_choice: Type.Optional(toolChoice),
    response_format: Type.Optional(responseFormat),
  },
  { additionalProperties: false, examples: [chatExample.request] },
)

const usage = Type.Object({
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
  prompt_tokens_details: Type.Object({
    cached_tokens: Type.Integer({ description: "Part of prompt_tokens: read from the vendor's cache." }),
    cache_write_tokens: Type.Integer({ description: 'Part of prompt_tokens: written to it.' }),
  }),
  completion_tokens_details: Type.Optional(
    Type.Object(
      { reasoning_tokens: Type.Integer() },
      { description: 'Part of completion_tokens. Omitted if the model does not report them.' },
    ),
  ),
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
        message: Type.Object({
          role: Type.Literal('assistant'),
          content: Type.Union([Type.String(), Type.Null()], { description: 'Null if there are only calls.' }),
          refusal: Type.Null(),
          ...spoken,
        }),
        logprobs: Type.Union([Type.Object({ content: logprobsSchema, refusal: Type.Null() }), Type.Null()], {
          description: 'Null unless they were asked for and the vendor sent them. They end where the text is cut off.',
        }),
        finish_reason: Type.Enum(['stop', 'length', 'content_filter', 'tool_calls']),
      }),
    ),
    usage,
  },
  { examples: [chatExample.response] },
)
