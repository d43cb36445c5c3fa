import type { Database, Queryable } from './database.ts'

/**
 * Runs `work` on one read-only snapshot without a time limit. It may also read client records (`tollgate.proof`). Sums are
 * hashed, because the planner prefers to sort a whole ledger.
 */
export function withSnapshot<T>(database: Database, work: (tx: Queryable) => Promise<T>): Promise<T> {
  return database.transaction(async (tx) => {
    await tx.rows('set transaction isolation level repeatable read, read only')
    await tx.rows(`select set_config(name, value, true) from (values ('statement_timeout', '0'),
      ('tollgate.proof', 'on'), ('work_mem', '64MB'), ('enable_sort', 'off'), ('jit', 'off')) as s(name, value)`)
    return work(tx)
  })
}
