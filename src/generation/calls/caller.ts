import type { FastifyRequest } from 'fastify'
import type { Caller } from '../../accounts/keys/keys.ts'
import { Problem } from '../../platform/problems.ts'
import { anthropicMessages } from '../dialects/anthropic/anthropic-messages.ts'
import type { WireFormat } from '../dialects/dialect.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on routes that require a key. */
    caller: Caller | undefined
  }
  interface FastifyContextConfig {
    /** The format of errors and headers on this route. */
    wireFormat?: WireFormat
    /** Whether Anthropic's clients use this route. They send the key in `x-api-key`. */
    forAnthropic?: boolean
  }
}

/** The value to read the key from. */
export function authorizationOf(request: FastifyRequest): string | undefined {
  const { authorization, 'x-api-key': key } = request.headers
  if (authorization || typeof key !== 'string') return authorization
  return request.routeOptions.config.forAnthropic === true ? `Bearer ${key}` : undefined
}

/** On routes that two APIs share, a header that all of Anthropic's clients send identifies them. */
export function wireFormatOf({ headers, routeOptions: { config } }: FastifyRequest): WireFormat | undefined {
  return config.forAnthropic === true && headers['anthropic-version'] !== undefined
    ? anthropicMessages
    : config.wireFormat
}

/**
 * Keys belong on a server (section 5.1 of the specification). Browsers send Origin or Sec-Fetch-Site with every call from
 * a page. Sec-Fetch-Mode alone is no sign of a browser: Node's own fetch sends it.
 */
export function refuseBrowser({ headers }: FastifyRequest): void {
  if (headers.origin === undefined && headers['sec-fetch-site'] === undefined) return
  throw new Problem(
    'key_in_browser',
    'This call came from a browser, where anyone can read the key. Call from your server, and revoke this key.',
  )
}

/** The caller, in a handler of a route that requires a key. */
export function callerOf({ caller }: FastifyRequest): Caller {
  if (caller) return caller
  throw new Error('a handler ran before its caller was identified')
}
