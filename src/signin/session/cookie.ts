import { hashOf, readSecrets, setCookie } from './cookies.ts'

/** The cookie of a session (section 2.5 of the specification): 256 random bits, of which only the SHA-256 is stored. */
const name = 'session'
/** Cookies of this name looked up per request: a sibling host can plant some, but cannot push ours out. */
const maxCookies = 4

/** The hashes of the session cookies in a Cookie header. */
export function sessionHashes(cookies: string | undefined): Buffer[] {
  const values = readSecrets(cookies).flatMap((cookie) => (cookie.name === name ? [cookie.value] : []))
  // Browsers send cookies with longer paths first, and ours has the shortest.
  return [...new Set(values)].slice(-maxCookies).map(hashOf)
}

/** Whether a Cookie header has a session cookie, valid or not. */
export function hasSessionCookie(cookies: string | undefined): boolean {
  return /(?:^|;)\s*session=/.test(cookies ?? '')
}

/** The Set-Cookie text that gives a browser its session. */
export const sessionCookie = (value: string): string => setCookie(name, value)

/** The Set-Cookie text that removes it. */
export const noSessionCookie: string = setCookie(name, '', 0)
