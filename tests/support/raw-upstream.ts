import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { listen } from './server.ts'

/** Handles a complete request. `isStream` is true if it asks for a stream. */
export type Behaviour = (socket: Socket, isStream: boolean) => void

/** An upstream that sends arbitrary bytes, HTTP or not. */
export interface RawUpstream {
  readonly url: string
  /** Complete requests received. */
  readonly requests: number
  /** Open connections. */
  readonly connections: number
  behave(behaviour: Behaviour): void
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts a raw upstream on 127.0.0.1. Until `behave` is called it sends valid replies. */
export async function startRawUpstream(): Promise<RawUpstream> {
  const sockets = new Set<Socket>()
  let behaviour: Behaviour = answerWell
  let requests = 0
  const server = createServer((socket) => {
    let received = ''
    sockets.add(socket)
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      // It has no list of models.
      if (/^GET [^]*\r\n\r\n$/.test(received)) {
        received = ''
        return void socket.write('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n')
      }
      const [, length, body] = /content-length: (\d+)[^]*?\r\n\r\n([^]*)/i.exec(received) ?? []
      if (length === undefined || body === undefined || body.length < Number(length)) return
      requests++
      received = ''
      behaviour(socket, body.includes('"stream":true'))
    })
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  })
  const port = await listen(server)
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  }

  return Object.freeze({
    url: `http://127.0.0.1:${port}/v1`,
    get requests() {
      return requests
    },
    get connections() {
      return sockets.size
    },
    behave(next: Behaviour) {
      behaviour = next
    },
    close,
    [Symbol.asyncDispose]: close,
  })
}

/** A complete response with its length. */
export function http(body: string | Buffer, { status = 200, type = 'application/json' } = {}): Buffer {
  const head = `HTTP/1.1 ${status} X\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), Buffer.from(body)])
}

/** The head of a stream that ends with the connection. */
export const streamHead = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n'

/** A stream of chat completions with these events, and `[DONE]`. */
export const eventStream = (events: readonly unknown[]): string =>
  `${streamHead}${events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`

/** An event of a chat completion. */
export const delta = (content: string): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`

export const ending = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'

export const completion = (more: object = {}): string =>
  JSON.stringify({ choices: [{ message: { content: 'Well.' }, finish_reason: 'stop' }], ...more })

export function answerWell(socket: Socket, isStream: boolean): void {
  if (isStream) socket.end(streamHead + delta('Well.') + ending)
  else socket.write(http(completion()))
}
