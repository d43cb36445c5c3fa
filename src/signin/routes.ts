import * as operations from './operations.ts'
import type { FastifyRequest } from 'fastify'
import type { Type } from 'typebox'
import type { Server } from '../platform/http/server.ts'
import { shortBody } from '../platform/http/input/long-bodies.ts'
import { represent } from '../platform/http/pages/representation.ts'
import { linkingSession, recognised, sameOrigin } from './guard.ts'
import { safeReturn } from './attempt/return-to.ts'
import { registerFactors, registerInvitation } from './attempt/routes.ts'
import type { BeginCredentialBody, SignInPage } from './schema.ts'
import { signedOut, withSession } from './session/reply.ts'
import type { Sessions } from './session/sessions.ts'
import type { SignIn } from './signin.ts'
import { visitorOf } from './visitor/visitor.ts'
import type { ExampleValues } from '../platform/http/examples.ts'

interface RouteNeeds {
  readonly signIn: SignIn
  readonly sessions: Pick<Sessions, 'noCookie' | 'recognise'>
  readonly baseUrl: string
}

type Query = Readonly<Record<string, unknown>>

/** The sign-in page, which redirects to `returnTo` afterwards. */
export function signInUrl(returnTo: string): string {
  return `/signin?return_to=${encodeURIComponent(returnTo)}`
}

/** Signing in and out: /signin, /auth/… and /signout. */
export function registerSignIn(server: Server, needs: RouteNeeds): void {
  const { signIn, sessions, baseUrl } = needs

  // Anyone may send to these.
  server.addHook('onRoute', (route) => {
    if (/^\/(?:auth\/|signout$)/.test(route.url)) route.bodyLimit ??= shortBody
  })

  // The page says who is signed in.
  const reading = { onRequest: [recognised(sessions)], schema: operations.readSignIn }
  server.get<{ Querystring: Query }>('/signin', reading, async (request, reply) => {
    const returnTo = request.query['return_to']
    return represent(reply, request, {
      shell: 'sign-in',
      data: {
        ...(await presentMethods(signIn, request)),
        ...(returnTo !== undefined && { return_to: safeReturn(returnTo) }),
      },
    })
  })

  server.post('/signout', { onRequest: [sameOrigin(baseUrl)], schema: operations.signOut }, async (request, reply) => {
    const location = await signIn.signOut(visitorOf(request))
    return signedOut(reply, sessions).send({ location })
  })

  registerRedirects(server, needs)
  registerCredentials(server, needs)
  registerInvitation(server, needs)
  registerFactors(server, needs)
}

/** The buttons of the sign-in page. The other kinds are listed only where there are any. */
async function presentMethods(signIn: SignIn, request: FastifyRequest): Promise<SignInPage> {
  const ofKind = (kind: 'redirect' | 'credential') =>
    signIn.methods.filter((method) => method.kind === kind).map(present)
  const credentials = ofKind('credential')
  const pending = await signIn.pendingFactors({ cookies: request.headers.cookie })
  return {
    providers: ofKind('redirect'),
    ...(credentials.length > 0 && { credentials }),
    ...(pending && pending.due.length > 0 && { second_factors: pending.due.map(present) }),
    ...(pending && pending.enrol.length > 0 && { enrol: pending.enrol.map(present) }),
  }
}

const present = ({ id, name }: { readonly id: string; readonly name: string }) => ({ id, name })

function registerRedirects(server: Server, { signIn, sessions, baseUrl }: RouteNeeds): void {
  server.get<{ Params: { '*': string }; Querystring: Query }>(
    '/auth/start/*',
    { schema: operations.startRedirect },
    async (request, reply) => {
      const { return_to: returnTo, again, link } = request.query
      const linksTo = link === '1' ? (await linkingSession(request, sessions)).person.id : undefined
      const asked = { returnTo, again: again === '1', ...(linksTo !== undefined && { linksTo }) }
      const { location, cookie } = await signIn.begin(request.params['*'], visitorOf(request), asked)
      return reply.header('set-cookie', cookie).redirect(location.href, 303)
    },
  )

  // A HEAD request would use up the attempt that the GET request needs.
  server.get('/auth/callback', { exposeHeadRoute: false, schema: operations.readCallback }, async (request, reply) => {
    const { search } = new URL(request.url, baseUrl)
    const admission = await signIn.complete(new URL(`/auth/callback${search}`, baseUrl), visitorOf(request))
    return withSession(reply, admission).redirect(admission.returnTo, 303)
  })
}

