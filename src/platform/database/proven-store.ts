import type { Database, Queryable } from './database.ts'

/** Runs `work` in a transaction of the service that may read client records, as row-level security allows it with `tollgate.proof`. */
export function proven<T>(database: Pick<Database, 'transaction'>, work: (tx: Queryable) => Promise<T>): Promise<T> {
  return database.transaction(async (tx) => {
    await tx.rows(`select set_config('tollgate.proof', 'on', true)`)
    return work(tx)
  })
}
