import type { Queryable } from '../platform/database/database.ts'

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

/** Which rows: from `from` on, before `to`, and older than the row `after`, at which the page before ended. */
export interface LedgerPage {
  readonly accountId: string
  readonly limit: number
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  readonly after?: Pick<LedgerRow, 'at' | 'requestId'> | undefined
}

export interface Ledger {
  /** The newest first. A page costs the same wherever in the ledger it lies. Throws Problem `unavailable`. */
  page(page: LedgerPage): Promise<LedgerRow[]>
}

export function createLedger({ database }: { database: Queryable }): Ledger {
  return Object.freeze({ page: (page: LedgerPage) => readPage(database, page) })
}

// Rows of one batch share their time, so the request id decides among them; a Date would lose the microseconds.
function readPage(database: Queryable, { accountId, limit, from, to, after }: LedgerPage): Promise<LedgerRow[]> {
  return database.rows(
    `select request_id as "requestId",
       to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, key_id as "keyId",
       person_id as "personId", model,
       client_id as "clientId", input_tokens as "inputTokens", output_tokens as "outputTokens",
       input_price as "inputPrice", output_price as "outputPrice", cost, stop_reason as "stopReason",
       usage_source as "usageSource", uncharged_input as "unchargedInput", uncharged_output as "unchargedOutput"
     from ledger
     where account_id = $1 and ledger.at >= coalesce($2::timestamptz, '-infinity')
       and ledger.at < coalesce($3::timestamptz, 'infinity')
       and (ledger.at, request_id) < (coalesce($4::timestamptz, 'infinity'),
                                      coalesce($5::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
     order by ledger.at desc, request_id desc
     limit $6`,
    [accountId, from ?? null, to ?? null, after?.at ?? null, after?.requestId ?? null, limit],
  )
}
