import { createHash, randomBytes } from 'node:crypto'

/** 256 random bits in base64url: the value of a cookie. */
const secret = /^[A-Za-z0-9_-]{43}$/

export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** What is kept of a secret. It has too many bits to be guessed from this. */
export function hashOf(value: string): Buffer {
  return createHash('sha256').update(value).digest()
}

/** The cookies of a request that can be secrets of ours, in their order. A name may come more than once. */
export function readSecrets(header: string | undefined): { name: string; value: string }[] {
  if (header === undefined) return []
  return header.split(';').flatMap((pair) => {
    const equals = pair.indexOf('=')
    const value = pair.slice(equals + 1).trim()
    return equals > 0 && secret.test(value) ? [{ name: pair.slice(0, equals).trim(), value }] : []
  })
}

/** The text of a Set-Cookie header (RFC 6265). Without seconds the cookie goes with the browser. */
export function setCookie(name: string, value: string, maxAge?: number): string {
  const age = maxAge === undefined ? '' : `; Max-Age=${maxAge}`
  return `${name}=${value}; Path=/${age}; HttpOnly; Secure; SameSite=Lax`
}
