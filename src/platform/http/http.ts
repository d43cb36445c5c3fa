import { randomUUIDv7 } from 'node:crypto'
import type { Server as HttpServer } from 'node:http'
import fastify, { type FastifyHttpOptions, type FastifyReply, type FastifyRequest } from 'fastify'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { Logger } from 'pino'
import type { TObject } from 'typebox'
import { parseJson } from './body.ts'
import { answerClientError, answerConnect } from './client-errors.ts'
import { createErrorAnswers, setHeaders, type ErrorAnswers, type RefusalShape } from './errors.ts'
import { framingFault } from './framing.ts'
import { allowHalfClose } from './half-close.ts'
import { createAddresses } from './addresses.ts'
import { closeTimeout, createTraffic, type TrafficNeeds } from './traffic.ts'
import type { Pages } from './pages.ts'
import { Problem, type ProblemCode } from '../problems.ts'
import { wantsPage } from './representation.ts'
import { securityHeaders } from './security-headers.ts'
import { compileBody } from './validation.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the request's line in the log says besides address, status and time. Ids and numbers only, never a text. */
    notes: Record<string, string | number | undefined>
    /** Why the request was refused. */
    refusedAs: ProblemCode | undefined
    /** SHA-256 of address and body, for requests with an Idempotency-Key. */
    bodyHash: string | undefined
  }
  interface FastifyInstance {
    requestsInFlight: () => number
    /** Makes a server that closes wait for work that may outlive its request, as long as for a request. */
    closeAfter: (work: Promise<unknown>) => void
    /** For routes that answer their refusals in another shape. */
    answerError: ErrorAnswers['answer']
    /** Of the portal; a server without them answers in JSON alone. */
    pages: Pages | undefined
  }
  interface FastifyContextConfig {
    /** Whether the address answers while the server drains. */
    whileDraining?: boolean
  }
}

export interface ServerNeeds extends TrafficNeeds {
  /** The largest body of a request. */
  readonly requestBytes: number
  /** The address people use; links to the documentation start with it. */
  readonly baseUrl: string
  /** Addresses or ranges of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies?: readonly string[]
  /** The error format of a request that no route serves; default: Tollgate's own. */
  readonly errorBodyOf?: (request: FastifyRequest) => RefusalShape | undefined
  /** The pages of the portal, for browsers. */
  readonly pages?: Pages
  /** Runs before a page of the portal says that an address does not exist. */
  readonly beforeNotFound?: (request: FastifyRequest) => Promise<void>
  /** ms that callers get. */
  readonly timeouts?: Partial<typeof timeouts>
}

/**
 * Milliseconds that callers get to send their headers and their whole request, and that an idle connection stays open. A
 * generation may take long, so no limit is put on the time that an answer takes.
 */
const timeouts = { headers: 10_000, request: 60_000, keepAlive: 72_000, checkEvery: 5000 }

export type Server = ReturnType<typeof createServer>

/**
 * The HTTP server: request ids, limits on size and time, one shape for every error, one line in the log for every
 * request. Routes check their bodies by TypeBox schemas. Closing it drains: requests in flight finish, new ones get 503
 * `unavailable`, then the listener goes.
 */
