import { compactVerify, createLocalJWKSet, errors, type JSONWebKeySet, type JWTHeaderParameters } from 'jose'
import { createExchange } from './exchange.ts'

/** Signatures that only the provider can make. Never `none`, and no HS*: that key is ours as well. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

/** In ms: when keys are asked for again, how long they may be used without that, and how often a strange key asks. */
const age = { renew: 300_000, most: 600_000, betweenMisses: 30_000 }

export interface ProviderKeys {
  /**
   * Throws unless the provider signed the token; returns its header. Keys that a token brings or points to (`jwk`,
   * `jku`, `x5u`, `x5c`) are never looked at.
   */
  verify(this: void, token: string): Promise<JWTHeaderParameters>
}

type KeySet = ReturnType<typeof createLocalJWKSet>

/**
 * The keys of one provider. A key that is withdrawn works for ten minutes at most; a key that is new is found at once,
 * unless strange keys made us ask in the last 30 s. A provider that does not answer is bridged for as long as its keys
 * may be used.
 */
export function createProviderKeys(needs: {
  readonly uri: () => Promise<string>
  /** ms from any moment on. */
  readonly clock?: () => number
}): ProviderKeys {
  const { uri, clock = () => performance.now() } = needs
  let keys: KeySet | undefined
  let keysAt = 0
  let missedAt = Number.NEGATIVE_INFINITY
  let asking: Promise<KeySet> | undefined

  async function ask(): Promise<KeySet> {
    const at = clock()
    try {
      keys = createLocalJWKSet(await fetchKeys(await uri()))
      keysAt = at
      return keys
    } finally {
      asking = undefined
    }
  }

  async function current(): Promise<KeySet> {
    const old = keys === undefined ? Number.POSITIVE_INFINITY : clock() - keysAt
    if (keys === undefined || old >= age.most) return (asking ??= ask())
    if (old >= age.renew) (asking ??= ask()).catch(() => undefined)
    return keys
  }

  return Object.freeze({
    async verify(token: string) {
      const tried = await current()
      try {
        return await check(token, tried)
      } catch (error) {
        if (!mayBeNew(error) || clock() - missedAt < age.betweenMisses) throw error
        missedAt = clock()
        return check(token, await (asking ??= ask()))
      }
    },
  })
}

async function fetchKeys(uri: string): Promise<JSONWebKeySet> {
  const headers = { accept: 'application/jwk-set+json, application/json' }
  const response = await createExchange().fetch(uri, { body: undefined, headers, method: 'GET', redirect: 'manual' })
  if (response.status !== 200) throw new Error(`the provider's keys were answered with ${response.status}`)
  const document: unknown = await response.json()
  if (!isKeySet(document)) throw new Error('the provider answered something else than its keys')
  return document
}

/** What is in the keys is looked at when one is used. */
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

/** A token that does not say which of several keys signed it. */
async function checkEach(token: string, candidates: errors.JWKSMultipleMatchingKeys): Promise<JWTHeaderParameters> {
  for await (const key of candidates) {
    try {
      return (await compactVerify(token, key, { algorithms })).protectedHeader
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error
    }
  }
  throw new errors.JWSSignatureVerificationFailed()
}

function mayBeNew(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed
}
