import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Encryption } from '../../../platform/encryption/encryption.ts'
import type { LinkRow } from './store.ts'

/** Crockford's base32: no I, L, O or U, which people misread. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const length = 8

/** 40 random bits, such as `7K2M-9QXT`. */
export function newCode(): string {
  const signs = Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join('')
  return `${signs.slice(0, 4)}-${signs.slice(4)}`
}

/** The link to which a code belongs: in the row of another one, or of another address, it cannot be read. */
type CodePlace = Pick<LinkRow, 'tokenHash' | 'email' | 'stateHash'>

export function encryptCode(encryption: Encryption, code: string, place: CodePlace): Buffer {
  return encryption.encrypt(code, contextOf(place))
}

/** The code of a link; undefined if this service did not write its row. */
export function decryptCode(encryption: Encryption, link: CodePlace & Pick<LinkRow, 'code'>): string | undefined {
  return encryption.decrypt(link.code, contextOf(link))
}

const contextOf = ({ tokenHash, email, stateHash }: CodePlace): string =>
  `code ${tokenHash.toString('hex')} ${stateHash.toString('hex')} ${email}`

/** Whether a person typed this code. Case, spaces and hyphens do not matter, nor does O for 0 or I for 1. */
export function isCode(typed: string, code: string): boolean {
  const [one, other] = [Buffer.from(plain(typed)), Buffer.from(plain(code))]
  return one.length === other.length && timingSafeEqual(one, other)
}

function plain(text: string): string {
  return text.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1')
}
