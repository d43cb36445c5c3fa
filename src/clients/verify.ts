import { runChecks, type VerifyCheck } from '../platform/verify-checks.ts'
import type { Database } from '../platform/database/database.ts'
import { records } from './verify-store.ts'

/** Checks that every client, note, dispute and letter equals its last revision, and that no revision is missing. */
export function verifyRecords(database: Database): Promise<VerifyCheck[]> {
  return runChecks(database, records)
}
