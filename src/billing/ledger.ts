import type { Queryable } from '../platform/database/database.ts'
import { readLedgerPage } from './reports-store.ts'

/** One charged call, as it was settled. Prices and `cost` are in 10⁻¹² of the currency unit. */
export interface LedgerRow {
  readonly requestId: string
  /** ISO 8601 in UTC, to the microsecond. */
  readonly at: string
  /** Either a key or a person spent. */
  readonly keyId: string | null
  readonly personId: string | null
  readonly model: string
  readonly clientId: string | null
  readonly inputTokens: number
  readonly outputTokens: number
  readonly inputPrice: bigint
  readonly outputPrice: bigint
  readonly cost: bigint
  readonly stopReason: string
  readonly usageSource: 'model' | 'upstream' | 'estimated'
  /** Tokens reported beyond the hold that neither the credit nor the limits covered. */
  readonly unchargedInput: number
  readonly unchargedOutput: number
}

/**
 * Selects rows: of an account, of a key, of one request, or all. `from` is inclusive, `to` exclusive, and `after` is the
 * last row of the previous page.
 */
export interface LedgerPage {
  readonly accountId?: string | undefined
  readonly keyId?: string | undefined
  readonly requestId?: string | undefined
  readonly limit: number
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  readonly after?: Pick<LedgerRow, 'at' | 'requestId'> | undefined
}

export interface Ledger {
  /** Newest first. Every page of an account costs the same. Throws Problem `unavailable`. */
  page(page: LedgerPage): Promise<LedgerRow[]>
}

export function createLedger({ database }: { database: Queryable }): Ledger {
  return Object.freeze({ page: (page: LedgerPage) => readLedgerPage(database, page) })
}
