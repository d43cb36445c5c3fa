import { Type, type TProperties } from 'typebox'

/** The wire shapes of the usage of the firm, for partners. */

const id = Type.String({ format: 'uuid' })
const text = (maxLength: number, description: string) => Type.String({ format: 'text', maxLength, description })
const day = (description: string) => Type.String({ description, examples: ['2026-03-12'] })
const amount = (description: string) => Type.String({ description, examples: ['0.0125312'] })
const named = Type.Object({ id, name: Type.Union([Type.String(), Type.Null()]) })
const optional = (description: string) => Type.Union([named, Type.Null()], { description })

const selection = {
  from: Type.Optional(text(30, 'The first day, in UTC: `2026-03-01`. Default: 29 days before `to`.')),
  to: Type.Optional(text(30, 'The last day, in UTC. Default: today.')),
  account: Type.Optional(text(36, 'The id of an account.')),
  key: Type.Optional(text(36, 'The id of a key, or of a person who spends without one.')),
  model: Type.Optional(text(200, 'The id of a model.')),
  client: Type.Optional(text(36, 'The id of a client.')),
}
const closed = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false })

export const usageQuery = closed({
  ...selection,
  by: Type.Optional(
    text(
      100,
      'What to group `rows` by: any of `day`, `model`, `key`, `client` and `account`, separated by commas. Default: `day,model`; in a file, all.',
    ),
  ),
  format: Type.Optional(Type.Enum(['json', 'csv'], { description: '`csv`: all groups as a file.' })),
})
export type UsageQuery = Type.Static<typeof usageQuery>

const figures = {
  requests: Type.Integer({ description: 'Requests that were charged.' }),
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  cost: amount('Exact: the sum of the ledger.'),
  refused: Type.Integer({ description: 'Other requests that were refused or failed.' }),
  cached_tokens: Type.Integer({
    description: 'Those of the input tokens that an upstream read from its prompt cache.',
  }),
  cache_write_tokens: Type.Integer({ description: 'Those of the input tokens that an upstream wrote to it.' }),
}
const total = Type.Object(figures)
export type UsageFigures = Type.Static<typeof total>

const group = {
  day: Type.Optional(day('In UTC.')),
  model: Type.Optional(
    Type.Union([Type.String(), Type.Null()], { description: 'Null for refused requests that name no known model.' }),
  ),
  key: Type.Optional(optional('Null for what a person spends without a key.')),
  person: Type.Optional(optional('Who spends without a key.')),
  client: Type.Optional(optional('Null for requests that name no client.')),
  account: Type.Optional(named),
}
const row = Type.Object({ ...group, ...figures })
export type UsageRow = Type.Static<typeof row>

const breakdown = Type.Object({
  rows: Type.Array(row, { description: 'The most expensive first, at most 100.' }),
  others: Type.Union([total, Type.Null()], { description: 'The sum of all other groups; null if there is none.' }),
})
export type UsageBreakdown = Type.Static<typeof breakdown>

const limit = Type.Object({ limit: Type.Integer(), remaining: Type.Integer() })
const accountLimits = Type.Object({
  account: named,
  status: Type.Enum(['open', 'closed']),
  monthly_limit: Type.Union([Type.String(), Type.Null()], { description: 'Null for a prepaid account.' }),
  charged_this_month: amount('The charges since the first of this month, in UTC.'),
  credit_added: amount('The credit that was ever added to a prepaid account.'),
  held: amount('The maximum cost of requests in flight.'),
  available: amount('What new requests may cost.'),
  used_percent: Type.Union([Type.Integer(), Type.Null()], {
    description:
      'The share of the monthly limit, or of the credit since it was last changed, that is charged or held. Rounded down; null without either.',
  }),
  requests_per_minute: limit,
  tokens_per_minute: limit,
})
export type UsageLimits = Type.Static<typeof accountLimits>

