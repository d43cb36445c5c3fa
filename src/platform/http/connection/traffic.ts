import type { IncomingMessage, Server as HttpServer } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { refuseUnanswered } from './client-errors.ts'
import { logRequest, type RequestEnd } from '../log.ts'
import { allRead, closeIfStillIdle, responseOn } from './socket.ts'
import { Problem } from '../../problems.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** A time of `performance.now()`. */
    startedAt: number
  }
  interface FastifyInstance {
    requestsInFlight: () => number
    /** Makes a closing server wait for work that may outlive its request. The drain time still applies. */
    closeAfter: (work: Promise<unknown>) => void
  }
  interface FastifyContextConfig {
    /** Whether the route still serves requests while the server drains. */
    whileDraining?: boolean
    /** Whether programs request it all the time: its requests are logged only when the status changes. */
    routine?: boolean
  }
}

export interface TrafficNeeds {
  /** Resolves when the connections that another process has accepted for this one have arrived. */
  readonly handedOver?: () => Promise<void>
  readonly log: Logger
  /** The public URL; links to the documentation start with it. */
  readonly baseUrl: string
  /** Called after each request. */
  readonly onEnd?: (end: RequestEnd) => void
  /** How long a closing server waits for requests in flight, in ms. Default 30 000. */
  readonly drainTime?: number
  /** How long a closing server keeps idle connections open for requests already in transit, in ms. Default 1000. */
  readonly idleGrace?: number
}

const defaults = { drainTime: 30_000, idleGrace: 1000 }

/** How often a closing server checks its connections, in ms. */
const checkEvery = 10

/** The most turns of the event loop in which a closing server accepts connections. Node accepts one in each turn. */
const mostTurns = 4096

/** The time limit for the hooks of a closing server, in ms. */
export function closeTimeout({ drainTime = defaults.drainTime }: TrafficNeeds): number {
  return drainTime + 10_000
}

/** Tracks the requests in flight, logs each one when it ends, except routine ones without news, and drains a closing server. */
export function createTraffic(needs: TrafficNeeds, server: HttpServer) {
  const { drainTime, idleGrace } = { ...defaults, ...definedOf(needs) }
  // Only a count. A Set of responses that grows and shrinks all the time costs a quarter of a request's processor time: its
  // outgrown tables keep the responses that they list alive until the next full garbage collection.
  let inFlight = 0
  const sockets = new Set<Socket>()
  let accepted = 0
  let working = 0
  let draining = false
  server.on('connection', (socket) => {
    accepted++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('timeout', (socket: Socket) => void closeIfStillIdle(socket))
  /** The status that each routine route returned last. */
  const statuses = new Map<string, number>()

  function isNews({ config }: FastifyRequest['routeOptions'], route: string, status: number): boolean {
    const last = statuses.get(route) ?? 200
    if (config.routine === true) statuses.set(route, status)
    return config.routine !== true || status !== last
  }

  function end(request: FastifyRequest, reply: FastifyReply): void {
    inFlight--
    const status = reply.raw.writableFinished ? reply.statusCode : 499
    const route = request.routeOptions.url ?? 'unknown'
    const milliseconds = performance.now() - request.startedAt
    const ended = { method: request.method, route, status, code: request.refusedAs, milliseconds }
    if (isNews(request.routeOptions, route, status)) logRequest(needs.log, request, ended)
    needs.onEnd?.(ended)
  }

  return {
    get inFlight() {
      return inFlight
    },
    get draining() {
      return draining
    },
    begin(request: FastifyRequest, reply: FastifyReply): void {
      request.startedAt = performance.now()
      inFlight++
      request.notes = {}
      reply.raw.on('close', () => end(request, reply))
    },
    closeAfter(work: Promise<unknown>): void {
      working++
      const finish = (): void => void working--
      work.then(finish, finish)
    },
    discard: (request: IncomingMessage, done: () => void): void => readRest(request, idleGrace, done),
    /**
     * Lets requests in flight finish and closes each connection after its response. Connections without a request are
     * closed after the grace period, once no request is in flight. All others get a 503 after the drain time.
     */
    async drain(): Promise<void> {
      draining = true
      const start = performance.now()
      for (const socket of sockets) {
        const response = responseOn(socket)
        if (response?.headersSent === false) response.setHeader('connection', 'close')
      }
      for (let elapsed = 0; sockets.size + working > 0 && elapsed < drainTime; elapsed = performance.now() - start) {
        if (inFlight === 0 && elapsed >= idleGrace) {
          await closeUnused()
          if (inFlight + working === 0 && elapsed >= 2 * idleGrace) break
        }
        await wait(checkEvery)
      }
      await allRead()
      server.closeIdleConnections()
      for (const socket of sockets) if (socket.bytesRead > 0) refuseUnanswered(needs.baseUrl, stopping(), socket)
      server.closeAllConnections()
    },
  }

  /** Stops listening, and closes the connections without a request. What has arrived on them is read first. */
  async function closeUnused(): Promise<void> {
    for (let turns = 0, known = -1; known !== accepted && turns < mostTurns; turns++) {
      known = accepted
      await needs.handedOver?.()
      await allRead()
    }
    if (server.listening && working === 0) server.close()
    server.closeIdleConnections()
    // To Node, a connection that has not sent a request yet is not idle.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }
}

/**
 * Reads the rest of a refused request, for at most `ms` milliseconds. Otherwise closing the connection would reset it before
 * the caller has read the response.
 */
function readRest(request: IncomingMessage, ms: number, done: () => void): void {
  const timer = setTimeout(finish, ms)
  function finish(): void {
    clearTimeout(timer)
    request.off('end', finish)
    done()
  }
  request.on('end', finish).resume()
}

export function stopping(): Problem {
  return new Problem('unavailable', 'The service is stopping. Send the request again.', { retryAfter: 1 })
}

function definedOf({ drainTime, idleGrace }: TrafficNeeds): Partial<typeof defaults> {
  return { ...(drainTime !== undefined && { drainTime }), ...(idleGrace !== undefined && { idleGrace }) }
}
