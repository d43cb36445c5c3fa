import { allowInsecureRequests, customFetch, discovery, type ServerMetadata } from 'openid-client'
import type { Logger } from 'pino'
import type { MethodState } from '../method.ts'
import { createExchange } from './exchange.ts'

/** How long metadata is used before it is fetched again, in ms. */
const fresh = 600_000

export interface Discovery {
  /** The provider's metadata. Throws if it is unknown and cannot be fetched. */
  metadata(this: void): Promise<ServerMetadata>
  /** The metadata fetched so far, without a request. */
  readonly known: ServerMetadata | undefined
  readonly state: MethodState
  /** Why the state is `wrong`. */
  readonly fault: string | undefined
}

interface DiscoveryNeeds {
  readonly issuer: string
  readonly log: Logger
  /** Monotonic, in ms. */
  readonly clock?: () => number
}

/** The provider's document contradicts the configuration. */
class WrongMetadata extends Error {
  override readonly name = 'WrongMetadata'
}

/**
 * OpenID Connect Discovery 1.0, with a cache of ten minutes. Metadata stays in use while the provider does not respond;
 * a document that contradicts the configuration replaces it at once.
 */
export function createDiscovery({ issuer, log, clock = () => performance.now() }: DiscoveryNeeds): Discovery {
  let known: ServerMetadata | undefined
  let state: MethodState = 'unreachable'
  let fault: string | undefined
  let fetchedAt = Number.NEGATIVE_INFINITY
  let fetching: Promise<ServerMetadata> | undefined

  async function fetchMetadata(): Promise<ServerMetadata> {
    try {
      known = await discover(issuer)
      ;[state, fault] = ['ready', undefined]
      return known
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (error instanceof WrongMetadata) [known, state, fault] = [undefined, 'wrong', reason]
      else if (known === undefined) [state, fault] = ['unreachable', undefined]
      log.warn({ issuer, reason }, 'OpenID discovery failed')
      throw error
    } finally {
      fetchedAt = clock()
      fetching = undefined
    }
  }

  return {
    get known() {
      return known
    },
    get state() {
      return state
    },
    get fault() {
      return fault
    },
    async metadata() {
      if (known !== undefined && clock() - fetchedAt < fresh) return known
      fetching ??= fetchMetadata()
      if (known === undefined) return fetching
      // A refresh runs in the background.
      fetching.catch(() => undefined)
      return known
    },
  }
}

async function discover(issuer: string): Promise<ServerMetadata> {
  // Only the server's metadata matters here, so the client id is a placeholder.
  const found = await discovery(new URL(issuer), 'unused', undefined, undefined, {
    [customFetch]: createExchange().fetch,
    // The configuration accepts http:// on loopback addresses only.
    execute: issuer.startsWith('http:') ? [allowInsecureRequests] : [],
  }).catch((error: unknown) => {
    throw isOtherIssuer(error) ? new WrongMetadata('its document names another issuer', { cause: error }) : error
  })
  const metadata = found.serverMetadata()
  if (metadata.issuer !== issuer) {
    throw new WrongMetadata(`its document names the issuer ${JSON.stringify(metadata.issuer)}`)
  }
  const [insecure] = issuer.startsWith('https:') ? insecureFields(metadata) : []
  if (insecure !== undefined) {
    throw new WrongMetadata(`its document has an http: address in ${insecure}, where only https: is safe`)
  }
  return metadata
}

/** openid-client compares issuers as URLs: it accepts some that differ and rejects some that are not URLs. */
function isOtherIssuer(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED' || code === 'ERR_INVALID_URL'
}

/** The fields that hold an http: address, as paths. Arrays are skipped: their URIs are identifiers, such as ACR values. */
function insecureFields(metadata: object, prefix = ''): string[] {
  return Object.entries(metadata).flatMap(([name, value]: [string, unknown]) => {
    const field = `${prefix}${name}`
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return insecureFields(value, `${field}.`)
    return typeof value === 'string' && URL.parse(value)?.protocol === 'http:' ? [field] : []
  })
}
