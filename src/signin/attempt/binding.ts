import { createHash } from 'node:crypto'
import type { Encryption } from '../../platform/encryption/encryption.ts'
import type { AttemptRow } from './attempts-store.ts'

/** Submissions per step. */
export const maxTries = 5

/** What the code of a row covers beside the submissions: all but the proof, which is encrypted for the row. */
export type BoundFacts = Omit<AttemptRow, 'proof' | 'tries' | 'mac'>

/** The part of an attempt's row that only this service can make, before any submission. */
export function macOf(encryption: Encryption, facts: BoundFacts): Buffer {
  const { stateHash, browserHash, method, returnTo, linksTo, expiresAt, personId, providerSid, factor, enrols } = facts
  const hashes = [stateHash, browserHash].map((hash) => hash.toString('hex'))
  const rest = [method, returnTo, linksTo, expiresAt.getTime(), personId, providerSid, factor, enrols, facts.data]
  return encryption.mac(JSON.stringify(['sign_in_attempt', ...hashes, ...rest], sorted))
}

/**
 * The same after no submission, one, and so on. Each is the hash of the one before, so that the statement that counts a submission can
 * make the next one without the key, and nobody can go back.
 */
export function macsOf(encryption: Encryption, facts: BoundFacts): Buffer[] {
  const macs: Buffer[] = []
  for (let mac = macOf(encryption, facts); macs.length <= maxTries; mac = createHash('sha256').update(mac).digest()) {
    macs.push(mac)
  }
  return macs
}

/**
 * Whether this service wrote the row as it is. A row that is put back as it once was passes; versions before `mac` wrote none that does.
 */
export function isBound(encryption: Encryption, row: AttemptRow): boolean {
  return row.mac !== null && macsOf(encryption, row)[row.tries]?.equals(row.mac) === true
}

/** For `JSON.stringify`: the database returns the keys of an object in an order of its own. */
function sorted(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
