import { columnText } from '../../platform/database/rows.ts'
import type { Report } from '../allowances/allowance-reports.ts'
import type { HoldRequest, Charge, Tags } from './till.ts'

/** A row of the type account_report, as text. The ledger says what was charged. */
export const accountReportRow = (report: Report): string => `(${report.id},0,${columnsOf(report)})`

/** A row of the type key_report, as text. */
export const keyReportRow = (report: Report): string => `(${report.id},${columnsOf(report)})`

const columnsOf = (report: Report): string =>
  `${report.requests_back},${report.tokens_back},${report.held},${report.credit},${report.requests},` +
  `${report.tokens},${report.at_hand},${report.cost},${report.need},` +
  `${report.more_credit},${report.more_requests},${report.more_tokens}`

/** A row of the type timed_charge, as text. `cost` is in 10⁻¹² of the currency unit. */
export function chargeRow({ requestId, payer, model, ...held }: HoldRequest, charge: Charge, cost: bigint): string {
  const price = charge.terms?.prices ?? held.price
  return (
    `(${requestId},${payer.accountId},${payer.keyId ?? ''},${payer.personId ?? ''},` +
    `${columnText(model)},${columnText(payer.clientId)},` +
    `${charge.inputTokens},${charge.outputTokens},${price.input},${price.output},${cost},` +
    `${charge.stopReason},${charge.source},0,0,${charge.milliseconds},` +
    `${charge.cachedTokens || ''},${charge.cacheWriteTokens || ''},` +
    `${price.cachedInput ?? ''},${price.cacheWrite ?? ''},${tagsText(charge.tags)})`
  )
}

const tagsText = (tags: Tags | undefined): string => (tags === undefined ? '' : columnText(JSON.stringify(tags)))
