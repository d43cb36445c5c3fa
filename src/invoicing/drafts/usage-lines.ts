import type { Queryable } from '../../platform/database/database.ts'
import { lineAmounts, type Tax } from '../arithmetic.ts'
import type { InvoiceLine } from '../document.ts'
import { invoiceWords } from '../files/words.ts'
import { readMonths, readPrices, type AccountModel, type MonthUsage, type PricedUsage } from './store.ts'

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
 * account's ledger for this month. It reads the ledger only where the price of a model changed.
 */
export async function usageLinesOf(
  database: Queryable,
  accountIds: readonly string[],
  bill: UsageBill,
): Promise<ReadonlyMap<string, LooseLine[]>> {
  const used = (await readMonths(database, accountIds, bill.month)).map((usage) => ({ usage, one: onePrice(usage) }))
  const mixed = used.filter(({ one }) => one === undefined).map(({ usage }) => usage)
  const byModel = Map.groupBy(await pricesOf(database, mixed, bill.month), pairOf)
  const lines = new Map<string, LooseLine[]>()
  for (const { usage, one } of used) {
    const priced = one ? [one] : (byModel.get(pairOf(usage)) ?? [])
    const before = lines.get(usage.accountId) ?? []
    lines.set(usage.accountId, [...before, ...priced.flatMap((each) => linesFor(each, bill))])
  }
  return lines
}

function pricesOf(database: Queryable, used: readonly AccountModel[], month: string) {
  if (used.length === 0) return []
  const accountIds = new Set(used.map(({ accountId }) => accountId))
  const models = new Set(used.map(({ model }) => model))
  return readPrices(database, { accountIds, models }, month)
}

const pairOf = ({ accountId, model }: AccountModel) => `${accountId} ${model}`

/** Undefined unless one price accounts for the whole cost. */
function onePrice({ cost, inputPrice, outputPrice, ...rest }: MonthUsage): PricedUsage | undefined {
  if (inputPrice === null || outputPrice === null) return undefined
  const usage = { ...rest, inputPrice, outputPrice }
  const sum = partsOf(usage).reduce((before, { tokens, price }) => before + tokens * price, 0n)
  return sum === cost ? usage : undefined
}

interface Part {
  readonly direction: NonNullable<InvoiceLine['direction']>
  readonly tokens: bigint
  readonly price: bigint
}

/** The four kinds of tokens, each with its price. */
function partsOf(usage: PricedUsage): Part[] {
  const { inputPrice, outputPrice, cachedPrice, cacheWritePrice } = usage
  return [
    { direction: 'input', tokens: usage.inputTokens, price: inputPrice },
    { direction: 'cached_input', tokens: usage.cachedTokens, price: cachedPrice ?? inputPrice },
    { direction: 'cache_write', tokens: usage.cacheWriteTokens, price: cacheWritePrice ?? inputPrice },
    { direction: 'output', tokens: usage.outputTokens, price: outputPrice },
  ]
}

function linesFor(usage: PricedUsage, { tax, decimals, locale }: UsageBill): LooseLine[] {
  const { model } = usage
  const names = invoiceWords(locale).tokens
  const used = partsOf(usage).filter(({ tokens }) => tokens > 0n)
  return used.map(({ direction, tokens, price }) => ({
    source: 'usage',
    text: `${model}: ${names[direction]}`,
    // Tokens are millionths of a million tokens.
    quantity: tokens,
    unit: 'million_tokens',
    unitPrice: price,
    ...lineAmounts(tokens, price, decimals),
    tax,
    model,
    direction,
    creditsPosition: null,
  }))
}
