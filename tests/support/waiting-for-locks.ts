import type { Queryable } from '../../src/platform/database/database.ts'

/** How many statements wait for a lock in this database, also those of other roles. */
export async function waitingForLocks(database: Queryable): Promise<number> {
  const waiting = await database.rows(
    'select distinct pid from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database()',
  )
  return waiting.length
}
