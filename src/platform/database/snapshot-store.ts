import type { Database, Queryable } from './database.ts'

/**
 * Runs `work` on one read-only snapshot. Each statement may take `mostTime` ms; 0: any time. It may also read client records (`tollgate.proof`). Sums are
 * hashed, because the planner prefers to sort a whole ledger.
 */
export function withSnapshot<T>(database: Database, work: (tx: Queryable) => Promise<T>, mostTime = 0): Promise<T> {
  return database.transaction(async (tx) => {
    await tx.rows('set transaction isolation level repeatable read, read only')
    await tx.rows(
      `select set_config(name, value, true) from (values ('statement_timeout', $1),
      ('tollgate.proof', 'on'), ('work_mem', '64MB'), ('enable_sort', 'off'), ('jit', 'off')) as s(name, value)`,
      [String(mostTime)],
    )
    return work(tx)
  })
}
