import type { Config } from '../../platform/config/config.ts'

/** A provider as the configuration would name it. */
export type ProviderSettings = Config['sign_in']['providers'][number]

/** The settings that the demo's provider starts with. */
export interface ProviderOrder {
  /** The portal's address, on this machine. */
  readonly baseUrl: string
  /** The preferred ports; any free one if it is taken. */
  readonly port: number
  readonly mailPort: number
  /** The portal's client secret. */
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
    second_factor: { acr: [], amr: [] },
  })
}

/** Both ends run the same version of this program, so one field settles the rest. */
export function isProviderOrder(message: unknown): message is ProviderOrder {
  return typeof message === 'object' && message !== null && 'clientSecret' in message
}
