import { kindOf, type ModelKind } from '../../platform/config/config.ts'
import { price as priceFormat, usePrice } from '../../platform/config/values.ts'
import { formatDecimal } from '../../platform/text/decimal.ts'
import { exactUnits, nearestUnits, product, type ExactDecimal } from '../../platform/text/exact-decimal.ts'
import { quotedIfHidden } from '../../platform/text/one-line.ts'
import { formatPrice } from '../prices/money.ts'
import { priceFaults } from '../prices/price-rule.ts'
import { isSamePrice, type Price } from '../prices/price.ts'
import { listedEntry, type VendorModel } from './listed-name.ts'
import type { ListedField, ListEntry, ListedRule, PriceList } from './list-entry.ts'
import { rulesOnList } from './listed-rules.ts'

export type { VendorModel } from './listed-name.ts'

/** The price of a configured model on a list, in the currency of the configuration. */
export interface Suggestion {
  readonly model: string
  readonly kind: ModelKind
  /** Its name on the list. */
  readonly listed: string
  readonly price: Price
  /** The price in force; undefined if it has none. */
  readonly now: Price | undefined
  /** What the list charges for besides. */
  readonly unpriced: readonly ListedField[]
}

export interface LeftOut {
  readonly model: string
  readonly reason: string
}

/** What a list says about the configured models, each of which is in one of these. */
export interface Suggestions {
  readonly changes: readonly Suggestion[]
  readonly same: readonly Suggestion[]
  readonly leftOut: readonly LeftOut[]
  /** Models whose entry cannot be read. */
  readonly faults: readonly LeftOut[]
}

interface SuggestionNeeds {
  readonly models: readonly VendorModel[]
  /** The prices that the suggested ones would replace. Their rules stay where the list says nothing about them. */
  readonly prices: ReadonlyMap<string, Price>
  /** The names on the list of models for which it has another than the upstream uses. */
  readonly names?: ReadonlyMap<string, string>
  /** What a unit of the list's currency costs in that of the configuration. Default: they are the same. */
  readonly rate?: ExactDecimal | undefined
}

type Judged =
  | { readonly is: 'change' | 'same'; readonly suggestion: Suggestion }
  | ({ readonly is: 'out' | 'fault' } & LeftOut)

/** Compares a list with the prices in force, exactly. With a rate, each price is rounded to the nearest 10⁻¹² per token. */
export function suggestPrices(list: PriceList, needs: SuggestionNeeds): Suggestions {
  const judged = needs.models.map((model) => judge(list, model, needs))
  const suggested = (is: 'change' | 'same') => judged.flatMap((each) => (each.is === is ? [each.suggestion] : []))
  const others = (is: 'out' | 'fault') =>
    judged.flatMap((each) => (each.is === is ? [{ model: each.model, reason: each.reason }] : []))
  return { changes: suggested('change'), same: suggested('same'), leftOut: others('out'), faults: others('fault') }
}

function judge(list: PriceList, config: VendorModel, { prices, names, rate }: SuggestionNeeds): Judged {
  const { id: model } = config
  const name = names?.get(model)
  const entry = listedEntry(list, config, name)
  if (entry === undefined) return { is: 'out', model, reason: `the list has no ${name ?? config.upstream_model}` }
  if (Array.isArray(entry))
    return { is: 'out', model, reason: `the list has several: ${entry.map(quotedIfHidden).join(', ')}` }
  const [listed] = entry.names
  if (entry.faults.length > 0)
    return { is: 'fault', model, reason: `${quotedIfHidden(listed)}: ${entry.faults.join('; ')}` }
  const kind = kindOf(config)
  const now = prices.get(model)
  const read = priceIn(entry, kind, rate, now)
  if (typeof read === 'string') return { is: 'out', model, reason: read }
  const { price } = read
  const unpriced = [...entry.unpriced, ...read.unpriced, ...beyondKind(entry, kind)]
  const suggestion = { model, kind, listed, price, now, unpriced }
  return { is: isSamePrice(now, price) ? 'same' : 'change', suggestion }
}

/** Returns why there is no such price if this version cannot have it. */
function priceIn(
  { prices: listed, rules }: ListEntry,
  kind: ModelKind,
  rate: ExactDecimal | undefined,
  now: Price | undefined,
): { readonly price: Price; readonly unpriced: readonly ListedField[] } | string {
  const { input, output } = listed
  if (input === undefined) return 'the list has no price for its input'
  if (output === undefined && kind === 'text') return 'the list has no price for its output'
  try {
    const read = (name: string, part: ExactDecimal | undefined) =>
      part === undefined ? undefined : amountOf(name, part, rate)
    const text = kind === 'text'
    const four = {
      input: amountOf('input', input, rate),
      output: (text ? read('output', output) : undefined) ?? 0n,
      cachedInput: text ? read('cached input', listed.cachedInput) : undefined,
      cacheWrite: text ? read('cache writes', listed.cacheWrite) : undefined,
    }
    if (!text) return { price: four, unpriced: rules.map(({ field, value }) => ({ field, value })) }
    const amounts = {
      ofTokens: (rule: ListedRule) => amountOf(rule.field, rule.price, rate),
      ofUse: (rule: ListedRule) => usePriceOf(rule, rate),
    }
    const further = rulesOnList(rules, { ...four, rules: now?.rules }, amounts)
    const price = { ...four, rules: further.rules }
    const [fault] = priceFaults(price)
    if (fault) return reasons[fault.field] ?? `its ${fault.field} ${fault.must}`
    return { price, unpriced: further.unpriced }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return error.message
  }
}

const reasons: Readonly<Record<string, string>> = {
  output: 'its output does not cost more than its input',
  cached_input: 'its cached input costs more than its input',
}

function amountOf(name: string, listed: ExactDecimal, rate: ExactDecimal | undefined): bigint {
  return namedAs(name, () => priceFormat.parse(formatPrice(unitsOf(listed, rate, 12))))
}

/** Of an image or a search: with 9 decimals. */
function usePriceOf({ field, price }: ListedRule, rate: ExactDecimal | undefined): bigint {
  return namedAs(field, () => usePrice.parse(formatDecimal(unitsOf(price, rate, 9), 9)))
}

const unitsOf = (listed: ExactDecimal, rate: ExactDecimal | undefined, decimals: number): bigint =>
  rate === undefined ? exactUnits(listed, decimals) : nearestUnits(product(listed, rate), decimals)

/** Throws a RangeError that says of which part. */
function namedAs(name: string, read: () => bigint): bigint {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new RangeError(`its price of ${name} ${error.message}`, { cause: error })
  }
}

/** An embedding model has a price for its input only. */
function beyondKind({ prices }: ListEntry, kind: ModelKind): ListedField[] {
  if (kind === 'text') return []
  const { input: _, ...others } = prices
  return Object.entries(others).flatMap(([field, { digits, scale }]) =>
    digits === 0n ? [] : [{ field, value: `${digits}e${-scale}` }],
  )
}
