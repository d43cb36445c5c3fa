import { Type } from 'typebox'
import { capabilities } from '../models/capabilities.ts'
import { rules } from '../models/rules-schema.ts'
import { longestTag } from '../billing/payer.ts'
import { countExample, generateExample, modelExample, modelsExample } from './examples.ts'

/** The bodies of Area A: sections 2.1 and 2.2 of the specification. Types, checks and the OpenAPI document derive from these. */

/** A text at which generation stops. */
export const stopText = Type.String({ format: 'text', minLength: 1, maxLength: 256 })

export const sampling = {
  temperature: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 2,
      description: "Sampling temperature. Default: the vendor's, or for local models 0, always the most likely token.",
    }),
  ),
  top_p: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 1,
      description: 'Nucleus sampling: choose among the most likely tokens whose probabilities add up to this.',
    }),
  ),
  seed: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 4_294_967_295,
      description: 'Makes sampling repeatable, as far as the model supports it.',
    }),
  ),
  stop: Type.Optional(
    Type.Array(stopText, {
      maxItems: 4,
      description: 'Generation ends before any of these texts. The one that the model wrote counts as output.',
    }),
  ),
}

const clientId = Type.Optional(
  Type.String({
    format: 'uuid',
    description:
      'The client record that the cost is attributed to. Only for accounts that the firm has marked as its own.',
  }),
)
const pairs = {
  description:
    'Up to 16 pairs of names (up to 64 characters) and values (up to 512 characters). They are kept as tags of the request, ' +
    `by which GET /v1/usage can group, except ids and pairs whose values have more than ${longestTag.value} characters. Do not put ` +
    'personal data into them.',
  additionalProperties: Type.String({ format: 'text', maxLength: 512 }),
  propertyNames: Type.String({ format: 'text', minLength: 1, maxLength: 64 }),
  maxProperties: 16,
}

export const metadata = Type.Object({ client_id: clientId }, pairs)

/** The same in Anthropic's API, which also has a place for the end user. */
export const messagesMetadata = Type.Object(
  {
    user_id: Type.Optional(
      Type.String({ format: 'text', maxLength: 512, description: 'Your identifier of the end user. Ignored.' }),
    ),
    client_id: clientId,
  },
  pairs,
)

export const generateRequest = Type.Object(
  {
    model: Type.String({
      format: 'filled-text',
      maxLength: 256,
      description: 'The id or an alias of a model that GET /v1/models lists.',
    }),
    instructions: Type.Optional(Type.String({ format: 'text', description: 'System instructions.' })),
    input: Type.String({ format: 'filled-text', description: 'The text to work on.' }),
    max_output_tokens: Type.Integer({
      minimum: 1,
      description: "Maximum tokens to generate, which bounds the cost. At most the model's max_output_tokens.",
    }),
    stream: Type.Optional(
      Type.Boolean({ description: 'Whether to send the reply as Server-Sent Events while it is generated.' }),
    ),
    ...sampling,
    metadata: Type.Optional(metadata),
  },
  { additionalProperties: false, examples: [generateExample.request] },
)
export type GenerateRequest = Type.Static<typeof generateRequest>

/** Other APIs' names for these fields, for the hint in an error. */
export const synonyms = {
  prompt: 'input',
  text: 'input',
  content: 'input',
  contents: 'input',
  message: 'input',
  messages: 'input',
  query: 'input',
  question: 'input',
  system: 'instructions',
  system_prompt: 'instructions',
  system_instruction: 'instructions',
  instruction: 'instructions',
  max_length: 'max_output_tokens',
  max_new_tokens: 'max_output_tokens',
  max_completion_tokens: 'max_output_tokens',
  n_predict: 'max_output_tokens',
  model_id: 'model',
  model_name: 'model',
  engine: 'model',
  stop_sequences: 'stop',
  streaming: 'stream',
} as const

const usage = Type.Object(
  {
    input_tokens: Type.Integer({ minimum: 0, description: 'Tokens of the prompt: instructions and input.' }),
    output_tokens: Type.Integer({ minimum: 0, description: 'Tokens of the reply.' }),
  },
  { description: 'The tokens charged.' },
)

export const generateResponse = Type.Object(
  {
    output_text: Type.String({ description: 'The generated text.' }),
    stop_reason: Type.Enum(['complete', 'max_output_tokens', 'stop_sequence', 'content_filter'], {
      description: 'Why generation ended. `max_output_tokens`: the reply was truncated.',
    }),
    usage,
  },
  { examples: [generateExample.response] },
)

const amount = (description: string) => Type.String({ pattern: '^\\d+(\\.\\d+)?$', description })

export const countResponse = Type.Object(
  {
    input_tokens: Type.Integer({
      minimum: 0,
      description: 'Tokens of the prompt. Exact for a local model; an estimate where only the upstream can count them.',
    }),
    max_cost: amount("The maximum cost of the request, in the account's currency."),
  },
  { examples: [countExample] },
)

export const listedModel = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('model'),
    type: Type.Literal('model'),
    display_name: Type.String(),
    created: Type.Integer({ description: 'Unix time in seconds.' }),
    created_at: Type.String({ description: 'The same, as a date and time in UTC.' }),
    owned_by: Type.Literal('tollgate'),
    kind: Type.Enum(['text', 'embeddings'], {
      description: 'What the model produces: text, or `embeddings` at POST /v1/embeddings.',
    }),
    context_length: Type.Integer({
      description: 'Maximum tokens of prompt and reply together, or of a text to embed.',
    }),
    max_output_tokens: Type.Integer({ description: 'The largest max_output_tokens of a request. 0 for embeddings.' }),
    capabilities: Type.Array(Type.Enum([...capabilities]), {
      description:
        'The capabilities of the model besides text. `json` covers JSON mode and JSON schemas. `forced_tools`: the model calls a tool only if `tool_choice` forces it to; a model with `tools` does that, too. A request that needs any other capability is refused.',
    }),
    price: Type.Object(
      {
        input: amount('Per million input tokens.'),
        output: amount('Per million output tokens.'),
        cached_input: Type.Optional(
          amount('Per million input tokens read from a prompt cache. Absent: they are charged as input.'),
        ),
        cache_write: Type.Optional(
          amount('Per million input tokens written to a prompt cache. Absent: they are charged as input.'),
        ),
        ...rules,
        currency: Type.String(),
      },
      { description: 'Per million tokens.' },
    ),
    aliases: Type.Array(Type.String(), { description: 'Other names for the model.' }),
  },
  { examples: [modelExample] },
)
export type ListedModel = Type.Static<typeof listedModel>

export const modelsResponse = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(listedModel),
    has_more: Type.Boolean({ description: 'Always false: the list is complete.' }),
    first_id: Type.Union([Type.String(), Type.Null()], {
      description: 'The id of the first model; null in an empty list.',
    }),
    last_id: Type.Union([Type.String(), Type.Null()], {
      description: 'The id of the last model; null in an empty list.',
    }),
  },
  { examples: [modelsExample] },
)
