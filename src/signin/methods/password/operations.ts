import { answers, needsSession, refusals, refusalsOfBody } from '../../../platform/http/openapi.ts'
import type { ProblemCode } from '../../../platform/problems.ts'
import * as schema from './schema.ts'

/** The OpenAPI operations of passwords. */
const always: readonly ProblemCode[] = ['malformed_request', 'not_found', 'internal', 'unavailable']
const posting: readonly ProblemCode[] = [...always, 'cross_site_request', ...refusalsOfBody, 'too_many_sign_ins']
const inSignIn = { tags: ['Sign-in'] }
const inMe = { tags: ['Account'], ...needsSession }
const own: readonly ProblemCode[] = ['not_signed_in', 'recent_sign_in_required', 'conflict']

export const readReset = {
  ...inSignIn,
  operationId: 'readPasswordReset',
  summary: 'The page of a password link',
  description: 'The page of the link in the mail.',
  response: { 200: answers(schema.resetPage, 'The page.'), ...refusals(always) },
}

export const requestReset = {
  ...inSignIn,
  operationId: 'requestPasswordReset',
  summary: 'Ask for a link to choose a password',
  description:
    'The response is the same for every address. A mail is sent to the address if it may sign in or sign up. The link works once, for 20 minutes.',
  body: schema.RequestResetBody,
  response: { 200: answers(schema.requestedReset, 'Accepted.'), ...refusals(posting) },
}

export const inspectReset = {
  ...inSignIn,
  operationId: 'inspectPasswordReset',
  summary: 'Describe a password link',
  description: 'Does not use up the link.',
  body: schema.InspectResetBody,
  response: { 200: answers(schema.inspectedReset, 'The address.'), ...refusals([...posting, 'sign_in_failed']) },
}

export const completeReset = {
  ...inSignIn,
  operationId: 'completePasswordReset',
  summary: 'Choose a password with a link',
  description:
    "Uses up the link and ends all of the person's sessions. It does not sign anyone in, and a second factor is still required. For an address without a person, it creates one where `sign_in.sign_up` allows it. A refused password does not use up the link.",
  body: schema.ResetBody,
  response: {
    200: answers(schema.completedReset, 'The password is set.'),
    ...refusals([...posting, 'sign_in_failed', 'sign_in_refused', 'overloaded']),
  },
}

export const changePassword = {
  ...inMe,
  operationId: 'changePassword',
  summary: 'Set or change your password',
  description: 'Ends your other sessions. Needs a sign-in within the last 10 minutes.',
  body: schema.ChangePasswordBody,
  response: {
    200: answers(schema.changedPassword, 'The password is set.'),
    ...refusals([...posting, ...own, 'overloaded']),
  },
}

export const removePassword = {
  ...inMe,
  operationId: 'removePassword',
  summary: 'Remove your password',
  description: 'Ends your other sessions. Needs a sign-in within the last 10 minutes, and another way to sign in.',
  response: {
    200: answers(schema.changedPassword, 'The password is removed.'),
    ...refusals([...always, ...own, 'cross_site_request']),
  },
}
