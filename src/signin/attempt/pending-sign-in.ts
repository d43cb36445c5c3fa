import type { Encryption } from '../../platform/encryption/encryption.ts'
import type { Attempts, ProvenAttempt, TriedAttempt } from './attempts.ts'
import type { FactorPolicy, PendingFactors } from '../factor-policy.ts'
import { openProof } from './sealed-proof.ts'
import { notUsable } from './steps.ts'
import type { Visitor } from '../visitor/visitor.ts'

/** A sign-in that waits for a second factor, and the person's choices. */
interface FoundSignIn {
  readonly attempt: ProvenAttempt
  readonly choice: PendingFactors
}

export interface PendingSignIn {
  find(visitor: Pick<Visitor, 'cookies'>): Promise<FoundSignIn | undefined>
  /** Throws Problem `sign_in_failed` if there is none. */
  require(visitor: Visitor): Promise<FoundSignIn>
  /** Counts a submission. Throws Problem `sign_in_failed` if there is none or no tries are left. */
  try(visitor: Visitor): Promise<TriedAttempt<ProvenAttempt>>
}

interface Needs {
  readonly attempts: Attempts
  readonly policy: FactorPolicy
  readonly encryption: Encryption
}

export function createPendingSignIn({ attempts, policy, encryption }: Needs): PendingSignIn {
  async function find({ cookies }: Pick<Visitor, 'cookies'>): Promise<FoundSignIn | undefined> {
    const attempt = await attempts.proven(cookies)
    if (attempt === undefined) return undefined
    return { attempt, choice: await policy.pending(attempt.personId, openProof(encryption, attempt).factors) }
  }

  return {
    find,
    async require(visitor) {
      const found = await find(visitor)
      if (found === undefined) throw notUsable()
      return found
    },
    async try({ cookies }) {
      const attempt = await attempts.proven(cookies)
      const tried = attempt && (await attempts.tryProven(attempt))
      if (tried === undefined) throw notUsable()
      return tried
    },
  }
}
