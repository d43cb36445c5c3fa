import type { FastifyRequest } from 'fastify'
import type { Caller } from '../accounts/keys.ts'
import { Problem } from '../platform/problems.ts'
import { anthropicMessages } from './dialects/anthropic-messages.ts'
import type { Manner } from './dialects/dialect.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls, on addresses that ask for a key. */
    caller: Caller | undefined
  }
  interface FastifyContextConfig {
    /** How an address refuses. */
    manner?: Manner
    /** Whether clients of Anthropic's API come here, too: they send the key in `x-api-key` and say who they are. */
    forAnthropic?: boolean
  }
}

/** Where the key is looked for. */
export function authorizationOf({ headers, routeOptions }: FastifyRequest): string | undefined {
  const key = headers['x-api-key']
  const other = routeOptions.config.forAnthropic === true && typeof key === 'string' ? `Bearer ${key}` : undefined
  return headers.authorization ?? other
}

/** Where clients of two APIs share an address, those of Anthropic's are known by a header that all of them send. */
export function mannerOf({ headers, routeOptions: { config } }: FastifyRequest): Manner | undefined {
  return config.forAnthropic === true && headers['anthropic-version'] !== undefined ? anthropicMessages : config.manner
}

/**
 * Keys belong on a server (section 5.1 of the specification). Browsers send Origin or Sec-Fetch-Site with every call
 * that a page makes; Sec-Fetch-Mode alone is what Node's own fetch sends.
 */
export function refuseBrowser({ headers }: FastifyRequest): void {
  if (headers.origin === undefined && headers['sec-fetch-site'] === undefined) return
  throw new Problem(
    'key_in_browser',
    'This call came from a browser, where anyone can read the key. Call from your server, and revoke this key.',
  )
}

/** Who calls, in a handler of an address that asks for a key. */
export function callerOf({ caller }: FastifyRequest): Caller {
  if (caller) return caller
  throw new Error('a handler ran before its caller was known')
}
