import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { Problem } from '../problems.ts'

/**
 * Reads a body: JSON in UTF-8 (RFC 8259). A wrong one is `malformed_json`, one that is compressed
 * `unsupported_media_type`; what it holds is never repeated. For a request with an Idempotency-Key it notes the hash that
 * tells whether the same request came again.
 */
export function parseJson(request: FastifyRequest, body: Buffer, done: (error: Error | null, body?: unknown) => void) {
  const coding = request.headers['content-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'identity') return done(coded())
  if (request.headers['idempotency-key'] !== undefined) request.bodyHash = hashOf(request.url, body)
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
    return new Problem('malformed_json', 'The body is not valid JSON. Check that it was not cut off on its way.')
  }
}

/** RFC 9110 section 8.4: what a body in a coding means is what it decodes to, and a small one may decode to a huge one. */
function coded(): Problem {
  return new Problem('unsupported_media_type', 'Send the body as it is, without Content-Encoding.')
}

function hashOf(url: string, body: Buffer): string {
  return createHash('sha256').update(`${url}\n`).update(body).digest('hex')
}
