import { Type } from 'typebox'
import { answers, refusals, refusalsOfBody } from '../platform/http/openapi.ts'
import type { ProblemCode } from '../platform/problems.ts'
import * as schema from './schema.ts'

/** The OpenAPI operations of /signin, /auth/…, /signout and /me. */
export const always: readonly ProblemCode[] = ['malformed_request', 'internal', 'unavailable']
const signingIn: readonly ProblemCode[] = [
  ...always,
  'sign_in_failed',
  'sign_in_refused',
  'rate_limit_exceeded',
  'not_found',
]
const posting: readonly ProblemCode[] = ['cross_site_request', ...refusalsOfBody]

const inSignIn = { tags: ['Sign-in'] }
const methodParams = Type.Object({ '*': Type.String({ description: 'The id of the method or provider.' }) })
const text = (description: string) => Type.String({ description })
const redirect = (description: string) => ({
  description,
  type: 'null',
  headers: { location: text('Where to go.'), 'set-cookie': text('The cookie of the attempt or of the session.') },
})

export const readSignIn = {
  ...inSignIn,
  operationId: 'readSignIn',
  summary: 'List the ways to sign in',
  description: '`return_to` in the query is the path to go to after signing in.',
  response: { 200: answers(schema.signInPage, 'The methods.'), ...refusals(always) },
}

export const startRedirect = {
  ...inSignIn,
  operationId: 'startSignIn',
  summary: 'Start a sign-in at a provider',
  description:
    'For a browser. `return_to` in the query is the path to go to after signing in. With `again=1`, or if the browser is signed in here, the provider asks the person to sign in even if they are signed in there.',
  params: methodParams,
  response: { 303: redirect('To the provider.'), ...refusals(signingIn) },
}

export const readCallback = {
  ...inSignIn,
  operationId: 'completeSignIn',
  summary: 'Complete a sign-in at a provider',
  description: 'The provider sends the browser here with `code`, `state` and `iss`, or with `error`.',
  response: { 303: redirect('To the page originally requested.'), ...refusals([...signingIn, 'provider_failed']) },
}

export const startCredential = {
  ...inSignIn,
  operationId: 'startCredentialSignIn',
  summary: 'Start a sign-in with a credential',
  params: methodParams,
  body: schema.BeginCredentialBody,
  response: { 200: answers(schema.begunSignIn, 'The attempt.'), ...refusals([...signingIn, ...posting]) },
}

export const completeCredential = {
  ...inSignIn,
  operationId: 'completeCredentialSignIn',
  summary: 'Complete a sign-in with a credential',
  body: schema.CompleteCredentialBody,
  response: { 200: answers(schema.completedSignIn, 'Signed in.'), ...refusals([...signingIn, ...posting]) },
}

export const readInvitationPage = {
  ...inSignIn,
  operationId: 'readInvitationPage',
  summary: 'The page of an invitation',
  description: 'Where a mailed invitation leads. The token is in the fragment; opening the page does not use it up.',
  response: { 200: answers(Type.Object({}), 'The page.'), ...refusals(always) },
}

export const inspectInvitation = {
  ...inSignIn,
  operationId: 'inspectInvitation',
  summary: 'Describe an invitation',
  description: 'Does not use up the invitation.',
  body: schema.InvitationTokenBody,
  response: { 200: answers(schema.invitationSummary, 'The invitation.'), ...refusals([...signingIn, ...posting]) },
}

export const acceptInvitation = {
  ...inSignIn,
  operationId: 'acceptInvitation',
  summary: 'Accept an invitation',
  description:
    'Creates the invited person and signs them in, once. Refused in a browser in which someone is signed in, and with a password that is easy to guess: the invitation stays open.',
  body: schema.AcceptInvitationBody,
  response: {
    200: answers(schema.completedSignIn, 'Signed in.'),
    ...refusals([...signingIn, ...posting, 'overloaded']),
  },
}

export const startFactor = {
  ...inSignIn,
  operationId: 'startSecondFactor',
  summary: 'Start a second factor',
  body: schema.BeginFactorBody,
  response: { 200: answers(schema.begunFactor, 'The challenge.'), ...refusals([...signingIn, ...posting]) },
}

export const completeFactor = {
  ...inSignIn,
  operationId: 'completeSecondFactor',
  summary: 'Complete a second factor',
  body: schema.CompleteFactorBody,
  response: { 200: answers(schema.completedSignIn, 'Signed in.'), ...refusals([...signingIn, ...posting]) },
}

export const abandonFactor = {
  ...inSignIn,
  operationId: 'abandonSecondFactor',
  summary: 'Abandon a sign-in that waits for a second factor',
  description: 'Does not sign out: if someone is signed in in this browser, they stay so.',
  response: { 200: answers(schema.completedSignIn, 'Abandoned.'), ...refusals([...always, 'cross_site_request']) },
}

export const startEnrolment = {
  ...inSignIn,
  operationId: 'startEnrolment',
  summary: 'Start setting up a second factor that the sign-in needs',
  body: schema.BeginEnrolmentBody,
  response: {
    200: answers(schema.begunFactor, 'The challenge.'),
    ...refusals([...signingIn, ...posting, 'too_many_sign_ins', 'sms_failed']),
  },
}

export const completeEnrolment = {
  ...inSignIn,
  operationId: 'completeEnrolment',
  summary: 'Complete the set-up of a second factor, and the sign-in',
  body: schema.CompleteFactorBody,
  response: { 200: answers(schema.enrolledSignIn, 'Signed in.'), ...refusals([...signingIn, ...posting]) },
}

export const providerLogout = {
  ...inSignIn,
  operationId: 'providerLogout',
  summary: 'Report a sign-out at a provider',
  description: 'OpenID Connect Back-Channel Logout 1.0: a form with `logout_token`, sent by the provider.',
  params: methodParams,
  response: {
    200: { description: 'The sessions have ended.', type: 'null' },
    ...refusals([...always, 'sign_in_failed', 'not_found', 'request_too_large', 'unsupported_media_type']),
  },
}

export const signOut = {
  ...inSignIn,
  operationId: 'signOut',
  summary: 'Sign out',
  response: { 200: answers(schema.signedOut, 'Signed out.'), ...refusals([...always, 'cross_site_request']) },
}
