import type { Logger } from 'pino'
import { recordWithin } from '../access/audit.ts'
import { openDatabase } from '../platform/database/database.ts'
import { migrate } from '../platform/database/migrations.ts'
import { removeEncryptionCheck } from '../platform/encryption-check-store.ts'
import { operator } from './operator.ts'

interface NewKeyNeeds {
  readonly databaseUrl: string
  readonly log: Logger
}

/** Lets the next start use another encryption key than before, and records who permitted it. Migrates first. */
export async function permitNewEncryptionKey({ databaseUrl, log }: NewKeyNeeds): Promise<void> {
  await migrate(databaseUrl)
  const database = openDatabase(databaseUrl, { log, connections: 1 })
  try {
    await database.transaction(async (tx) => {
      if (!(await removeEncryptionCheck(tx))) return
      await recordWithin(tx, [{ ...operator(), action: 'encryption_key_replaced', outcome: 'allowed' }])
    })
  } finally {
    await database.close()
  }
}
