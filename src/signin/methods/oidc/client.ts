import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  clockTolerance,
  Configuration,
  customFetch,
  None,
  type ClientAuth,
  type ServerMetadata,
} from 'openid-client'
import type { Config } from '../../../platform/config/config.ts'
import { skew } from './claims.ts'
import type { Exchange } from './exchange.ts'

export type ProviderConfig = Config['sign_in']['providers'][number]

/** openid-client for one provider and one exchange. */
export function configure(provider: ProviderConfig, metadata: ServerMetadata, exchange: Exchange): Configuration {
  const { client_id: clientId, client_secret: secret, issuer } = provider
  const config = new Configuration(metadata, clientId, { [clockTolerance]: skew }, authentication(metadata, secret))
  config[customFetch] = exchange.fetch
  // The configuration accepts an http:// issuer on loopback addresses only.
  if (issuer.startsWith('http:')) allowInsecureRequests(config)
  return config
}

/** As the metadata says; the default is Basic (OpenID Connect Discovery 1.0 section 3). */
function authentication(metadata: ServerMetadata, secret: string | undefined): ClientAuth {
  if (secret === undefined) return None()
  const { token_endpoint_auth_methods_supported: supported = ['client_secret_basic'] } = metadata
  return supported.includes('client_secret_basic') ? ClientSecretBasic(secret) : ClientSecretPost(secret)
}
