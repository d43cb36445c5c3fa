import { zonedTime } from '../../platform/text/calendar.ts'
import type { Config } from '../../platform/config/config.ts'
import { decimalsOf } from '../../platform/text/currency.ts'
import { isDecimal } from '../../platform/text/decimal.ts'
import type { Column } from './output.ts'

/** Writes numbers, amounts and times as the firm does, for people. `--json` has plain decimals and times in UTC. */
export interface Format {
  /** `1,234` */
  number(this: void, value: number): string
  /** A number with its noun: `1 client`, `1,234 clients`. */
  count(this: void, value: number, what: string): string
  /** An exact decimal as it is: `1,234.5`. */
  decimal(this: void, decimal: string): string
  /** An exact decimal with the decimals of the currency, or more if it needs them: `1,234.50`. */
  amount(this: void, decimal: string): string
  /** An amount with its currency: `1,234.50 USD`. */
  money(this: void, decimal: string): string
  /** A time to the minute, with the offset from UTC: `2026-03-12 15:05+01:00`. */
  minute(this: void, time: Date | null): string
  /** A time to the second, with the offset. */
  second(this: void, time: Date): string
  numberColumn<Row>(this: void, title: string, read: (row: Row) => number | null): Column<Row>
  /**
   * A column of amounts, each an exact decimal or '' for none. All have the same number of decimals: those of the
   * currency, or more if one of them needs them.
   */
  amountColumn<Row>(this: void, title: string, rows: readonly Row[], read: (row: Row) => string): Column<Row>
}

interface FormatNeeds {
  config(): Promise<Pick<Config, 'currency'> & { readonly firm: Pick<Config['firm'], 'locale' | 'time_zone'> }>
}

/** With the currency, the locale and the time zone of the configuration. */
export async function formatFor(context: FormatNeeds): Promise<Format> {
  const { currency, firm } = await context.config()
  const { locale, time_zone: timeZone } = firm
  const numbers = new Intl.NumberFormat(locale)
  const places = decimalsOf(currency)
  const amountWith = (least: number) => {
    const decimals = new Intl.NumberFormat(locale, { minimumFractionDigits: least, maximumFractionDigits: 12 })
    return (decimal: string) => (isDecimal(decimal) ? decimals.format(decimal) : decimal)
  }
  const amount = amountWith(places)
  const time = (at: Date, unit: 'minute' | 'second') => zonedTime(at, timeZone, unit).replace('T', ' ')

  return Object.freeze<Format>({
    number: (value) => numbers.format(value),
    count: (value, what) => `${numbers.format(value)} ${what}${value === 1 ? '' : 's'}`,
    decimal: amountWith(0),
    amount,
    money: (decimal) => `${amount(decimal)} ${currency}`,
    minute: (at) => (at === null ? '-' : time(at, 'minute')),
    second: (at) => time(at, 'second'),
    numberColumn: <Row>(title: string, read: (row: Row) => number | null) => ({
      title,
      text: (row: Row) => {
        const value = read(row)
        return value === null ? '' : numbers.format(value)
      },
      right: true as const,
    }),
    amountColumn<Row>(title: string, rows: readonly Row[], read: (row: Row) => string) {
      const text = amountWith(Math.max(places, ...rows.map((row) => read(row).split('.')[1]?.length ?? 0)))
      return { title: `${title} (${currency})`, text: (row: Row) => text(read(row)), right: true as const }
    },
  })
}
