import { Type } from 'typebox'
import { roles } from '../access/actor.ts'

/** The input for a method or a second factor, which validates it itself. */
const input = (description: string) => Type.Optional(Type.Unknown({ description }))

const methodStart = input('An object. `email_link`, `password`: the `email`. `passkey`: not needed.')
const methodProof = input(
  'An object. `email_link`: the `code` in the mail. `password`: the `email` and the `password`. `passkey`: the `credential`, as JSON.',
)
/** For the set-up of a second factor. */
export const factorStart = input('An object. `sms`: the `number`, such as +49 151 12345678. Not needed for others.')
/** The proof of a second factor that is set up, or shown. */
export const factorProof = input(
  'An object. `totp`, `sms`, `recovery_code`: the `code`. `passkey`: the `credential`, as JSON.',
)

export const BeginCredentialBody = Type.Object(
  {
    return_to: Type.Optional(Type.String({ description: 'The path to go to after signing in.', maxLength: 2000 })),
    input: methodStart,
  },
  { additionalProperties: false },
)

export const CompleteCredentialBody = Type.Object(
  { attempt: Type.String({ description: 'From the start of the sign-in.', maxLength: 100 }), input: methodProof },
  { additionalProperties: false },
)

const token = Type.String({ description: 'The token of the link.', maxLength: 100 })

export const InvitationTokenBody = Type.Object({ token }, { additionalProperties: false })

export const AcceptInvitationBody = Type.Object(
  {
    token,
    password: Type.Optional(
      Type.String({
        description: 'A password to sign in with later, if the service has passwords.',
        maxLength: 100_000,
      }),
    ),
  },
  { additionalProperties: false },
)

export const BeginFactorBody = Type.Object(
  { factor: Type.String({ description: 'The id of a second factor that is due.', maxLength: 100 }) },
  { additionalProperties: false },
)

export const BeginEnrolmentBody = Type.Object(
  {
    factor: Type.String({ description: 'The id of a second factor that can be set up.', maxLength: 100 }),
    input: factorStart,
  },
  { additionalProperties: false },
)

export const CompleteFactorBody = Type.Object({ input: factorProof }, { additionalProperties: false })

export const choice = Type.Object({ id: Type.String(), name: Type.String() })

/** The options on the sign-in page. */
export const signInPage = Type.Object({
  providers: Type.Array(choice, { description: 'Methods that redirect to another address.' }),
  credentials: Type.Optional(Type.Array(choice, { description: 'Methods that ask for input here.' })),
  second_factors: Type.Optional(Type.Array(choice, { description: 'The second factors that are due, if any.' })),
  enrol: Type.Optional(
    Type.Array(choice, {
      description: 'The second factors of which one must be set up to complete the sign-in, if any.',
    }),
  ),
  return_to: Type.Optional(Type.String({ description: 'The path to go to after signing in.' })),
})
export type SignInPage = Type.Static<typeof signInPage>

export const begunSignIn = Type.Object({
  attempt: Type.String({ description: 'The id of the sign-in attempt.' }),
  challenge: Type.Unknown({ description: 'What the method asks for.' }),
})
export const invitationSummary = Type.Object({
  email: Type.String({ description: 'The address that is invited.' }),
  name: Type.String(),
  role: Type.Enum(roles),
  expires_at: Type.String({ format: 'date-time', description: 'A date and time in UTC.' }),
  password: Type.Optional(
    Type.Object(
      {
        minimum_length: Type.Integer({ description: 'The fewest characters.' }),
        only_way: Type.Boolean({ description: 'Whether there is no other way to sign in later.' }),
      },
      { description: 'The password that can be chosen, if the service has passwords.' },
    ),
  ),
})
export const begunFactor = Type.Object({ challenge: Type.Unknown({ description: 'What the second factor asks for.' }) })
export const completedSignIn = Type.Object({ location: Type.String({ description: 'The path to go to.' }) })
export const recoveryCodes = Type.Array(Type.String(), {
  description: 'Ten codes for when the second factor is lost. They are shown only here.',
})
export const enrolledSignIn = Type.Object({
  location: Type.String({ description: 'The path to go to.' }),
  recovery_codes: Type.Optional(recoveryCodes),
})
export const signedOut = Type.Object({ location: Type.String({ description: 'The address to go to.' }) })
