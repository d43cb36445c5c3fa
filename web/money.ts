import { isDecimal } from '../src/platform/text/decimal.ts'
import { currencyText, roundedCurrencyText } from './locale.ts'

/** An amount with its currency: `€1,250.00`, `¥1,250`, `-€5.00`. Exact: the decimals are never read as a number. */
export function moneyText(amount: string, currency: string): string {
  return isDecimal(amount) ? currencyText(amount, currency) : `${amount} ${currency}`
}

/** The same, rounded to the decimals of the currency. */
export function roundedMoneyText(amount: string, currency: string): string {
  return isDecimal(amount) ? roundedCurrencyText(amount, currency) : `${amount} ${currency}`
}
