import { compactVerify, createLocalJWKSet, errors, type JSONWebKeySet, type JWTHeaderParameters } from 'jose'
import { createExchange } from './exchange.ts'

/** Asymmetric algorithms only: `none` is unsigned, and the key of HS* is known to both sides. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

/** In ms: when keys are refetched in the background, when they expire, and the least time between two misses. */
const age = { renew: 300_000, most: 600_000, betweenMisses: 30_000 }

export interface ProviderKeys {
  /**
   * Throws unless the provider signed the token; returns the token's header. Keys that a token carries or points to
   * (`jwk`, `jku`, `x5u`, `x5c`) are ignored.
   */
  verify(this: void, token: string): Promise<JWTHeaderParameters>
}

type KeySet = ReturnType<typeof createLocalJWKSet>

/**
 * The keys of one provider. A withdrawn key works for ten minutes at most. A new key is found at once, unless another
 * token has caused a refetch for the same reason in the last 30 s. Known keys stay in use for ten minutes while the provider is down.
 */
export function createProviderKeys(needs: {
  readonly uri: () => Promise<string>
  /** Monotonic, in ms. */
  readonly clock?: () => number
}): ProviderKeys {
  const { uri, clock = () => performance.now() } = needs
  let keys: KeySet | undefined
  let keysAt = 0
  const missedAt = { unknown: Number.NEGATIVE_INFINITY, unusable: Number.NEGATIVE_INFINITY }
  let fetching: Promise<KeySet> | undefined

  async function refetch(): Promise<KeySet> {
    const at = clock()
    try {
      keys = createLocalJWKSet(await fetchKeys(await uri()))
      keysAt = at
      return keys
    } finally {
      fetching = undefined
    }
  }

  async function current(): Promise<KeySet> {
    const old = keys === undefined ? Number.POSITIVE_INFINITY : clock() - keysAt
    if (keys === undefined || old >= age.most) return (fetching ??= refetch())
    if (old >= age.renew) (fetching ??= refetch()).catch(() => undefined)
    return keys
  }

  return Object.freeze<ProviderKeys>({
    async verify(token) {
      const tried = await current()
      try {
        return await check(token, tried)
      } catch (error) {
        const miss = missOf(error)
        if (miss === undefined || clock() - missedAt[miss] < age.betweenMisses) throw error
        missedAt[miss] = clock()
        return check(token, await (fetching ??= refetch()))
      }
    },
  })
}

async function fetchKeys(uri: string): Promise<JSONWebKeySet> {
  const headers = { accept: 'application/jwk-set+json, application/json' }
  const response = await createExchange().fetch(uri, { body: undefined, headers, method: 'GET', redirect: 'manual' })
  if (response.status !== 200) throw new Error(`the request for the provider's keys returned ${response.status}`)
  const document: unknown = await response.json()
  if (!isKeySet(document)) throw new Error("the response to the request for the provider's keys is not a key set")
  return document
}

/** Each key is validated when it is used. */
function isKeySet(document: unknown): document is JSONWebKeySet {
  return typeof document === 'object' && document !== null && 'keys' in document && Array.isArray(document.keys)
}

async function check(token: string, keys: KeySet): Promise<JWTHeaderParameters> {
  try {
    return (await compactVerify(token, keys, { algorithms })).protectedHeader
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    return checkEach(token, error)
  }
}

/** Tries every candidate for a token without a key id. An unusable key, such as a weak one, does not hide the others. */
async function checkEach(token: string, candidates: errors.JWKSMultipleMatchingKeys): Promise<JWTHeaderParameters> {
  for await (const key of candidates) {
    try {
      return (await compactVerify(token, key, { algorithms })).protectedHeader
    } catch (error) {
      if (missOf(error) === undefined) throw error
    }
  }
  throw new errors.JWSSignatureVerificationFailed()
}

/**
 * Why a refetch may bring the key that signed the token: no known key did, or the key it names is unusable. jose reports
 * a weak key as TypeError and a malformed one as DataError. Each reason has its own limit, so that tokens signed with a
 * weak key do not delay its replacement.
 */
function missOf(error: unknown): 'unknown' | 'unusable' | undefined {
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed) {
    return 'unknown'
  }
  return error instanceof errors.JOSEError ? undefined : 'unusable'
}
