import type { Queryable } from '../platform/database/database.ts'

/** Waits until no other transaction is entering samples. */
export async function lockSamples(tx: Queryable): Promise<void> {
  await tx.rows(`select pg_advisory_xact_lock(hashtext('tollgate samples'))`)
}

/** Returns to the portal's login, which sets the role of the next actor. */
export async function leaveRole(tx: Queryable): Promise<void> {
  await tx.rows(`select set_config('role', 'none', true)`)
}

/** Sets the time of the transaction's writes, in ISO format. Empty: now. */
export async function setSampleTime(tx: Queryable, time: string): Promise<void> {
  await tx.rows(`select set_config('tollgate.time', $1, true)`, [time])
}
