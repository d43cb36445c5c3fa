import type { ExactDecimal } from '../../platform/text/exact-decimal.ts'

/** The prices that this version has, in the units of the list's currency per token. */
export type ListedPrices = Partial<Readonly<Record<'input' | 'output' | 'cachedInput' | 'cacheWrite', ExactDecimal>>>

/** A model on a vendor's price list. */
export interface ListEntry {
  /** Its names on the list, the usual one first. */
  readonly names: readonly [string, ...string[]]
  /** Who sells it at this price, as the list names the vendor. */
  readonly provider?: string
  readonly prices: ListedPrices
  /** What else it charges for that the rules of a price can have. */
  readonly rules: readonly ListedRule[]
  /** What else the list charges for, or may: this version has no price for it. */
  readonly unpriced: readonly ListedField[]
  /** The fields that cannot be read, and why. */
  readonly faults: readonly string[]
}

/** A field of a list, with its value as the list writes it. */
export interface ListedField {
  readonly field: string
  readonly value: string
}

/** A price on a list that belongs in the rules of a price. */
export interface ListedRule extends ListedField {
  readonly price: ExactDecimal
  readonly place: ListedPlace
}

/** A part of the tokens, at a step or in a service tier, or each image or search. */
export interface ListedPlace {
  readonly part: keyof ListedPrices | 'cacheWriteHour' | 'image' | 'webSearch'
  /** Undefined: the standard one. */
  readonly tier?: string | undefined
  /** Of the step. Undefined: the first. */
  readonly above?: number | undefined
}

export interface PriceList {
  readonly format: 'litellm' | 'openrouter' | 'csv'
  /** Null: the list does not say. */
  readonly currency: string | null
  readonly models: readonly ListEntry[]
}
