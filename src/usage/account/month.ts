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
  const projected = elapsed < day ? null : formatMoney(roughly((charged * whole) / elapsed))
  return { from, to, charged: formatMoney(charged), projected }
}

const unit = 10n ** 12n

/** To cents, or to the second digit of less than one unit: more digits would look exact. */
function roughly(amount: bigint): bigint {
  const step = 10n ** BigInt(amount < unit ? Math.max(0, amount.toString().length - 2) : 10)
  return ((amount + step / 2n) / step) * step
}
