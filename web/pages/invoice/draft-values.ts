import {
  lineAmounts,
  totalsOf,
  type InvoiceTotals,
  type LineAmounts,
  type Tax,
  type TaxedLine,
} from '../../../src/invoicing/arithmetic.ts'
import type { DraftOptions, InvoiceChange, NewLine, ShownInvoice } from '../../../src/invoicing/schema.ts'
import { parseDecimal } from '../../../src/platform/text/decimal.ts'
import { clearAmount, plainAmount } from '../../../src/platform/text/typed-amount.ts'
import { UnclearValue } from '../../fields.ts'
import { decimalMark } from '../../locale.ts'

/** A line as it is typed. */
export interface TypedLine {
  /** Remains the same while the line is moved. */
  readonly key: number
  readonly text: string
  readonly quantity: string
  readonly unit: NewLine['unit']
  readonly price: string
  /** The id of a tax of the configuration; '' for one that the configuration no longer has. */
  readonly tax: string
  /** The tax that the configuration no longer has. It counts until another one is chosen. */
  readonly formerTax?: ShownInvoice['lines'][number]['tax']
}

/** The editable values of a draft. */
export interface DraftValues {
  readonly lines: readonly TypedLine[]
  /** The names of the proposed lines that are left out, sorted. */
  readonly leftOut: readonly string[]
  readonly note: string
  readonly name: string
  readonly address: string
  readonly taxNumber: string
  readonly reference: string
  readonly orderNumber: string
  /** Empty: as the configuration has it. */
  readonly daysToPay: string
  /** Days. Empty: those of what the draft bills. */
  readonly supplyFrom: string
  readonly supplyTo: string
}

type Taxes = DraftOptions['taxes']

let keys = 0

export function emptyLine(taxes: Taxes): TypedLine {
  return { key: (keys += 1), text: '', quantity: '1', unit: 'hour', price: '', tax: taxes[0]?.id ?? '' }
}

export function newValues(taxes: Taxes): DraftValues {
  const head = { note: '', name: '', address: '', taxNumber: '', reference: '', orderNumber: '', daysToPay: '' }
  return { lines: [emptyLine(taxes)], leftOut: [], ...head, supplyFrom: '', supplyTo: '' }
}

/** The values of a draft. Of the buyer only what it does not take from its payer. */
export function valuesOfDraft(
  {
    lines,
    note,
    buyer,
    days_to_pay: days,
    supply,
  }: Pick<ShownInvoice, 'lines' | 'note' | 'buyer' | 'days_to_pay' | 'supply'>,
  { taxes, buyer: payers }: DraftOptions,
): DraftValues {
  return {
    lines: lines.filter(({ source }) => source === 'fee').map((line) => typedLine(line, taxes)),
    leftOut: [],
    note,
    name: own(buyer.name, payers?.name),
    address: own(buyer.address, payers?.address),
    taxNumber: own(buyer.tax_number, payers?.tax_number),
    reference: buyer.reference ?? '',
    orderNumber: buyer.order_number ?? '',
    daysToPay: days === null ? '' : String(days),
    supplyFrom: supply?.is_stated ? supply.from : '',
    supplyTo: supply?.is_stated ? supply.to : '',
  }
}

/** The reference to a proposed line that can be left out. */
export const nameOfLine = ({ entry, month }: ShownInvoice['lines'][number]): string | undefined =>
  entry ?? month ?? undefined

const own = (text: string | null, payers: string | null | undefined) => (text === null || text === payers ? '' : text)

function typedLine({ text, quantity, unit, unit_price: price, tax }: ShownInvoice['lines'][number], taxes: Taxes) {
  const same = taxes.find(
    ({ category, rate, reason }) => category === tax.category && rate === tax.rate && reason === tax.reason,
  )
  return {
    key: (keys += 1),
    text,
    quantity: clearAmount(quantity, decimalMark()),
    // No typed line is in minutes, or for what a model was used.
    unit: unit === 'minute' || unit === 'thousand_uses' ? ('piece' as const) : unit,
    price: clearAmount(price, decimalMark()),
    tax: same?.id ?? '',
    ...(same === undefined && { formerTax: tax }),
  }
}

/** Whether nothing was typed into a line. */
export const isBlank = ({ text, price }: TypedLine): boolean => text.trim() === '' && price.trim() === ''

export function isSameDraft(one: DraftValues, other: DraftValues): boolean {
  return JSON.stringify(withoutKeys(one)) === JSON.stringify(withoutKeys(other))
}

const withoutKeys = ({ lines, ...rest }: DraftValues) => ({
  ...rest,
  lines: lines.filter((line) => !isBlank(line)).map((line) => ({ ...line, key: 0 })),
})

