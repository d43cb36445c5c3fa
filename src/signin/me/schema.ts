import { Type } from 'typebox'
import { roles } from '../../access/actor.ts'
import { choice, factorProof, factorStart, recoveryCodes } from '../schema.ts'

const id = Type.String({ format: 'uuid' })
const time = Type.String({ format: 'date-time', description: 'A date and time in UTC.' })

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

const listedSignIn = Type.Object({
  at: time,
  method: Type.String({ description: 'The id of the sign-in method.' }),
  method_name: Type.String(),
  device: Type.Union([Type.String(), Type.Null()], {
    description: "The browser's description of itself. Null if it was not recorded.",
  }),
  address: Type.Union([Type.String(), Type.Null()], { description: 'The network.' }),
  current: Type.Boolean({ description: 'Whether it started the session of this request.' }),
})
export type ListedSignIn = Type.Static<typeof listedSignIn>

const listedPasskey = Type.Object({
  id,
  name: Type.String({ description: 'What the person calls it.' }),
  created_at: time,
  last_used_at: Type.Union([time, Type.Null()]),
})

const listedIdentity = Type.Object({
  id,
  name: Type.String({ description: 'The name of the provider, or its issuer if it is not configured.' }),
  issuer: Type.String({ description: 'The OpenID provider.' }),
  subject: Type.String({ description: "The provider's name for the person." }),
  created_at: time,
})

const listedFactor = Type.Object({
  id: Type.String(),
  name: Type.String(),
  set_up: Type.Boolean({ description: 'Whether the person has set it up.' }),
})

/** The person who is signed in, and their sessions. */
export const me = Type.Object({
  person: Type.Object({
    id,
    name: Type.String(),
    email: Type.Union([Type.String(), Type.Null()]),
    role: Type.Enum(roles),
  }),
  session: Type.Object({
    id,
    expires_at: time,
    idle_ends_at: time,
    recent_until: Type.Union([time, Type.Null()], {
      description:
        'Until when changes that need a recent sign-in are accepted. Null if it is unknown when the person proved who they are.',
    }),
    idle_seconds: Type.Integer({ minimum: 0, description: 'Seconds until the session ends if it is not used.' }),
  }),
  sessions: Type.Array(listedSession),
  sign_ins: Type.Array(listedSignIn, { description: 'The last 20 sign-ins, the newest first.' }),
  methods: Type.Array(choice, { description: 'The methods that the person can sign in with.' }),
  factors: Type.Array(listedFactor, { description: 'The second factors that can be set up.' }),
  factor_required: Type.Boolean({ description: 'Whether the person must have a second factor.' }),
  passkeys: Type.Array(listedPasskey),
  identities: Type.Array(listedIdentity, { description: "The person's accounts at OpenID providers." }),
  unlinked: Type.Array(choice, { description: 'The providers at which the person has linked no account.' }),
  confirmations: Type.Array(choice, { description: 'The factors with which the person can confirm who they are.' }),
  recovery_codes_left: Type.Integer({ minimum: 0, description: 'How many recovery codes are left.' }),
  calendar: Type.Union(
    [
      Type.Object({
        created_at: time,
        read_at: Type.Union([time, Type.Null()], { description: 'When a calendar program last read it.' }),
      }),
      Type.Null(),
    ],
    { description: "The address of the calendar with the person's tasks. Null if there is none." },
  ),
  task_mail: Type.Union([Type.Boolean(), Type.Null()], {
    description:
      'Whether the person is mailed their tasks in the morning. Null if they cannot be: without a mail server, an address, or a role that has tasks.',
  }),
})
export type OwnAccountShown = Type.Static<typeof me>

const ended = Type.Integer({ minimum: 0, description: 'How many sessions ended.' })
export const endedSessions = Type.Object({ ended })

export const BeginOwnFactorBody = Type.Object({ input: factorStart }, { additionalProperties: false })

export const CompleteOwnFactorBody = Type.Object(
  { input: factorProof, name: Type.Optional(Type.String({ description: 'What to call a passkey.', maxLength: 200 })) },
  { additionalProperties: false },
)

export const RenamePasskeyBody = Type.Object(
  { name: Type.String({ description: 'What to call it.', maxLength: 200 }) },
  { additionalProperties: false },
)

const factor = Type.String({ description: 'The id of one of the `confirmations` of GET /me.', maxLength: 100 })
export const BeginConfirmationBody = Type.Object({ factor }, { additionalProperties: false })
const confirmationProof = Type.Optional(
  Type.Unknown({
    description:
      'An object. `totp`, `sms`, `recovery_code`: the `code`. `passkey`: the `credential`, as JSON. `password`: the `password`.',
  }),
)
export const CompleteConfirmationBody = Type.Object(
  { factor, input: confirmationProof },
  { additionalProperties: false },
)
export const confirmed = Type.Object({ recent_until: time })

export const createdCalendar = Type.Object({
  address: Type.String({ format: 'uri', description: 'Shown only once. Anyone who has it can read the calendar.' }),
})

export const changedFactor = Type.Object({ ended, recovery_codes: Type.Optional(recoveryCodes) })
export const renamedPasskey = Type.Object({ id, name: Type.String() })
export const turnedTaskMail = Type.Object({ task_mail: Type.Boolean({ description: 'Whether it is on now.' }) })
