import { randomUUIDv7 } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { refusalOf } from './errors.ts'
import { Problem, problems, type ProblemCode } from '../problems.ts'
import { securityHeaders } from './security-headers.ts'

// Not by `import`, which touches every export: with `WebSocket`, Node would load its own fetch, 2 MB.
const { IncomingMessage, ServerResponse, STATUS_CODES } = process.getBuiltinModule('node:http')

/** What Node calls it → what we call it; everything else is no HTTP. */
const known: Readonly<Record<string, ProblemCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
}

/** Node could not read a request: there is no request and no reply, only the connection. */
export function answerClientError(baseUrl: string, error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code !== 'ECONNRESET') {
    const code = known[error.code ?? ''] ?? 'malformed_request'
    refuse(baseUrl, new Problem(code, problems[code].meaning), socket)
  }
  socket.destroy(error)
}

/** Node gives the connection away with a request for a tunnel (RFC 9110 section 9.3.6). There is none to be had. */
export function answerConnect(baseUrl: string, socket: Duplex): void {
  socket.on('error', () => undefined)
  refuse(
    baseUrl,
    new Problem('method_not_allowed', 'This server is no proxy and makes no tunnels.'),
    socket,
    'allow: \r\n',
  )
  socket.end(() => socket.destroy())
}

function refuse(baseUrl: string, problem: Problem, socket: Duplex, more = ''): void {
  if (!socket.writable || !mayAnswer(socket)) return
  const requestId = randomUUIDv7()
  const body = JSON.stringify(refusalOf(baseUrl, problem, requestId))
  const length = Buffer.byteLength(body)
  const head = `${statusLine(baseUrl, problem.code)}${more}request-id: ${requestId}\r\ncontent-length: ${length}`
  socket.write(`${head}\r\n\r\n${body}`)
}

/** Where Node keeps the response that a connection is busy with. */
const responseKey = '_httpMessage'

/**
 * Whether what went wrong is the request that this connection is busy with, and its answer has not begun. Otherwise the
 * caller would take the refusal for the answer to an earlier request.
 */
function mayAnswer(socket: Duplex): boolean {
  const current: unknown = responseKey in socket ? socket[responseKey] : undefined
  if (!(current instanceof ServerResponse)) return true
  const request: unknown = current.req
  return !current.headersSent && request instanceof IncomingMessage && !request.complete
}

function statusLine(baseUrl: string, code: ProblemCode): string {
  const { status, retry } = problems[code]
  const headers = {
    ...securityHeaders(baseUrl),
    'x-should-retry': String(retry),
    'content-type': 'application/json; charset=utf-8',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? code}\r\nconnection: close\r\n${lines.join('')}`
}
