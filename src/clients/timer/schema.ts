import { Type } from 'typebox'

/** The JSON schemas of timers. */

const id = Type.String({ format: 'uuid' })

export const newTimer = Type.Object(
  {
    text: Type.Optional(
      Type.String({ format: 'line', maxLength: 280, description: 'What the time entry will say. Default: empty.' }),
    ),
  },
  { additionalProperties: false },
)
export type NewTimer = Type.Static<typeof newTimer>

export const timer = Type.Object({
  id,
  client: Type.Optional(
    Type.Object({ id, name: Type.String() }, { description: 'Absent if `known` is the id of this timer.' }),
  ),
  text: Type.Optional(
    Type.String({ description: 'What the time entry will say. Absent if `known` is the id of this timer.' }),
  ),
  started_at: Type.String({ format: 'date-time', description: 'When it was started.' }),
  stopped_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description: 'Null while it runs.' }),
  seconds: Type.Integer({ minimum: 0, description: 'For how long it has run, by the clock of the database.' }),
  minutes: Type.Integer({
    minimum: 1,
    maximum: 1440,
    description: 'That as a time entry has it: whole minutes, at least one, at most a day.',
  }),
})
export type Timer = Type.Static<typeof timer>

export const ownTimer = Type.Object({
  timer: Type.Union([timer, Type.Null()], { description: 'Null if there is none.' }),
})
export type OwnTimer = Type.Static<typeof ownTimer>

export const timerQuery = Type.Object(
  {
    known: Type.Optional(
      Type.String({
        format: 'text',
        maxLength: 36,
        description: 'The id of a timer that the caller has read: then the response says nothing of its client.',
      }),
    ),
  },
  { additionalProperties: false },
)
