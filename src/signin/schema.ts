import { Type } from 'typebox'

/** What a method or a second factor asked for. It checks this itself. */
const input = Type.Optional(Type.Unknown({ description: 'What the method or the second factor asks for.' }))

export const BeginCredentialBody = Type.Object(
  {
    return_to: Type.Optional(Type.String({ description: 'The path to go to after signing in.', maxLength: 2000 })),
    input,
  },
  { additionalProperties: false },
)

export const CompleteCredentialBody = Type.Object(
  { attempt: Type.String({ description: 'From the start of the sign-in.', maxLength: 100 }), input },
  { additionalProperties: false },
)

const token = Type.String({ description: 'The token of the link.', maxLength: 100 })

export const InspectLinkBody = Type.Object({ token }, { additionalProperties: false })

export const CompleteLinkBody = Type.Object(
  {
    token,
    confirmed: Type.Optional(
      Type.Boolean({ description: 'The person wants to sign in here, in another browser than the one that asked.' }),
    ),
  },
  { additionalProperties: false },
)

export const InvitationTokenBody = Type.Object({ token }, { additionalProperties: false })

export const BeginFactorBody = Type.Object(
  { factor: Type.String({ description: 'The id of a second factor that is due.', maxLength: 100 }) },
  { additionalProperties: false },
)

export const CompleteFactorBody = Type.Object({ input }, { additionalProperties: false })

const id = Type.String({ format: 'uuid' })
const time = Type.String({ format: 'date-time', description: 'A date and time in UTC.' })
const choice = Type.Object({ id: Type.String(), name: Type.String() })

/** What the sign-in page offers. */
export const signInPage = Type.Object({
  providers: Type.Array(choice, { description: 'Methods that redirect to another address.' }),
  credentials: Type.Optional(Type.Array(choice, { description: 'Methods that ask for input here.' })),
  second_factors: Type.Optional(Type.Array(choice, { description: 'The second factors that are due, if any.' })),
  return_to: Type.Optional(Type.String({ description: 'The path to go to after signing in.' })),
})
export type SignInPage = Type.Static<typeof signInPage>

export const begunSignIn = Type.Object({
  attempt: Type.String({ description: 'The id of the sign-in attempt.' }),
  challenge: Type.Unknown({ description: 'What the method asks for.' }),
})
export const linkSummary = Type.Object({
  own_browser: Type.Boolean({ description: 'Whether this browser asked for the link. If not, a person must confirm.' }),
  address: Type.String({ description: 'The e-mail address that signs in.' }),
  device: Type.String({ description: 'The browser that asked for the link.' }),
})
export const invitationSummary = Type.Object({
  email: Type.String({ description: 'The address that is invited.' }),
  name: Type.String(),
  role: Type.Enum(['consultant', 'partner']),
  expires_at: time,
})
export const begunFactor = Type.Object({ challenge: Type.Unknown({ description: 'What the second factor asks for.' }) })
export const completedSignIn = Type.Object({ location: Type.String({ description: 'The path to go to.' }) })
export const signedOut = Type.Object({ location: Type.String({ description: 'The address to go to.' }) })

export const listedSession = Type.Object({
  id,
  method: Type.String({ description: 'The id of the sign-in method.' }),
  method_name: Type.String(),
  factors: Type.Array(Type.String()),
  device: Type.String({ description: "The browser's description of itself." }),
  address: Type.String({ description: 'The network that the session started from.' }),
  created_at: time,
  last_seen_at: time,
  current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
})
export type ListedSession = Type.Static<typeof listedSession>

/** The person who is signed in, and their sessions. */
export const me = Type.Object({
  person: Type.Object({
    id,
    name: Type.String(),
    email: Type.Union([Type.String(), Type.Null()]),
    role: Type.Enum(['consultant', 'partner']),
  }),
  session: Type.Object({
    id,
    expires_at: time,
    idle_ends_at: time,
    idle_seconds: Type.Integer({ minimum: 0, description: 'Seconds until the session ends if it is not used.' }),
  }),
  sessions: Type.Array(listedSession),
})
export type Me = Type.Static<typeof me>

export const endedSessions = Type.Object({
  ended: Type.Integer({ minimum: 0, description: 'How many sessions ended.' }),
})
