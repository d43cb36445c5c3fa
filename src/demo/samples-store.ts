import type { Queryable } from '../platform/database/database.ts'

/** Waits until no other transaction enters samples. */
export async function lockSamples(tx: Queryable): Promise<void> {
  await tx.rows(`select pg_advisory_xact_lock(hashtext('tollgate samples'))`)
}

/** Dates what the transaction writes, in ISO format. Empty: now. */
export async function setSampleTime(tx: Queryable, time: string): Promise<void> {
  await tx.rows(`select set_config('tollgate.time', $1, true)`, [time])
}
