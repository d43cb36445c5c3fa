import type { Database, Queryable, Statement } from './database/database.ts'

/** One thing that `tollgate verify` checks. */
export interface Check {
  /** What holds when nothing is found. */
  readonly name: string
  readonly ok: boolean
  /** The rows at fault, at most ten. */
  readonly faults: readonly object[]
  /** What was read, where that is not everything. */
  readonly sample?: string
}

/** The most rows that a check names. */
export const mostFaults = 10

export function checkOf(name: string, faults: readonly object[]): Check {
  return { name, ok: faults.length === 0, faults: faults.slice(0, mostFaults) }
}

/** Each check by its name: a query that finds the rows at fault. */
export type Queries = Readonly<Record<string, string | Statement>>

/** Runs the checks on one snapshot of the database. */
export async function runChecks(database: Database, queries: Queries): Promise<Check[]> {
  return withSnapshot(database, async (tx) => {
    const checks: Check[] = []
    for (const [name, query] of Object.entries(queries)) checks.push(checkOf(name, await faultsOf(tx, query)))
    return checks
  })
}

function faultsOf(tx: Queryable, query: string | Statement): Promise<object[]> {
  const { text, values } = typeof query === 'string' ? { text: query } : query
  return tx.rows<object>(`${text} limit ${mostFaults}`, values)
}

/**
 * One read-only snapshot without a time limit, which may also read records (`tollgate.proof`). Sums are hashed: the planner
 * would rather sort a whole ledger.
 */
export function withSnapshot<T>(database: Database, work: (tx: Queryable) => Promise<T>): Promise<T> {
  return database.transaction(async (tx) => {
    await tx.rows('set transaction isolation level repeatable read, read only')
    await tx.rows(`select set_config(name, value, true) from (values ('statement_timeout', '0'),
      ('tollgate.proof', 'on'), ('work_mem', '64MB'), ('enable_sort', 'off'), ('jit', 'off')) as s(name, value)`)
    return work(tx)
  })
}
