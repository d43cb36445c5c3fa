import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { logRequest, type RequestEnd } from './log.ts'

export interface TrafficNeeds {
  readonly log: Logger
  /** Called after each request. */
  readonly onEnd?: (end: RequestEnd) => void
  /** ms that requests in flight get to finish when the server closes. Default 30 000. */
  readonly drainTime?: number
  /**
   * ms that idle connections stay open when the server closes, so that a request that is on its way gets an answer.
   * Default 1000.
   */
  readonly idleGrace?: number
}

const defaults = { drainTime: 30_000, idleGrace: 1000 }

/** ms between two looks at the open connections while the server closes. */
const pause = 10

/** ms that hooks may take when the server closes. */
export function closeTimeout({ drainTime = defaults.drainTime }: TrafficNeeds): number {
  return drainTime + 10_000
}

/** Counts the requests in flight, reports each at its end, and drains a server that closes. */
export function createTraffic(needs: TrafficNeeds, server: HttpServer) {
  const { drainTime, idleGrace } = { ...defaults, ...definedOf(needs) }
  const responses = new Set<ServerResponse>()
  const sockets = new Set<Socket>()
  /** Work that may outlive its request. */
  let working = 0
  let draining = false
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })

  function end(request: FastifyRequest, reply: FastifyReply, start: number): void {
    responses.delete(reply.raw)
    const status = reply.raw.writableFinished ? reply.statusCode : 499
    const route = request.routeOptions.url ?? 'unknown'
    const milliseconds = performance.now() - start
    const ended = { method: request.method, route, status, code: request.refusedAs, milliseconds }
    logRequest(needs.log, request, ended)
    needs.onEnd?.(ended)
  }

  return {
    get inFlight() {
      return responses.size
    },
    get draining() {
      return draining
    },
    begin(request: FastifyRequest, reply: FastifyReply): void {
      const start = performance.now()
      responses.add(reply.raw)
      request.notes = {}
      reply.raw.on('close', () => end(request, reply, start))
    },
    closeAfter(work: Promise<unknown>): void {
      working++
      const finish = (): void => void working--
      work.then(finish, finish)
    },
    /**
     * Reads the rest of a request that is refused, so that closing its connection does not reset it before the caller
     * has read the answer.
     */
    discard(request: IncomingMessage, done: () => void): void {
      const timer = setTimeout(finish, idleGrace)
      function finish(): void {
        clearTimeout(timer)
        request.off('end', finish)
        done()
      }
      request.on('end', finish).resume()
    },
    /**
     * Lets requests in flight finish and closes each connection after its answer. When none is in flight and the grace
     * period has passed, closes the connections without a request; after the drain time, all others.
     */
    async drain(): Promise<void> {
      draining = true
      const start = performance.now()
      for (const response of responses) if (!response.headersSent) response.setHeader('connection', 'close')
      for (let elapsed = 0; sockets.size + working > 0 && elapsed < drainTime; elapsed = performance.now() - start) {
        if (responses.size === 0 && elapsed >= idleGrace) {
          closeUnused()
          if (working === 0 && elapsed >= 2 * idleGrace) break
        }
        await wait(pause)
      }
      server.closeAllConnections()
    },
  }

  function closeUnused(): void {
    server.closeIdleConnections()
    // Node does not count a connection without any request as idle.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }
}

function definedOf({ drainTime, idleGrace }: TrafficNeeds): Partial<typeof defaults> {
  return { ...(drainTime !== undefined && { drainTime }), ...(idleGrace !== undefined && { idleGrace }) }
}
