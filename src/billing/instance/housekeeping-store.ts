import type { Database, Queryable } from '../../platform/database/database.ts'

/** Rows that one statement changes at most, so that it never delays the till. */
const batch = 1000

/**
 * Creates the ledger's partitions for the next three months. This locks the ledger, and the till queues behind a waiter
 * for that lock: while a dump reads the whole ledger, creation fails after half a second and is retried in an hour.
 */
export async function createPartitions(database: Database): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.rows(`set local lock_timeout = '500ms'`)
    await tx.rows(
      `select ledger_partitions(today, (today + interval '3 months')::date)
       from (select (now() at time zone 'UTC')::date as today) t`,
    )
  })
}

/**
 * Deletes replies that were stored more than 24 hours ago. A reply with a time in the future, left by a clock that was
 * set back, counts as stored now: it must not outlive its 24 hours by the length of the step.
 */
export async function deleteStoredReplies(database: Database): Promise<void> {
  await inBatches(
    database,
    `update idempotency set created_at = now() where ctid = any(array(
       select ctid from idempotency where created_at > now() limit ${batch} for update skip locked))
     returning 1`,
  )
  await inBatches(
    database,
    `delete from idempotency where ctid = any(array(
       select ctid from idempotency where created_at < now() - interval '24 hours' and body is not null
       limit ${batch} for update skip locked))
     returning 1`,
  )
}

async function inBatches(database: Queryable, statement: string): Promise<void> {
  while ((await database.rows(statement)).length === batch);
}
