import { crc32 } from 'node:zlib'

/**
 * The text of an API key: `tg_<public id, 12>_<secret, 43>_<checksum, 6>`, every part in base62.
 *
 * The public id finds the row, the secret (256 bits) authenticates, and the checksum (CRC-32 of everything before the last
 * underscore) detects a mistyped key without a lookup. A CRC-32 detects every burst error of up to 32 bits, so a single
 * wrong character never passes. Secret scanners can match the shape.
 */
export interface ParsedKey {
  readonly publicId: string
  readonly secret: string
}

/** The digits of base62. */
export const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const keyLength = 66
const checksumLength = 6
const shape = /^tg_[0-9A-Za-z]{12}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/

export function formatKey({ publicId, secret }: ParsedKey): string {
  const body = `tg_${publicId}_${secret}`
  return `${body}_${checksum(body)}`
}

/** The parts of a key, or undefined if its shape or checksum is wrong. Does not check whether the key exists. */
export function parseKey(text: string): ParsedKey | undefined {
  if (text.length !== keyLength || !shape.test(text)) return undefined
  const body = text.slice(0, -checksumLength - 1)
  if (checksum(body) !== text.slice(-checksumLength)) return undefined
  return { publicId: publicIdOf(text), secret: text.slice(16, 59) }
}

/** The public id of a key. Meaningless for other text. */
export const publicIdOf = (text: string): string => text.slice(3, 15)

/** In base62. Uses numbers, because every request computes it and bigints take six times as long. */
function checksum(body: string): string {
  let text = ''
  for (let rest = crc32(body); rest > 0; rest = Math.floor(rest / 62)) text = digits.charAt(rest % 62) + text
  return text.padStart(checksumLength, '0')
}
