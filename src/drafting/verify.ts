import type { Database } from '../platform/database/database.ts'
import { runChecks, type VerifyCheck } from '../platform/verify-checks.ts'
import { drafts } from './verify-store.ts'

/** Checks that drafts, their charges and their letters agree. */
export function verifyDrafts(database: Database): Promise<VerifyCheck[]> {
  return runChecks(database, drafts)
}
