import { quotientHalfEven } from '../platform/text/decimal.ts'

/**
 * The arithmetic of an invoice (EN 16931 section 6.4.3). All amounts are integers in 10⁻¹² of the currency unit. A line is
 * exact until it is rounded once, half to even, to the minor unit of the currency. The pages are built with this file: it
 * imports only what they may.
 */

/** How a line is taxed. The categories are those of UNCL 5305. */
export interface Tax {
  /** S: standard or reduced rate; Z: zero; E: exempt; AE: reverse charge; K: intra-community; G: export; O: outside the scope. */
  readonly category: 'S' | 'Z' | 'E' | 'AE' | 'K' | 'G' | 'O'
  /** In hundredths of a per cent: 1900 is 19 %. */
  readonly rate: number
  /** Why no tax is due; null for S and Z. */
  readonly reason: string | null
}

export interface LineAmounts {
  /** Quantity times price, to 10⁻¹² of the currency unit. */
  readonly exact: bigint
  /** `exact`, rounded to the minor unit. */
  readonly net: bigint
}

export interface TaxedLine extends LineAmounts {
  readonly tax: Tax
}

/** The lines of one category and rate together. */
export interface TaxGroup extends Tax {
  readonly net: bigint
  /** `net` times the rate, rounded to the minor unit. */
  readonly tax: bigint
}

export interface InvoiceTotals {
  readonly net: bigint
  readonly tax: bigint
  /** `net` plus `tax`. */
  readonly gross: bigint
  /** What rounding the lines added to their exact sum, or took from it. */
  readonly rounding: bigint
  readonly taxes: readonly TaxGroup[]
}

/** Decimals of an amount. */
const scale = 12

/** The minor unit of a currency with these decimals. */
export const minorUnit = (decimals: number): bigint => 10n ** BigInt(scale - decimals)

/**
 * `quantity` in 10⁻⁶ of its unit, `price` in 10⁻⁶ of the currency unit for `base` units. `net` is rounded from the quotient
 * itself, not from `exact`.
 */
export function lineAmounts(quantity: bigint, price: bigint, decimals: number, base = 1n): LineAmounts {
  const unit = minorUnit(decimals)
  const product = quantity * price
  return { exact: quotientHalfEven(product, base), net: quotientHalfEven(product, base * unit) * unit }
}

/** What earlier credit notes took off a line. */
export interface CreditedPart {
  readonly quantity: bigint
  readonly net: bigint
}

/**
 * The next part of a line to credit. All parts together are rounded as one amount, so that they sum to the line
 * when nothing of it is left, however it was divided.
 */
export function creditAmounts(
  quantity: bigint,
  { price, base = 1n, decimals }: { readonly price: bigint; readonly base?: bigint; readonly decimals: number },
  before: CreditedPart,
): LineAmounts {
  const { net } = lineAmounts(before.quantity + quantity, price, decimals, base)
  return { exact: lineAmounts(quantity, price, decimals, base).exact, net: net - before.net }
}

/** What earlier credit notes took off the lines of one category and rate. */
export type CreditedTax = Pick<TaxGroup, 'category' | 'rate' | 'net' | 'tax'>

/** The taxes of a credit note are rounded together with those of the credit notes before it, as its lines are. */
export function totalsOf(
  lines: readonly TaxedLine[],
  decimals: number,
  credited: readonly CreditedTax[] = [],
): InvoiceTotals {
  const taxes = taxGroups(lines, decimals, credited)
  const net = sumOf(lines, (line) => line.net)
  const tax = sumOf(taxes, (group) => group.tax)
  return { net, tax, gross: net + tax, rounding: net - sumOf(lines, ({ exact }) => exact), taxes }
}

/** In the order of their first lines. A group has the reasons of all its lines: the standard (BG-23) has one group for a category and rate. */
function taxGroups(lines: readonly TaxedLine[], decimals: number, credited: readonly CreditedTax[]): TaxGroup[] {
  const unit = minorUnit(decimals)
  const groups = Map.groupBy(lines, ({ tax }) => `${tax.category} ${tax.rate}`)
  return [...groups.values()].flatMap((same) => {
    const [first] = same
    if (first === undefined) return []
    const { category, rate } = first.tax
    const before = credited.find((each) => each.category === category && each.rate === rate)
    const net = sumOf(same, (line) => line.net)
    const all = quotientHalfEven((net + (before?.net ?? 0n)) * BigInt(rate), 10_000n * unit) * unit
    return [{ category, rate, reason: reasonOf(same), net, tax: all - (before?.tax ?? 0n) }]
  })
}

function reasonOf(lines: readonly TaxedLine[]): string | null {
  const reasons = new Set(lines.flatMap(({ tax }) => tax.reason ?? []))
  return reasons.size === 0 ? null : [...reasons].join('; ')
}

function sumOf<Item>(items: readonly Item[], read: (item: Item) => bigint): bigint {
  return items.reduce((sum, item) => sum + read(item), 0n)
}
