import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  clockTolerance,
  Configuration,
  customFetch,
  fetchUserInfo,
  None,
  type ClientAuth,
  type IDToken,
  type ServerMetadata,
  type UserInfoResponse,
} from 'openid-client'
import type { Logger } from 'pino'
import type { Config } from '../../platform/config/config.ts'
import { checkClaims, countedEmail, isName, skew } from './oidc/claims.ts'
import { createDiscovery } from './oidc/discovery.ts'
import { createExchange, type Exchange } from './oidc/exchange.ts'
import { describeFailure, failedProvider, refusedAnswer } from './oidc/failures.ts'
import { createProviderKeys, type ProviderKeys } from './oidc/keys.ts'
import { readLogoutToken } from './oidc/logout-token.ts'
import type { Attempt, Method, Proof } from './method.ts'

export type ProviderConfig = Config['sign_in']['providers'][number]

interface OidcNeeds {
  readonly provider: ProviderConfig
  readonly baseUrl: string
  readonly log: Logger
}

/** Nothing beyond identity and e-mail (section 2.6 of the specification). */
const scope = 'openid email'

/**
 * Signing in at an OpenID provider: authorization code flow with PKCE, `state`, `nonce` and `iss` (OpenID Connect Core
 * 1.0, RFC 7636, RFC 9207). Its tokens are read and forgotten: none is kept, passed on or logged.
 */
export function createOidcMethod({ provider, baseUrl, log }: OidcNeeds): Method {
  const { id, name, issuer, client_id: clientId } = provider
  const discovery = createDiscovery({ issuer, log })
  const keys = createProviderKeys({ uri: async () => keysOf(await discovery.metadata()) })
  const redirectUri = `${baseUrl}/auth/callback`
  const open = async (exchange: Exchange) => configure(provider, await discovery.metadata(), exchange)

  function logged(error: unknown): unknown {
    log.warn({ provider: id, ...describeFailure(error) }, 'a sign-in at the OpenID provider failed')
    return error
  }

  return Object.freeze({
    id,
    name,
    async begin({ state, nonce, codeVerifier }: Attempt) {
      try {
        return buildAuthorizationUrl(await open(createExchange()), {
          redirect_uri: redirectUri,
          scope,
          state,
          nonce,
          code_challenge: await calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: 'S256',
        })
      } catch (error) {
        throw failedProvider(logged(error), name)
      }
    },
    async complete(callback: URL, attempt: Attempt) {
      const exchange = createExchange()
      const config = await exchange.within(open(exchange)).catch((error: unknown) => {
        throw failedProvider(logged(error), name)
      })
      try {
        return await exchange.within(exchangeCode({ config, keys, provider }, callback, attempt))
      } catch (error) {
        throw exchange.begun ? failedProvider(logged(error), name) : refusedAnswer(logged(error), name)
      }
    },
    signOutAddress() {
      const { known } = discovery
      if (known?.end_session_endpoint === undefined) return undefined
      return buildEndSessionUrl(configure(provider, known, createExchange()), {
        post_logout_redirect_uri: `${baseUrl}/signin`,
      })
    },
    readLogout: (token: string) => createExchange().within(readLogoutToken(token, { issuer, clientId, keys })),
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

function configure(provider: ProviderConfig, metadata: ServerMetadata, exchange: Exchange): Configuration {
  const { client_id: clientId, client_secret: secret, issuer } = provider
  const config = new Configuration(metadata, clientId, { [clockTolerance]: skew }, authentication(metadata, secret))
  config[customFetch] = exchange.fetch
  // The configuration takes an http:// issuer on loopback addresses only.
  if (issuer.startsWith('http:')) allowInsecureRequests(config)
  return config
}

/** As the provider says; a provider that says nothing takes Basic (OpenID Connect Discovery 1.0 section 3). */
function authentication(metadata: ServerMetadata, secret: string | undefined): ClientAuth {
  if (secret === undefined) return None()
  const { token_endpoint_auth_methods_supported: supported = ['client_secret_basic'] } = metadata
  return supported.includes('client_secret_basic') ? ClientSecretBasic(secret) : ClientSecretPost(secret)
}

function keysOf({ jwks_uri: uri }: ServerMetadata): string {
  if (uri === undefined) throw new Error('the provider does not say where its keys are (jwks_uri)')
  return uri
}

async function exchangeCode(
  { config, keys, provider }: { config: Configuration; keys: ProviderKeys; provider: ProviderConfig },
  callback: URL,
  { state, nonce, codeVerifier }: Attempt,
): Promise<Proof> {
  const tokens = await authorizationCodeGrant(config, callback, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: codeVerifier,
    idTokenExpected: true,
  })
  const claims = tokens.claims()
  if (claims === undefined || tokens.id_token === undefined) throw new Error('the provider sent no ID token')
  await keys.verify(tokens.id_token)
  checkClaims(claims, provider.client_id)
  const email = countedEmail(await withEmail(config, claims, tokens.access_token), provider.trust_email)
  const { iss: issuer, sub: subject, sid } = claims
  return {
    method: provider.id,
    factors: ['provider'],
    issuer,
    subject,
    sid: isName(sid) ? sid : undefined,
    email,
  }
}

/** Claims with the e-mail address, from UserInfo where the ID token has none; that must be of the same subject. */
async function withEmail(
  config: Configuration,
  claims: IDToken,
  accessToken: string,
): Promise<IDToken | UserInfoResponse> {
  if (claims.email !== undefined || config.serverMetadata().userinfo_endpoint === undefined) return claims
  return fetchUserInfo(config, accessToken, claims.sub)
}
