const known = new Map<string, number>()

/** The decimals in which amounts of a currency are paid (Unicode CLDR): 2 for EUR, 0 for JPY, 3 for KWD. */
export function decimalsOf(currency: string): number {
  const before = known.get(currency)
  if (before !== undefined) return before
  const format = new Intl.NumberFormat('en', { style: 'currency', currency })
  const decimals = format.resolvedOptions().maximumFractionDigits ?? 2
  known.set(currency, decimals)
  return decimals
}
