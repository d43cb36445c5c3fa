import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { Problem } from '../../problems.ts'
import { shownPath } from './field-errors.ts'
import { findExcess, hasMoreText, mostLevels, mostNames, mostOfShortFiles, type Excess } from './json-bytes.ts'

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
 * Parses a JSON body in UTF-8 (RFC 8259). Errors are `malformed_json`, `unsupported_media_type` for a content coding,
 * `request_too_large`, or `unknown_field` and `invalid_field` for too many names, and never quote the body's text.
 */
export function parseJson(request: FastifyRequest, body: Buffer, done: (error: Error | null, body?: unknown) => void) {
  const coding = request.headers['content-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'identity') return done(refuseCoding())
  // Fastify builds `routeOptions` each time it is read, so a short body is not worth it.
  const textBytes = body.length > mostOfShortFiles ? request.routeOptions.config.textBytes : undefined
  if (textBytes !== undefined && hasMoreText(body, textBytes + mostOfShortFiles)) return done(tooMuchText(textBytes))
  if (request.headers['idempotency-key'] !== undefined) request.bodyHash = hashOf(request.url, body)
  request.bodyBytes = body.length
  const parsed = parseBytes(body)
  if (parsed instanceof Problem) done(parsed)
  else done(null, parsed.value)
}

/** Bytes that are parsed in a millisecond or two, whatever they are. */
const mostOfShortBody = 16 * 1024

/** RFC 8259 section 8.1: no JSON text that is sent begins with it. */
const byteOrderMark = Buffer.from('\u{feff}')

/** Parses JSON in UTF-8, without those that would take too long. The Problem says what is wrong with "the body". */
export function parseBytes(body: Buffer): Problem | { value: unknown } {
  if (body.length === 0) return new Problem('malformed_json', 'The body is empty: send a JSON object.')
  if (!isUtf8(body)) return new Problem('malformed_json', 'The body is not valid UTF-8: encode it as UTF-8.')
  if (body.subarray(0, byteOrderMark.length).equals(byteOrderMark))
    return new Problem('malformed_json', 'The body begins with a byte order mark: send it without one.')
  const excess = body.length > mostOfShortBody ? findExcess(body) : undefined
  if (excess) return tooMuch(excess)
  try {
    return { value: JSON.parse(body.toString()) }
  } catch {
    return new Problem('malformed_json', 'The body is not valid JSON. Check that it was sent completely.')
  }
}

/** The code and the field are those that a schema would find, as far as can be seen without one. */
function tooMuch(excess: Excess): Problem {
  if (excess.of === 'levels') {
    return new Problem('malformed_json', `The body is nested more than ${mostLevels} levels deep.`)
  }
  const reason = `The body has more than ${mostNames} different field names.`
  const code = excess.isOutermost ? 'unknown_field' : 'invalid_field'
  return new Problem(code, reason, { field: shownPath('', excess.field) })
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
