import type { Encryption } from '../../platform/encryption/encryption.ts'
import { Problem } from '../../platform/problems.ts'
import type { ProvenAttempt } from './attempts.ts'
import type { Proof } from '../methods/method.ts'

/** The parts of a proof that a session needs. It is stored encrypted while a second factor is due. */
export interface ProvenSignIn {
  readonly personId: string
  readonly factors: readonly string[]
  readonly provider?: Proof['provider']
}

/** The attempt, person and browser for which a proof was made. */
type ProofPlace = Pick<ProvenAttempt, 'personId' | 'stateHash' | 'browserHash'>

export function sealProof(encryption: Encryption, proven: ProvenSignIn, place: ProofPlace): Buffer {
  return encryption.encrypt(JSON.stringify(proven), contextOf(place))
}

/** Throws Problem `sign_in_failed` if the proof was altered or was made for another attempt, person or browser. */
export function openProof(encryption: Encryption, attempt: ProofPlace & Pick<ProvenAttempt, 'proof'>): ProvenSignIn {
  const text = encryption.decrypt(attempt.proof, contextOf(attempt))
  const proven: unknown = text === undefined ? undefined : JSON.parse(text)
  if (!isProven(proven)) throw new Problem('sign_in_failed', 'This sign-in has expired. Start again.')
  return proven
}

/** Whether this service made the proof for this attempt. */
export function isSealedProof(encryption: Encryption, attempt: ProofPlace & Pick<ProvenAttempt, 'proof'>): boolean {
  return encryption.decrypt(attempt.proof, contextOf(attempt)) !== undefined
}

/** Only this program encrypts proofs, so one field settles the rest. */
function isProven(value: unknown): value is ProvenSignIn {
  return typeof value === 'object' && value !== null && 'personId' in value
}

const contextOf = ({ personId, stateHash, browserHash }: ProofPlace): string =>
  `proof ${personId} ${stateHash.toString('hex')} ${browserHash.toString('hex')}`
