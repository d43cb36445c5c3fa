import type { Queryable } from '../../platform/database/database.ts'

/** Waits until no other instance creates the first account. */
export async function lockFirstAccount(tx: Queryable): Promise<void> {
  await tx.rows(`select pg_advisory_xact_lock(hashtext('tollgate first account'))`)
}
