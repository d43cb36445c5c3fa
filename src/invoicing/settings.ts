import { decimalsOf } from '../platform/text/currency.ts'
import type { Config } from '../platform/config/config.ts'
import type { Tax } from './arithmetic.ts'

/** The firm on an invoice, as it is when the invoice is issued. */
export interface Seller {
  readonly name: string
  readonly address: readonly string[]
  readonly email: string | null
  readonly phone: string | null
  readonly website: string | null
  readonly tax_number: string | null
  readonly bank: { readonly name: string; readonly iban: string; readonly bic: string | null } | null
  /** Its country (ISO 3166-1), and the locale of its paper. Absent if the invoice was issued before they were kept. */
  readonly country?: string
  readonly locale?: string
}

/** How this installation invoices, from its configuration. */
export interface InvoiceSettings {
  readonly currency: string
  /** The decimals of the currency. */
  readonly decimals: number
  /** The patterns of numbers. */
  readonly numbers: { readonly invoice: string; readonly credit_note: string }
  readonly dueDays: number
  readonly timeZone: string
  readonly locale: string
  /** By id. The first is the default. */
  readonly taxes: ReadonlyMap<string, Tax>
  /** On the cost of letters, in hundredths of a per cent. */
  readonly markup: number
  /** Undefined while the configuration has no `firm.name`. */
  readonly seller: Seller | undefined
}

const noTax: Tax = Object.freeze({ category: 'O', rate: 0, reason: 'Not subject to tax' })

export function invoiceSettings({
  currency,
  firm,
  invoicing,
}: Pick<Config, 'currency' | 'firm' | 'invoicing'>): InvoiceSettings {
  const taxes = invoicing.tax.map(
    ({ id, category, rate, reason = null }) => [id, Object.freeze({ category, rate, reason })] as const,
  )
  return Object.freeze({
    currency,
    decimals: decimalsOf(currency),
    numbers: { invoice: invoicing.number, credit_note: invoicing.credit_note_number },
    dueDays: invoicing.due_days,
    timeZone: firm.time_zone,
    locale: firm.locale,
    markup: invoicing.markup_percent,
    taxes: new Map(taxes.length === 0 ? [['none', noTax]] : taxes),
    seller: firm.name === undefined ? undefined : sellerOf(firm, firm.name, invoicing),
  })
}

function sellerOf(firm: Config['firm'], name: string, { tax_number, bank }: Config['invoicing']): Seller {
  return {
    name,
    address: [...firm.address],
    email: firm.email ?? null,
    phone: firm.phone ?? null,
    website: firm.website ?? null,
    tax_number: tax_number ?? null,
    bank: bank === undefined ? null : { name: bank.name ?? name, iban: bank.iban, bic: bank.bic ?? null },
    country: firm.country ?? new Intl.Locale(firm.locale).maximize().region ?? 'ZZ',
    locale: firm.locale,
  }
}

/** A series of numbers: invoices with the same text around their numbers are numbered together. */
export interface NumberSeries {
  /** The text with a place for the number: `INV-2026-{number}`. */
  readonly name: string
  /** The fewest digits of a number. */
  readonly digits: number
}

/** The series of a pattern such as `INV-{year}-{number:4}` (`invoicing.number` of the configuration) in a year. */
export function numberSeries(pattern: string, year: number): NumberSeries {
  const [, digits = '1'] = /\{number:(\d)\}/.exec(pattern) ?? []
  const name = pattern.replaceAll('{year}', String(year)).replace(/\{number(?::\d)?\}/, '{number}')
  return { name, digits: Number(digits) }
}
