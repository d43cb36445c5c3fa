import { randomBytes } from 'node:crypto'

/** What every policy here ends in: nothing is embedded, nobody embeds us. */
const closed = "object-src 'none'; base-uri 'none'; frame-ancestors 'none'"

/**
 * The headers that every answer carries. `Strict-Transport-Security` comes where people use https, subdomains included:
 * over plain http a sibling could plant cookies for us.
 */
export function securityHeaders(baseUrl: string): Readonly<Record<string, string>> {
  return Object.freeze({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'content-security-policy': `default-src 'none'; ${closed}`,
    ...(baseUrl.startsWith('https:') && { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }),
  })
}

/**
 * The policy of one page. Scripts run by its nonce alone, which the modules they import inherit; so do style elements.
 * Everything else comes from this server.
 */
export function pagePolicy(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    closed,
  ].join('; ')
}

/** 128 random bits, for one answer. */
export function createNonce(): string {
  return randomBytes(16).toString('base64url')
}
