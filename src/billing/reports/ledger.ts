import type { Queryable } from '../../platform/database/database.ts'
import { readLedgerPage, type LedgerPage, type LedgerRow } from './store.ts'

export type { LedgerPage, LedgerRow }

export interface Ledger {
  /** Newest first. Every page of an account costs the same. Throws Problem `unavailable`. */
  page(page: LedgerPage): Promise<LedgerRow[]>
}

export function createLedger({ database }: { database: Queryable }): Ledger {
  return Object.freeze({ page: (page: LedgerPage) => readLedgerPage(database, page) })
}
