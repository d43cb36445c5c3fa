import { allowInsecureRequests, customFetch, discovery, type ServerMetadata } from 'openid-client'
import type { Logger } from 'pino'
import type { MethodState } from '../method.ts'
import { createExchange } from './exchange.ts'

/** ms for which a provider's metadata is used before it is asked for again. */
const fresh = 600_000

export interface Discovery {
  /** The provider's metadata. Throws while there is none to be had. */
  metadata(this: void): Promise<ServerMetadata>
  /** What is known without asking. */
  readonly known: ServerMetadata | undefined
  readonly state: MethodState
}

/** The issuer that a provider's document names is not the configured one, to the byte. */
class WrongIssuer extends Error {
  override readonly name = 'WrongIssuer'
}

/**
 * Finds out about a provider (OpenID Connect Discovery 1.0), once in ten minutes. What is known stays in use while the
 * provider does not answer; a document that names another issuer ends that at once.
 */
export function createDiscovery({ issuer, log }: { issuer: string; log: Logger }): Discovery {
  let known: ServerMetadata | undefined
  let state: MethodState = 'unreachable'
  let askedAt = Number.NEGATIVE_INFINITY
  let asking: Promise<ServerMetadata> | undefined

  async function ask(): Promise<ServerMetadata> {
    try {
      known = await discover(issuer)
      state = 'ready'
      return known
    } catch (error) {
      if (error instanceof WrongIssuer) known = undefined
      if (known === undefined) state = error instanceof WrongIssuer ? 'wrong' : 'unreachable'
      const reason = error instanceof Error ? error.message : String(error)
      log.warn({ issuer, reason }, 'the OpenID provider could not be discovered')
      throw error
    } finally {
      askedAt = performance.now()
      asking = undefined
    }
  }

  return {
    get known() {
      return known
    },
    get state() {
      return state
    },
    async metadata() {
      if (known !== undefined && performance.now() - askedAt < fresh) return known
      asking ??= ask()
      if (known === undefined) return asking
      // Nobody waits for what is only to be renewed.
      asking.catch(() => undefined)
      return known
    },
  }
}

async function discover(issuer: string): Promise<ServerMetadata> {
  // The client is of no interest here: this asks for the server's metadata alone.
  const found = await discovery(new URL(issuer), 'unused', undefined, undefined, {
    [customFetch]: createExchange().fetch,
    // The configuration takes http:// for loopback addresses only.
    execute: issuer.startsWith('http:') ? [allowInsecureRequests] : [],
  }).catch((error: unknown) => {
    throw isOtherIssuer(error) ? new WrongIssuer('its document names another issuer', { cause: error }) : error
  })
  const metadata = found.serverMetadata()
  if (metadata.issuer !== issuer) {
    throw new WrongIssuer(`its document names the issuer ${JSON.stringify(metadata.issuer)}, not ${issuer}`)
  }
  return metadata
}

/** openid-client compares issuers as addresses: it lets some through that differ, and finds some that are none. */
function isOtherIssuer(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED' || code === 'ERR_INVALID_URL'
}
