import { randomUUIDv7 } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { problemBody } from '../errors.ts'
import { Problem, problems, type ProblemCode } from '../../problems.ts'
import { allRead, responseOn } from './socket.ts'
import { securityHeaders } from '../pages/security-headers.ts'

// An import would evaluate every export, and `WebSocket` loads Node's fetch (2 MB).
const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** Node's parser errors. Every other one is `malformed_request`. */
const nodeCodes: Readonly<Record<string, ProblemCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
}

/** Responds on the bare connection to a request that Node could not parse, or that is late. */
export async function respondToClientError(
  baseUrl: string,
  error: NodeJS.ErrnoException,
  socket: Socket,
): Promise<void> {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && (await hadArrived(socket))) return
  if (error.code !== 'ECONNRESET') {
    const code = nodeCodes[error.code ?? ''] ?? 'malformed_request'
    if (isReceiving(socket)) refuse(baseUrl, new Problem(code, problems[code].meaning), socket)
  }
  socket.destroy(error)
}

/** Whether a request that is late had arrived in time, but had not been read. */
async function hadArrived(socket: Socket): Promise<boolean> {
  const { bytesWritten } = socket
  await allRead()
  return socket.bytesWritten > bytesWritten || responseOn(socket)?.req.complete === true
}

/** Refuses the request on this connection, unless its response has begun. */
export function refuseUnanswered(baseUrl: string, problem: Problem, socket: Socket): void {
  if (responseOn(socket)?.headersSent !== true) refuse(baseUrl, problem, socket)
}

/** Refuses CONNECT (RFC 9110 section 9.3.6). Node emits it with the bare connection. */
export function refuseConnect(baseUrl: string, socket: Duplex): void {
  socket.on('error', () => undefined)
  const problem = new Problem('method_not_allowed', 'This server is not a proxy and opens no tunnels.')
  if (isReceiving(socket)) refuse(baseUrl, problem, socket, 'allow: \r\n')
  socket.end(() => socket.destroy())
}

function refuse(baseUrl: string, problem: Problem, socket: Duplex, extraHeaders = ''): void {
  if (!socket.writable) return
  const requestId = randomUUIDv7()
  const body = JSON.stringify(problemBody(baseUrl, problem, requestId))
  const length = Buffer.byteLength(body)
  const head = `${statusLine(baseUrl, problem.code)}${extraHeaders}request-id: ${requestId}\r\ncontent-length: ${length}`
  socket.write(`${head}\r\n\r\n${body}`)
}

/**
 * Whether a request without a response is being received. Otherwise the caller would read the error as the response to an
 * earlier request.
 */
function isReceiving(socket: Duplex): boolean {
  const response = responseOn(socket)
  return response === undefined || (!response.headersSent && !response.req.complete)
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
