import { answers, needsSession, refusals, refusalsOfBody } from '../../../platform/http/openapi.ts'
import type { ProblemCode } from '../../../platform/problems.ts'
import { Type } from 'typebox'
import { maxPasswordBytes, minimumLength } from './policy.ts'

/** The OpenAPI operations of passwords. */
const always: readonly ProblemCode[] = ['malformed_request', 'not_found', 'internal', 'unavailable']
const posting: readonly ProblemCode[] = [...always, 'cross_site_request', ...refusalsOfBody, 'too_many_sign_ins']
const inSignIn = { tags: ['Sign-in'] }
const inMe = { tags: ['Account'], ...needsSession }
const own: readonly ProblemCode[] = ['not_signed_in', 'recent_sign_in_required', 'conflict']

const text = (description: string, maxLength: number) => Type.String({ description, maxLength })
const token = text('From the link, after the `#`.', 100)
const password = text(
  `The new password: at least ${minimumLength.alone} characters, or ${minimumLength.withFactor} if a second factor is always required, and at most ${maxPasswordBytes} bytes.`,
  100_000,
)

const RequestResetBody = Type.Object(
  { email: text('The address that the link is sent to.', 1000) },
  { additionalProperties: false },
)
const InspectResetBody = Type.Object({ token }, { additionalProperties: false })
const ResetBody = Type.Object({ token, password }, { additionalProperties: false })
const ChangePasswordBody = Type.Object(
  {
    current: Type.Optional(text('The current password. Required if there is one.', 100_000)),
    password,
  },
  { additionalProperties: false },
)

/** The page on which a password is chosen. The link's token is in the fragment, which the server never sees. */
const resetPage = Type.Object({})
const requestedReset = Type.Object({})
const inspectedReset = Type.Object({
  email: Type.String({ description: 'The address that the link was sent to.' }),
  minimum_length: Type.Integer({ description: 'The fewest characters of the new password.' }),
})
const completedReset = Type.Object({ location: Type.String({ description: 'The path to go to.' }) })
const changedPassword = Type.Object({
  ended: Type.Integer({ minimum: 0, description: 'How many other sessions ended.' }),
})

export const readReset = {
  ...inSignIn,
  operationId: 'readPasswordReset',
  summary: 'The page of a password link',
  description: 'The page of the link in the mail.',
  response: { 200: answers(resetPage, 'The page.'), ...refusals(always) },
}

export const requestReset = {
  ...inSignIn,
  operationId: 'requestPasswordReset',
  summary: 'Ask for a link to choose a password',
  description:
    'The response is the same for every address. A mail is sent to the address if it may sign in or sign up. The link works once, for 20 minutes.',
  body: RequestResetBody,
  response: { 200: answers(requestedReset, 'Accepted.'), ...refusals(posting) },
}

export const inspectReset = {
  ...inSignIn,
  operationId: 'inspectPasswordReset',
  summary: 'Describe a password link',
  description: 'Does not use up the link.',
  body: InspectResetBody,
  response: { 200: answers(inspectedReset, 'The address.'), ...refusals([...posting, 'sign_in_failed']) },
}

export const completeReset = {
  ...inSignIn,
  operationId: 'completePasswordReset',
  summary: 'Choose a password with a link',
  description:
    "Uses up the link and ends all of the person's sessions. It does not sign anyone in, and a second factor is still required. For an address without a person, it creates one where `sign_in.sign_up` allows it. A refused password does not use up the link.",
  body: ResetBody,
  response: {
    200: answers(completedReset, 'The password is set.'),
    ...refusals([...posting, 'sign_in_failed', 'sign_in_refused', 'overloaded']),
  },
}

export const changePassword = {
  ...inMe,
  operationId: 'changePassword',
  summary: 'Set or change your password',
  description: 'Ends your other sessions. Needs a sign-in within the last 10 minutes.',
  body: ChangePasswordBody,
  response: {
    200: answers(changedPassword, 'The password is set.'),
    ...refusals([...posting, ...own, 'overloaded']),
  },
}

export const removePassword = {
  ...inMe,
  operationId: 'removePassword',
  summary: 'Remove your password',
  description: 'Ends your other sessions. Needs a sign-in within the last 10 minutes, and another way to sign in.',
  response: {
    200: answers(changedPassword, 'The password is removed.'),
    ...refusals([...always, ...own, 'cross_site_request']),
  },
}