function registerCredentials(server: Server, { signIn, baseUrl }: RouteNeeds): void {
  const onRequest = [sameOrigin(baseUrl)]

  server.post<{ Params: { '*': string }; Body: Type.Static<typeof BeginCredentialBody> }>(
    '/auth/start/*',
    { onRequest, schema: operations.startCredential },
    async (request, reply) => {
      const { input, return_to: returnTo } = request.body
      const begun = await signIn.beginCredential(request.params['*'], visitorOf(request), { input, returnTo })
      const { attempt, challenge, cookie } = begun
      return reply.header('set-cookie', cookie).send({ attempt, challenge })
    },
  )

  server.post('/auth/complete', { onRequest, schema: operations.completeCredential }, async (request, reply) => {
    const { attempt, input } = request.body
    const admission = await signIn.completeCredential(attempt, visitorOf(request), input)
    return withSession(reply, admission).send({ location: admission.returnTo })
  })
}

const attempt = 'TqC4mZ8sN1yVbR7kE2wXhA'
const codes = ['7KQ2-M9XD', 'T4WN-6RHB']
const address = 'ruth@example.com'
const password = 'a long phrase that nobody guesses'

/** Requests and responses of a person in the demo's fictional firm, for the documentation. */
export const signInExamples = {
  'Sign-in': {
    '*': 'email_link',
    'startSignIn.*': 'demo',
    'providerLogout.*': 'demo',
    providers: [{ id: 'demo', name: 'Penhallow Advisory' }],
    credentials: [{ id: 'email_link', name: 'Email' }],
    second_factors: [],
    enrol: [],
    return_to: '/clients',
    location: '/clients',
    'inspectInvitation.response.password': { minimum_length: 15, only_way: true },
    attempt,
    token: 'Q2hhbmdlIG1lIGJlZm9yZSB1c2U',
    input: { code: '123456' },
    'startCredentialSignIn.request': { return_to: '/clients', input: { email: address } },
    'startEnrolment.request': { factor: 'totp' },
    'startCredentialSignIn.response.challenge': {},
    challenge: { digits: 6 },
    factor: 'totp',
    recovery_codes: codes,
    address,
    email: address,
    name: 'Ruth Penhallow',
    device: 'Firefox on Windows',
    password,
  },
  Account: {
    id: '0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11',
    'startOwnFactor.id': 'totp',
    'completeOwnFactor.id': 'totp',
    'createOwnCalendar.response.address':
      'https://tollgate.example.com/calendar/0199c3aa-0f6e-7a52-8d91-4be7c2f01d35/bm8gb25lIGNhbiBndWVzcyB3aGF0IHN0YW5kcyBoZXJl.ics',
    'removeOwnFactor.id': 'totp',
    'person.name': 'Ruth Penhallow',
    'person.email': address,
    method: 'email_link',
    method_name: 'Email',
    'sessions.factors': ['totp'],
    'sign_ins.current': true,
    device: 'Firefox on Windows',
    address: '192.0.2.0',
    methods: [{ id: 'email_link', name: 'Email' }],
    factors: [{ id: 'totp', name: 'Authenticator app', set_up: true }],
    name: 'Work laptop',
    'identities.name': 'Penhallow Advisory',
    issuer: 'https://login.example.com',
    subject: '5f1c2d',
    unlinked: [],
    'startOwnFactor.request': {},
    'completeOwnFactor.request': { input: { code: '123456' } },
    challenge: {
      secret: 'JBSWY3DPEHPK3PXP',
      uri: 'otpauth://totp/Tollgate:ruth%40example.com?secret=JBSWY3DPEHPK3PXP',
    },
    recovery_codes: codes,
    current: true,
    'changePassword.request': { current: 'the phrase before', password },
  },
} satisfies ExampleValues
