import { isDecimal } from '../src/platform/text/decimal.ts'
import { decimalMarkOf, type DecimalMark } from '../src/platform/text/typed-amount.ts'

/**
 * The firm's locale and time zone. Every date, time and number on the pages is written here. The words around them are
 * English in each locale.
 */

/** The firm's settings, as the server embeds them in the page. */
export interface FirmSettings {
  /** BCP 47, such as `de-CH`. */
  readonly locale: string
  /** A name of the IANA database. */
  readonly time_zone: string
}

let firm: FirmSettings = { locale: 'en-GB', time_zone: 'UTC' }
let formats = formatsFor(firm)
const currencies = new Map<string, Intl.NumberFormat>()

/** Called once, before anything is written. Without it, the defaults of the configuration apply. */
export function setFirm(settings: FirmSettings): void {
  firm = settings
  formats = formatsFor(settings)
  currencies.clear()
}

function formatsFor({ locale, time_zone: timeZone }: FirmSettings) {
  const day = { day: 'numeric', month: 'short', year: 'numeric' } as const
  const month = { month: 'long', year: 'numeric', timeZone: 'UTC' } as const
  const minute = { hour: '2-digit', minute: '2-digit' } as const
  return {
    day: new Intl.DateTimeFormat(locale, { ...day, timeZone }),
    date: new Intl.DateTimeFormat(locale, { ...day, timeZone: 'UTC' }),
    weekday: new Intl.DateTimeFormat(locale, { weekday: 'long', day: 'numeric', month: 'long', timeZone: 'UTC' }),
    month: new Intl.DateTimeFormat(locale, month),
    exact: new Intl.DateTimeFormat(locale, { ...day, month: 'long', ...minute, timeZone, timeZoneName: 'short' }),
    precise: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium', timeZone }),
    number: new Intl.NumberFormat(locale),
    decimal: new Intl.NumberFormat(locale, { maximumFractionDigits: 12 }),
    tenths: new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 }),
    percent: new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 }),
    growth: new Intl.NumberFormat(locale, { style: 'percent', signDisplay: 'exceptZero' }),
  }
}

/** How people at the firm separate decimals. */
export const decimalMark = (): DecimalMark => decimalMarkOf(firm.locale)

export const timeZoneName = (): string => firm.time_zone

/** The day of an instant: `14 Nov 2026`. */
export const dayText = (time: Date): string => formats.day.format(time)

/** A calendar date, the same in each time zone: `2026-03-12` → `12 Mar 2026`. */
export const dateText = (date: string): string => formats.date.format(new Date(date))

/** A calendar date with its day of the week: `2026-03-12` → `Thursday 12 March`. */
export const weekdayText = (date: string): string => formats.weekday.format(new Date(date))

/** `2026-03` → `March 2026`. */
export const monthText = (month: string): string => formats.month.format(new Date(month))

/** A time to the minute, with the zone: `12 March 2026 at 14:05 UTC`. */
export const exactTime = (time: string): string => formats.exact.format(new Date(time))

/** A time to the second, without the zone, for comparing. */
export const preciseTime = (time: string): string => formats.precise.format(new Date(time))

export const numberText = (value: number): string => formats.number.format(value)

/** An exact decimal with all its digits: `1250.000001` → `1,250.000001`. */
export const decimalText = (decimal: string): string => (isDecimal(decimal) ? formats.decimal.format(decimal) : decimal)

/**
 * A reason of the server, which writes for programs, with its days and numbers as the firm writes them: `5308.38` → `5.308,38`.
 * What it quotes remains as it is, and so do times, versions and addresses.
 */
export function reasonText(reason: string): string {
  return reason.replaceAll(writtenForPrograms, (text) => {
    if (text.startsWith('"')) return text
    if (isDay.test(text)) return dateText(text)
    const decimals = text.split('.')[1]?.length ?? 0
    return isDecimal(text) ? new Intl.NumberFormat(firm.locale, { minimumFractionDigits: decimals }).format(text) : text
  })
}

const isDay = /^\d{4}-\d{2}-\d{2}$/
/** A short whole number is the same in all locales. */
const writtenForPrograms = /"[^"]*"|(?<![\w.-])(?:\d{4}-\d{2}-\d{2}|-?\d+\.\d+|-?\d{5,})(?![\w-]|\.\d)/g

/** With exactly one decimal: `2.5`. */
export const tenthsText = (value: number): string => formats.tenths.format(value)

/** A share of 1, to a tenth of a percent: `12.5%`. */
export const percentText = (share: number): string => formats.percent.format(share)

/** A change as a share of 1, to a percent: `+12%`. */
export const growthText = (share: number): string => formats.growth.format(share)

/** An exact decimal as money, with the decimals of the currency, or more if it needs them. */
export function currencyText(decimal: `${number}`, currency: string): string {
  const format = currencies.get(currency) ?? currencyFormat(currency)
  currencies.set(currency, format)
  return format.format(decimal)
}

/** The same, rounded half to even to the decimals of the currency: for sums that are read, not added up. */
export const roundedCurrencyText = (decimal: `${number}`, currency: string): string =>
  new Intl.NumberFormat(firm.locale, { style: 'currency', currency, roundingMode: 'halfEven' }).format(decimal)

function currencyFormat(currency: string): Intl.NumberFormat {
  const style = { style: 'currency', currency } as const
  const { minimumFractionDigits = 2 } = new Intl.NumberFormat(firm.locale, style).resolvedOptions()
  return new Intl.NumberFormat(firm.locale, { ...style, minimumFractionDigits, maximumFractionDigits: 12 })
}
