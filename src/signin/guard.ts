import type { FastifyRequest } from 'fastify'
import type { Server } from '../platform/http/http.ts'
import { Problem } from '../platform/problems.ts'
import type { Session, Sessions } from './sessions.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sent the request, on routes behind `signedIn`. */
    session: Session | undefined
  }
}

/** Runs before the body is read: as `onRequest` of a route. */
export type Guard = (request: FastifyRequest) => Promise<void>

/**
 * Must run once, before the first route that has a guard. A change is looked at again when its body is there, which may
 * take a minute: a session that has ended meanwhile changes nothing.
 */
export function prepareGuards(server: Server, { recognise }: Pick<Sessions, 'recognise'>): void {
  server.decorateRequest('session', undefined)
  server.addHook('preHandler', async (request) => {
    const before = request.session
    if (before === undefined || safe.has(request.method)) return
    request.session = await recognise(request.headers.cookie)
    if (request.session?.id !== before.id) throw notSignedIn()
  })
}

/** What a page of ours sends with everything it asks for: the id of the person for whom it was made. */
const madeFor = 'tollgate-person'

/**
 * Lets only requests with a session pass, and sets it. All tabs of a browser share one cookie: a page that was made for
 * somebody else than who is signed in by now must neither act in their name nor see what is theirs. Throws Problem
 * `not_signed_in`.
 */
export function signedIn({ recognise }: Pick<Sessions, 'recognise'>): Guard {
  return async (request) => {
    const session = await recognise(request.headers.cookie)
    if (session === undefined) throw notSignedIn()
    if ((request.headers[madeFor] ?? session.person.id) !== session.person.id) throw somebodyElse()
    request.session = session
  }
}

/** The session of a request on a route behind `signedIn`. Throws Problem `not_signed_in` on any other. */
export function sessionOf(request: FastifyRequest): Session {
  if (request.session === undefined) throw notSignedIn()
  return request.session
}

function notSignedIn(): Problem {
  return new Problem('not_signed_in', 'Sign in first: nobody is signed in, or the session has ended.')
}

function somebodyElse(): Problem {
  return new Problem('not_signed_in', 'Sign in again: somebody else has signed in in this browser since.')
}

const safe = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Lets a change pass only when the browser says that a page of this service sent it: by Sec-Fetch-Site, by Origin, or
 * both alike. What says neither is no browser's. Throws Problem `cross_site_request`.
 */
export function sameOrigin(baseUrl: string): Guard {
  const own = new URL(baseUrl).origin
  return async ({ method, headers }) => {
    if (safe.has(method)) return
    const { origin, 'sec-fetch-site': site } = headers
    const said = origin !== undefined || site !== undefined
    if (!said || (origin ?? own) !== own || (site ?? 'same-origin') !== 'same-origin') {
      throw new Problem('cross_site_request', 'Changes are taken only from the pages of this service: use those.')
    }
  }
}
