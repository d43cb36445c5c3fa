import { randomUUIDv7 } from 'node:crypto'
import type { Socket } from 'node:net'
import { refusalOf } from './http-errors.ts'
import { Problem, problems, type ProblemCode } from './problems.ts'
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
  if (error.code !== 'ECONNRESET' && socket.writable && mayAnswer(socket)) {
    const code = known[error.code ?? ''] ?? 'malformed_request'
    const requestId = randomUUIDv7()
    const body = JSON.stringify(refusalOf(baseUrl, new Problem(code, problems[code].meaning), requestId))
    socket.write(
      `${statusLine(baseUrl, code)}request-id: ${requestId}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
  }
  socket.destroy(error)
}

/** Where Node keeps the response that a connection is busy with. */
const responseKey = '_httpMessage'

/**
 * Whether what went wrong is the request that this connection is busy with, and its answer has not begun. Otherwise the
 * caller would take the refusal for the answer to an earlier request.
 */
function mayAnswer(socket: Socket): boolean {
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