export const usagePage = Type.Object({
  from: day('The first day.'),
  to: day('The last day.'),
  currency: Type.String({ examples: ['EUR'] }),
  filter: Type.Object(
    {
      account: Type.Optional(named),
      key: Type.Optional(named),
      model: Type.Optional(Type.String()),
      client: Type.Optional(named),
    },
    { description: 'What the query selects, with names.' },
  ),
  total,
  previous: Type.Object(
    { from: day('The first day.'), to: day('The last day.'), ...figures },
    { description: 'The same number of days before.' },
  ),
  rows: Type.Array(row, { description: 'One for each group of `by`.' }),
  models: breakdown,
  keys: breakdown,
  clients: breakdown,
  accounts: breakdown,
  refusals: Type.Array(Type.Object({ code: Type.String(), requests: Type.Integer() })),
  limits: Type.Array(accountLimits, {
    description: 'Open accounts, those with the smallest share of credit left first; at most 100.',
  }),
})
export type UsagePageData = Type.Static<typeof usagePage>

export const requestsQuery = closed({
  ...selection,
  request: Type.Optional(text(36, 'The id of a request, on any day.')),
  outcome: Type.Optional(Type.Enum(['charged', 'refused'])),
  stop_reason: Type.Optional(text(40, 'The stop reason of a charged request.')),
  code: Type.Optional(text(60, 'The error code of a refused request.')),
  cursor: Type.Optional(text(36, '`next` of the previous page.')),
  limit: Type.Optional(Type.String({ format: 'page-size', description: '1 to 200; default 50.' })),
  format: Type.Optional(Type.Enum(['json', 'csv'], { description: '`csv`: all rows as a file.' })),
})
export type RequestsQuery = Type.Static<typeof requestsQuery>

const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })
const refusedCall = Type.Union(
  [
    Type.Object({
      field: textOrNull('The field that the error names.'),
      reason: textOrNull('The reason in the error. Null where it may quote the request.'),
      route: Type.String({ description: 'The URL that was called.', examples: ['/v1/chat/completions'] }),
      dialect: Type.Enum(['tollgate', 'openai', 'anthropic'], { description: 'The API in whose format the call was.' }),
      user_agent: textOrNull('The program that called, as it names itself.'),
      streamed: Type.Boolean({ description: 'Whether it asked for a stream.' }),
    }),
    Type.Null(),
  ],
  {
    description:
      'What was called and why it was refused. Null for a charged request, and for those of earlier versions.',
  },
)

export const loggedRequest = Type.Object({
  request_id: id,
  at: Type.String({ description: 'When it was charged or refused: a date and time in UTC.' }),
  account: named,
  key: optional('Null for a person who spends without a key.'),
  person: optional('Who spent without a key.'),
  client: optional('The client that it was made for.'),
  model: Type.Union([Type.String(), Type.Null()]),
  outcome: Type.Enum(['charged', 'refused']),
  status: Type.Integer({ description: 'The HTTP status.' }),
  code: Type.Union([Type.String(), Type.Null()], { description: 'Why it was refused.' }),
  call: refusedCall,
  stop_reason: Type.Union([Type.String(), Type.Null()], { description: 'Why its reply ended.' }),
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  cost: amount('What was charged.'),
  milliseconds: Type.Union([Type.Integer(), Type.Null()], {
    description: 'From its start to its charge or refusal. Null for requests of version 0.2.',
  }),
  usage_source: Type.Union([Type.String(), Type.Null()], { description: 'Who counted the tokens.' }),
  tags: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()], {
    description: 'What the caller said that it was for, by name. Null without any tag, and for a refused request.',
  }),
  currency: Type.String(),
})
export type UsageRequest = Type.Static<typeof loggedRequest>

export const requestsPage = Type.Object({
  requests: Type.Array(loggedRequest),
  next: Type.Union([Type.String(), Type.Null()], {
    description: 'The `cursor` of the next page, even if this page has few rows or none; null on the last.',
  }),
})
export type RequestsPageData = Type.Static<typeof requestsPage>
