import type { Database } from '../../src/platform/database/database.ts'
import { asSuperuser } from './superuser.ts'

/**
 * Makes the database look as if its clock had been set by `interval`, such as `-1 hour`: moves all times that the till,
 * the prices and the leases compare with the clock the other way.
 */
export async function stepClock(database: Database, interval: string): Promise<void> {
  await asSuperuser(database, async (tx) => {
    // Prices are append-only: a trigger refuses the change.
    await tx.rows('set local session_replication_role = replica')
    await tx.rows(
      `with moved as (select $1::interval as by),
       a as (update account set level_at = level_at - by, recalled_at = recalled_at - by from moved),
       l as (update key_limit set level_at = level_at - by from moved),
       i as (update instance set seen_at = seen_at - by from moved),
       k as (update idempotency set created_at = created_at - by from moved),
       h as (update hold set created_at = created_at - by from moved)
     update price set valid_from = valid_from - by from moved`,
      [interval],
    )
  })
}
