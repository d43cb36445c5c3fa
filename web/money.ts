/** An amount with its currency: `€1,250.00`, `¥1,250`. Exact: the decimals are never read as a number. */
export function moneyText(amount: string, currency: string): string {
  return isDecimal(amount) ? formatOf(currency).format(amount) : `${amount} ${currency}`
}

const formats = new Map<string, Intl.NumberFormat>()

function formatOf(currency: string): Intl.NumberFormat {
  const before = formats.get(currency)
  if (before) return before
  const style = { style: 'currency', currency } as const
  const { minimumFractionDigits = 2 } = new Intl.NumberFormat('en-GB', style).resolvedOptions()
  const format = new Intl.NumberFormat('en-GB', { ...style, minimumFractionDigits, maximumFractionDigits: 12 })
  formats.set(currency, format)
  return format
}

function isDecimal(text: string): text is `${number}` {
  return /^\d+(?:\.\d+)?$/.test(text)
}
