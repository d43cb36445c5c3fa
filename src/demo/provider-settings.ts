import type { Config } from '../platform/config/config.ts'

/** What the service has to know of a provider, as if the configuration named it. */
export type ProviderSettings = Config['sign_in']['providers'][number]

/** What the provider of the demo is told when it is started. */
export interface ProviderOrder {
  /** The portal's address, of this machine. */
  readonly baseUrl: string
  /** The port to take when it is free; otherwise any. */
  readonly port: number
  /** What the portal proves itself with. */
  readonly clientSecret: string
}

export const providerId = 'demo'
export const clientId = 'tollgate'

export function settingsOf(issuer: string, clientSecret: string): ProviderSettings {
  return Object.freeze({
    id: providerId,
    name: 'the demo',
    issuer,
    client_id: clientId,
    client_secret: clientSecret,
    trust_email: 'when_verified',
  })
}

/** Both ends of the channel are this program in one version: one name settles the rest. */
export function isProviderOrder(message: unknown): message is ProviderOrder {
  return typeof message === 'object' && message !== null && 'clientSecret' in message
}
