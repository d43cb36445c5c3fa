import type { FastifyReply, FastifyRequest } from 'fastify'
import { prefersPage } from '../input/headers.ts'
import type { Pages, Shell } from './pages.ts'
import type { ProblemCode } from '../../problems.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Undefined: the server responds in JSON only. */
    pages: Pages | undefined
  }
}

/** The response of a portal handler, in either representation. */
export interface Representation {
  /** Default 200. */
  readonly status?: number
  readonly data: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** The scripts that render the page. Default: the portal's. */
  readonly shell?: Shell
}

/** Responds with a page if the request prefers one, otherwise with JSON. Both have the same status. */
export function represent(
  reply: FastifyReply,
  request: FastifyRequest,
  { status = 200, data, headers = {}, shell }: Representation,
): FastifyReply {
  const { pages } = request.server
  if (pages === undefined || !prefersPage(request.headers.accept)) return reply.code(status).headers(headers).send(data)
  const { etag, ...others } = headers
  // An entity tag belongs to one representation. Changes are based on the JSON, so the page carries its tag as content.
  return pages.send(request, reply.headers(others), { status, data, shell, ...(etag !== undefined && { etag }) })
}

/** A refusal to represent as a page. */
export interface RefusalPage {
  readonly code: ProblemCode
  readonly status: number
  readonly error: object
}

/** Responds to a refused request with a page. A visitor who is not signed in is redirected to the sign-in page. */
export function sendRefusalPage(
  pages: Pages,
  request: FastifyRequest,
  reply: FastifyReply,
  { code, status, error }: RefusalPage,
): void {
  if (code === 'not_signed_in' && (request.method === 'GET' || request.method === 'HEAD')) {
    reply.removeHeader('www-authenticate').redirect(pages.signInUrl(request.url), 303)
  } else {
    pages.send(request, reply, { status, error })
  }
}
