import type { Database, Queryable } from '../../platform/database/database.ts'
import { inSteps, rowsAtOnce } from '../../platform/database/in-steps.ts'

/** An instance, and the number of the last batch that it sent. */
export interface InstanceRow {
  readonly id: string
  readonly lastBatch: bigint
}

export async function insertInstance(database: Queryable, id: string, host: string): Promise<void> {
  await database.rows('insert into instance (id, host) values ($1, $2)', [id, host])
}

export function readOtherInstances(database: Queryable, own: string): Promise<InstanceRow[]> {
  return database.rows('select id, last_batch as "lastBatch" from instance where id <> $1', [own])
}

/** Returns false if the instance has sent another batch, or another instance reaps it. */
export async function reapInstance(database: Queryable, { id, lastBatch }: InstanceRow): Promise<boolean> {
  const [row] = await database.rows<{ reaped: boolean }>('select reap($1, $2) as reaped', [id, lastBatch])
  return row?.reaped === true
}

/** Waits for an earlier batch that is still running, and makes the database refuse one that arrives later. */
export async function refuseEarlierBatches(database: Queryable, { id, lastBatch }: InstanceRow): Promise<void> {
  await database.rows('update instance set last_batch = $2 where id = $1 and last_batch < $2', [id, lastBatch])
}

/**
 * Which of these requests are in the ledger or have holds of their own. Without a bound on the time, since the database's clock may
 * have moved.
 */
export async function readEnded(database: Queryable, requestIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await database.rows<{ id: string }>(
    'select request_id as id from ledger where request_id = any($1) union all select id from hold where id = any($1)',
    [requestIds],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Removes the instance, unless another instance has to release a hold or an allowance of it first. */
export async function deleteInstance(database: Queryable, id: string): Promise<void> {
  await database.rows('select fold_charges(array[$1::uuid])', [id])
  await database.rows(
    `with empty as (
       delete from allowance where instance_id = $1 and (held, credit, requests, tokens) = (0, 0, 0, 0)
     ), empty_keys as (
       delete from key_allowance where instance_id = $1 and (held, credit, requests, tokens) = (0, 0, 0, 0)
     ), empty_budgets as (
       delete from budget_allowance where instance_id = $1 and (held, credit) = (0, 0)
     )
     delete from instance where id = $1 and appended_since is null and not exists (select from hold where instance_id = $1)
       and not exists (
         select from allowance where instance_id = $1 and (held, credit, requests, tokens) <> (0, 0, 0, 0))
       and not exists (
         select from key_allowance where instance_id = $1 and (held, credit, requests, tokens) <> (0, 0, 0, 0))
       and not exists (select from budget_allowance where instance_id = $1 and (held, credit) <> (0, 0))`,
    [id],
  )
}

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
  await inSteps(
    database,
    `update idempotency set created_at = now() where ctid = any(array(
       select ctid from idempotency where created_at > now() limit ${rowsAtOnce} for update skip locked))
     returning 1`,
  )
  await inSteps(
    database,
    `delete from idempotency where ctid = any(array(
       select ctid from idempotency where created_at < now() - interval '24 hours' and body is not null
       limit ${rowsAtOnce} for update skip locked))
     returning 1`,
  )
}
