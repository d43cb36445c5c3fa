import { currencyText } from './locale.ts'

/** An amount with its currency: `€1,250.00`, `¥1,250`. Exact: the decimals are never read as a number. */
export function moneyText(amount: string, currency: string): string {
  return isDecimal(amount) ? currencyText(amount, currency) : `${amount} ${currency}`
}

function isDecimal(text: string): text is `${number}` {
  return /^\d+(?:\.\d+)?$/.test(text)
}
