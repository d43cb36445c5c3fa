import type { Queryable } from '../platform/database/database.ts'

/** Of several instances that start at once, one looks at a time. */
export async function lockFirstPartner(tx: Queryable): Promise<void> {
  await tx.rows(`select pg_advisory_xact_lock(hashtext('tollgate first partner'))`)
}
