import type { Queryable } from '../../platform/database/database.ts'
import { lineAmounts, type Tax } from '../arithmetic.ts'
import { countIn, type InvoiceLine, type TokenDirection } from '../document.ts'
import { invoiceWords } from '../files/words.ts'
import {
  readFurtherUsage,
  readMonths,
  readPrices,
  type AccountModel,
  type MonthUsage,
  type PricedUsage,
} from './store.ts'

interface UsageBill {
  /** The first day of the month. */
  readonly month: string
  readonly tax: Tax
  readonly decimals: number
  /** The locale of the texts. */
  readonly locale: string
}

/** A line of a draft before it has its position. */
export type LooseLine = Omit<InvoiceLine, 'position'>

export const numbered = (lines: readonly LooseLine[]): InvoiceLine[] =>
  lines.map((line, index) => ({ ...line, position: index + 1 }))

/** The lines for the usage of one account; see `usageLinesOf`. */
export async function usageLines(
  database: Queryable,
  { accountId, ...bill }: UsageBill & { readonly accountId: string },
): Promise<LooseLine[]> {
  return (await usageLinesOf(database, [accountId], bill)).get(accountId) ?? []
}

/**
 * The lines for the usage of accounts in a month: one for each model, direction and price. Their exact sum is that of the
 * account's ledger for this month. It reads the ledger only where the price of a model changed
 * or has rules.
 */
export async function usageLinesOf(
  database: Queryable,
  accountIds: readonly string[],
  bill: UsageBill,
): Promise<ReadonlyMap<string, LooseLine[]>> {
  const used = (await readMonths(database, accountIds, bill.month)).map((usage) => ({ usage, one: onePrice(usage) }))
  const mixed = used.filter(({ one }) => one === undefined).map(({ usage }) => usage)
  const [priced, further] = await readMixed(database, mixed, bill.month)
  const byModel = Map.groupBy(priced, pairOf)
  const furtherByModel = Map.groupBy(further, pairOf)
  const lines = new Map<string, LooseLine[]>()
  for (const { usage, one } of used) {
    const tokens = one ? [one] : (byModel.get(pairOf(usage)) ?? [])
    const others = one ? [] : (furtherByModel.get(pairOf(usage)) ?? [])
    const parts = merged([...tokens.flatMap(partsOf), ...others]).filter(({ count }) => count > 0n)
    const before = lines.get(usage.accountId) ?? []
    lines.set(usage.accountId, [...before, ...parts.map((part) => lineFor(usage.model, part, bill))])
  }
  return lines
}

async function readMixed(database: Queryable, used: readonly AccountModel[], month: string) {
  if (used.length === 0) return [[], []] as const
  const accountIds = new Set(used.map(({ accountId }) => accountId))
  const models = new Set(used.map(({ model }) => model))
  const priced = await readPrices(database, { accountIds, models }, month)
  const ruled = new Set(priced.filter(({ hasTerms }) => hasTerms).map(({ model }) => model))
  return [
    priced,
    ruled.size === 0 ? [] : await readFurtherUsage(database, { accountIds, models: ruled }, month),
  ] as const
}

const pairOf = ({ accountId, model }: AccountModel) => `${accountId} ${model}`

/** Undefined unless one price accounts for the whole cost. */
function onePrice({ cost, inputPrice, outputPrice, ...rest }: MonthUsage): PricedUsage | undefined {
  if (inputPrice === null || outputPrice === null) return undefined
  const usage = { ...rest, inputPrice, outputPrice }
  const sum = partsOf(usage).reduce((before, { count, price }) => before + count * price, 0n)
  return sum === cost ? usage : undefined
}

/** What was used at one price, in 10⁻¹² of the currency unit for each. */
interface Part {
  readonly direction: NonNullable<InvoiceLine['direction']>
  readonly count: bigint
  readonly price: bigint
}

/** The four kinds of tokens, each with its price. */
function partsOf(usage: PricedUsage): Part[] {
  const { inputPrice, outputPrice, cachedPrice, cacheWritePrice } = usage
  return [
    { direction: 'input', count: usage.inputTokens, price: inputPrice },
    { direction: 'cached_input', count: usage.cachedTokens, price: cachedPrice ?? inputPrice },
    { direction: 'cache_write', count: usage.cacheWriteTokens, price: cacheWritePrice ?? inputPrice },
    { direction: 'output', count: usage.outputTokens, price: outputPrice },
  ]
}

/** Those of one direction and price in one, in the order in which they come first. */
function merged(parts: readonly Part[]): Part[] {
  const same = Map.groupBy(parts, ({ direction, price }) => `${direction} ${price}`)
  return [...same.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ ...first, count: others.reduce((sum, { count }) => sum + count, first.count) }],
  )
}

const isOfTokens = (direction: Part['direction']): direction is TokenDirection =>
  direction !== 'image' && direction !== 'web_search'

function lineFor(model: string, { direction, count, price }: Part, { tax, decimals, locale }: UsageBill): LooseLine {
  const unit = isOfTokens(direction) ? 'million_tokens' : 'thousand_uses'
  // In millionths of the unit, and per unit in millionths of the currency unit: tokens are millionths of a million.
  const quantity = (count * million) / countIn(unit)
  const unitPrice = (price * countIn(unit)) / million
  return {
    source: 'usage',
    text: `${model}: ${invoiceWords(locale).usage[direction]}`,
    quantity,
    unit,
    unitPrice,
    ...lineAmounts(quantity, unitPrice, decimals),
    tax,
    model,
    direction,
    creditsPosition: null,
  }
}

const million = 1_000_000n
