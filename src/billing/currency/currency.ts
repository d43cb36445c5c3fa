import { byService } from '../../access/actor.ts'
import { recordWithin } from '../../access/audit/audit.ts'
import type { Database, Queryable } from '../../platform/database/database.ts'
import { withSnapshot } from '../../platform/database/snapshot-store.ts'
import { OperatorError } from '../../platform/problems.ts'
import * as store from './store.ts'

/** Seconds of silence after which an instance no longer counts as running: four times its heartbeat. */
const silence = 20

/**
 * Records the currency of this database's amounts, which are never converted. Throws OperatorError if there are amounts in
 * another one, or if an instance runs with another one.
 */
export async function openCurrency(database: Database, currency: string): Promise<void> {
  await store.ensureCurrency(database, currency)
  await confirmCurrency(database, currency)
  await database.transaction(async (tx) => {
    if (await replaceCurrency(tx, currency)) {
      await recordWithin(tx, [{ ...byService, action: 'currency_replaced', outcome: 'allowed' }])
    }
  })
}

/**
 * Throws OperatorError if another start has replaced the currency since `openCurrency`. An instance checks this once it is
 * registered, and before it stores prices: from then on, starts see the instance and replace nothing.
 */
export async function confirmOpenCurrency(database: Database, currency: string): Promise<void> {
  const known = await database.transaction(store.lockCurrency)
  if (known === currency) return
  throw new OperatorError(
    `currency is ${currency}, but an instance that started in the meantime uses ${known}. Set the same currency for both.`,
  )
}

/**
 * Declares all amounts that do not say their currency to be in this one, within a transaction. Returns whether there was another.
 * Throws OperatorError while an instance runs with the other one: it would go on charging in it.
 */
export async function replaceCurrency(tx: Queryable, currency: string): Promise<boolean> {
  const known = await store.lockCurrency(tx)
  if (known === undefined || known === currency) return false
  const host = await store.readRunningHost(tx, silence)
  if (host !== undefined) {
    throw new OperatorError(
      `currency is ${currency}, but an instance on ${host} runs with ${known}. ` +
        `Stop every instance first. One that was killed counts as running for ${silence} seconds.`,
    )
  }
  await store.writeCurrency(tx, currency)
  return true
}

/**
 * Whether a currency is recorded that this one agrees with or may replace. Changes nothing. Throws OperatorError if there
 * are amounts in another one.
 */
export async function confirmCurrency(database: Database, currency: string): Promise<boolean> {
  const known = await store.readCurrency(database)
  if (known === undefined || known === currency) return known !== undefined
  const kinds = await withSnapshot(database, store.readKindsOfAmounts)
  if (kinds.length === 0) return true
  throw new OperatorError(
    `currency is ${currency}, but this database has ${list.format(kinds)} in ${known}, and amounts are never converted. ` +
      `Set currency to ${known}. If the firm changes its currency, bill its work and usage in ${known}, then start once with ` +
      `--new-currency: all other amounts keep their numbers (see "Changing the currency" in docs/operating.md).`,
  )
}

const list = new Intl.ListFormat('en')
