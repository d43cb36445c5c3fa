import { formatDecimal, isDecimal } from '../../platform/text/decimal.ts'
import { moneyWith } from '../present.ts'

/** Writes the numbers and days of an invoice as its locale does, in digits and letters that the fonts of PDF files have. */
export interface InvoiceNumbers {
  /** An amount in 10⁻¹² of the unit: `1,234.50`. */
  readonly amount: (amount: bigint) => string
  /** With the code of the currency: `EUR 1,234.50`. */
  readonly money: (amount: bigint) => string
  /** A number in 10⁻⁶, with at least some decimals. */
  readonly decimal: (value: bigint, least: number) => string
  /** A rate in hundredths of a per cent: `8.1%`. */
  readonly rate: (rate: number) => string
  /** `YYYY-MM-DD` as `12 March 2026`. */
  readonly day: (day: string) => string
  /** The first day of a month as `March 2026`. */
  readonly month: (day: string) => string
}

export function invoiceNumbers(locale: string, currency: string, decimals: number): InvoiceNumbers {
  const latin = { numberingSystem: 'latn' }
  const lettered = letteredLocale(locale)
  const number = (options: Intl.NumberFormatOptions) => {
    const format = new Intl.NumberFormat(options.style === 'percent' ? lettered : locale, {
      ...latin,
      maximumFractionDigits: 12,
      ...options,
    })
    return (text: string) => (isDecimal(text) ? format.format(text) : text)
  }
  const date = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(lettered, { ...latin, calendar: 'gregory', timeZone: 'UTC', ...options })
    return (day: string) => format.format(new Date(`${day}T00:00:00Z`))
  }
  const exact = moneyWith(decimals)
  const plain = number({ minimumFractionDigits: decimals })
  const withCode = number({
    style: 'currency',
    currency,
    currencyDisplay: 'code',
    minimumFractionDigits: decimals,
  })
  const percent = number({ style: 'percent' })
  return {
    amount: (amount) => plain(exact(amount)),
    money: (amount) => withCode(exact(amount)),
    decimal: (value, least) => number({ minimumFractionDigits: least })(formatDecimal(value, 6)),
    rate: (rate) => percent(formatDecimal(BigInt(rate), 4)),
    day: date({ dateStyle: 'long' }),
    month: date({ month: 'long', year: 'numeric' }),
  }
}

/** The scripts of the fonts of PDF files. */
const scripts = new Set(['Latn', 'Grek', 'Cyrl'])

/** The locale for names of months and for signs. In another script they are English, as the words of the invoice are. */
export function letteredLocale(locale: string): string {
  return scripts.has(new Intl.Locale(locale).maximize().script ?? '') ? locale : 'en-GB'
}
