import type { Encryption } from '../../../platform/encryption/encryption.ts'
import type { FoundReset } from './reset-store.ts'

/** The part of a mailed link's row that only this service can write. Anyone who can write to the database could invent the rest. */
export function proofOfReset(encryption: Encryption, { tokenHash, email }: Omit<FoundReset, 'proof'>): Buffer {
  return encryption.encrypt(email, contextOf(tokenHash))
}

/** Whether this service wrote the row, for this address. */
export function isProvenReset(encryption: Encryption, { tokenHash, email, proof }: FoundReset): boolean {
  return proof !== null && encryption.decrypt(proof, contextOf(tokenHash)) === email
}

const contextOf = (tokenHash: Buffer): string => `reset ${tokenHash.toString('hex')}`
