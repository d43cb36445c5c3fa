import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { MethodNotAllowed, type JsonOnlyUrls } from './route-table.ts'
import { prefersPage } from './input/headers.ts'
import type { Pages } from './pages/pages.ts'
import { internalReason, Problem, problems, type ProblemCode, type ProblemDetails } from '../problems.ts'
import { sendRefusalPage } from './pages/representation.ts'
import { securityHeaders } from './pages/security-headers.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The error code of the response, if it is an error. */
    refusedAs: ProblemCode | undefined
  }
  interface FastifyInstance {
    /** For routes that respond to errors in a format other than ours. */
    answerError: ErrorResponder['respond']
  }
}

/**
 * The maximum number of bytes to read and discard of a refused body. Most clients read the response only after sending
 * the body.
 */
const mostDiscarded = 64 * 1024 * 1024

/** Fastify's error codes that are not internal errors. */
const fastifyCodes: Readonly<Record<string, ProblemCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'request_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_request',
  FST_ERR_BAD_URL: 'not_found',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
}

/** Converts an error body to the format of another API. */
export type ErrorFormat = (error: ProblemBody['error'], status: number) => object

export interface ErrorResponder {
  /** Responds with the error table's entry for a Problem. Any other error is `internal`, and its message stays private. */
  readonly respond: (error: Error, request: FastifyRequest, reply: FastifyReply, format?: ErrorFormat) => void
  /** The same for a URL that Fastify cannot decode. No hook has run. */
  readonly respondToBadUrl: (error: Error, request: FastifyRequest, reply: FastifyReply) => void
}

interface ErrorResponderNeeds {
  readonly log: Logger
  readonly baseUrl: string
  readonly pages?: Pages
  readonly jsonOnlyUrls: JsonOnlyUrls
}

/**
 * Whether the error is that the caller sent only a part of the body. Fastify gives an error of reading the body the status 400;
 * any other may occur while the body still arrives.
 */
const isCutOff = (error: Error, { raw }: FastifyRequest): boolean =>
  error.name === 'AbortError' || (!raw.complete && 'statusCode' in error && error.statusCode === 400)

/** The only code that turns an error into a response. */
export function createErrorResponder(needs: ErrorResponderNeeds): ErrorResponder {
  const { log, baseUrl, pages, jsonOnlyUrls } = needs
  const fixed = securityHeaders(baseUrl)
  const reasons: Partial<Record<ProblemCode, string>> = {
    unsupported_media_type: 'Send the body as JSON, with the header "Content-Type: application/json".',
    malformed_request: 'The body broke off before its end. Send the request again.',
    not_found: 'Nothing exists at this URL. /docs lists the URLs.',
  }

  function problemOf(error: Error, request: FastifyRequest): Problem {
    if (error instanceof Problem) return error
    const code =
      fastifyCodes['code' in error ? String(error.code) : ''] ?? (isCutOff(error, request) && 'malformed_request')
    if (code === 'request_too_large') {
      const { bodyLimit } = request.routeOptions
      const reason = `The body is larger than ${bodyLimit} bytes. Send less at a time.`
      return new Problem(code, reason, { cause: error })
    }
    if (code) return new Problem(code, reasons[code] ?? problems[code].meaning, { cause: error })
    return new Problem('internal', internalReason(request.id), { cause: error })
  }

  function respond(error: Error, request: FastifyRequest, reply: FastifyReply, format?: ErrorFormat): void {
    const problem = problemOf(error, request)
    const { code } = problem
    const { status } = problems[code]
    request.refusedAs = code
    if (status >= 500) logProblem(log, request, problem)
    const isBodyRefused =
      status === 413 ||
      (!request.raw.complete && (code === 'overloaded' || request.routeOptions.config.storesBody === true))
    if (isBodyRefused) discardRest(request)
    // Fastify closes the connection when it refuses a body, possibly before the caller has read the response. That is not
    // necessary: the body has been read to its end, or discardRest reads it.
    if (status === 400 || isBodyRefused) reply.removeHeader('connection')
    reply.code(status).headers(errorHeaders(problem))
    const body = problemBody(baseUrl, problem, request.id)
    if (pages && !jsonOnlyUrls.has(request.url) && prefersPage(request.headers.accept)) {
      return sendRefusalPage(pages, request, reply, { code, status, error: body.error })
    }
    reply.type('application/json; charset=utf-8').send(JSON.stringify(format ? format(body.error, status) : body))
  }

  return {
    respond,
    respondToBadUrl(error, request, reply) {
      request.notes = {}
      setHeaders(request, reply, fixed, jsonOnlyUrls)
      respond(error, request, reply)
    },
  }
}

/** Sets the headers of every response. `fixed` are those that are always the same. */
export function setHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  fixed: Readonly<Record<string, string>>,
  jsonOnlyUrls: JsonOnlyUrls,
): void {
  const noStore = jsonOnlyUrls.forbidsStoring(request.url)
  reply.header('request-id', request.id).headers(fixed)
  if (noStore !== false) reply.header('cache-control', 'no-store')
  if (noStore === undefined) reply.header('vary', 'Accept')
}

export type ProblemBody = ReturnType<typeof problemBody>

/** The body of every error response (section 7 of the specification). */
export function problemBody(baseUrl: string, problem: Problem, requestId: string) {
  const { code, details, message } = problem
  const { field, limit, current } = details
  const docs = `${baseUrl}/docs/errors#${code}`
  return { error: { code, reason: message, field, limit, request_id: requestId, docs }, ...(current && { current }) }
}

function errorHeaders(problem: Problem): Record<string, string> {
  const { status, retry: mayRetry } = problems[problem.code]
  const { retry = mayRetry } = problem.details
  const retryAfter = retryAfterOf(problem.details, status)
  return {
    'x-should-retry': String(retry || retryAfter !== undefined),
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    // RFC 9110 section 15.5.16: the content codings that would have been accepted.
    ...(status === 415 && { 'accept-encoding': 'identity' }),
    ...(problem instanceof MethodNotAllowed && { allow: problem.allow }),
  }
}

/** In seconds. Every 503 has one. */
function retryAfterOf({ retryAfter }: ProblemDetails, status: number): number | undefined {
  return retryAfter ?? (status === 503 ? 1 : undefined)
}

function logProblem(log: Logger, request: FastifyRequest, problem: Problem): void {
  const { cause } = problem.details
  const fields = {
    request_id: request.id,
    code: problem.code,
    ...(cause instanceof Error && { err: cause }),
  }
  if (problem.code === 'internal') log.error(fields, 'internal error')
  else log.warn(fields, problem.message)
}

function discardRest(request: FastifyRequest): void {
  let discarded = 0
  request.raw.on('data', (chunk: Buffer) => {
    discarded += chunk.length
    if (discarded > mostDiscarded) request.raw.destroy()
  })
}
