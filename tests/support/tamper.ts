import assert from 'node:assert/strict'
import type { Database, Queryable } from '../../src/platform/database/database.ts'
import { createSealer } from '../../src/platform/seals/sealer.ts'
import { asSuperuser } from './superuser.ts'
import { log } from './tills.ts'
import { until } from './until.ts'

/** Changes the database as a superuser could, without triggers. */
export async function tamper(database: Database, statements: string): Promise<void> {
  await asSuperuser(database, async (tx) => {
    await tx.rows('set local session_replication_role = replica')
    await tx.rows(statements)
  })
}

/** Runs `work` on the database with such a change, as its owner, then undoes the change. `work` must only read. */
export async function whileTampered<T>(
  database: Database,
  statements: string,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const [owner] = await database.rows<{ name: string }>('select quote_ident(current_user) as name')
  return asSuperuser(database, async (tx) => {
    await tx.rows('savepoint correct')
    await tx.rows(
      `set local session_replication_role = replica; ${statements}; set local session_replication_role = origin`,
    )
    await tx.rows(`set local role ${owner?.name ?? assert.fail()}`)
    // Every snapshot is that of the transaction with the change.
    const rows: Queryable['rows'] = async (query, values) =>
      typeof query === 'string' && query.startsWith('set transaction ') ? [] : tx.rows(query, values)
    const result = await work({ ...database, rows, transaction: (reading) => reading({ rows }) })
    await tx.rows('rollback to correct')
    return result
  })
}

/** The statement with an audit event, as a change of the service has. */
export const announced = (statement: string): string =>
  `with event as (insert into audit (actor, action, outcome) values ('service', 'announced', 'allowed')) ${statement}`

/** Seals all existing rows. */
export async function sealAll(database: Database): Promise<void> {
  const sealer = createSealer({ database, log })
  const unsealed = () =>
    database.rows<{ chain: string; last: bigint }>('select chain, last from seal_horizon() where last > sealed')
  const goals = await unsealed()
  await until(async () => {
    await sealer.seal()
    const left = await unsealed()
    return goals.every(({ chain, last }) => !left.some((each) => each.chain === chain && each.last <= last))
  })
}
