import { randomUUIDv7 } from 'node:crypto'
import type { Server as HttpServer } from 'node:http'
import fastify, { type FastifyHttpOptions, type FastifyReply, type FastifyRequest } from 'fastify'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { Logger } from 'pino'
import type { TObject } from 'typebox'
import { parseJson } from './input/body.ts'
import { refuseConnect, respondToClientError } from './connection/client-errors.ts'
import { findFramingProblem, plainForwardedFor, prefersPage } from './input/headers.ts'
import { createErrorResponder, setHeaders, type ErrorFormat, type ErrorResponder } from './errors.ts'
import { allowHalfClose } from './connection/half-close.ts'
import { createLongBodies } from './input/long-bodies.ts'
import type { Pages } from './pages/pages.ts'
import { createJsonOnlyUrls, createRouteTable } from './route-table.ts'
import { securityHeaders } from './pages/security-headers.ts'
import type { Server } from './server.ts'
import { closeTimeout, createTraffic, stopping, type TrafficNeeds } from './connection/traffic.ts'
import { compileBody } from './input/validation.ts'
import { Problem } from '../problems.ts'

export interface ServerNeeds extends TrafficNeeds {
  /** The largest body of a request, unless its route has a limit of its own. */
  readonly requestBytes: number
  /** The most bytes of images and documents beside it, on routes that accept them. Default 0. */
  readonly fileBytes?: number
  /** Addresses or ranges of proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies?: readonly string[]
  /** The format and the headers of an error of a request that no route serves. Default: Tollgate's own. */
  readonly errorFormatOf?: (request: FastifyRequest) => UnknownUrlFormat | undefined
  /** The alternative to a URL that no route serves: a sentence for the error. */
  readonly hintForUrl?: (url: string) => string | undefined
  /** The pages for browsers. Default: JSON only. */
  readonly pages?: Pages
  /** Runs before a page reports that its URL does not exist. */
  readonly beforeNotFound?: (request: FastifyRequest) => Promise<void>
  readonly timeouts?: Partial<typeof timeouts>
}

interface UnknownUrlFormat {
  readonly errorBody: ErrorFormat
  headers?(requestId: string): Record<string, string>
}

/**
 * In milliseconds: for receiving the headers and the whole request, and for an idle connection. A response has no time
 * limit, because a generation may take long.
 */
const timeouts = { headers: 10_000, request: 60_000, keepAlive: 72_000, checkEvery: 5000 }

/** How many bodies of the largest size are handled at a time, or more shorter ones. */
const mostLargest = 16

/**
 * Creates the HTTP server. It assigns request ids, enforces limits on size and time, validates bodies against TypeBox
 * schemas, formats every error in one way, and logs one line per request. Closing it drains: requests in flight finish,
 * new ones get 503 `unavailable`, then the listener closes.
 */
export function createServer(needs: ServerNeeds): Server {
  const jsonOnlyUrls = createJsonOnlyUrls()
  const errors = createErrorResponder({ ...needs, jsonOnlyUrls })
  const server = fastify(optionsOf(needs, errors)).withTypeProvider<TypeBoxTypeProvider>()
  server.decorateRequest('bodyHash', undefined)
  server.decorateRequest('bodyBytes', 0)
  server.decorateRequest('notes')
  server.decorateRequest('startedAt', 0)
  server.decorateRequest('refusedAs', undefined)
  server.decorate('answerError', errors.respond)
  server.decorate('jsonOnlyUrls', jsonOnlyUrls)
  server.decorate('pages', needs.pages)
  server.setValidatorCompiler<TObject>(({ schema }) => toFastify(compileBody(schema)))
  server.setSerializerCompiler(() => JSON.stringify)
  server.removeAllContentTypeParsers()
  server.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, parseJson)
  server.setErrorHandler((error: Error, request, reply) => {
    const format = needs.errorFormatOf?.(request)
    reply.headers(format?.headers?.(request.id) ?? {})
    errors.respond(error, request, reply, format?.errorBody)
  })
  // Without a listener, Node responds to an unknown expectation without our headers. RFC 9110 section 10.1.1 allows us to
  // ignore it.
  server.server.on('checkExpectation', (request, response) => server.server.emit('request', request, response))
  server.server.on('connect', (_request, socket) => refuseConnect(needs.baseUrl, socket))
  allowHalfClose(server.server)
  addRequestHooks(server, needs)
  return server
}

function addRequestHooks(server: Server, needs: ServerNeeds): void {
  const { pages, beforeNotFound } = needs
  const routes = createRouteTable()
  const traffic = createTraffic(needs, server.server)
  const fixed = securityHeaders(needs.baseUrl)
  const bodies = createLongBodies(mostLargest * (needs.requestBytes + (needs.fileBytes ?? 0)))
  server.decorate('requestsInFlight', () => traffic.inFlight)
  server.decorate('heldBy', (reply: FastifyReply) => bodies.held(reply.raw))
  server.decorate('closeAfter', (work: Promise<unknown>) => traffic.closeAfter(work))
  server.addHook('onRoute', (route) => routes.add(route))
  server.setNotFoundHandler(({ method, url }) => {
    throw routes.problemFor(method, url, needs.hintForUrl?.(url))
  })
  server.addHook('onRequest', (request, reply, done) => {
    const { headers } = request.raw
    const hops = headers['x-forwarded-for']
    if (needs.trustedProxies?.length && typeof hops === 'string') headers['x-forwarded-for'] = plainForwardedFor(hops)
    traffic.begin(request, reply)
    setHeaders(request, reply, fixed, server.jsonOnlyUrls)
    if (request.is404) {
      const refuse = () => done(routes.problemFor(request.method, request.url, needs.hintForUrl?.(request.url)))
      const isPage = pages && !server.jsonOnlyUrls.has(request.url) && prefersPage(request.headers.accept)
      return beforeNotFound && isPage ? void beforeNotFound(request).then(refuse, refuse) : refuse()
    }
    if (traffic.draining && request.routeOptions.config.whileDraining !== true) {
      return traffic.discard(request.raw, () => done(stopping()))
    }
    done(findFramingProblem(request.raw))
  })
  server.addHook('preParsing', (request, reply, _payload, done) =>
    done(
      null,
      bodies.bound(request.raw, reply.raw, () => request.routeOptions.config.storesBody === true),
    ),
  )
  server.addHook('preClose', () => traffic.drain())
}

function optionsOf(needs: ServerNeeds, errors: ErrorResponder): FastifyHttpOptions<HttpServer, Logger> {
  const times = { ...timeouts, ...needs.timeouts }
  return {
    loggerInstance: needs.log,
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } },
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
    // A malformed id is looked up like any other: otherwise its format would show before authentication.
    routerOptions: { maxParamLength: longestUrl },
    rewriteUrl: ({ url = '/' }) => decodable(url),
    return503OnClosing: false,
    // Also the time limit of the hooks that run when the server closes.
    pluginTimeout: closeTimeout(needs),
    frameworkErrors: errors.respondToBadUrl,
    clientErrorHandler: (error, socket) => void respondToClientError(needs.baseUrl, error, socket),
  }
}

/** Keeps Fastify from loading its own compilers (3 MB) before createServer sets ours. */
function unused(): never {
  throw new Error('createServer sets the compilers')
}

/** Node's limit for the URL and all headers together. */
const longestUrl = 16_384

/** Escapes the percent signs of a URL that does not decode. */
function decodable(url: string): string {
  if (!url.includes('%')) return url
  try {
    decodeURIComponent(url)
    return url
  } catch {
    return url.replaceAll('%', '%25')
  }
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
