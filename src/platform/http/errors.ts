import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ServerNeeds } from './http.ts'
import { MethodNotAllowed } from './addresses.ts'
import { Problem, problems, type ProblemCode, type ProblemDetails } from '../problems.ts'
import { describeError } from '../log-error.ts'
import { isPortal, representRefusal } from './representation.ts'
import { securityHeaders } from './security-headers.ts'

/** Bytes of a refused body that are read and thrown away, so that its sender gets to read the refusal. */
const mostDiscarded = 32 * 1024 * 1024

/** What Fastify calls it → what we call it. */
const known: Readonly<Record<string, ProblemCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'request_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_request',
  FST_ERR_BAD_URL: 'not_found',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
}

/** The body of a refusal in another shape than ours. */
export type RefusalShape = (refusal: RefusalBody['error'], status: number) => object

export interface ErrorAnswers {
  /**
   * Answers with what the error table says of an error, in the shape that is asked for; of one that is no Problem, nothing
   * gets out.
   */
  readonly answer: (error: Error, request: FastifyRequest, reply: FastifyReply, shape?: RefusalShape) => void
  /** The same for an address that Fastify could not even make out; no hook has run. */
  readonly refuseAddress: (error: Error, request: FastifyRequest, reply: FastifyReply) => void
}

/** The one place where an error becomes an answer. */
export function createErrorAnswers({ log, baseUrl, requestBytes, pages }: ServerNeeds): ErrorAnswers {
  const fixed = securityHeaders(baseUrl)
  const reasons: Partial<Record<ProblemCode, string>> = {
    request_too_large: `The body is larger than ${requestBytes} bytes. Send less at a time.`,
    unsupported_media_type: 'Send the body as JSON, with the header "Content-Type: application/json".',
    malformed_request: 'The body broke off before its end. Send the request again.',
    not_found: 'Nothing is at this address. The addresses are listed at /docs.',
  }

  function problemOf(error: Error, request: FastifyRequest): Problem {
    if (error instanceof Problem) return error
    const brokeOff = error.name === 'AbortError' || !request.raw.complete
    const code = known['code' in error ? String(error.code) : ''] ?? (brokeOff ? 'malformed_request' : undefined)
    if (code !== undefined) return new Problem(code, reasons[code] ?? problems[code].meaning, { cause: error })
    return new Problem('internal', `Internal error. Quote the request id ${request.id} to support.`, {
      cause: error,
    })
  }

  function answer(error: Error, request: FastifyRequest, reply: FastifyReply, shape?: RefusalShape): void {
    const problem = problemOf(error, request)
    const { status } = problems[problem.code]
    request.refusedAs = problem.code
    if (status >= 500) logFault(log, request, problem)
    if (problem.code === 'request_too_large') discardRest(request)
    // Fastify closes the connection when a body is refused, and its sender may then never read why. The body has been
    // read to its end here, or will be.
    if (status === 400 || status === 413) reply.removeHeader('connection')
    reply.code(status).headers(errorHeaders(problem))
    const body = refusalOf(baseUrl, problem, request.id)
    if (representRefusal(pages, request, reply, { code: problem.code, status, body })) return
    reply.type('application/json; charset=utf-8').send(JSON.stringify(shape ? shape(body.error, status) : body))
  }

  return {
    answer,
    refuseAddress(error, request, reply) {
      request.notes = {}
      setHeaders(request, reply, fixed)
      answer(error, request, reply)
    },
  }
}

/** Sets what every answer carries, `fixed` on all of them alike. Nothing of a person or an account is kept anywhere. */
export function setHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  fixed: Readonly<Record<string, string>>,
): void {
  reply.header('request-id', request.id).headers(fixed)
  if (isPortal(request.url)) reply.header('cache-control', 'no-store').header('vary', 'Accept')
  else if (request.url.startsWith('/v1/')) reply.header('cache-control', 'no-store')
}

export type RefusalBody = ReturnType<typeof refusalOf>

/** The body of every refusal (section 7 of the specification). */
export function refusalOf(baseUrl: string, problem: Problem, requestId: string) {
  const { code, details, message } = problem
  const { field, limit, current } = details
  const docs = `${baseUrl}/docs/errors#${code}`
  return { error: { code, reason: message, field, limit, request_id: requestId, docs }, ...(current && { current }) }
}

function errorHeaders(problem: Problem): Record<string, string> {
  const { status, retry } = problems[problem.code]
  const wait = waitOf(problem.details, status)
  return {
    'x-should-retry': String(retry || wait !== undefined),
    ...(wait !== undefined && { 'retry-after': String(wait) }),
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    // RFC 9110 section 15.5.16: what would have been taken.
    ...(status === 415 && { 'accept-encoding': 'identity' }),
    ...(problem instanceof MethodNotAllowed && { allow: problem.allow }),
  }
}

/** A 503 always says when to come back. */
function waitOf({ retryAfter }: ProblemDetails, status: number): number | undefined {
  return retryAfter ?? (status === 503 ? 1 : undefined)
}

function logFault(log: ServerNeeds['log'], request: FastifyRequest, problem: Problem): void {
  const { cause } = problem.details
  const fault = {
    request_id: request.id,
    code: problem.code,
    ...(cause instanceof Error && { err: describeError(cause) }),
  }
  if (problem.code === 'internal') log.error(fault, 'internal error')
  else log.warn(fault, problem.message)
}

function discardRest(request: FastifyRequest): void {
  let discarded = 0
  request.raw.on('data', (chunk: Buffer) => {
    discarded += chunk.length
    if (discarded > mostDiscarded) request.raw.destroy()
  })
}
