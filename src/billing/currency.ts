import type { Database } from '../platform/database/database.ts'
import { withSnapshot } from '../platform/database/snapshot-store.ts'
import { OperatorError } from '../platform/problems.ts'
import { ensureCurrency, readCurrency, readKindsOfAmounts, replaceCurrency } from './currency-store.ts'

export { replaceCurrency }

/**
 * Records the currency of this database's amounts, which are never converted. Throws OperatorError if there are amounts in
 * another one.
 */
export async function openCurrency(database: Database, currency: string): Promise<void> {
  await ensureCurrency(database, currency)
  await confirmCurrency(database, currency)
  await replaceCurrency(database, currency)
}

/**
 * Whether a currency is recorded that this one agrees with or may replace. Changes nothing. Throws OperatorError if there
 * are amounts in another one.
 */
export async function confirmCurrency(database: Database, currency: string): Promise<boolean> {
  const known = await readCurrency(database)
  if (known === undefined || known === currency) return known !== undefined
  const kinds = await withSnapshot(database, readKindsOfAmounts)
  if (kinds.length === 0) return true
  throw new OperatorError(
    `currency is ${currency}, but this database has ${list.format(kinds)} in ${known}, and amounts are never converted. ` +
      `Set currency to ${known}. If the firm changes its currency, bill its work and usage in ${known}, then start once with ` +
      `--new-currency: all other amounts keep their numbers (see "Changing the currency" in docs/operating.md).`,
  )
}

const list = new Intl.ListFormat('en')
