import { Type } from 'typebox'
import { maxPasswordBytes, minimumLength } from './policy.ts'

const text = (description: string, maxLength: number) => Type.String({ description, maxLength })
const token = text('From the link, after the `#`.', 100)
const password = text(
  `The new password: at least ${minimumLength.alone} characters, or ${minimumLength.withFactor} if a second factor is always required, and at most ${maxPasswordBytes} bytes.`,
  100_000,
)

export const RequestResetBody = Type.Object(
  { email: text('The address that the link is sent to.', 1000) },
  { additionalProperties: false },
)
export const InspectResetBody = Type.Object({ token }, { additionalProperties: false })
export const ResetBody = Type.Object({ token, password }, { additionalProperties: false })
export const ChangePasswordBody = Type.Object(
  {
    current: Type.Optional(text('The current password. Required if there is one.', 100_000)),
    password,
  },
  { additionalProperties: false },
)

/** The page on which a password is chosen. The link's token is in the fragment, which the server never sees. */
export const resetPage = Type.Object({})
export const requestedReset = Type.Object({})
export const inspectedReset = Type.Object({
  email: Type.String({ description: 'The address that the link was sent to.' }),
  minimum_length: Type.Integer({ description: 'The fewest characters of the new password.' }),
})
export const completedReset = Type.Object({ location: Type.String({ description: 'The path to go to.' }) })
export const changedPassword = Type.Object({
  ended: Type.Integer({ minimum: 0, description: 'How many other sessions ended.' }),
})
