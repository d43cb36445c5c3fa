import { formatMoney } from '../billing/money.ts'

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

const known = new Map<string, number>()

/** The decimals of a currency: 2 for EUR, 0 for JPY, 3 for KWD. */
function decimalsOf(currency: string): number {
  const before = known.get(currency)
  if (before !== undefined) return before
  const format = new Intl.NumberFormat('en', { style: 'currency', currency })
  const decimals = format.resolvedOptions().maximumFractionDigits ?? 2
  known.set(currency, decimals)
  return decimals
}
