import { Type } from 'typebox'

/**
 * The wire shapes of Area A: sections 2.1 and 2.2 of the specification. Types, checks and the OpenAPI document come
 * from here.
 */
export const sampling = {
  temperature: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 2,
      description: 'How freely tokens are chosen. 0 takes the likeliest each time; so does a request without it.',
    }),
  ),
  top_p: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 1,
      description: 'Choose among the likeliest tokens that together have this probability.',
    }),
  ),
  seed: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 4_294_967_295,
      description: 'Makes sampling repeatable as far as the model can.',
    }),
  ),
  stop: Type.Optional(
    Type.Array(Type.String({ format: 'text', minLength: 1, maxLength: 256 }), {
      maxItems: 4,
      description: 'Texts at which generation ends. They are not part of the reply.',
    }),
  ),
}

export const metadata = Type.Object(
  {
    client_id: Type.Optional(
      Type.String({ format: 'uuid', description: 'The client record that the cost is attributed to.' }),
    ),
  },
  {
    description: 'Up to 16 pairs of your own: names of up to 64 characters, values of up to 512.',
    additionalProperties: Type.String({ format: 'text', maxLength: 512 }),
    propertyNames: Type.String({ format: 'text', minLength: 1, maxLength: 64 }),
    maxProperties: 16,
  },
)

export const generateRequest = Type.Object(
  {
    model: Type.String({
      format: 'filled-text',
      maxLength: 256,
      description: 'Which model does the work: an id or an alias that GET /v1/models lists.',
    }),
    instructions: Type.Optional(Type.String({ format: 'text', description: 'States the job in your own words.' })),
    input: Type.String({ format: 'filled-text', description: 'The material the job runs on.' }),
    max_output_tokens: Type.Integer({
      minimum: 1,
      description: "The most tokens to generate, which also bounds the cost. At most the model's max_output_tokens.",
    }),
    stream: Type.Optional(
      Type.Boolean({ description: 'Whether the reply comes as Server-Sent Events while it is generated.' }),
    ),
    ...sampling,
    metadata: Type.Optional(metadata),
  },
  { additionalProperties: false },
)
export type GenerateRequest = Type.Static<typeof generateRequest>

const usage = Type.Object(
  {
    input_tokens: Type.Integer({ minimum: 0, description: 'Counted for everything sent, instructions and input.' }),
    output_tokens: Type.Integer({ minimum: 0, description: 'Counted for everything generated.' }),
  },
  { description: 'What the call is charged for.' },
)

export const generateResponse = Type.Object({
  output_text: Type.String({ description: 'The generated text.' }),
  stop_reason: Type.Enum(['complete', 'max_output_tokens', 'stop_sequence', 'content_filter'], {
    description: 'Why generation ended. `max_output_tokens`: the reply was cut off there.',
  }),
  usage,
})

const amount = (description: string) => Type.String({ pattern: '^\\d+(\\.\\d+)?$', description })

export const countResponse = Type.Object({
  input_tokens: Type.Integer({
    minimum: 0,
    description:
      'What the call would be charged for its input; of a model behind an upstream, which alone can count its tokens, the most that it could be.',
  }),
  max_cost: amount("The most that the call could cost, in the account's currency."),
})

export const listedModel = Type.Object({
  id: Type.String(),
  object: Type.Literal('model'),
  type: Type.Literal('model'),
  display_name: Type.String(),
  created: Type.Integer({ description: 'Unix time in seconds.' }),
  created_at: Type.String({ description: 'The same as a date and time in UTC.' }),
  owned_by: Type.Literal('tollgate'),
  context_length: Type.Integer({ description: 'Tokens that the prompt and the reply may have together.' }),
  max_output_tokens: Type.Integer({ description: 'The most that a request may ask for.' }),
  price: Type.Object(
    {
      input: amount('For a million tokens sent.'),
      output: amount('For a million tokens generated.'),
      currency: Type.String(),
    },
    { description: 'Per million tokens.' },
  ),
  aliases: Type.Array(Type.String(), { description: 'Other names that requests may use.' }),
})
export type ListedModel = Type.Static<typeof listedModel>

export const modelsResponse = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(listedModel),
  has_more: Type.Boolean({ description: 'Always false: the list is whole.' }),
  first_id: Type.Union([Type.String(), Type.Null()], { description: 'The id of the first; null when there is none.' }),
  last_id: Type.Union([Type.String(), Type.Null()], { description: 'The id of the last; null when there is none.' }),
})
