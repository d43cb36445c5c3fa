import { quotientHalfEven } from '../platform/text/decimal.ts'
import type { InvoiceTotals, TaxedLine } from './arithmetic.ts'
import type { Unit } from './schema.ts'
import type { Seller } from './settings.ts'

/** The first and the last day of what an invoice is for. */
export interface Supply {
  readonly from: string
  readonly to: string
}

/** The parts of a buyer's address (BG-8). */
export interface BuyerPlace {
  readonly street: string | null
  readonly extra: string | null
  readonly postcode: string | null
  readonly city: string | null
  /** ISO 3166-1. */
  readonly country: string | null
}

/** Who pays, as an invoice states it. */
export interface InvoiceBuyer {
  readonly name: string
  readonly address: string | null
  readonly taxNumber: string | null
  /** The parts of the address; null if it was written in a draft. */
  readonly place: BuyerPlace | null
  /** What the buyer wants on the invoice (BT-10), and the number of its order (BT-13). */
  readonly reference: string | null
  readonly orderNumber: string | null
}

/** What is counted in tokens. */
export type TokenDirection = 'input' | 'output' | 'cached_input' | 'cache_write' | 'cache_write_1h'
/** What is counted one by one. */
export type UseDirection = 'image' | 'web_search'

/** A line of an invoice. */
export interface InvoiceLine extends TaxedLine {
  readonly position: number
  readonly source: 'usage' | 'fee' | 'credit' | 'time' | 'expense' | 'letters'
  readonly text: string
  /** In 10⁻⁶ of the unit. */
  readonly quantity: bigint
  readonly unit: Unit
  /** For `priceBase(unit)` units, with `priceDecimals(unit)` decimals. */
  readonly unitPrice: bigint
  /** For usage: the model and what of it was billed. */
  readonly model: string | null
  readonly direction: TokenDirection | UseDirection | null
  /** For time and expenses: the entry, and its version. */
  readonly entry?: { readonly id: string; readonly version: number } | null
  /** For letters: their month, by its first day, and the mark-up in hundredths of a per cent. */
  readonly letters?: { readonly month: string; readonly markup: number } | null
  /** The line of the invoice that a credit note credits. */
  readonly creditsPosition: number | null
}

/**
 * An invoice or a credit note as it goes to the buyer: everything that a page, a PDF or an XML file of it shows. Amounts
 * are in 10⁻¹² of the currency unit.
 */
export interface InvoiceDocument {
  readonly kind: 'invoice' | 'credit_note'
  /** Null for a draft, as are the dates and the seller. */
  readonly number: string | null
  readonly issuedOn: string | null
  readonly dueOn: string | null
  readonly seller: Seller | null
  readonly buyer: InvoiceBuyer
  /** The language of a draft; null: that of the firm. An issued invoice has its locale in the seller. */
  readonly language: string | null
  /** The first day of the month that it bills. */
  readonly month: string | null
  /** The days of supply; null for a draft that bills no day, and for an invoice that was issued before they were kept. */
  readonly supply: Supply | null
  /** The number of the invoice that a credit note corrects. */
  readonly creditsNumber: string | null
  readonly currency: string
  readonly decimals: number
  readonly note: string
  readonly lines: readonly InvoiceLine[]
  readonly totals: InvoiceTotals
}

/**
 * For how many units the price of a line is. Minutes have the price of an hour, because the price of a minute is often no
 * decimal number. The same as `price_base()` in the database.
 */
export function priceBase(unit: Unit): bigint {
  return unit === 'minute' ? 60n : unit === 'lump_sum' ? 1_000_000n : 1n
}

/** How many a unit has of what an invoice counts one by one, such as tokens. Its price is for all of them. */
export function countIn(unit: Unit): bigint {
  return unit === 'million_tokens' ? 1_000_000n : unit === 'thousand_uses' ? 1000n : 1n
}

/** The decimals of the price of a unit, of which `unitPrice` is the integer. A lump sum is exact to 10⁻¹². */
export function priceDecimals(unit: Unit): number {
  return unit === 'lump_sum' ? 12 : 6
}

const one = 1_000_000n

/**
 * The price of a line as the buyer sees it, in 10⁻⁶. A single lump sum costs its net amount, whatever it was computed from to
 * twelve decimals.
 */
export function shownPrice({
  quantity,
  unit,
  unitPrice,
  net,
}: Pick<InvoiceLine, 'quantity' | 'unit' | 'unitPrice' | 'net'>): bigint {
  if (unit !== 'lump_sum') return unitPrice
  return quantity === one ? net / one : quotientHalfEven(unitPrice, priceBase(unit))
}
