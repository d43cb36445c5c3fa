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
}

/**
 * Parses a JSON body in UTF-8 (RFC 8259). Errors are `malformed_json`, or `unsupported_media_type` for a content coding,
 * and never quote the body.
 */
export function parseJson(request: FastifyRequest, body: Buffer, done: (error: Error | null, body?: unknown) => void) {
  const coding = request.headers['content-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'identity') return done(refuseCoding())
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

/** RFC 9110 section 8.4. Decoding is not supported: a small body can decode to a huge one. */
function refuseCoding(): Problem {
  return new Problem('unsupported_media_type', 'Send the body without Content-Encoding.')
}

function hashOf(url: string, body: Buffer): string {
  return createHash('sha256').update(`${url}\n`).update(body).digest('hex')
}
