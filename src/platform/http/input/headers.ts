import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import Negotiator from 'negotiator'
import { Problem } from '../../problems.ts'

// JSON comes first, for */*. Negotiator treats a type with a parameter as a different type.
const json = ['application/json', 'application/json; charset=utf-8']
const available = [...json, 'text/html', 'text/html; charset=utf-8']

/** Whether a client prefers a page to JSON (RFC 9110 section 12.5.1). */
export function prefersPage(accept: string | undefined): boolean {
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return false
  const preferred = new Negotiator({ headers: { accept } }).mediaType(available)
  return preferred !== undefined && !json.includes(preferred)
}

/** RFC 9110 section 11.1: the scheme's name is case-insensitive, spaces separate it from the credentials. */
const bearer = /^bearer +(\S.*)$/i

/** The token of an Authorization header with the scheme Bearer. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : bearer.exec(authorization)?.[1]
}

/**
 * X-Forwarded-For with plain addresses, for a server behind proxies. Some proxies add the port, as in `192.0.2.7:4711` and
 * `[2001:db8::1]:443`: with it, each connection would seem to come from another sender. An entry that is no address ends the
 * list, because what is to its left comes from an unknown hop. Undefined if none is left.
 */
export function plainForwardedFor(header: string): string | undefined {
  const plain: string[] = []
  for (const entry of header.split(',').toReversed()) {
    const address = addressIn(entry.trim())
    if (address === undefined) break
    plain.unshift(address)
  }
  return plain.length === 0 ? undefined : plain.join(', ')
}

function addressIn(entry: string): string | undefined {
  const [, bracketed, withPort] = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(entry) ?? []
  const address = bracketed ?? withPort ?? entry
  return isIP(address) === 0 ? undefined : address
}

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
