import { Type } from 'typebox'
import { ownRequest, ownUsage } from '../own/schema.ts'
import { requestsQuery } from '../schema.ts'

/** The wire shapes of what a person sees of one account. */

const day = (description: string) => Type.String({ description, examples: ['2026-03-12'] })
const amount = (description: string) => Type.String({ description, examples: ['0.0125312'] })

export const accountUsageQuery = Type.Object(
  {
    from: Type.Optional(day('The first day, in UTC. Default: 29 days before `to`.')),
    to: Type.Optional(day('The last day, in UTC. Default: today.')),
    by: Type.Optional(
      Type.String({
        format: 'text',
        maxLength: 100,
        description:
          'What to group `rows` by: any of `day`, `model` and `key`, separated by commas. Default: `day,model`.',
      }),
    ),
  },
  { additionalProperties: false },
)

export const accountUsage = Type.Object({
  ...ownUsage.properties,
  month: Type.Object(
    {
      from: day('The first day of this month, in UTC.'),
      to: day('Its last day.'),
      charged: amount('The charges since the first of this month.'),
      projected: Type.Union([Type.String(), Type.Null()], {
        description:
          'What the month costs in all if it goes on as it did until now. An estimate, rounded; null on the first day of a month.',
        examples: ['0.0371'],
      }),
    },
    { description: 'This calendar month, whatever days the report is about.' },
  ),
})
export type AccountUsageReport = Type.Static<typeof accountUsage>

const { from, to, key, model, outcome, stop_reason, code, cursor, limit } = requestsQuery.properties

export const accountRequestsQuery = Type.Object(
  { from, to, key, model, outcome, stop_reason, code, cursor, limit },
  { additionalProperties: false },
)

export const accountRequests = Type.Object({
  requests: Type.Array(ownRequest, { description: 'The newest first.' }),
  next: Type.Union([Type.String(), Type.Null()], {
    description: 'The `cursor` of the next page, even if this page has few rows or none; null on the last.',
  }),
})
export type AccountRequests = Type.Static<typeof accountRequests>
