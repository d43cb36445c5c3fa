import type { IncomingMessage } from 'node:http'
import { Problem } from '../../problems.ts'

/** Finds framing that a proxy may interpret differently from Node, which enables request smuggling. */
export function findFramingProblem(request: IncomingMessage): Problem | undefined {
  return findHostProblem(request) ?? findCodingProblem(request)
}

/** In `rawHeaders`, names and values alternate. */
const isHost = (text: string, index: number) => index % 2 === 0 && text.length === 4 && text.toLowerCase() === 'host'

/** RFC 9112 section 3.2: a request has one Host header. With two, a proxy may use one and Node the other. */
function findHostProblem({ headers, rawHeaders, httpVersion }: IncomingMessage): Problem | undefined {
  if (headers.host === undefined) {
    if (httpVersion !== '1.1') return undefined
    return new Problem('malformed_request', 'The request has no Host header, which HTTP/1.1 requires.')
  }
  const first = rawHeaders.findIndex(isHost)
  if (rawHeaders.findLastIndex(isHost) === first) return undefined
  return new Problem('malformed_request', 'The request has more than one Host header. Send one.')
}

/**
 * RFC 9112 section 6.1: `chunked` is the only supported transfer coding. Node would pass a body with another coding on
 * still encoded.
 */
function findCodingProblem({ headers }: IncomingMessage): Problem | undefined {
  const coding = headers['transfer-encoding']
  if (coding === undefined || coding.toLowerCase() === 'chunked') return undefined
  return new Problem('malformed_request', 'Send the body without a transfer coding, or chunked: no other is supported.')
}
