import { createHash, randomBytes } from 'node:crypto'

/** 256 random bits in base64url: the value of a cookie. */
const secret = /^[A-Za-z0-9_-]{43}$/

export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** The stored form of a secret. With 256 random bits, a plain hash cannot be reversed by guessing. */
export function hashOf(value: string): Buffer {
  return createHash('sha256').update(value).digest()
}

/**
 * The cookies of a request that have the form of our secrets, in order. A name may occur more than once. Only spaces and tabs
 * are removed: a browser may let a sibling host set a cookie whose name is a no-break space and then `__Host-`.
 */
export function readSecrets(header: string | undefined): { name: string; value: string }[] {
  if (header === undefined) return []
  return header.split(';').flatMap((pair) => {
    const equals = pair.indexOf('=')
    const value = withoutSpace(pair.slice(equals + 1))
    return equals > 0 && secret.test(value) ? [{ name: withoutSpace(pair.slice(0, equals)), value }] : []
  })
}

const withoutSpace = (text: string): string => text.replaceAll(/^[ \t]+|[ \t]+$/g, '')

/** A Set-Cookie header (RFC 6265). `maxAge` is in seconds; default: until the browser is closed. */
export function setCookie(name: string, value: string, maxAge?: number): string {
  const age = maxAge === undefined ? '' : `; Max-Age=${maxAge}`
  return `${name}=${value}; Path=/${age}; HttpOnly; Secure; SameSite=Lax`
}

/** The cookie of a session (section 2.5 of the specification): 256 random bits, of which only the SHA-256 is stored. */
const name = 'session'
/** Cookies of this name looked up per request: a sibling host can plant some, but cannot push ours out. */
const maxCookies = 4

/** The hashes of the session cookies in a Cookie header. What several valid ones mean is decided in sessions.ts. */
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
