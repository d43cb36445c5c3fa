import type { IDToken } from 'openid-client'
import { readEmail, type Email } from '../../../people/email.ts'

/** The accepted difference between the provider's clock and ours, in seconds. */
export const skew = 30

/** Whether a provider's name for a person, a session or a token is valid: 1 to 255 characters, no control characters. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 255 && /^\P{C}+$/u.test(value)
}

/**
 * The checks that openid-client leaves to its callers (OpenID Connect Core 1.0 section 3.1.3.7): the authorized party, a
 * time of issue in the future, and a valid subject. Throws.
 */
export function checkClaims({ azp, iat, sub }: IDToken, clientId: string): void {
  if (azp !== undefined && azp !== clientId) throw new Error('the ID token was issued to another party (azp)')
  if (iat > Date.now() / 1000 + skew) throw new Error('the ID token was issued in the future (iat)')
  if (!isName(sub)) throw new Error('the ID token has no valid subject (sub)')
}

/** When an email address from the provider counts. */
export type EmailTrust = 'never' | 'when_verified' | 'always'

/** The address, if it counts. `"true"` and `1` are not `true`: the standard requires a boolean. */
export function countedEmail(
  { email, email_verified: verified }: Readonly<Record<string, unknown>>,
  trust: EmailTrust,
): Email | undefined {
  const counts = trust === 'always' || (trust === 'when_verified' && verified === true)
  return counts && typeof email === 'string' ? readEmail(email) : undefined
}

/** The parameters of a request that makes the person sign in at the provider again (OpenID Connect Core 1.0 section 3.1.2.1). */
export const signInAgain = { prompt: 'login', max_age: '0' }

/** When the person signed in at the provider, if it states that. A time in the future, by a fast clock, is now. */
export function statedTime({ auth_time: at }: IDToken): Date | undefined {
  return typeof at === 'number' && at > 0 ? new Date(Math.min(at * 1000, Date.now())) : undefined
}

/**
 * Throws if the provider states that the person signed in there before `since`, in seconds since 1970. Many providers do
 * not state it, although `max_age` requires it: they are believed to have followed `prompt`.
 */
export function checkFreshness({ auth_time: at }: IDToken, since: unknown): void {
  if (typeof since !== 'number' || at === undefined) return
  if (typeof at !== 'number' || at < since - skew) {
    throw new Error('the person did not sign in at the provider again (auth_time)')
  }
}
