import { isJsonObject, type Json } from '../../platform/text/json.ts'
import { parseExactDecimal, type ExactDecimal } from '../../platform/text/exact-decimal.ts'
import { quotedIfHidden, quoted } from '../../platform/text/one-line.ts'
import type { ListedField, ListEntry, ListedPlace, ListedPrices, ListedRule } from './list-entry.ts'

/** How the fields of a list are read. */
interface FieldRules {
  /** The fields with the prices per token. */
  readonly prices: Readonly<Record<keyof ListedPrices, string>>
  /** The place of a field in the rules of a price. */
  readonly placeOf: (field: string) => ListedPlace | undefined
  /** Whether a field says nothing about prices. */
  readonly isOther: (field: string) => boolean
  /** Fields that cost as much as output, unless the list says otherwise: reasoning is output. */
  readonly asOutput: readonly string[]
}

/**
 * Reads the prices of one model from fields whose numbers are the texts of the list. A field that is neither a price of this
 * version nor known to be none is named, unless it is zero or absent: a list may charge for what nobody has heard of yet. A
 * negative price stands for one that depends on the request.
 */
export function readListedFields(
  fields: Json,
  rules: FieldRules,
): Pick<ListEntry, 'prices' | 'rules' | 'unpriced' | 'faults'> {
  const prices: { -readonly [Part in keyof ListedPrices]: ExactDecimal } = {}
  const faults: string[] = []
  for (const part of ['input', 'output', 'cachedInput', 'cacheWrite'] as const) {
    const value = fields[rules.prices[part]]
    if (value === undefined || value === null) continue
    try {
      const price = parseExactDecimal(typeof value === 'string' ? value : '')
      if (price.digits >= 0n) prices[part] = price
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      faults.push(`${rules.prices[part]} ${textOfField(value)} ${error.message}`)
    }
  }
  const priced = new Set(Object.values(rules.prices))
  const output = fields[rules.prices.output]
  const further = Object.entries(fields).flatMap(([field, value]): (ListedField | ListedRule)[] => {
    const isPrice = priced.has(field) && !String(value).startsWith('-')
    if (isPrice || rules.isOther(field) || isNothing(value)) return []
    if (rules.asOutput.includes(field) && value === output) return []
    const listed = { field: quotedIfHidden(field), value: textOfField(value) }
    const place = priced.has(field) ? undefined : rules.placeOf(field)
    if (place === undefined || typeof value !== 'string') return [listed]
    try {
      const price = parseExactDecimal(value)
      return [price.digits > 0n ? { ...listed, price, place } : listed]
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      faults.push(`${listed.field} ${listed.value} ${error.message}`)
      return []
    }
  })
  return { prices, rules: further.filter(isRule), unpriced: further.filter((each) => !isRule(each)), faults }
}

const isRule = (each: ListedField | ListedRule): each is ListedRule => 'place' in each

function isNothing(value: unknown): boolean {
  if (value === null || value === false || value === '') return true
  if (typeof value === 'object') return Object.keys(value).length === 0
  return typeof value === 'string' && /^-?0+(?:\.0+)?(?:[eE][+-]?\d+)?$/.test(value)
}

const longestValue = 120

function textOfField(value: unknown): string {
  const text = typeof value === 'string' && !/[^\w.+-]/.test(value) ? value : quoted(plainText(value))
  return text.length > longestValue ? `${text.slice(0, longestValue)}…` : text
}

const plainText = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : isJsonObject(value) || Array.isArray(value)
      ? JSON.stringify(value)
      : String(value)
