import type { Logger } from 'pino'
import type { Config } from '../platform/config/config.ts'
import type { Database } from '../platform/database/database.ts'
import type { Metrics } from '../platform/metrics.ts'
import { confirmOpenCurrency, openCurrency } from './currency/currency.ts'
import { startHousekeeping } from './instance/housekeeping.ts'
import { priceOf } from './prices/price-rule.ts'
import { createPrices, type Price, type Prices } from './prices/prices.ts'
import { createTill } from './till/postgres-till.ts'
import type { Till } from './till/till.ts'

interface BillingNeeds {
  readonly config: Pick<Config, 'currency' | 'models'>
  readonly database: Database
  readonly log: Logger
  readonly metrics: Pick<Metrics, 'watch'>
}

export interface Billing {
  readonly till: Till
  readonly prices: Prices
  /** Settles what is not settled, then ends. */
  close(this: void): Promise<void>
}

/** Opens the till and the prices. Throws OperatorError if the database has amounts in another currency. */
export async function openBilling({ config, database, log, metrics }: BillingNeeds): Promise<Billing> {
  await using opened = new AsyncDisposableStack()
  await openCurrency(database, config.currency)
  const till = opened.adopt(await createTill({ database, log }), (it) => it.drain())
  await confirmOpenCurrency(database, config.currency)
  const prices = opened.adopt(createPrices({ database, log }), (it) => it.close())
  await prices.sync(configuredPrices(config))
  opened.adopt(startHousekeeping({ database, log }), (it) => it.close())
  metrics.watch('tollgate_uncharged_tokens', 'Tokens beyond holds, credit and limits, not charged.', () =>
    till.unchargedTokens(),
  )
  const parts = opened.move()
  return Object.freeze({ till, prices, close: () => parts.disposeAsync() })
}

function configuredPrices({ models }: Pick<Config, 'models'>): Map<string, Price> {
  return new Map(models.flatMap(({ id, price }) => (price ? [[id, priceOf(price)] as const] : [])))
}
