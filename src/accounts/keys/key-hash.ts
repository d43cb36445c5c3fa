import { hash } from 'node:crypto'

/** The stored hash of a secret. A secret has 256 random bits, so a slow hash would add nothing. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

/** The hash of a whole key, as text: every request computes it, and a buffer takes three times as long. */
export function hashKey(text: string): string {
  return hash('sha256', text, 'hex')
}
