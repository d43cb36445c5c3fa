import { priceOf } from '../../billing/prices/price-rule.ts'
import type { PriceEntry, Prices } from '../../billing/prices/prices.ts'
import type { ModelConfig } from '../../platform/config/config.ts'
import type { Context } from '../context.ts'

/** The price that a new one from this moment on replaces: the last that begins before it, if it is scheduled, too. `entries`: the newest first. */
export const priceBefore = (
  entries: readonly PriceEntry[],
  model: string,
  from: Date | undefined,
): PriceEntry | undefined =>
  entries.find(
    (entry) => entry.model === model && (entry.state === 'in force' || (from !== undefined && entry.validFrom < from)),
  )

/** Writes the configured price first, so that the first start does not override a price set from the command line. */
export async function writeFirst(prices: Prices, model: string, configured: ModelConfig['price']): Promise<void> {
  if (configured === undefined || (await prices.list()).some((entry) => entry.model === model)) return
  await prices.sync(new Map([[model, priceOf(configured)]]))
}

export async function withPrices<Result>(context: Context, work: (prices: Prices) => Promise<Result>): Promise<Result> {
  const { createPrices } = await import('../../billing/prices/prices.ts')
  const prices = createPrices({ database: await context.database(), log: await context.log() })
  try {
    return await work(prices)
  } finally {
    await prices.close()
  }
}
