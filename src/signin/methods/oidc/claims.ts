import type { IDToken } from 'openid-client'
import { readEmail, type Email } from '../../../people/email.ts'

/** Seconds that the provider's clock and ours may differ. */
export const skew = 30

/** Whether a provider's name for a person, a session or a token is one: OpenID Connect allows 255 characters. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 255 && /^\P{C}+$/u.test(value)
}

/**
 * What openid-client leaves to its callers (OpenID Connect Core 1.0 section 3.1.3.7): a token issued to another party,
 * one from the future, and one of nobody. Throws.
 */
export function checkClaims({ azp, iat, sub }: IDToken, clientId: string): void {
  if (azp !== undefined && azp !== clientId) throw new Error('the ID token was issued to another party (azp)')
  if (iat > Date.now() / 1000 + skew) throw new Error('the ID token was issued in the future (iat)')
  if (!isName(sub)) throw new Error('the ID token does not name anybody (sub)')
}

/** Whether the e-mail address that a provider reports counts. */
export type EmailTrust = 'never' | 'when_verified' | 'always'

/** The address that counts. `"true"` and `1` are not `true`: a provider that means it says it as the standard does. */
export function countedEmail(
  { email, email_verified: verified }: Readonly<Record<string, unknown>>,
  trust: EmailTrust,
): Email | undefined {
  const counts = trust === 'always' || (trust === 'when_verified' && verified === true)
  return counts && typeof email === 'string' ? readEmail(email) : undefined
}
