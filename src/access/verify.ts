import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { checkOf, runChecks, type VerifyCheck, type VerifyQueries } from '../platform/verify-checks.ts'
import { withSnapshot } from '../platform/database/snapshot-store.ts'
import type { Database } from '../platform/database/database.ts'
import { findMissingPartitions, readFacts, readFunctions } from './facts-store.ts'
import { readShippedFunctions } from './shipped-functions.ts'

/** Written by `node scripts/schema-facts.ts`. */
const expectedFacts = path.join(import.meta.dirname, 'schema-facts.txt')

/**
 * Compares the tables, triggers, row-level security, permissions and functions of the database with those of this
 * version, and checks the ledger's partitions.
 */
export async function verifySchema(database: Database): Promise<VerifyCheck[]> {
  const expected = (await readFile(expectedFacts, 'utf8')).trimEnd().split('\n')
  const shipped = await readShippedFunctions()
  return withSnapshot(database, async (tx) => [
    checkOf(
      'tables, triggers, row-level security and rights are as shipped',
      differences(expected, await readFacts(tx)),
    ),
    checkOf('the functions of the database are as shipped', changedFunctions(shipped, await readFunctions(tx))),
    checkOf('the ledger has its partitions', await findMissingPartitions(tx)),
  ])
}

function differences(expected: readonly string[], found: readonly string[]): object[] {
  const [known, there] = [new Set(expected), new Set(found)]
  return [
    ...expected.filter((fact) => !there.has(fact)).map((missing) => ({ missing })),
    ...found.filter((fact) => !known.has(fact)).map((unexpected) => ({ unexpected })),
  ]
}

function changedFunctions(
  shipped: ReadonlyMap<string, string>,
  found: readonly { readonly name: string; readonly body: string }[],
): object[] {
  const there = new Map(found.map(({ name, body }) => [name, body]))
  return [...shipped]
    .filter(([name, body]) => there.get(name) !== body)
    .map(([name]) => ({ function: name, fault: there.has(name) ? 'it was changed' : 'it is missing' }))
}

/** Tables whose rows are added by themselves: at the first start, at the end of a month, or when a passkey is begun. */
const unannounced = `('books_currency', 'closed_month', 'encryption_check', 'passkey_owner')`

/**
 * See record_change() and unrecorded_changes(). A change has no later time than its event, and neither a transaction nor an upgrade takes
 * as long as is allowed here: a change that was recorded by hand comes after events that are much later than its own.
 */
const changes: VerifyQueries = {
  'what decides about money or access is as it was last recorded': `
    select table_name as table, row_key as id, columns, fault from unrecorded_changes()`,
  'every recorded change has its event in the audit log': `
    select c.table_name as table, c.row_key as id, c.number as change, c.event,
      case when a.id is null then 'it was changed without an audit event' else 'it was changed under the audit event of another change' end as fault
    from (select *, lag(digest) over (partition by table_name, row_key order by number) as before,
        max(event) over (order by number rows between unbounded preceding and 1 preceding) as latest from recorded_change) c
      left join audit a on a.id = c.event and a.outcome = 'allowed'
      left join audit l on l.id = c.latest
    where case when a.id is not null then c.at > a.at + interval '1 second' or (c.event < c.latest and a.at < l.at - interval '1 hour')
      when c.at in (select at from migration) then c.at < l.at - interval '1 day'
      else not (c.table_name in ${unannounced} and c.digest is not null and c.before is null) end`,
}

/** Checks that every change to what decides about money or access has its event in the audit log, and that no row changed otherwise. */
export function verifyChanges(database: Database): Promise<VerifyCheck[]> {
  return runChecks(database, changes)
}
