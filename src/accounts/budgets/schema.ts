import { Type } from 'typebox'
import { body, nullable } from '../../platform/http/schema-parts.ts'
import { periods } from './budget.ts'

/** The JSON schemas of the budgets of an account. Types, validation and the API document derive from them. */

const id = Type.String({ format: 'uuid', description: 'A UUIDv7 in lower case.' })
const time = (description: string) => Type.String({ format: 'date-time', description })
const amount = (description: string) => Type.String({ maxLength: 60, description })

const name = Type.String({
  format: 'line',
  minLength: 1,
  maxLength: 200,
  description: 'The name, unique in the account regardless of case. Callers whom the budget refuses see it.',
})
const keys = Type.Array(Type.String({ format: 'uuid' }), {
  maxItems: 1000,
  description:
    'The ids of the keys that share the budget: valid keys of the account. A key that replaces one of them joins it.',
})
const hard = (described: string) =>
  Type.Boolean({ description: `Whether it refuses requests that it does not cover. Otherwise ${described}` })
const onlyCounted = 'it only counts, and alerts of the account report when it is used up.'

export const newBudgetBody = body({
  name,
  amount: amount('The most that may be spent in a period: `50.00`.'),
  period: Type.Enum([...periods], {
    description: 'How long it lasts until it is renewed. `total`: it is never renewed, and counts all charges ever.',
  }),
  time_zone: Type.Optional(
    Type.String({
      maxLength: 60,
      description:
        "Where its periods begin at midnight: `UTC` or the firm's time zone. Default: the firm's. Weeks begin on Monday.",
    }),
  ),
  hard: Type.Optional(hard(`${onlyCounted} Default true.`)),
  keys: Type.Optional(keys),
  tag: Type.Optional(
    Type.Object(
      {
        name: Type.String({ format: 'line', minLength: 1, maxLength: 64, description: 'A name in `metadata`.' }),
        value: Type.String({ format: 'text', maxLength: 128, description: 'Its value, which must be equal.' }),
      },
      {
        additionalProperties: false,
        description: 'Instead of `keys`: the budget is of all requests of the account with this tag.',
      },
    ),
  ),
})

export const budgetChangeBody = body({
  name: Type.Optional(name),
  amount: Type.Optional(amount('The most that may be spent in a period.')),
  hard: Type.Optional(hard(onlyCounted)),
  keys: Type.Optional(keys),
})

export const raiseBody = body({
  by: amount('What is added to the amount: `20.00`. Replaces an earlier raise; 0 ends it.'),
  until: Type.Optional(
    nullable(
      Type.String({
        maxLength: 40,
        description:
          'A date, or a date and time in UTC: each period has the addition until then. Default null: the end of the current period. Required for a total.',
      }),
    ),
  ),
})

export const budgetShown = Type.Object({
  id,
  account_id: id,
  name: Type.String(),
  keys: nullable(Type.Array(id), 'The ids of its keys; null if it is of a tag.'),
  tag: nullable(
    Type.Object({
      name: Type.String(),
      value: nullable(Type.String(), 'Null for developers: it may have text of a customer.'),
    }),
    'The tag of its requests; null if it is of keys.',
  ),
  period: Type.Enum([...periods]),
  time_zone: Type.String({ description: 'Where its periods begin at midnight.' }),
  hard: Type.Boolean({ description: 'Whether it refuses requests that it does not cover.' }),
  amount: Type.String({ description: 'What may be spent in a period, without the raise.' }),
  raised_by: nullable(
    Type.String(),
    'What is added to the amount until `raised_until`. Both are null without a raise.',
  ),
  raised_until: nullable(time('When the raise ends.')),
  limit: Type.String({ description: 'What may be spent in the current period, with the raise.' }),
  charged: Type.String({ description: 'The charges since the period began.' }),
  held: Type.String({ description: 'The maximum cost of its requests in flight.' }),
  remaining: Type.String({ description: 'What new requests may cost: never below 0.' }),
  renews_at: nullable(time('When the next period begins.'), 'Null for a total.'),
  created_at: time('When it was made.'),
})
export type BudgetShown = Type.Static<typeof budgetShown>

export const budgetList = Type.Object({
  budgets: Type.Array(budgetShown, { description: 'By name.' }),
  time_zones: Type.Array(Type.String(), {
    description: 'The time zones that a new budget may have, the default first.',
  }),
})
export type BudgetList = Type.Static<typeof budgetList>
