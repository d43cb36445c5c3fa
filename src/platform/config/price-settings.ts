import { Type } from 'typebox'
import { groupOf, whole, written } from './settings.ts'
import * as values from './values.ts'

/** The settings of a price. A price that is set in another way has the same names and values. */

export const twoPrices = {
  input: written(values.price, 'Per million input tokens. In quotes, at most 6 decimals.'),
  output: written(values.price, 'Per million output tokens. Must be above `input`.'),
}

const cachePrices = {
  cached_input: Type.Optional(
    written(
      values.price,
      'Per million input tokens that the upstream read from its prompt cache. Must not be above `input`.',
      { shown_default: 'charged as input' },
    ),
  ),
  cache_write: Type.Optional(
    written(values.price, 'Per million input tokens that the upstream wrote to its prompt cache.', {
      shown_default: 'charged as input',
    }),
  ),
}

const longWrites = {
  cache_write_1h: Type.Optional(
    written(
      values.price,
      'Per million input tokens that the upstream wrote to its prompt cache for an hour. Must not be below `cache_write`.',
      { shown_default: 'as `cache_write`' },
    ),
  ),
}

const steps = {
  steps: Type.Optional(
    Type.Array(
      groupOf('The prices of all tokens of a request with a longer prompt.', {
        above: whole('The prompt has more tokens than this, of all kinds together.', 1, 100_000_000),
        ...twoPrices,
        ...cachePrices,
        ...longWrites,
      }),
      {
        minItems: 1,
        description:
          'Prices by the length of the prompt. The first step is the price itself; these follow, the shortest first.',
      },
    ),
  ),
}

const { input, output } = twoPrices
const serviceTier = groupOf('Either `factor`, or prices of its own.', {
  factor: Type.Optional(
    written(values.factor, 'A multiplier of the standard prices of tokens, at every step: `0.5` for half of them.'),
  ),
  input: Type.Optional(input),
  output: Type.Optional(output),
  ...cachePrices,
  ...longWrites,
  ...steps,
})

/** What a price can have besides its prices for input, output and the cache. */
const rules = {
  ...longWrites,
  ...steps,
  service_tiers: Type.Optional(
    Type.Record(Type.String(), serviceTier, {
      description: 'Prices by service tier, under the name that the vendor uses, such as `flex` or `priority`.',
    }),
  ),
  regions: Type.Optional(
    Type.Record(Type.String(), written(values.factor, 'A multiplier of all prices of tokens.'), {
      description: 'Multipliers of all prices of tokens by the region that the vendor reports, such as `us: "1.1"`.',
    }),
  ),
  image: Type.Optional(
    written(values.usePrice, 'For each image in a request, besides its tokens. At most 9 decimals.'),
  ),
  tools: Type.Optional(
    groupOf('The tools that the vendor runs and that requests may use.', {
      web_search: Type.Optional(written(values.usePrice, 'For each search. At most 9 decimals.')),
    }),
  ),
}

export const priceRules = Type.Object(rules, { additionalProperties: false })
export type PriceRulesSettings = Type.StaticDecode<typeof priceRules>

export const everyPrice = { ...twoPrices, ...cachePrices, ...rules }
