import type { Database } from '../platform/database/database.ts'
import { withSnapshot } from '../platform/database/snapshot-store.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import { checkOf, type VerifyCheck } from '../platform/verify-checks.ts'
import { isSealedProof } from './attempt/sealed-proof.ts'
import { decryptCode } from './methods/email-link/code.ts'
import { isProvenReset } from './methods/password/reset.ts'
import { readLinks, readProvenAttempts, readResets } from './verify-store.ts'

/** Checks that Tollgate itself wrote every link that it would accept, and every sign-in that waits for a second factor. */
export async function verifySignIns(database: Database, encryption: Encryption): Promise<VerifyCheck[]> {
  return withSnapshot(database, async (tx) => {
    const [links, resets, attempts] = [await readLinks(tx), await readResets(tx), await readProvenAttempts(tx)]
    const faults = [
      ...links
        .filter((row) => decryptCode(encryption, row) === undefined)
        .map(({ id }) => ({ table: 'email_link', id })),
      ...resets.filter((row) => !isProvenReset(encryption, row)).map(({ id }) => ({ table: 'password_reset', id })),
      ...attempts
        .filter((row) => !isSealedProof(encryption, row))
        .map(({ id, personId: person }) => ({ table: 'sign_in_attempt', id, person })),
    ]
    return [
      checkOf(
        'every mailed link and every sign-in that waits for a second factor was written by this service',
        faults.map((fault) => ({ ...fault, fault: 'it was written or changed by something else' })),
      ),
    ]
  })
}
