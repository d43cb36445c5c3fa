import type { PreparedStatement } from '../platform/database/batch.ts'
import { rowsText } from '../platform/database/rows.ts'
import type { Renewal } from './allowances.ts'
import { reportRow } from './exchange-rows.ts'
import type { Report } from './stock.ts'
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

/** One call of `exchange_timed()`. `charges` are rows of the type timed_charge. */
export function exchangeCall(
  { instance, batch }: BatchId,
  reports: readonly Report[],
  charges: readonly string[],
): PreparedStatement<Renewal> {
  return {
    name: 'exchange',
    text: 'select * from exchange_timed($1, $2, $3, $4)',
    values: [instance, batch, rowsText(reports.map(reportRow)), rowsText(charges)],
  }
}