/** The exact amounts of a line; undefined while it is incomplete. */
export function amountsOf({ quantity, price }: TypedLine, decimals: number): LineAmounts | undefined {
  try {
    const [many, each] = [parsed(quantity), parsed(price)]
    return many > 0n && each >= 0n ? lineAmounts(many, each, decimals) : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** In 10⁻⁶. Throws RangeError. */
const parsed = (typed: string): bigint => parseDecimal(plainAmount(typed, decimalMark()), 6)

/** The totals of the lines that are complete, with those that were proposed. */
export function typedTotals(
  proposed: ShownInvoice['lines'],
  lines: readonly TypedLine[],
  { taxes, decimals }: Pick<DraftOptions, 'taxes' | 'decimals'>,
): InvoiceTotals {
  const used = proposed.map(({ net, exact, tax }) => ({
    net: parseDecimal(net, 12),
    exact: parseDecimal(exact, 12),
    tax: taxOf(tax),
  }))
  const typed = lines.flatMap((line): TaxedLine[] => {
    const amounts = amountsOf(line, decimals)
    const tax = line.tax === '' ? line.formerTax : taxes.find(({ id }) => id === line.tax)
    return amounts && tax ? [{ ...amounts, tax: taxOf(tax) }] : []
  })
  return totalsOf([...used, ...typed], decimals)
}

/** A tax whose rate is in hundredths of a per cent. */
const taxOf = ({ category, rate, reason }: ShownInvoice['lines'][number]['tax']): Tax => ({
  category,
  rate: Number(parseDecimal(rate, 2)),
  reason,
})

/** The lines to send, without blank ones. Throws UnclearValue for an amount that could be two, and for a former tax. */
export function sentLines(lines: readonly TypedLine[]): NewLine[] {
  return lines
    .filter((line) => !isBlank(line))
    .map(({ text, quantity, unit, price, tax }, index) => ({
      text,
      quantity: plain(quantity, `lines[${index}].quantity`),
      unit,
      unit_price: plain(price, `lines[${index}].unit_price`),
      tax: configured(tax, `lines[${index}].tax`),
    }))
}

function configured(tax: string, field: string): string {
  if (tax === '') throw new UnclearValue(field, 'Choose another tax: this one is no longer configured.')
  return tax
}

function plain(typed: string, field: string): string {
  try {
    return plainAmount(typed, decimalMark())
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new UnclearValue(field, `The amount ${error.message}.`)
  }
}

/** The changes to the note, the buyer and the days of supply. An empty field follows the payer or the lines. */
export function sentHead(
  values: DraftValues,
  before: DraftValues,
): Pick<InvoiceChange, 'note' | 'buyer' | 'days_to_pay' | 'supply'> {
  const { supplyFrom, supplyTo } = values
  // One day is enough.
  const [from, to] = [supplyFrom || supplyTo, supplyTo || supplyFrom]
  const buyer = {
    name: changed(values.name, before.name),
    address: changed(values.address, before.address),
    tax_number: changed(values.taxNumber, before.taxNumber),
    reference: changed(values.reference, before.reference),
    order_number: changed(values.orderNumber, before.orderNumber),
  }
  const days = changed(values.daysToPay, before.daysToPay)
  const isBuyerChanged = Object.values(buyer).some((value) => value !== undefined)
  return {
    ...(values.note !== before.note && { note: values.note }),
    ...(days !== undefined && { days_to_pay: days === null ? null : wholeDays(days) }),
    ...((supplyFrom !== before.supplyFrom || supplyTo !== before.supplyTo) && {
      supply: from === '' ? null : { from, to },
    }),
    ...(isBuyerChanged && {
      buyer: Object.fromEntries(Object.entries(buyer).filter(([, value]) => value !== undefined)),
    }),
  }
}

function wholeDays(typed: string): number {
  if (/^\d{1,3}$/.test(typed)) return Number(typed)
  throw new UnclearValue('days_to_pay', 'Days to pay must be a whole number from 0 to 365.')
}

const changed = (typed: string, was: string) => (typed === was ? undefined : typed.trim() || null)

/** The number of a line among all, for the field of a refusal: the server does not get blank ones. */
export function lineOfField(field: string | undefined, lines: readonly TypedLine[]) {
  const [, index, name] = /^lines\[(\d+)\]\.(\w+)$/.exec(field ?? '') ?? []
  const line = index === undefined ? undefined : lines.filter((each) => !isBlank(each))[Number(index)]
  return line && name !== undefined ? { key: line.key, name } : undefined
}
