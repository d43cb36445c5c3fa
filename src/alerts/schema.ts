import { Type } from 'typebox'
import { nullable } from '../platform/http/schema-parts.ts'

/** The JSON schemas of the alerts of an account. Types, validation and the API document derive from them. */

const id = Type.String({ format: 'uuid' })
const time = Type.String({ format: 'date-time', description: 'A date and time in UTC.' })

const shares = Type.Array(Type.Integer({ minimum: 1, maximum: 100 }), {
  maxItems: 10,
  description:
    'Per cent of the monthly limit, or of the credit that the account had when credit was last added or withdrawn; and of each of its budgets. At least one, except with `batches`.',
})

const reportsBatches = (otherwise: string) =>
  Type.Optional(
    Type.Boolean({ description: `Whether a webhook also reports the end of each batch of the account. ${otherwise}` }),
  )

export const newAlertBody = Type.Object(
  {
    shares,
    batches: reportsBatches('Default: false.'),
    email: Type.Optional(
      Type.String({ format: 'line', minLength: 1, maxLength: 254, description: 'The address for mail.' }),
    ),
    webhook: Type.Optional(
      Type.String({
        format: 'line',
        minLength: 1,
        maxLength: 2000,
        description: 'Instead of `email`: an https address that alerts are posted to.',
      }),
    ),
  },
  { additionalProperties: false },
)

export const alertChangeBody = Type.Object(
  { shares, batches: reportsBatches('Default: as before.') },
  { additionalProperties: false },
)

const alertFields = {
  alert_id: Type.String({ format: 'uuid', description: 'The id of the alert.' }),
  shares: Type.Array(Type.Integer(), { description: 'In per cent, ascending.' }),
  batches: Type.Boolean({ description: 'Whether the end of each batch is reported.' }),
  email: nullable(Type.String()),
  webhook: nullable(Type.String()),
  created_at: time,
}

export const alertShown = Type.Object(alertFields)
export type AlertShown = Type.Static<typeof alertShown>

export const alertCreated = Type.Object({
  ...alertFields,
  secret: nullable(
    Type.String({ description: 'Signs the webhook; null for mail. It is sent only once and stored encrypted.' }),
  ),
})
export type AlertCreated = Type.Static<typeof alertCreated>

export const alertList = Type.Object({
  alerts: Type.Array(alertShown, { description: 'In order of creation.' }),
})
export type AlertList = Type.Static<typeof alertList>

export const attemptList = Type.Object({
  attempts: Type.Array(
    Type.Object({
      id,
      at: time,
      delivery: Type.String({ format: 'uuid', description: 'The same for every attempt: `Tollgate-Id` of a webhook.' }),
      email: nullable(Type.String()),
      webhook: nullable(Type.String()),
      share: nullable(Type.Integer({ description: 'In per cent; null for the end of a batch and for a test.' })),
      budget: nullable(Type.String({ description: 'The name of the budget that it is about.' })),
      batch: nullable(Type.String({ description: 'The id of the batch whose end it reports.' })),
      outcome: Type.Enum(['queued', 'sent', 'failed', 'given_up'], {
        description: '`queued`: the mail is in the queue, from where it is sent.',
      }),
      error: nullable(Type.String({ description: 'The status or a code: `500`, `ECONNREFUSED`.' })),
    }),
    { description: 'The last 100, the newest first.' },
  ),
})
export type AttemptList = Type.Static<typeof attemptList>
