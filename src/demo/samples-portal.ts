import type { Logger } from 'pino'
import { portalAddress } from '../access/login.ts'
import type { Actor } from '../access/actor.ts'
import { contextOf, type Portal } from '../access/portal.ts'
import { openDatabase, type Queryable } from '../platform/database/database.ts'
import type { PreparedStatement, RowsOf } from '../platform/database/pipeline.ts'

export interface TransactionNeeds {
  /** The address of the database, as its owner. */
  readonly databaseUrl: string
  readonly log: Logger
}

/** Milliseconds: whoever comes second waits until the first has entered everything, also on a slow machine. */
const patience = 60_000

/**
 * Carries out all that `work` does with records as one transaction, each thing in the role of the person who does it and
 * under the same row-level security as ever. What it does after `setTime` is dated so, as long as nobody has signed in.
 * One such transaction runs at a time.
 */
export async function inOneTransaction<T>(
  { databaseUrl, log }: TransactionNeeds,
  work: (portal: Portal, setTime: (time: Date) => void) => Promise<T>,
): Promise<T> {
  const database = openDatabase(await portalAddress(databaseUrl), { log, connections: 1, statementTimeout: patience })
  try {
    return await database.transaction(async (tx) => {
      await tx.rows(`select pg_advisory_xact_lock(hashtext('tollgate samples'))`)
      let now = ''
      const setTime = (time: Date) => {
        now = time.toISOString()
      }
      return work({ as: asPeople(tx, () => now), close: async () => undefined }, setTime)
    })
  } finally {
    await database.close()
  }
}

function asPeople(tx: Queryable, now: () => string): Portal['as'] {
  async function as<const Statements extends readonly PreparedStatement[]>(
    actor: Actor,
    statements: Statements,
  ): Promise<RowsOf<Statements>>
  async function as(actor: Actor, statements: readonly PreparedStatement[]): Promise<readonly unknown[]> {
    const context = contextOf(actor)
    await tx.rows(context.text, context.values)
    await tx.rows(`select set_config('tollgate.time', $1, true)`, [now()])
    const results: unknown[] = []
    for (const { text, values = [] } of statements) results.push(await tx.rows(text, values))
    return results
  }
  return as
}
