import type { FastifyRequest } from 'fastify'
import type { Server } from '../platform/http/server.ts'
import { Problem } from '../platform/problems.ts'
import { hashOf, hasSessionCookie } from './session/cookies.ts'
import { recentRoutes } from './session/recent-routes.ts'
import { isRecent, requireRecent } from './session/recent-sign-in.ts'
import type { Refusals } from './refused-visitors.ts'
import type { Session, Sessions } from './session/sessions.ts'
import { visitorOf } from './visitor/visitor.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The session of the sender, on routes behind `signedIn`. */
    session: Session | undefined
  }
  interface FastifyInstance {
    refusals: Refusals
  }
}

/** An `onRequest` hook of a route: it runs before the body is read. */
export type Guard = (request: FastifyRequest) => Promise<void>

interface GuardNeeds {
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly refusals: Refusals
  /** ms since 1970; default `Date.now`. */
  readonly clock?: () => number
}

/**
 * Must run once, before the first route that has a guard. The session of a change is looked up again once its body has
 * arrived, which may take a minute: a session that has ended in the meantime changes nothing. Where `recentRoutes` says so, it must
 * have a recent sign-in: someone who finds an unattended browser must not be able to make these changes, and a partner sees in the
 * audit log that somebody tried. Throws Problem `not_signed_in`, `recent_sign_in_required`.
 */
export function prepareGuards(server: Server, { sessions, refusals, clock = Date.now }: GuardNeeds): void {
  server.decorateRequest('session', undefined)
  server.decorate('refusals', refusals)
  server.addHook('preHandler', async (request) => {
    const before = request.session
    if (before === undefined) return
    const isSafe = safe.has(request.method)
    if (!isSafe) request.session = await sessions.recognise(request.headers.cookie)
    if (request.session?.id !== before.id) throw notSignedIn()
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const need = recentRoutes[`${method} ${request.routeOptions.url}`] ?? !isSafe
    if (typeof need === 'boolean' ? need : hasAny(request.body, need))
      await admitRecent(request, request.session, clock())
  })
}

const hasAny = (body: unknown, fields: readonly string[]): boolean =>
  typeof body === 'object' && body !== null && fields.some((field) => field in body)

/** Our pages send the id of the person they were rendered for with every request. */
const renderedFor = 'tollgate-person'

/**
 * Requires a session, and sets it on the request. All tabs of a browser share one cookie, so a page that was rendered for
 * another person than the one signed in now neither reads nor changes anything. Throws Problem `not_signed_in`.
 */
export function signedIn({ recognise }: Pick<Sessions, 'recognise'>): Guard {
  return async (request) => {
    const session = await recognise(request.headers.cookie)
    if (session === undefined) return refuse(request)
    if ((request.headers[renderedFor] ?? session.person.id) !== session.person.id) throw otherPerson()
    request.session = session
  }
}

/**
 * The session to which an identity at a provider is to be linked. A page of this service must have sent the person there:
 * otherwise another site could link its own account. Throws Problem `cross_site_request`, `not_signed_in`,
 * `recent_sign_in_required`.
 */
export async function linkingSession(
  request: FastifyRequest,
  { recognise }: Pick<Sessions, 'recognise'>,
): Promise<Session> {
  const { headers } = request
  if (headers['sec-fetch-site'] !== 'same-origin') throw crossSite()
  const session = await recognise(headers.cookie)
  if (session === undefined) throw notSignedIn()
  await admitRecent(request, session, Date.now())
  return session
}

async function admitRecent(request: FastifyRequest, session: Session, now: number): Promise<void> {
  if (!isRecent(session, now)) {
    const { method, routeOptions } = request
    await request.server.refusals.record(visitorOf(request), {
      action: 'session_too_old',
      personId: session.person.id,
      details: { change: `${method} ${routeOptions.url ?? ''}` },
    })
  }
  requireRecent(session, now)
}

/** A cookie without a session is recorded: it may be invented. */
async function refuse(request: FastifyRequest): Promise<never> {
  const { cookie } = request.headers
  if (hasSessionCookie(cookie)) {
    await request.server.refusals.recordCookie(visitorOf(request), hashOf(cookie ?? '').toString('base64'))
  }
  throw notSignedIn()
}

/** Sets the session if there is one: the page for an unknown address shows who is signed in. */
export function recognised({ recognise }: Pick<Sessions, 'recognise'>): Guard {
  return async (request) => {
    request.session = await recognise(request.headers.cookie)
  }
}

/** The session of a request on a route behind `signedIn`. Throws Problem `not_signed_in` on any other. */
export function sessionOf(request: FastifyRequest): Session {
  if (request.session === undefined) throw notSignedIn()
  return request.session
}

function notSignedIn(): Problem {
  return new Problem('not_signed_in', 'Sign in first: you are not signed in, or your session has ended.')
}

function otherPerson(): Problem {
  return new Problem('not_signed_in', 'Sign in again: someone else has since signed in with this browser.')
}

const safe = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Accepts a change only if the browser confirms that a page of this service sent it: by Sec-Fetch-Site, by Origin, or by
 * both. A request with neither is not from a browser. Throws Problem `cross_site_request`.
 */
export function sameOrigin(baseUrl: string): Guard {
  const own = new URL(baseUrl).origin
  return async ({ method, headers }) => {
    if (safe.has(method)) return
    const { origin, 'sec-fetch-site': site } = headers
    const isKnown = origin !== undefined || site !== undefined
    if (!isKnown || (origin ?? own) !== own || (site ?? 'same-origin') !== 'same-origin') {
      throw crossSite()
    }
  }
}

function crossSite(): Problem {
  return new Problem('cross_site_request', 'Changes are accepted only from the pages of this service.')
}
