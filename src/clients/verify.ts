import { runChecks, type VerifyCheck } from '../platform/verify-checks.ts'
import type { Database } from '../platform/database/database.ts'
import { records } from './verify-store.ts'

/** Proves that every client, note, dispute and letter is what its last revision says, and that no revision is missing. */
export function verifyRecords(database: Database): Promise<VerifyCheck[]> {
  return runChecks(database, records)
}
