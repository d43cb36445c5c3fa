import type { Database } from '../platform/database/database.ts'
import { withSnapshot } from '../platform/database/snapshot-store.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import { checkOf, type VerifyCheck } from '../platform/verify-checks.ts'
import { isProven, readOwnAttempts } from './attempt/attempts-store.ts'
import { isBound } from './attempt/binding.ts'
import { isSealedProof } from './attempt/sealed-proof.ts'
import type { ForgedRow } from './methods/definition.ts'
import { methods } from './methods/methods.ts'

/** Checks that Tollgate itself wrote every link that it would accept, and every sign-in that it would let go on. */
export async function verifySignIns(database: Database, encryption: Encryption): Promise<VerifyCheck[]> {
  return withSnapshot(database, async (tx) => {
    const faults: ForgedRow[] = []
    for (const { findForged } of methods) if (findForged) faults.push(...(await findForged(tx, encryption)))
    for (const attempt of await readOwnAttempts(tx)) {
      if (isBound(encryption, attempt) && (!isProven(attempt) || isSealedProof(encryption, attempt))) continue
      const person = attempt.personId !== null && { person: attempt.personId }
      faults.push({ table: 'sign_in_attempt', id: attempt.stateHash.toString('hex'), ...person })
    }
    return [
      checkOf(
        'every mailed link and every sign-in in progress was written by this service',
        faults.map((fault) => ({ ...fault, fault: 'it was written or changed by something else' })),
      ),
    ]
  })
}
