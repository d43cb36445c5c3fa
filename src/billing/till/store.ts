import type { PreparedStatement } from '../../platform/database/batch.ts'
import { rowsText } from '../../platform/database/rows.ts'
import type { Renewal } from '../allowances/allowances.ts'
import type { KeyReport, Report } from '../allowances/allowance-reports.ts'
import { keyReportRow, reportRow } from './exchange-rows.ts'
import type { TillRow } from './till-row.ts'

/** The instance that sends a batch, and the batch's number. The database refuses a number that is not above the last. */
interface BatchId {
  readonly instance: string
  readonly batch: bigint
}

/** One call of `till()`, with the items of its parameters p_settle and p_admit. */
export function tillCall(
  { instance, batch }: BatchId,
  { settle, admit }: { readonly settle: readonly object[]; readonly admit: readonly object[] },
): PreparedStatement<TillRow> {
  return {
    name: 'till',
    text: 'select * from till($1, $2, $3, $4)',
    values: [instance, batch, JSON.stringify(settle), JSON.stringify(admit)],
  }
}

/** What one call of `exchange_timed()` carries. `charges` are rows of the type timed_charge. */
interface Exchange {
  readonly accounts: readonly Report[]
  readonly keys: readonly KeyReport[]
  readonly charges: readonly string[]
  /** Items of the parameter p_holds of `exchange_moving()`. */
  readonly holds: readonly object[]
}

/** One call of `exchange_timed()`, or of `exchange_moving()` if there are holds. */
export function exchangeCall(
  { instance, batch }: BatchId,
  { accounts, keys, charges, holds }: Exchange,
): PreparedStatement<Renewal> {
  const reports = [rowsText(accounts.map(reportRow)), rowsText(charges), rowsText(keys.map(keyReportRow))]
  const values = [instance, batch, ...reports]
  if (holds.length === 0) {
    return { name: 'exchange', text: 'select * from exchange_timed($1, $2, $3, $4, $5)', values }
  }
  const text = 'select * from exchange_moving($1, $2, $3, $4, $5, $6)'
  return { name: 'exchange_moving', text, values: [...values, JSON.stringify(holds)] }
}
