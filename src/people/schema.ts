import { Type } from 'typebox'
import { roles } from '../access/actor.ts'

/** A change of a person. */
export const PersonChangeBody = Type.Object(
  {
    role: Type.Optional(
      Type.Enum(roles, { description: 'The new role. Who stops being a developer loses all grants.' }),
    ),
    status: Type.Optional(Type.Enum(['active', 'disabled'], { description: 'Whether the person may sign in.' })),
    name: Type.Optional(Type.String({ description: 'The new name.', maxLength: 1000 })),
    email: Type.Optional(
      Type.String({ description: 'The new email address. A mail goes to both addresses.', maxLength: 1000 }),
    ),
  },
  { additionalProperties: false },
)

export const InvitationBody = Type.Object(
  {
    email: Type.String({ description: 'The address to invite.', maxLength: 1000 }),
    name: Type.String({ description: 'The name of the person.', maxLength: 1000 }),
    role: Type.Enum(roles, { description: 'The role that the person will have.' }),
  },
  { additionalProperties: false },
)

export const HandoverBody = Type.Object(
  { to: Type.String({ description: 'The id of the active person who receives the clients.', maxLength: 100 }) },
  { additionalProperties: false },
)

export const GrantBody = Type.Object(
  { account: Type.String({ description: 'The id of the account.', maxLength: 100 }) },
  { additionalProperties: false },
)

const id = Type.String({ format: 'uuid' })
const role = Type.Enum(roles)
const time = Type.String({ format: 'date-time', description: 'A date and time in UTC.' })

export const listedPerson = Type.Object({
  id,
  name: Type.String(),
  email: Type.Union([Type.String(), Type.Null()]),
  role,
  status: Type.Enum(['active', 'disabled']),
  clients: Type.Integer({ minimum: 0, description: 'The number of active clients.' }),
  identities: Type.Integer({ minimum: 0, description: 'The number of identities at providers.' }),
  accounts: Type.Array(Type.Object({ id, name: Type.String() }), {
    description: 'The accounts that a developer was granted, by name. Empty for everyone else.',
  }),
  created_at: time,
  last_signed_in_at: Type.Union([time, Type.Null()]),
})
export type ListedPerson = Type.Static<typeof listedPerson>

const count = (description: string) => Type.Integer({ minimum: 0, description })

export const listedInvitation = Type.Object({
  id,
  email: Type.String(),
  name: Type.String(),
  role,
  invited_by: Type.Union([Type.Object({ id, name: Type.String() }), Type.Null()], {
    description: 'Null for the command line.',
  }),
  created_at: time,
  expires_at: time,
})
export type ListedInvitation = Type.Static<typeof listedInvitation>

export const sentInvitation = Type.Object({
  invitation: listedInvitation,
  link: Type.Optional(
    Type.String({ description: 'The link to pass on, shown only this once. Absent if it was mailed.' }),
  ),
})
export type ShownInvitation = Type.Static<typeof sentInvitation>

export const peopleList = Type.Object({
  people: Type.Array(listedPerson),
  invitations: Type.Array(listedInvitation, {
    description: 'Those that are open: not withdrawn, and without a person who can sign in. Newest first.',
  }),
})
export type PeopleList = Type.Static<typeof peopleList>

export const endedSessionsOfPerson = Type.Object({
  ended: Type.Integer({ minimum: 0, description: 'How many sessions ended.' }),
})

export const unlinkedIdentities = Type.Object({ unlinked: count('How many identities were removed.') })

const namedClient = Type.Object({
  id,
  name: Type.String(),
  reference: Type.Union([Type.String(), Type.Null()]),
  status: Type.Enum(['active', 'archived']),
})

export const shownHandover = Type.Object({
  active: count('The number of active clients.'),
  archived: count('The number of archived clients.'),
  clients: Type.Array(namedClient, { description: 'The first of them, active ones first, by name.' }),
  conflicts: Type.Array(namedClient, {
    description: 'With `to`: clients whose reference that person already uses. They prevent the hand-over.',
  }),
})
export type ShownHandover = Type.Static<typeof shownHandover>

export const performedHandover = Type.Object({ handed_over: count('How many clients were assigned.') })
