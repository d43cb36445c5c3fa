import { randomBytes } from 'node:crypto'

/** Part of every policy: no plugins, no base element, no embedding by other sites. */
const noEmbedding = "object-src 'none'; base-uri 'none'; frame-ancestors 'none'"

/**
 * The headers of every response. With https, `Strict-Transport-Security` includes subdomains, because a subdomain over
 * plain http could set cookies for this host.
 */
export function securityHeaders(baseUrl: string): Readonly<Record<string, string>> {
  return Object.freeze({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'content-security-policy': `default-src 'none'; ${noEmbedding}`,
    ...(baseUrl.startsWith('https:') && { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }),
  })
}

/**
 * The policy of one page. Only scripts and style elements with the nonce are allowed, and the modules that those scripts
 * import. Everything else comes from this server.
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
    noEmbedding,
  ].join('; ')
}

/** 128 random bits, for one response. */
export function createNonce(): string {
  return randomBytes(16).toString('base64url')
}
