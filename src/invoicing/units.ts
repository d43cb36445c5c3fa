import { quotientHalfEven } from '../platform/text/decimal.ts'
import type { InvoiceLine } from './document.ts'
import type { Unit } from './schema.ts'

/**
 * For how many units the price of a line is. Minutes have the price of an hour, because the price of a minute is often no
 * decimal number. The same as `price_base()` in the database.
 */
export function priceBase(unit: Unit): bigint {
  return unit === 'minute' ? 60n : unit === 'lump_sum' ? 1_000_000n : 1n
}

/** The decimals of the price of a unit, of which `unitPrice` is the integer. A lump sum is exact to 10⁻¹². */
export function priceDecimals(unit: Unit): number {
  return unit === 'lump_sum' ? 12 : 6
}

const one = 1_000_000n

/**
 * The price of a line as the buyer sees it, in 10⁻⁶. A single lump sum costs its net amount, whatever it was computed from to
 * twelve decimals.
 */
export function shownPrice({
  quantity,
  unit,
  unitPrice,
  net,
}: Pick<InvoiceLine, 'quantity' | 'unit' | 'unitPrice' | 'net'>): bigint {
  if (unit !== 'lump_sum') return unitPrice
  return quantity === one ? net / one : quotientHalfEven(unitPrice, priceBase(unit))
}
