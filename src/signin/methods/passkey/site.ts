import { isIP } from 'node:net'
import { isSecure } from '../../../platform/config/values.ts'

/** Where passkeys are created and used (WebAuthn Level 3 section 5.1.2): the exact origin, and the host as their scope. */
export interface PasskeySite {
  readonly origin: string
  readonly rpId: string
}

/**
 * Undefined where browsers offer no passkeys: at addresses that are no names, and over plain HTTP except on a loopback
 * name.
 */
export function passkeySiteOf(baseUrl: string): PasskeySite | undefined {
  const url = new URL(baseUrl)
  const { origin, hostname } = url
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return undefined
  return isSecure(url) ? { origin, rpId: hostname } : undefined
}
