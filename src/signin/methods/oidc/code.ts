import {
  authorizationCodeGrant,
  fetchUserInfo,
  type Configuration,
  type IDToken,
  type UserInfoResponse,
} from 'openid-client'
import type { AttemptData, Proof } from '../method.ts'
import { checkClaims, checkFreshness, countedEmail, isName, statedTime } from './claims.ts'
import type { ProviderConfig } from './client.ts'
import type { ProviderKeys } from './keys.ts'

interface Needs {
  readonly config: Configuration
  readonly keys: ProviderKeys
  readonly provider: ProviderConfig
}

/** Exchanges the code of a callback for tokens and checks them. Throws any error. */
export async function exchangeCode(
  { config, keys, provider }: Needs,
  callback: URL,
  { state, data }: { readonly state: string; readonly data: AttemptData },
): Promise<Proof> {
  const tokens = await authorizationCodeGrant(config, callback, {
    expectedState: state,
    expectedNonce: text(data, 'nonce'),
    pkceCodeVerifier: text(data, 'codeVerifier'),
    idTokenExpected: true,
  })
  const { id_token: idToken, access_token: accessToken } = tokens
  const claims = tokens.claims()
  if (claims === undefined || idToken === undefined) throw new Error('the provider sent no ID token')
  await keys.verify(idToken)
  checkClaims(claims, provider.client_id)
  checkFreshness(claims, data['again'])
  const email = countedEmail(await withEmail(config, claims, accessToken), provider.trust_email)
  const { iss: issuer, sub: subject, sid } = claims
  return {
    claim: { by: 'identity', issuer, subject, email },
    factors: ['provider', ...(showsSecondFactor(claims, provider) ? ['provider_second_factor'] : [])],
    elsewhere: { at: statedTime(claims), isAgain: data['again'] !== undefined },
    provider: { issuer, subject, sid: isName(sid) ? sid : undefined, idToken },
  }
}

/** Claims with an address, from UserInfo if the ID token has none. UserInfo must name the same subject. */
async function withEmail(
  config: Configuration,
  claims: IDToken,
  accessToken: string,
): Promise<IDToken | UserInfoResponse> {
  if (claims.email !== undefined || config.serverMetadata().userinfo_endpoint === undefined) return claims
  return fetchUserInfo(config, accessToken, claims.sub)
}

/** Throws, so that no check is skipped because a value is missing. */
function text(data: AttemptData, name: string): string {
  const value = data[name]
  if (typeof value !== 'string') throw new Error(`the attempt has no ${name}`)
  return value
}

/** Whether the provider states, by a configured value, that it has asked for two factors. */
function showsSecondFactor(
  { acr, amr }: IDToken,
  { second_factor: counted }: Pick<ProviderConfig, 'second_factor'>,
): boolean {
  const methods: unknown[] = Array.isArray(amr) ? amr : []
  return counted.acr.some((value) => value === acr) || counted.amr.some((value) => methods.includes(value))
}

/** Asks for the configured values of `acr` (OpenID Connect Core 1.0 section 3.1.2.1). */
export function requestedContext({ second_factor: counted }: Pick<ProviderConfig, 'second_factor'>): {
  acr_values?: string
} {
  return counted.acr.length > 0 ? { acr_values: counted.acr.join(' ') } : {}
}
