import type { Database, Queryable, Statement } from './database/database.ts'
import { withSnapshot } from './database/snapshot-store.ts'

/** The result of one check of `tollgate verify`. */
export interface VerifyCheck {
  /** What is true if the check passes. */
  readonly name: string
  readonly ok: boolean
  /** The rows at fault, at most ten. */
  readonly faults: readonly object[]
  /** Which part of the data was read, if not all. */
  readonly sample?: string
}

/** The maximum number of rows that a check reports. */
export const maxFaults = 10

/** The days since 1970: what is read in parts is read in another one each day. */
export const turnOfToday = (): number => Math.floor(Date.now() / 86_400_000)

export function checkOf(name: string, faults: readonly object[]): VerifyCheck {
  return { name, ok: faults.length === 0, faults: faults.slice(0, maxFaults) }
}

/** For each check by name, a query that finds the rows at fault. */
export type VerifyQueries = Readonly<Record<string, string | Statement>>

/** Runs the checks on one snapshot of the database. */
export async function runChecks(database: Database, queries: VerifyQueries): Promise<VerifyCheck[]> {
  return withSnapshot(database, async (tx) => {
    const checks: VerifyCheck[] = []
    for (const [name, query] of Object.entries(queries)) checks.push(checkOf(name, await findFaults(tx, query)))
    return checks
  })
}

function findFaults(tx: Queryable, query: string | Statement): Promise<object[]> {
  const { text, values } = typeof query === 'string' ? { text: query } : query
  return tx.rows<object>(`${text} limit ${maxFaults}`, values)
}
