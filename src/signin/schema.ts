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

export const BeginFactorBody = Type.Object(
  { factor: Type.String({ description: 'The id of a second factor that is due.', maxLength: 100 }) },
  { additionalProperties: false },
)

export const CompleteFactorBody = Type.Object({ input }, { additionalProperties: false })
