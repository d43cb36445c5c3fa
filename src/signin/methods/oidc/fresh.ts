import type { IDToken } from 'openid-client'
import { skew } from './claims.ts'

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
