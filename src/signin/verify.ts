import type { Database, Queryable } from '../platform/database/database.ts'
import { withSnapshot } from '../platform/database/snapshot-store.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import { checkOf, type VerifyCheck } from '../platform/verify-checks.ts'
import type { ProvenRow } from './attempt/attempts-store.ts'
import { isOwnRow } from './attempt/mailed-links-store.ts'
import { isSealedProof } from './attempt/sealed-proof.ts'
import type { ForgedRow } from './methods/definition.ts'
import { methods } from './methods/methods.ts'

/** Checks that Tollgate itself wrote every link that it would accept, and every sign-in that waits for a second factor. */
export async function verifySignIns(database: Database, encryption: Encryption): Promise<VerifyCheck[]> {
  return withSnapshot(database, async (tx) => {
    const faults: ForgedRow[] = []
    for (const { findForged } of methods) if (findForged) faults.push(...(await findForged(tx, encryption)))
    for (const attempt of await readProvenAttempts(tx)) {
      const { id, personId: person } = attempt
      if (!isSealedProof(encryption, attempt)) faults.push({ table: 'sign_in_attempt', id, person })
    }
    return [
      checkOf(
        'every mailed link and every sign-in that waits for a second factor was written by this service',
        faults.map((fault) => ({ ...fault, fault: 'it was written or changed by something else' })),
      ),
    ]
  })
}

type ProvenAttempt = Pick<ProvenRow, 'stateHash' | 'browserHash' | 'personId' | 'proof'> & { readonly id: string }

function readProvenAttempts(tx: Queryable): Promise<ProvenAttempt[]> {
  return tx.rows(
    `select encode(state_hash, 'hex') as id, state_hash as "stateHash", browser_hash as "browserHash", person_id as "personId", proof
     from sign_in_attempt where step = 'proven' and ${isOwnRow}`,
  )
}
