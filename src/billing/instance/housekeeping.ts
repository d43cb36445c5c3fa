import type { Logger } from 'pino'
import type { Database } from '../../platform/database/database.ts'
import { createPartitions, deleteStoredReplies } from './store.ts'

const hour = 3_600_000

/** Starts the hourly maintenance, beginning now: partitions of the ledger, and stored replies. Any instance may run it. */
export function startHousekeeping({ database, log }: { database: Database; log: Logger }): { close(): Promise<void> } {
  let running = Promise.resolve()
  const once = async (): Promise<void> => {
    for (const work of [createPartitions, deleteStoredReplies]) {
      await work(database).catch((error: unknown) =>
        log.warn({ err: error }, 'housekeeping failed; retrying in an hour'),
      )
    }
  }
  const timer = setInterval(() => {
    running = running.then(once)
  }, hour)
  running = once()
  return {
    async close() {
      clearInterval(timer)
      await running
    },
  }
}
