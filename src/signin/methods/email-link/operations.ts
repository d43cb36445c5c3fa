import { Type } from 'typebox'
import { answers, refusals, refusalsOfBody } from '../../../platform/http/openapi.ts'
import type { ProblemCode } from '../../../platform/problems.ts'

/** The OpenAPI operations of sign-in links. */
const always: readonly ProblemCode[] = ['malformed_request', 'internal', 'unavailable']
const signingIn: readonly ProblemCode[] = [
  ...always,
  'sign_in_failed',
  'sign_in_refused',
  'rate_limit_exceeded',
  'not_found',
  'cross_site_request',
  ...refusalsOfBody,
]
const inSignIn = { tags: ['Sign-in'] }

const token = Type.String({ description: 'The token of the link.', maxLength: 100 })
const linkSummary = Type.Object({
  own_browser: Type.Boolean({
    description: 'Whether this browser requested the link. If not, the person must confirm.',
  }),
  address: Type.String({ description: 'The email address that signs in.' }),
  device: Type.String({ description: 'The browser that requested the link.' }),
})
const completedSignIn = Type.Object({ location: Type.String({ description: 'The path to go to.' }) })

export const readLinkPage = {
  ...inSignIn,
  operationId: 'readLinkPage',
  summary: 'The page of a sign-in link',
  description: 'Where a mailed link leads. The token is in the fragment; opening the page does not use it up.',
  response: { 200: answers(Type.Object({}), 'The page.'), ...refusals(always) },
}

export const inspectLink = {
  ...inSignIn,
  operationId: 'inspectLink',
  summary: 'Describe a sign-in link',
  description: 'Does not use up the link.',
  body: Type.Object({ token }, { additionalProperties: false }),
  response: { 200: answers(linkSummary, 'The link.'), ...refusals(signingIn) },
}

export const completeLink = {
  ...inSignIn,
  operationId: 'completeLinkSignIn',
  summary: 'Sign in with a link',
  description: 'Uses up the link. In a browser other than the one that requested it, `confirmed` is required.',
  body: Type.Object(
    {
      token,
      confirmed: Type.Optional(
        Type.Boolean({
          description: 'The person confirms signing in here, in a browser other than the one that requested the link.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  response: { 200: answers(completedSignIn, 'Signed in.'), ...refusals(signingIn) },
}
