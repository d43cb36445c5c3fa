import type { FastifyReply, FastifyRequest } from 'fastify'
import { prefersPage } from './accept.ts'
import type { Pages } from './pages.ts'
import type { ProblemCode } from '../problems.ts'

/** What a handler of the portal answers. */
export interface Representation {
  /** 200 unless told. */
  readonly status?: number
  readonly data: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Everything that is not the portal's: the generation API, its documentation, operations, the files of the pages. */
const elsewhere = /^\/(?:v1|docs|assets|healthz|readyz|metrics|openapi\.json)(?:[/?#]|$)/

/** Whether an address is the portal's, and so has two representations, also where nothing is at it. */
export function isPortal(url: string): boolean {
  return !elsewhere.test(url)
}

/**
 * Answers one request in the representation that it asks for, with one status (1-decisions, section 4.2): the page for
 * a browser that goes to the address, JSON for everybody else.
 */
export function represent(reply: FastifyReply, request: FastifyRequest, answer: Representation): FastifyReply {
  const { status = 200, data, headers = {} } = answer
  const { pages } = request.server
  if (pages === undefined || !prefersPage(request.headers.accept)) return reply.code(status).headers(headers).send(data)
  const { etag, ...others } = headers
  // An entity tag is of one representation, and changes are made on the other one.
  return pages.send(request, reply.headers(others), { status, data, ...(etag !== undefined && { etag }) })
}

/** Whether a request is for a page of the portal. */
export function wantsPage({ url, headers }: FastifyRequest): boolean {
  return isPortal(url) && prefersPage(headers.accept)
}

/** What there is to know of a refusal, to answer it as a page. */
export interface Refusal {
  readonly code: ProblemCode
  readonly status: number
  /** The body that the refusal has as JSON. */
  readonly body: { readonly error: object }
}

/**
 * Answers a refusal as a page, where the request is for one: who is not signed in is sent to sign in and comes back
 * from there. Returns whether it did.
 */
export function representRefusal(
  pages: Pages | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
  { code, status, body }: Refusal,
): boolean {
  if (!pages || !wantsPage(request)) return false
  if (code === 'not_signed_in' && (request.method === 'GET' || request.method === 'HEAD')) {
    reply.removeHeader('www-authenticate')
    reply.redirect(`/signin?return_to=${encodeURIComponent(request.url)}`, 303)
    return true
  }
  pages.send(request, reply, { status, error: body.error })
  return true
}
