import type { Logger } from 'pino'
import type { Database } from '../platform/database/database.ts'

const hour = 3_600_000
/** Rows a statement deletes at most, so that it never holds up the till. */
const batch = 1000

/**
 * Keeps the books in order, hourly and at once: partitions of the ledger for the next three months, and away with the
 * answers kept for repeated requests once their 24 hours are over. Any number of instances may do it at the same time.
 */
export function startHousekeeping({ database, log }: { database: Database; log: Logger }): { close(): Promise<void> } {
  let running = Promise.resolve()
  const once = async (): Promise<void> => {
    for (const work of [makePartitions, forgetAnswers]) {
      await work(database).catch((error: unknown) =>
        log.warn({ err: error }, 'housekeeping failed; it is tried again in an hour'),
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

/**
 * To make one it has to lock the ledger, and behind whoever waits for that lock the till waits as well. Where a dump reads
 * the whole ledger for an hour it is given up: there is time for it for three months.
 */
async function makePartitions(database: Database): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.rows(`set local lock_timeout = '500ms'`)
    await tx.rows(
      `select ledger_partitions(today, (today + interval '3 months')::date)
       from (select (now() at time zone 'UTC')::date as today) t`,
    )
  })
}

async function forgetAnswers(database: Database): Promise<void> {
  let gone: readonly unknown[]
  do {
    gone = await database.rows(
      `delete from idempotency where ctid = any(array(
         select ctid from idempotency where created_at < now() - interval '24 hours' and body is not null
         limit ${batch} for update skip locked))
       returning 1`,
    )
  } while (gone.length === batch)
}
