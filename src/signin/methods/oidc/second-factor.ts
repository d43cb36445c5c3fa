import type { IDToken } from 'openid-client'
import type { ProviderConfig } from './client.ts'

/** Whether the provider states, by a configured value, that it has asked for two factors. */
export function showsSecondFactor(
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
