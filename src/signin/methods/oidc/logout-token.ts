import { decodeJwt } from 'jose'
import { Problem } from '../../../platform/problems.ts'
import type { LogoutNotice } from '../method.ts'
import { isName, skew } from './claims.ts'
import type { ProviderKeys } from './keys.ts'

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'
/** The longest accepted age of a token in seconds, whatever its `exp`. */
const maxAge = 600

interface Expected {
  readonly issuer: string
  readonly clientId: string
  readonly keys: ProviderKeys
}

/** Reads a logout token (OpenID Connect Back-Channel Logout 1.0 section 2.6). Throws Problem `sign_in_failed`. */
export async function readLogoutToken(token: string, expected: Expected): Promise<LogoutNotice> {
  const header = await expected.keys.verify(token).catch((error: unknown) => {
    throw wrong('its signature', error)
  })
  const { iss, aud, iat, exp, jti, sub, sid, events, nonce } = decodeJwt(token)
  const now = Date.now() / 1000
  const checks: readonly (readonly [string, boolean])[] = [
    ['typ', /^(application\/)?logout\+jwt$/i.test(header.typ ?? '')],
    ['iss', iss === expected.issuer],
    ['aud', [aud].flat().includes(expected.clientId)],
    ['iat', typeof iat === 'number' && iat <= now + skew && iat > now - maxAge - skew],
    ['exp', typeof exp === 'number' && exp > now - skew],
    ['events', isObject(events) && isObject(events[logoutEvent])],
    ['nonce', nonce === undefined],
    ['jti', isName(jti)],
    ['sub', sub === undefined || isName(sub)],
    ['sid', sid === undefined || isName(sid)],
    ['sub or sid', sub !== undefined || sid !== undefined],
  ]
  const fault = checks.find(([, isRight]) => !isRight)
  if (fault !== undefined) throw wrong(fault[0])
  return {
    issuer: expected.issuer,
    subject: sub,
    sid: isName(sid) ? sid : undefined,
    jti: jti ?? '',
    // After that, the check of its age refuses it.
    expiresAt: new Date(((iat ?? now) + maxAge + skew) * 1000),
  }
}

function wrong(what: string, cause?: unknown): Problem {
  return new Problem('sign_in_failed', `The logout token is invalid: ${what} is wrong.`, { cause })
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
