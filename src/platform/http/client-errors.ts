import { randomUUIDv7 } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { problemBody } from './errors.ts'
import { Problem, problems, type ProblemCode } from '../problems.ts'
import { securityHeaders } from './security-headers.ts'

// An import would evaluate every export, and `WebSocket` loads Node's fetch (2 MB).
const { IncomingMessage, ServerResponse, STATUS_CODES } = process.getBuiltinModule('node:http')

/** Node's parser errors. Every other one is `malformed_request`. */
const nodeCodes: Readonly<Record<string, ProblemCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
}

/** Responds on the bare connection to a request that Node could not parse. */
export function respondToClientError(baseUrl: string, error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code !== 'ECONNRESET') {
    const code = nodeCodes[error.code ?? ''] ?? 'malformed_request'
    refuse(baseUrl, new Problem(code, problems[code].meaning), socket)
  }
  socket.destroy(error)
}

/** Refuses CONNECT (RFC 9110 section 9.3.6). Node emits it with the bare connection. */
export function refuseConnect(baseUrl: string, socket: Duplex): void {
  socket.on('error', () => undefined)
  refuse(
    baseUrl,
    new Problem('method_not_allowed', 'This server is not a proxy and opens no tunnels.'),
    socket,
    'allow: \r\n',
  )
  socket.end(() => socket.destroy())
}

function refuse(baseUrl: string, problem: Problem, socket: Duplex, extraHeaders = ''): void {
  if (!socket.writable || !mayRespond(socket)) return
  const requestId = randomUUIDv7()
  const body = JSON.stringify(problemBody(baseUrl, problem, requestId))
  const length = Buffer.byteLength(body)
  const head = `${statusLine(baseUrl, problem.code)}${extraHeaders}request-id: ${requestId}\r\ncontent-length: ${length}`
  socket.write(`${head}\r\n\r\n${body}`)
}

/** Where Node keeps the response in progress on a connection. */
const responseKey = '_httpMessage'

/**
 * Whether the error belongs to the request in progress, whose response has not begun. Otherwise the caller would read the
 * error as the response to an earlier request.
 */
function mayRespond(socket: Duplex): boolean {
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