export function createServer(needs: ServerNeeds) {
  const answers = createErrorAnswers(needs)
  const server = fastify(optionsOf(needs, answers)).withTypeProvider<TypeBoxTypeProvider>()
  server.decorateRequest('bodyHash', undefined)
  server.decorateRequest('notes')
  server.decorateRequest('refusedAs', undefined)
  server.setValidatorCompiler<TObject>(({ schema }) => toFastify(compileBody(schema)))
  server.setSerializerCompiler(() => JSON.stringify)
  server.removeAllContentTypeParsers()
  server.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, parseJson)
  server.setErrorHandler((error: Error, request, reply) =>
    answers.answer(error, request, reply, needs.errorBodyOf?.(request)),
  )
  server.decorate('answerError', answers.answer)
  // Node would answer an unknown expectation by itself, without our headers. RFC 9110 section 10.1.1 lets us ignore it.
  server.server.on('checkExpectation', (request, response) => server.server.emit('request', request, response))

  allowHalfClose(server.server)
  server.server.on('connect', (_request, socket) => answerConnect(needs.baseUrl, socket))

  const addresses = createAddresses()
  server.addHook('onRoute', (route) => addresses.note(route))
  server.setNotFoundHandler(({ method, url }) => {
    throw addresses.refusal(method, url)
  })
  const traffic = createTraffic(needs, server.server)
  const fixed = securityHeaders(needs.baseUrl)
  server.decorate('requestsInFlight', () => traffic.inFlight)
  server.decorate('closeAfter', (work: Promise<unknown>) => traffic.closeAfter(work))
  server.decorate('pages', needs.pages)
  server.addHook('onRequest', (request, reply, done) => {
    traffic.begin(request, reply)
    setHeaders(request, reply, fixed)
    if (request.is404) {
      const refuse = () => done(addresses.refusal(request.method, request.url))
      return needs.beforeNotFound && wantsPage(request)
        ? void needs.beforeNotFound(request).then(refuse, refuse)
        : refuse()
    }
    if (traffic.draining && request.routeOptions.config.whileDraining !== true) {
      return traffic.discard(request.raw, () => done(stopping()))
    }
    done(framingFault(request.raw))
  })
  server.addHook('preClose', () => traffic.drain())
  return server
}

function optionsOf(needs: ServerNeeds, answers: ErrorAnswers): FastifyHttpOptions<HttpServer, Logger> {
  const times = { ...timeouts, ...needs.timeouts }
  return {
    loggerInstance: needs.log,
    schemaController: { compilersFactory: { buildValidator: replaced, buildSerializer: replaced } },
    logController: new fastify.LogController({ disableRequestLogging: true }),
    childLoggerFactory: (log) => log,
    genReqId: () => randomUUIDv7(),
    bodyLimit: needs.requestBytes,
    trustProxy: needs.trustedProxies?.length ? [...needs.trustedProxies] : false,
    requestTimeout: times.request,
    keepAliveTimeout: times.keepAlive,
    http: {
      headersTimeout: times.headers,
      connectionsCheckingInterval: times.checkEvery,
      requireHostHeader: false,
    },
    // An id in an address is looked up whatever it looks like: that it is none must not show before who asks is known.
    routerOptions: { maxParamLength: mostAddress },
    rewriteUrl: ({ url = '/' }) => decodable(url),
    return503OnClosing: false,
    // It also bounds the hooks that run when the server closes.
    pluginTimeout: closeTimeout(needs),
    frameworkErrors: answers.refuseAddress,
    clientErrorHandler: (error, socket) => answerClientError(needs.baseUrl, error, socket),
  }
}

/** In the place of Fastify's own compilers, 3 MB, which it would load before it is told of ours. */
function replaced(): never {
  throw new Error('createServer sets the compilers')
}

/** Node takes no longer one, with all headers. */
const mostAddress = 16_384

/** An address whose percent signs do not decode, with percent signs that stand for themselves. */
function decodable(url: string): string {
  if (!url.includes('%')) return url
  try {
    decodeURIComponent(url)
    return url
  } catch {
    return url.replaceAll('%', '%25')
  }
}

/** A signal that aborts when the caller goes away before the answer is out; it has aborted where the caller is gone already. */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  if (reply.raw.destroyed) controller.abort()
  reply.raw.on('close', () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  return controller.signal
}

function toFastify(check: (body: unknown) => unknown): (body: unknown) => { value: unknown } | { error: Error } {
  return (body) => {
    try {
      return { value: check(body) }
    } catch (error) {
      if (error instanceof Problem) return { error }
      throw error
    }
  }
}

function stopping(): Problem {
  return new Problem('unavailable', 'This server is stopping. Send the request again.', { retryAfter: 1 })
}
