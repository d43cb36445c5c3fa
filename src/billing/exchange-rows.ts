import { columnText } from '../platform/database/rows.ts'
import type { Report } from './stock.ts'
import type { Ask, Charge } from './till.ts'

/** A row of the type account_report, for `exchange()`. */
export const reportRow = (report: Report): string =>
  `(${report.account},${report.charged},${report.requests_back},${report.tokens_back},${report.held},${report.credit},` +
  `${report.requests},${report.tokens},${report.at_hand},${report.cost},${report.need},` +
  `${report.more_credit},${report.more_requests},${report.more_tokens})`

/** A row of the type charge, for `exchange()`; `cost` in 10⁻¹² of the currency unit. */
export const chargeRow = (ask: Ask, charge: Charge, cost: bigint): string =>
  `(${ask.requestId},${ask.accountId},${ask.keyId},${columnText(ask.model)},${columnText(ask.clientId)},` +
  `${charge.inputTokens},${charge.outputTokens},${ask.price.input},${ask.price.output},${cost},` +
  `${charge.stopReason},${charge.source})`
