import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server as HttpServer } from 'node:http'
import type { Server } from 'node:net'

/** Lets a server listen on 127.0.0.1, on a free port unless one is given. Returns the port. */
export async function listen(server: Server, port = 0): Promise<number> {
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return address.port
}

/** Closes a server with its connections. */
export async function closeServer(server: HttpServer): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

/** Starts an HTTP server on 127.0.0.1, on a free port unless one is given. */
export async function serve(listener: RequestListener, port = 0) {
  const server = createServer(listener)
  const url = `http://127.0.0.1:${await listen(server, port)}`
  const close = () => closeServer(server)
  return { url, close, [Symbol.asyncDispose]: close }
}
