import type { IncomingMessage } from 'node:http'
import { Problem } from '../problems.ts'

/** What a proxy before this server may have read otherwise than Node does. */
export function framingFault(request: IncomingMessage): Problem | undefined {
  return hostFault(request) ?? codingFault(request)
}

/** In a list of names and values in turn. */
const isHost = (text: string, index: number) => index % 2 === 0 && text.length === 4 && text.toLowerCase() === 'host'

/** RFC 9112 section 3.2: a request has one Host header. With two, a proxy before this server may have gone by the other. */
function hostFault({ headers, rawHeaders, httpVersion }: IncomingMessage): Problem | undefined {
  if (headers.host === undefined) {
    if (httpVersion !== '1.1') return undefined
    return new Problem('malformed_request', 'The request has no Host header, which HTTP/1.1 asks for.')
  }
  const first = rawHeaders.findIndex(isHost)
  if (rawHeaders.findLastIndex(isHost) === first) return undefined
  return new Problem('malformed_request', 'The request has more than one Host header. Send one.')
}

/**
 * RFC 9112 section 6.1: of the codings that a body may travel in, this server undoes `chunked` alone. Node takes what is
 * left after that for the body.
 */
function codingFault({ headers }: IncomingMessage): Problem | undefined {
  const coding = headers['transfer-encoding']
  if (coding === undefined || coding.toLowerCase() === 'chunked') return undefined
  return new Problem('malformed_request', 'Send the body as it is, or chunked: this server undoes no other coding.')
}
