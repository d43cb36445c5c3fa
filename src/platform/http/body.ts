import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { Problem } from '../problems.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** SHA-256 of URL and body, for requests with an Idempotency-Key. */
    bodyHash: string | undefined
    /** The length of the body. */
    bodyBytes: number
  }
  interface FastifyContextConfig {
    /** The most bytes of a body besides files in base64, on routes with a higher limit for bodies with files. */
    textBytes?: number
  }
}

/**
 * Parses a JSON body in UTF-8 (RFC 8259). Errors are `malformed_json`, `unsupported_media_type` for a content coding, or
 * `request_too_large`, and never quote the body.
 */
export function parseJson(request: FastifyRequest, body: Buffer, done: (error: Error | null, body?: unknown) => void) {
  const coding = request.headers['content-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'identity') return done(refuseCoding())
  // Fastify builds `routeOptions` each time it is read, so a short body is not worth it.
  const textBytes = body.length > mostOfShortFiles ? request.routeOptions.config.textBytes : undefined
  if (textBytes !== undefined && hasMoreText(body, textBytes + mostOfShortFiles)) return done(tooMuchText(textBytes))
  if (request.headers['idempotency-key'] !== undefined) request.bodyHash = hashOf(request.url, body)
  request.bodyBytes = body.length
  const parsed = parse(body)
  if (parsed instanceof Problem) done(parsed)
  else done(null, parsed.value)
}

function parse(body: Buffer): Problem | { value: unknown } {
  if (body.length === 0) return new Problem('malformed_json', 'The body is empty: send a JSON object.')
  if (!isUtf8(body)) return new Problem('malformed_json', 'The body is not valid UTF-8: encode it as UTF-8.')
  try {
    return { value: JSON.parse(body.toString()) }
  } catch {
    return new Problem('malformed_json', 'The body is not valid JSON. Check that it was sent completely.')
  }
}

/** Only longer strings can be files here: shorter ones are counted as text, whatever they are. */
const leastFile = 512
/** The most bytes of files that are counted as text: of a hundred, as many as a request may have. */
const mostOfShortFiles = 100 * leastFile
const [quote, backslash] = [0x22, 0x5c]

/**
 * Whether JSON has more than `most` bytes outside of long strings. Parsing so much would keep other requests waiting; this
 * reads no more than those bytes and skips the strings.
 */
function hasMoreText(body: Buffer, most: number): boolean {
  let text = 0
  let isInside = false
  for (let at = 0; at < body.length && text <= most && body.length - at + text > most;) {
    const found = nextQuote(body, at)
    const end = found < 0 ? body.length : found + 1
    const isEscaped = isInside && backslashesBefore(body, found, at) % 2 === 1
    if (!isInside || isEscaped || end - at <= leastFile) text += end - at
    if (!isEscaped) isInside = !isInside
    at = end
  }
  return text > most
}

/** A call of `indexOf` takes as long as a look at a hundred bytes. */
function nextQuote(body: Buffer, start: number): number {
  for (let at = start; at < start + leastFile; at++) if (body[at] === quote) return at
  return body.indexOf(quote, start + leastFile)
}

function backslashesBefore(body: Buffer, end: number, start: number): number {
  let at = end
  while (at > start && body[at - 1] === backslash) at--
  return end - at
}

function tooMuchText(most: number): Problem {
  const reason = `The body without its images and documents is larger than ${most} bytes. Send less at a time.`
  return new Problem('request_too_large', reason)
}

/** RFC 9110 section 8.4. Decoding is not supported: a small body can decode to a huge one. */
function refuseCoding(): Problem {
  return new Problem('unsupported_media_type', 'Send the body without Content-Encoding.')
}

function hashOf(url: string, body: Buffer): string {
  return createHash('sha256').update(`${url}\n`).update(body).digest('hex')
}
