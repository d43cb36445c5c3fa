import type { Logger } from 'pino'
import { recordWithin } from '../../access/audit/audit.ts'
import { replaceCurrency } from '../../billing/currency/currency.ts'
import { openDatabase, type Queryable } from '../../platform/database/database.ts'
import { migrate } from '../../platform/database/migrations.ts'
import { removeEncryptionCheck } from '../../platform/encryption/encryption-check-store.ts'
import { endUnfinishedSignIns } from '../../signin/session/sessions.ts'
import { operator } from '../operator.ts'

/** What `start` refuses unless an option permits it. Both migrate first, and record who permitted the change. */

interface PermitNeeds {
  readonly databaseUrl: string
  readonly log: Logger
  /** Interrupts the migration. */
  readonly stop: AbortSignal
}

/** Lets the next start use another encryption key than before. */
export function permitNewEncryptionKey(needs: PermitNeeds): Promise<void> {
  return permit(needs, 'encryption_key_replaced', async (tx) => {
    const isReplaced = await removeEncryptionCheck(tx)
    // They are encrypted with the old key.
    if (isReplaced) await endUnfinishedSignIns(tx, null)
    return isReplaced
  })
}

/** Declares all amounts that do not say their currency to be in this one. */
export function permitNewCurrency({ currency, ...needs }: PermitNeeds & { currency: string }): Promise<void> {
  return permit(needs, 'currency_replaced', (tx) => replaceCurrency(tx, currency))
}

/** `change` returns whether it changed anything. */
async function permit(
  { databaseUrl, log, stop }: PermitNeeds,
  action: string,
  change: (tx: Queryable) => Promise<boolean>,
): Promise<void> {
  await migrate(databaseUrl, { stop, onWait: (line) => log.warn(line) })
  const database = openDatabase(databaseUrl, { log, connections: 1 })
  try {
    await database.transaction(async (tx) => {
      if (await change(tx)) await recordWithin(tx, [{ ...operator(), action, outcome: 'allowed' }])
    })
  } finally {
    await database.close()
  }
}
