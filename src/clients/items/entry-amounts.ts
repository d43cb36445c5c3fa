import { formatMoney } from '../../billing/prices/money.ts'
import { parseDecimal } from '../../platform/text/decimal.ts'
import { Problem } from '../../platform/problems.ts'

/** The decimals of prices on invoices. */
const priceDecimals = 6
const perPriceUnit = 1_000_000n

/** A price with at most six decimals, in 10⁻¹² of the currency unit. Throws Problem `invalid_field`. */
export function entryPrice(text: string, field: string, { least, most }: { least: bigint; most: bigint }): string {
  const amount = read(text, field) * perPriceUnit
  if (amount >= least && amount <= most) return String(amount)
  const lower = least === 0n ? 'must not be negative' : 'must be above 0'
  const reason = amount > most ? `must be at most ${formatMoney(most)}` : lower
  throw new Problem('invalid_field', `The field ${field} ${reason}.`, { field })
}

function read(text: string, field: string): bigint {
  try {
    return parseDecimal(text, priceDecimals)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new Problem('invalid_field', `The field ${field} ${error.message}.`, { field })
  }
}
