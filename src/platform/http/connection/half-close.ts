import type { Server as HttpServer, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { responseOn } from './socket.ts'

/**
 * Milliseconds after a caller's FIN at which the connection is probed. The first probe makes a closed peer send a RST, which
 * the next one detects: the later ones are for networks with longer round trips. They are few because some clients accept
 * only five informational responses.
 */
const probes = [0, 10, 100, 1000]

/** Emitted by a response that has begun. If its format allows it, a listener writes something that the caller ignores. */
export const probeEvent = 'probe'

/**
 * Lets a caller that closes its sending side after its request receive its response. A FIN says only that nothing more
 * will be sent (RFC 9293 section 3.6); a caller that has disconnected sends the same. Probes tell them apart.
 */
export function allowHalfClose(server: HttpServer): void {
  // Otherwise Node ends the connection at a FIN. Not in its documentation or types; tests/http/half-close.test.ts covers it.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('connection', (socket: Socket) => socket.once('end', () => probeAll(socket)))
}

function probeAll(socket: Socket): void {
  const response = responseOn(socket)
  if (!response) return
  // RFC 9110 section 15.2: HTTP/1.0 has no informational responses. Its callers have disconnected, as far as we know.
  if (response.req.httpVersion === '1.0') return void socket.destroy()
  const timers = probes.map((delay) => setTimeout(() => probe(response), delay))
  response.once('close', () => timers.forEach(clearTimeout))
}

function probe(response: ServerResponse): void {
  if (response.destroyed || response.writableEnded) return
  if (!response.headersSent) response.writeContinue()
  else response.emit(probeEvent)
}
