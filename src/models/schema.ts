import { Type } from 'typebox'
import { nullable } from '../platform/http/schema-parts.ts'
import { capabilities } from './capabilities.ts'
import { rules } from './rules-schema.ts'

/** The JSON schemas of /models. Types, validation and the API document derive from them. */

const time = Type.String({ format: 'date-time', description: 'A date and time in UTC.' })
const prices = {
  input: Type.String({ description: 'Per million input tokens.' }),
  output: Type.String({ description: 'Per million output tokens.' }),
  cached_input: Type.Optional(
    Type.String({ description: 'Per million input tokens read from a prompt cache. Absent: charged as input.' }),
  ),
  cache_write: Type.Optional(
    Type.String({ description: 'Per million input tokens written to a prompt cache. Absent: charged as input.' }),
  ),
  ...rules,
}
const price = Type.Object(prices)

export const newPriceBody = Type.Object(
  {
    input: Type.String({ maxLength: 60, description: 'Per million input tokens: `0.10`. At most 6 decimals.' }),
    output: Type.Optional(
      Type.String({
        maxLength: 60,
        description:
          'Per million output tokens. Higher than `input`. Omitted for embedding models, required for others.',
      }),
    ),
    cached_input: Type.Optional(
      Type.String({
        maxLength: 60,
        description:
          'Per million input tokens that the upstream read from its prompt cache. Not above `input`. Default: charged as input.',
      }),
    ),
    cache_write: Type.Optional(
      Type.String({
        maxLength: 60,
        description: 'Per million input tokens that the upstream wrote to its prompt cache. Default: charged as input.',
      }),
    ),
    ...rules,
    valid_from: Type.Optional(
      Type.String({ maxLength: 40, description: 'A date, or a date and time in UTC, in the future. Default: now.' }),
    ),
  },
  { additionalProperties: false },
)

export const listedPrice = Type.Object({
  ...prices,
  valid_from: time,
  source: Type.Enum(['configuration', 'command', 'portal']),
  state: Type.Enum(['past', 'in force', 'to come']),
})
export type ListedPrice = Type.Static<typeof listedPrice>

export const newPrice = Type.Object({ model: Type.String(), ...prices, valid_from: time })

const usingKey = Type.Object({
  id: Type.String({ format: 'uuid' }),
  public_id: Type.String(),
  name: Type.String(),
  account: Type.Object({ id: Type.String({ format: 'uuid' }), name: Type.String() }),
})

const configuredModel = Type.Object({
  id: Type.String(),
  engine: Type.Enum(['local', 'openai', 'ai-sdk']),
  kind: Type.Enum(['text', 'embeddings'], { description: 'What it makes.' }),
  aliases: Type.Array(Type.String()),
  context: Type.Integer({ description: 'Maximum tokens of a prompt and its reply together.' }),
  max_output_tokens: Type.Integer(),
  capabilities: Type.Array(Type.Enum([...capabilities]), { description: 'What it can do besides text.' }),
  fallback: nullable(Type.String({ description: 'The model that takes over when this one fails.' })),
  ready: Type.Boolean({ description: 'Whether it would serve a request now.' }),
  reason: nullable(Type.String({ description: 'Why not, for the operator. A ready model may have one too.' })),
  price: Type.Union([price, Type.Null()], { description: 'In force now. Null: the model cannot be called.' }),
  configured_price: Type.Union([price, Type.Null()], { description: 'The price in the configuration.' }),
  prices: Type.Array(listedPrice, { description: 'Past, current and future prices, newest first.' }),
  keys: Type.Array(usingKey, { description: 'The valid keys that name the model or an alias of it.' }),
})
export type ConfiguredModelJson = Type.Static<typeof configuredModel>

export const consoleModels = Type.Object({
  models: Type.Array(configuredModel, { description: 'In the order of the configuration.' }),
  unlimited_keys: Type.Integer({ minimum: 0, description: 'How many valid keys may use every model.' }),
  currency: Type.String(),
})
export type ConsoleModels = Type.Static<typeof consoleModels>
