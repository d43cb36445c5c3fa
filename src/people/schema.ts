import { Type } from 'typebox'

/** A change of a person. */
export const PersonChangeBody = Type.Object(
  {
    role: Type.Optional(Type.Enum(['consultant', 'partner'], { description: 'The new role.' })),
    status: Type.Optional(Type.Enum(['active', 'disabled'], { description: 'Whether the person may sign in.' })),
  },
  { additionalProperties: false },
)

const id = Type.String({ format: 'uuid' })
const role = Type.Enum(['consultant', 'partner'])
const time = Type.String({ format: 'date-time', description: 'A date and time in UTC.' })

export const listedPerson = Type.Object({
  id,
  name: Type.String(),
  email: Type.Union([Type.String(), Type.Null()]),
  role,
  status: Type.Enum(['active', 'disabled']),
  clients: Type.Integer({ minimum: 0, description: 'The number of active clients.' }),
  created_at: time,
  last_signed_in_at: Type.Union([time, Type.Null()]),
})
export type ListedPerson = Type.Static<typeof listedPerson>

export const peopleList = Type.Object({ people: Type.Array(listedPerson) })
export type PeopleList = Type.Static<typeof peopleList>

export const endedSessionsOfPerson = Type.Object({
  ended: Type.Integer({ minimum: 0, description: 'How many sessions ended.' }),
})
