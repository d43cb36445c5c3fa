import { formatMoney } from '../../billing/prices/money.ts'
import type { AccountUsageReport } from './schema.ts'
import type { AccountMonth } from './store.ts'

const day = 86_400n

/** What the month has cost, and what it costs in all if it goes on like this. */
export function presentMonth({
  from,
  to,
  charged,
  elapsed,
  whole,
}: Omit<AccountMonth, 'id'>): AccountUsageReport['month'] {
  // After a few hours, one program that was tried would make a whole month of itself.
  const projected = elapsed < day ? null : formatMoney((charged * whole) / elapsed)
  return { from, to, charged: formatMoney(charged), projected }
}
