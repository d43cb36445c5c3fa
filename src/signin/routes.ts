import type { FastifyReply } from 'fastify'
import type { Server } from '../platform/http/http.ts'
import { represent } from '../platform/http/representation.ts'
import { sameOrigin } from './guard.ts'
import { safeReturn } from './return-to.ts'
import type { EndedSession, Sessions } from './sessions.ts'
import type { SignIn } from './signin.ts'
import { visitorOf } from './visitor.ts'

interface RouteNeeds {
  readonly signIn: SignIn
  readonly sessions: Sessions
  readonly baseUrl: string
}

type Query = Readonly<Record<string, unknown>>

/** The way in and the way out: /signin, /auth/start/<provider>, /auth/callback, /signout. */
export function registerSignIn(server: Server, needs: RouteNeeds): void {
  const { signIn, baseUrl } = needs

  server.get<{ Querystring: Query }>('/signin', async (request, reply) => {
    const providers = signIn.methods.map(({ id, name }) => ({ id, name }))
    const asked = request.query['return_to']
    return represent(reply, request, {
      data: { providers, ...(asked !== undefined && { return_to: safeReturn(asked) }) },
    })
  })

  server.get<{ Params: { '*': string }; Querystring: Query }>('/auth/start/*', async (request, reply) => {
    const { '*': provider } = request.params
    const { location, cookie } = await signIn.begin(provider, visitorOf(request), request.query['return_to'])
    return reply.header('set-cookie', cookie).redirect(location.href, 303)
  })

  // A HEAD would use up what the GET after it needs.
  server.get('/auth/callback', { exposeHeadRoute: false }, async (request, reply) => {
    const { search } = new URL(request.url, baseUrl)
    const { returnTo, cookie } = await signIn.complete(new URL(`/auth/callback${search}`, baseUrl), visitorOf(request))
    if (cookie !== undefined) reply.header('set-cookie', cookie)
    return reply.redirect(returnTo, 303)
  })

  server.post('/signout', { onRequest: [sameOrigin(baseUrl)] }, async (request, reply) => {
    const ended = await needs.sessions.endOf(request.headers.cookie, { requestId: request.id, address: request.ip })
    return signedOut(reply, needs.sessions).send({ location: leavingAddress(signIn, ended) })
  })
}

/** Takes the cookie away, and what the browser has kept of pages. Not `"cookies"`: that is the whole domain's. */
export function signedOut(reply: FastifyReply, { noCookie }: Pick<Sessions, 'noCookie'>): FastifyReply {
  return reply.header('set-cookie', noCookie).header('clear-site-data', '"cache", "storage"')
}

/**
 * Where the browser goes after signing out here: to the provider, to sign out there too (OpenID Connect RP-Initiated
 * Logout 1.0), if it has a place for that and was ever reached.
 */
function leavingAddress({ methods }: SignIn, ended: readonly EndedSession[]): string {
  const method = methods.find(({ id }) => ended.some(({ provider }) => provider === id))
  return method?.signOutAddress()?.href ?? '/signin'
}
