import {
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  type ServerMetadata,
  AuthorizationResponseError,
  ResponseBodyError,
} from 'openid-client'
import type { Logger } from 'pino'
import { newSecret } from '../../session/cookies.ts'
import type { BeginOptions, RedirectMethod, LogoutNotice } from '../method.ts'
import { configure, type ProviderConfig } from './client.ts'
import { exchangeCode, requestedContext } from './code.ts'
import { createDiscovery } from './discovery.ts'
import { createExchange, type Exchange } from './exchange.ts'
import { signInAgain, isName, skew } from './claims.ts'
import { createProviderKeys, type ProviderKeys } from './keys.ts'
import { Problem } from '../../../platform/problems.ts'
import { decodeJwt } from 'jose'

interface OidcNeeds {
  readonly provider: ProviderConfig
  readonly baseUrl: string
  readonly log: Logger
}

/** Identity and address, and nothing else (section 2.6 of the specification). */
const scope = 'openid email'

/**
 * OpenID Connect: authorization code flow with PKCE, `state`, `nonce` and `iss` (OpenID Connect Core 1.0, RFC 7636, RFC
 * 9207). Of its tokens, only the ID token is kept, encrypted, for signing out at the provider.
 */
export function createOidcMethod({ provider, baseUrl, log }: OidcNeeds): RedirectMethod {
  const { id, name, issuer, client_id: clientId } = provider
  const discovery = createDiscovery({ issuer, log })
  const keys = createProviderKeys({ uri: async () => keysAddress(await discovery.metadata()) })
  const open = async (exchange: Exchange) => configure(provider, await discovery.metadata(), exchange)

  function logged(error: unknown): unknown {
    log.warn({ provider: id, ...describeFailure(error) }, 'a sign-in at the OpenID provider failed')
    return error
  }

  return Object.freeze<RedirectMethod>({
    kind: 'redirect',
    id,
    name,
    issuer,
    async begin(state: string, { again = false }: BeginOptions = {}) {
      const [nonce, codeVerifier] = [newSecret(), newSecret()]
      try {
        const location = buildAuthorizationUrl(await open(createExchange()), {
          redirect_uri: `${baseUrl}/auth/callback`,
          scope,
          state,
          nonce,
          code_challenge: await calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: 'S256',
          ...(again && signInAgain),
          ...requestedContext(provider),
        })
        return { location, data: { nonce, codeVerifier, ...(again && { again: Math.floor(Date.now() / 1000) }) } }
      } catch (error) {
        throw failedProvider(logged(error), name)
      }
    },
    async complete(callback, { state, data }) {
      const exchange = createExchange()
      const config = await exchange.within(open(exchange)).catch((error: unknown) => {
        throw failedProvider(logged(error), name)
      })
      try {
        return await exchange.within(exchangeCode({ config, keys, provider }, callback, { state, data }))
      } catch (error) {
        throw exchange.begun ? failedProvider(logged(error), name) : refusedAnswer(logged(error), name)
      }
    },
    signOutAddress(idToken) {
      const { known } = discovery
      if (known?.end_session_endpoint === undefined) return undefined
      return buildEndSessionUrl(configure(provider, known, createExchange()), {
        post_logout_redirect_uri: `${baseUrl}/signin`,
        ...(idToken !== undefined && { id_token_hint: idToken }),
      })
    },
    readLogout: (token) => createExchange().within(readLogoutToken(token, { issuer, clientId, keys })),
    async check() {
      await discovery.metadata().catch(() => undefined)
      return discovery.state
    },
    get state() {
      return discovery.state
    },
    get fault() {
      return discovery.fault
    },
  })
}

function keysAddress({ jwks_uri: uri }: ServerMetadata): string {
  if (uri === undefined) throw new Error('the provider does not publish its keys (jwks_uri)')
  return uri
}

/** Errors by which a provider reports its own failure. */
const providerFaults = new Set(['server_error', 'temporarily_unavailable'])

/** The Problem of a callback that is refused before the provider has been called. */
function refusedAnswer(error: unknown, name: string): Problem {
  if (!(error instanceof AuthorizationResponseError)) {
    return new Problem(
      'sign_in_failed',
      'This callback does not belong to a sign-in that was started here. Start again.',
      {
        cause: error,
      },
    )
  }
  if (providerFaults.has(error.error)) return failedProvider(error, name)
  const reason =
    error.error === 'access_denied'
      ? `The sign-in was cancelled or refused at “${name}”. Start again, or ask its administrator for access.`
      : `“${name}” refused the sign-in. Start again. If it fails again, tell the administrator of this service.`
  return new Problem('sign_in_failed', reason, { cause: error })
}

/** The Problem of a provider that failed, took too long, or sent an invalid response. */
function failedProvider(error: unknown, name: string): Problem {
  if (error instanceof ResponseBodyError && error.error === 'invalid_grant') {
    return new Problem('sign_in_failed', 'The sign-in has expired, or was completed before. Start again.', {
      cause: error,
    })
  }
  return new Problem('provider_failed', `“${name}” does not respond correctly. Try again in a moment.`, {
    cause: error,
  })
}

/**
 * The log may contain only error codes of the standards, and our own and the libraries' messages. Never a provider's
 * text, which may hold a token.
 */
function describeFailure(error: unknown): Record<string, string | undefined> {
  if (!(error instanceof Error)) return { failure: 'unknown' }
  const { name, message } = error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const said =
    error instanceof AuthorizationResponseError || error instanceof ResponseBodyError ? error.error : undefined
  const below = error.cause instanceof Error ? error.cause.message : undefined
  return { failure: name, code, reason: below ?? message, provider_error: said?.slice(0, 100) }
}

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'
/** The longest accepted age of a token in seconds, whatever its `exp`. */
const maxAge = 600

interface Expected {
  readonly issuer: string
  readonly clientId: string
  readonly keys: ProviderKeys
}

/** Reads a logout token (OpenID Connect Back-Channel Logout 1.0 section 2.6). Throws Problem `sign_in_failed`. */
async function readLogoutToken(token: string, expected: Expected): Promise<LogoutNotice> {
  const header = await expected.keys.verify(token).catch((error: unknown) => {
    throw wrong('its signature', error)
  })
  const { iss, aud, iat, exp, jti, sub, sid, events, nonce } = decodeJwt(token)
  const now = Date.now() / 1000
  const checks: readonly (readonly [string, boolean])[] = [
    ['typ', /^(application\/)?logout\+jwt$/i.test(header.typ ?? '')],
    ['iss', iss === expected.issuer],
    ['aud', [aud].flat().includes(expected.clientId)],
    ['iat', typeof iat === 'number' && iat <= now + skew && iat > now - maxAge - skew],
    ['exp', typeof exp === 'number' && exp > now - skew],
    ['events', isObject(events) && isObject(events[logoutEvent])],
    ['nonce', nonce === undefined],
    ['jti', isName(jti)],
    ['sub', sub === undefined || isName(sub)],
    ['sid', sid === undefined || isName(sid)],
    ['sub or sid', sub !== undefined || sid !== undefined],
  ]
  const fault = checks.find(([, isRight]) => !isRight)
  if (fault !== undefined) throw wrong(fault[0])
  return {
    issuer: expected.issuer,
    subject: sub,
    sid: isName(sid) ? sid : undefined,
    jti: jti ?? '',
    // After that, the check of its age refuses it.
    expiresAt: new Date(((iat ?? now) + maxAge + skew) * 1000),
  }
}

function wrong(what: string, cause?: unknown): Problem {
  return new Problem('sign_in_failed', `The logout token is invalid: ${what} is wrong.`, { cause })
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
