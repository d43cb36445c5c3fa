import { hash, randomBytes, randomInt } from 'node:crypto'
import { digits, formatKey } from './key-format.ts'

export interface NewKey {
  /** The whole key, which is shown once and stored nowhere. */
  readonly key: string
  readonly publicId: string
  readonly secretHash: Buffer
}

export function createKey(): NewKey {
  const publicId = createPublicId()
  const secret = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), 43)
  return { key: formatKey({ publicId, secret }), publicId, secretHash: hashSecret(secret) }
}

/** A key that no text proves: its hash is not that of any known secret. */
export function createTextlessKey(): Omit<NewKey, 'key'> {
  return { publicId: createPublicId(), secretHash: randomBytes(32) }
}

function createPublicId(): string {
  return Array.from({ length: 12 }, () => digits[randomInt(62)]).join('')
}

function base62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; rest > 0n; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text
  return text.padStart(length, '0')
}

/** The stored hash of a secret. A secret has 256 random bits, so a slow hash would add nothing. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

/** The hash of a whole key, as text: every request computes it, and a buffer takes three times as long. */
export function hashKey(text: string): string {
  return hash('sha256', text, 'hex')
}
