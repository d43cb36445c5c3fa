import { Type } from 'typebox'
import { periods } from '../../accounts/budgets/known-budgets.ts'
import { loggedRequest } from '../schema.ts'

/** The wire shapes of what an account learns about itself with one of its keys. */

const amount = (description: string, example: string) => Type.String({ description, examples: [example] })
const amountOrNull = (description: string, example: string) =>
  Type.Union([Type.String(), Type.Null()], { description, examples: [example] })
const day = (description: string, example: string) =>
  Type.String({ format: 'date', maxLength: 10, description, examples: [example] })
const count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] })

export const ownUsageQuery = Type.Object(
  {
    from: Type.Optional(day('The first day, in UTC. Default: 29 days before `to`.', '2026-03-01')),
    to: Type.Optional(day('The last day, in UTC. Default: today.', '2026-03-31')),
    by: Type.Optional(
      Type.String({
        maxLength: 100,
        description:
          'What to group by: any of `day`, `model` and `key`, separated by commas, or `tag`, alone or with `day`. Default: `day`.',
        examples: ['day,model'],
      }),
    ),
    tag: Type.Optional(
      Type.String({
        format: 'text',
        minLength: 1,
        maxLength: 64,
        description: 'With `by=tag`: only tags with this name. Default: every tag.',
        examples: ['project'],
      }),
    ),
  },
  { additionalProperties: false },
)

const figures = {
  requests: count('Requests that were charged, without replays.', 12),
  input_tokens: count('Their input tokens, with those that a vendor read from its prompt cache or wrote to it.', 5321),
  output_tokens: count('Their output tokens.', 960),
  cost: amount('Their cost, exact: the sum of the ledger.', '0.0125312'),
  refused: count('Other requests that were refused or failed. They cost nothing.', 1),
  cached_tokens: count('Those of the input tokens that a vendor read from its prompt cache.', 2048),
  cache_write_tokens: count('Those of the input tokens that a vendor wrote to it.', 512),
}

const usageRow = Type.Object({
  day: Type.Optional(day('In UTC. Only if grouped by day.', '2026-03-12')),
  model: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: 'Only if grouped by model. Null for refused requests that name no known model.',
      examples: ['tiny'],
    }),
  ),
  key: Type.Optional(
    Type.Union(
      [
        Type.Object({
          id: Type.String({ format: 'uuid' }),
          name: Type.String({ examples: ['backend'] }),
        }),
        Type.Null(),
      ],
      { description: 'Only if grouped by key. Null for what people spent without a key.' },
    ),
  ),
  tag: Type.Optional(
    Type.Union(
      [
        Type.Object({ name: Type.String({ examples: ['project'] }), value: Type.String({ examples: ['Apollo'] }) }),
        Type.Null(),
      ],
      {
        description:
          'Only if grouped by tag. Null for the requests without any such tag. A request with several tags is in the row of each.',
      },
    ),
  ),
  ...figures,
})
export type OwnUsageRow = Type.Static<typeof usageRow>

export const ownUsage = Type.Object({
  from: day('The first day of the report.', '2026-03-01'),
  to: day('The last day.', '2026-03-31'),
  currency: Type.String({ examples: ['EUR'] }),
  total: Type.Object(figures),
  rows: Type.Array(usageRow, { description: 'One for each group with requests.' }),
  refusals: Type.Array(
    Type.Object({
      code: Type.String({ description: 'The error code.', examples: ['rate_limit_exceeded'] }),
      requests: count('How many requests.', 1),
    }),
    { description: 'Why requests were refused, the most frequent reason first.' },
  ),
})
export type OwnUsageReport = Type.Static<typeof ownUsage>

const limit = Type.Object({
  limit: count('What may be used in a minute.', 60),
  remaining: count('What may be used now.', 59),
  reset_seconds: count('Seconds until everything may be used again.', 1),
})

const budget = (description: string) =>
  Type.Union(
    [
      Type.Object({
        limit: amount('The budget.', '5'),
        spent: amount('What was charged since the day or the month began.', '1.25'),
        remaining: amount('What new requests may cost: what is left, less what requests in flight can cost.', '3.75'),
        renews_in_seconds: count('Seconds until the next day or month begins.', 3600),
      }),
      Type.Null(),
    ],
    { description },
  )

export const ownAccount = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String({ examples: ['Acme'] }),
  currency: Type.String({ examples: ['EUR'] }),
  balance: amountOrNull('For a prepaid account, the credit added, less all charges; otherwise null.', '12.5'),
  monthly_limit: amountOrNull('For an account billed in arrears, what it may spend in a month; otherwise null.', '100'),
  charged_this_month: amount('The charges since the first of this month, in UTC.', '3.25'),
  held: amount('The maximum cost of requests in flight.', '0.004'),
  available: amount('What new requests may cost: the remaining credit, less what is held.', '12.496'),
  limits: Type.Object({ requests_per_minute: limit, tokens_per_minute: limit }),
  key: Type.Object(
    {
      id: Type.String({ format: 'uuid' }),
      daily_budget: budget('What this key may spend on a day, in UTC.'),
      monthly_budget: budget('What this key may spend in a calendar month, in UTC.'),
      requests_per_minute: Type.Union([limit, Type.Null()]),
      tokens_per_minute: Type.Union([limit, Type.Null()]),
    },
    { description: 'The limits and budgets of the calling key, within those of the account. Null: none of its own.' },
  ),
  budgets: Type.Array(
    Type.Object({
      name: Type.String({ examples: ['Team Apollo'] }),
      tag: Type.Union(
        [
          Type.Object({ name: Type.String({ examples: ['project'] }), value: Type.String({ examples: ['Apollo'] }) }),
          Type.Null(),
        ],
        {
          description: 'The tag whose requests share it; null if keys share it, the calling key among them.',
          examples: [null],
        },
      ),
      period: Type.Enum([...periods]),
      time_zone: Type.String({ description: 'Where its periods begin at midnight.', examples: ['Europe/Berlin'] }),
      hard: Type.Boolean({ description: 'Whether it refuses requests.' }),
      limit: amount('What may be spent in the current period.', '50'),
      spent: amount('What was charged since the period began.', '12.5'),
      remaining: amount('What new requests may cost: what is left, less what requests in flight can cost.', '37.496'),
      renews_in_seconds: Type.Union([Type.Integer(), Type.Null()], {
        description: 'Seconds until the next period begins; null for a total.',
        examples: [86400],
      }),
    }),
    { description: 'The budgets that the calling key shares with others, and those of tags, by name.' },
  ),
})
export type AccountFigures = Type.Static<typeof ownAccount>

const {
  request_id,
  at,
  model,
  outcome,
  status,
  code,
  call,
  stop_reason,
  input_tokens,
  output_tokens,
  cost,
  milliseconds,
  currency,
} = loggedRequest.properties
const ownKey = Type.Union([Type.Object({ id: Type.String({ format: 'uuid' }), name: Type.String() }), Type.Null()], {
  description: 'Null for a request without a key.',
})

export const ownRequest = Type.Object({
  request_id,
  at,
  key: ownKey,
  model,
  outcome,
  status,
  code,
  call,
  stop_reason,
  input_tokens,
  output_tokens,
  cost,
  milliseconds,
  currency,
})
export type OwnRequest = Type.Static<typeof ownRequest>
