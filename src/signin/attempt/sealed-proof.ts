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

export function sealProof(encryption: Encryption, proven: ProvenSignIn): Buffer {
  return encryption.encrypt(JSON.stringify(proven), contextOf(proven))
}

/** Throws Problem `sign_in_failed` if the proof was altered or belongs to another person. */
export function openProof(encryption: Encryption, attempt: Pick<ProvenAttempt, 'personId' | 'proof'>): ProvenSignIn {
  const text = encryption.decrypt(attempt.proof, contextOf(attempt))
  const proven: unknown = text === undefined ? undefined : JSON.parse(text)
  if (!isProven(proven)) throw new Problem('sign_in_failed', 'This sign-in has expired. Start again.')
  return proven
}

/** Only this program encrypts proofs, so one field settles the rest. */
function isProven(value: unknown): value is ProvenSignIn {
  return typeof value === 'object' && value !== null && 'personId' in value
}

const contextOf = ({ personId }: Pick<ProvenSignIn, 'personId'>): string => `proof ${personId}`
