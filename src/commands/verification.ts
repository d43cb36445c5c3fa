import { verifyChanges, verifySchema } from '../access/verify.ts'
import { verifyKeys } from '../accounts/verify.ts'
import { verifyBatches } from '../batches/verify.ts'
import { verifyBooks } from '../billing/verify.ts'
import { verifyErasures } from '../client-data/verify.ts'
import { verifyDocuments, verifyRecords, type DocumentStorage } from '../clients/verify.ts'
import { verifyDrafts } from '../drafting/verify.ts'
import { verifyInvoices } from '../invoicing/verify.ts'
import { verifyPeople } from '../people/verify.ts'
import type { VerifyCheck } from '../platform/verify-checks.ts'
import type { Database } from '../platform/database/database.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import { verifySeals, type SealOptions } from '../platform/seals/verify.ts'
import { verifySignIns } from '../signin/verify.ts'

export interface VerificationOptions extends SealOptions {
  /** The maximum duration of a request, in seconds. */
  readonly longestRequest?: number
  /** Without it, what is encrypted is not checked. */
  readonly encryption?: Encryption | undefined
  /** Without it, the files of documents are not read. */
  readonly storage?: DocumentStorage | undefined
}

/** Every check of `tollgate verify`. */
export async function verifyAll(database: Database, options: VerificationOptions = {}): Promise<VerifyCheck[]> {
  const { longestRequest, encryption, storage, ...sealOptions } = options
  const { checks } = await verifyBooks(database, {
    ...(longestRequest !== undefined && { longestRequest }),
    ...(options.full !== true && { sample: sealOptions }),
  })
  return [
    ...checks,
    ...(await verifyKeys(database)),
    ...(await verifyPeople(database)),
    ...(encryption ? await verifySignIns(database, encryption) : []),
    ...(await verifyChanges(database)),
    ...(await verifyRecords(database)),
    ...(await verifyDocuments(database, { ...sealOptions, encryption, storage })),
    ...(await verifyDrafts(database)),
    ...(await verifyBatches(database)),
    ...(await verifyInvoices(database)),
    ...(await verifyErasures(database)),
    ...(await verifySeals(database, sealOptions)),
    ...(await verifySchema(database)),
  ]
}
