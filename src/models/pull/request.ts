import type { Readable } from 'node:stream'
import { Agent, request, type Dispatcher } from 'undici'
import { OperatorError } from '../../platform/problems.ts'
import { isAllowed, type ModelSource } from './source.ts'

/** A response, with its body as a stream. */
export interface FileAnswer {
  readonly status: number
  readonly headers: Dispatcher.ResponseData['headers']
  readonly body: Readable
  /** What the first host announced about the file, before any redirect. */
  readonly announced: AnnouncedDownload
}

export interface AnnouncedDownload {
  readonly bytes: number | undefined
  /** Lower-case hex. */
  readonly sha256: string | undefined
}

const mostRedirects = 5
const connectTimeout = 15_000
const headersTimeout = 30_000
/** Milliseconds without a byte after which a connection counts as broken. */
const silence = 60_000

/** Creates the agent of one download. `authority` is a PEM certificate to trust instead of the usual ones. */
export function createConnections(authority?: string): Agent {
  const trusted = authority === undefined ? {} : { ca: authority }
  return new Agent({ connect: { timeout: connectTimeout, ...trusted }, headersTimeout, bodyTimeout: silence })
}

/**
 * Requests the file. Follows redirects, but never from https to http, and sends the Authorization header to the first host
 * only. The caller must read or destroy the body.
 */
export async function requestFile(
  { url: first, authorization }: ModelSource,
  headers: Readonly<Record<string, string>>,
  dispatcher: Dispatcher,
): Promise<FileAnswer> {
  let url = first
  let announced: AnnouncedDownload | undefined
  for (let hop = 0; hop <= mostRedirects; hop += 1) {
    const credentials = authorization !== undefined && url.origin === first.origin ? { authorization } : {}
    const answer = await request(url, {
      dispatcher,
      headers: { 'user-agent': 'tollgate', 'accept-encoding': 'identity', ...headers, ...credentials },
    })
    announced ??= announcedBy(answer.headers)
    const location = headerText(answer.headers['location'])
    if (![301, 302, 303, 307, 308].includes(answer.statusCode) || location === undefined) {
      return { status: answer.statusCode, headers: answer.headers, body: answer.body, announced }
    }
    await answer.body.dump()
    url = redirected(url, location)
  }
  throw new OperatorError(`${first.host} redirects the download too often. Check the address.`)
}

function redirected(from: URL, location: string): URL {
  const to = URL.canParse(location, from) ? new URL(location, from) : undefined
  const isWorse = from.protocol === 'https:' && to?.protocol === 'http:'
  if (to === undefined || !isAllowed(to) || isWorse) {
    throw new OperatorError(
      `${from.host} redirects the download to an address without https, where it could be changed on the way. Choose another source.`,
    )
  }
  return to
}

/** Hugging Face names the size and, for large files, the SHA-256 in the answer that redirects to its storage. */
function announcedBy(headers: FileAnswer['headers']): AnnouncedDownload {
  const sha256 = /^"?(?<digest>[0-9a-f]{64})"?$/i.exec(headerText(headers['x-linked-etag']) ?? '')?.groups?.['digest']
  return { bytes: wholeNumber(headerText(headers['x-linked-size'])), sha256: sha256?.toLowerCase() }
}

/** The first value of a header. */
export function headerText(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

export function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : undefined
}
