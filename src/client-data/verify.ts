import type { Database } from '../platform/database/database.ts'
import { runChecks, type VerifyCheck } from '../platform/verify-checks.ts'
import { erasures } from './verify-store.ts'

/** Checks that nothing is left of erased clients, and that no contents are missing without an erasure. */
export function verifyErasures(database: Database): Promise<VerifyCheck[]> {
  return runChecks(database, erasures)
}
