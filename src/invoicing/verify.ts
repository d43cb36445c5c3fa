import type { Database } from '../platform/database/database.ts'
import { runChecks, type VerifyCheck } from '../platform/verify-checks.ts'
import { invoices } from './verify-store.ts'

/** Checks that invoices, the ledger, payments and numbers agree. */
export function verifyInvoices(database: Database): Promise<VerifyCheck[]> {
  return runChecks(database, invoices)
}
