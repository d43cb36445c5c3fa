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
function onePrice({ model, inputTokens, outputTokens, cost, ...prices }: MonthUsage): PricedUsage | undefined {
  const { inputPrice, outputPrice } = prices
  if (inputPrice === null || outputPrice === null) return undefined
  if (inputTokens * inputPrice + outputTokens * outputPrice !== cost) return undefined
  return { model, inputTokens, outputTokens, inputPrice, outputPrice }
}

function linesFor(usage: PricedUsage, { tax, decimals }: UsageBill): LooseLine[] {
  const { model, inputTokens, outputTokens, inputPrice, outputPrice } = usage
  const line = (direction: 'input' | 'output', tokens: bigint, price: bigint): LooseLine => ({
    source: 'usage',
    text: `${model}: ${direction} tokens`,
    // Tokens are millionths of a million tokens.
    quantity: tokens,
    unit: 'million_tokens',
    unitPrice: price,
    ...lineAmounts(tokens, price, decimals),
    tax,
    model,
    direction,
    creditsPosition: null,
  })
  const lines = [line('input', inputTokens, inputPrice), line('output', outputTokens, outputPrice)]
  return lines.filter(({ quantity }) => quantity > 0n)
}
