import type { Database } from '../platform/database/database.ts'
import { runChecks, type VerifyCheck } from '../platform/verify-checks.ts'
import { roles } from './verify-store.ts'

/** Checks that the roles of people are those that the audit log records. */
export function verifyPeople(database: Database): Promise<VerifyCheck[]> {
  return runChecks(database, roles)
}
