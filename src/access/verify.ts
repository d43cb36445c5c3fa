import type { Database, Queryable } from '../platform/database/database.ts'

/** One thing that holds or not, as `tollgate verify` shows it. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  /** The rows at fault, at most ten. */
  readonly faults: readonly object[]
}

/**
 * Proves the audit log on one snapshot of the database: every seal is the hash of the seal before it and of the rows it
 * covers, so that no row was changed, added or taken away since it was sealed. Reads every row.
 */
export async function verifyAudit(database: Database): Promise<Check[]> {
  return database.transaction(async (tx) => {
    await tx.rows('set transaction isolation level repeatable read, read only')
    await tx.rows('set local statement_timeout = 0')
    const checks: Check[] = []
    for (const [name, faultsOf] of Object.entries(proofs)) checks.push(await check(tx, name, faultsOf))
    return checks
  })
}

async function check(tx: Queryable, name: string, faultsOf: string): Promise<Check> {
  const faults = await tx.rows<object>(`${faultsOf} limit 10`)
  return { name, ok: faults.length === 0, faults }
}

const chain = `(select *, lag(number, 1, 0::bigint) over byNumber as before, lag(upto, 1, 0::bigint) over byNumber as after,
  lag(hash, 1, ''::bytea) over byNumber as previous from audit_seal window byNumber as (order by number)) s`

/** Each name is what holds when its query finds nothing. */
const proofs: Readonly<Record<string, string>> = {
  'the seals of the audit log follow one another': `
    select number as seal, upto from ${chain} where number <> before + 1 or upto <= after`,
  'every seal of the audit log is the hash of its rows': `
    select s.number as seal, s.after + 1 as from, s.upto as to, s.rows as sealed_rows, d.rows as rows_there
    from ${chain} cross join lateral audit_digest(s.previous, s.after, s.upto) d
    where (d.hash, d.rows) is distinct from (s.hash, s.rows) order by s.number`,
}
