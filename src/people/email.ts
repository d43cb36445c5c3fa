import { domain as domainName } from '../platform/config/values.ts'

/** An email address as written, its normalised form for comparison, and its domain as a lower-case A-label. */
export interface Email {
  readonly address: string
  readonly key: string
  readonly domain: string
}

/** RFC 5321 section 4.5.3.1: the longest path, without its angle brackets. */
const longest = 254

/**
 * Parses an email address; undefined if it is not one. Trims it and normalises it to NFC. Quoted local parts and
 * comments are not accepted. Two addresses are the same if their keys are equal.
 */
export function readEmail(text: string): Email | undefined {
  const address = text.trim().normalize('NFC')
  const [, local = '', host = ''] = /^([^\s@"(),:;<>[\\\]\p{C}]+)@([^\s@\p{C}]+)$/u.exec(address) ?? []
  const domain = readDomain(host)
  if (local === '' || domain === undefined || address.length > longest || /^\.|\.\.|\.$/.test(local)) return undefined
  const key = `${local.toLowerCase().normalize('NFC')}@${domain}`
  return imitates(text.trim(), key) ? undefined : { address, key, domain }
}

function readDomain(host: string): string | undefined {
  try {
    return domainName.parse(host)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/**
 * Whether characters that only look like ASCII became ASCII in the key: the Kelvin sign, `ｅxample.com`, a soft hyphen.
 * The two addresses may have different owners.
 */
function imitates(text: string, key: string): boolean {
  const [local = '', host = ''] = text.split('@')
  const labels = key.slice(key.indexOf('@') + 1).split('.')
  const written = host.split('.')
  return (
    Array.from(local).some((sign) => !isAscii(sign) && isAscii(sign.normalize('NFC').toLowerCase())) ||
    written.length !== labels.length ||
    written.some((label, index) => !isAscii(label) && labels[index]?.startsWith('xn--') !== true)
  )
}

function isAscii(text: string): boolean {
  return /^\p{ASCII}*$/u.test(text)
}
