import { formatMoney, parseMoney } from '../billing/prices/money.ts'
import { decimalsOf } from '../platform/text/currency.ts'

/**
 * An amount from the database, with at least the decimals of its currency (ISO 4217): `1250.00` EUR, `1250` JPY. Null
 * without an amount.
 */
export function shownMoney(amount: unknown, currency: string): string | null {
  if (typeof amount !== 'string') return null
  const [whole = '', fraction = ''] = formatMoney(BigInt(amount)).split('.')
  const decimals = fraction.padEnd(decimalsOf(currency), '0')
  return decimals === '' ? whole : `${whole}.${decimals}`
}

/** In 10⁻¹² of the currency unit. */
export function minorUnitOf(currency: string): bigint {
  return parseMoney('1') / 10n ** BigInt(decimalsOf(currency))
}
