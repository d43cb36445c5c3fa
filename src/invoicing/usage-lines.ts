import type { Queryable } from '../platform/database/database.ts'
import { lineAmounts, type Tax } from './arithmetic.ts'
import type { InvoiceLine } from './document.ts'
import { readMonths, readPrices, type MonthUsage, type PricedUsage } from './usage-store.ts'

interface UsageBill {
  /** The first day of the month. */
  readonly month: string
  readonly tax: Tax
  readonly decimals: number
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
  const lines = new Map<string, LooseLine[]>()
  for (const { accountId, ...usage } of await readMonths(database, accountIds, bill.month)) {
    const one = onePrice(usage)
    const priced = one ? [one] : await readPrices(database, accountId, bill.month, usage.model)
    const before = lines.get(accountId) ?? []
    lines.set(accountId, [...before, ...priced.flatMap((each) => linesFor(each, bill))])
  }
  return lines
}

/** Undefined unless one price accounts for the whole cost. */
function onePrice({ cost, inputPrice, outputPrice, ...rest }: MonthUsage): PricedUsage | undefined {
  if (inputPrice === null || outputPrice === null) return undefined
  const usage = { ...rest, inputPrice, outputPrice }
  const sum = partsOf(usage).reduce((before, { tokens, price }) => before + tokens * price, 0n)
  return sum === cost ? usage : undefined
}

interface Part {
  readonly direction: NonNullable<InvoiceLine['direction']>
  readonly name: string
  readonly tokens: bigint
  readonly price: bigint
}

/** The four kinds of tokens, each with its price. */
function partsOf(usage: PricedUsage): Part[] {
  const { inputPrice, outputPrice, cachedPrice, cacheWritePrice } = usage
  return [
    { direction: 'input', name: 'input tokens', tokens: usage.inputTokens, price: inputPrice },
    {
      direction: 'cached_input',
      name: 'cached input tokens',
      tokens: usage.cachedTokens,
      price: cachedPrice ?? inputPrice,
    },
    {
      direction: 'cache_write',
      name: 'cache write tokens',
      tokens: usage.cacheWriteTokens,
      price: cacheWritePrice ?? inputPrice,
    },
    { direction: 'output', name: 'output tokens', tokens: usage.outputTokens, price: outputPrice },
  ]
}

function linesFor(usage: PricedUsage, { tax, decimals }: UsageBill): LooseLine[] {
  const { model } = usage
  const used = partsOf(usage).filter(({ tokens }) => tokens > 0n)
  return used.map(({ direction, name, tokens, price }) => ({
    source: 'usage',
    text: `${model}: ${name}`,
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
