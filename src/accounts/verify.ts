import type { Database } from '../platform/database/database.ts'
import { runChecks, type VerifyCheck } from '../platform/verify-checks.ts'
import { revocations } from './verify-store.ts'

/** Checks that revoked keys have stayed revoked. */
export function verifyKeys(database: Database): Promise<VerifyCheck[]> {
  return runChecks(database, revocations)
}
