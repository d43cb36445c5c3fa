import { Type } from 'typebox'

/** The rules of a price in JSON, with the names and values of the configuration. Its checks are those of the configuration. */

const amount = (description: string) => Type.String({ maxLength: 60, description })
const group = { additionalProperties: false }

const prices = {
  input: amount('Per million input tokens.'),
  output: amount('Per million output tokens.'),
  cached_input: Type.Optional(amount('Per million input tokens read from a prompt cache. Absent: as input.')),
  cache_write: Type.Optional(amount('Per million input tokens written to a prompt cache. Absent: as input.')),
}

const longWrites = {
  cache_write_1h: Type.Optional(
    amount('Per million input tokens written to a prompt cache for an hour. Absent: as other cache writes.'),
  ),
}

const steps = {
  steps: Type.Optional(
    Type.Array(
      Type.Object(
        { above: Type.Integer({ description: 'The prompt has more tokens than this.' }), ...prices, ...longWrites },
        group,
      ),
      { description: 'The prices of all tokens of a request with a longer prompt, the shortest first.' },
    ),
  ),
}

const { input, output, ...ofCache } = prices

export const rules = {
  ...longWrites,
  ...steps,
  service_tiers: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Object(
        {
          factor: Type.Optional(amount('A multiplier of the standard prices.')),
          input: Type.Optional(input),
          output: Type.Optional(output),
          ...ofCache,
          ...longWrites,
          ...steps,
        },
        group,
      ),
      { description: 'Prices by service tier: a factor, or prices of its own.' },
    ),
  ),
  regions: Type.Optional(
    Type.Record(Type.String(), amount('A multiplier.'), {
      description: 'Multipliers of the prices of tokens by region.',
    }),
  ),
  image: Type.Optional(amount('For each image of a request.')),
  tools: Type.Optional(
    Type.Object(
      { web_search: Type.Optional(amount('For each search.')) },
      { ...group, description: 'For each use of a tool that the vendor runs.' },
    ),
  ),
}
