import type { Logger } from 'pino'
import { portalAddress } from '../access/portal/login.ts'
import type { Actor } from '../access/actor.ts'
import { contextOf, type PortalDatabase } from '../access/portal/portal.ts'
import { openDatabase, type Queryable } from '../platform/database/database.ts'
import type { PreparedStatement, RowsOf } from '../platform/database/pipeline.ts'
import { leaveRole, lockSamples, setSampleTime } from './samples-store.ts'

export interface TransactionNeeds {
  /** The address of the database, as its owner. */
  readonly databaseUrl: string
  readonly log: Logger
}

/** ms. A second start waits until the first has entered everything, even on a slow machine. */
const patience = 60_000

/**
 * Runs `work` in one transaction, in which each call of the portal has the role and the row-level security of its actor.
 * `setTime` sets the time of later writes; the database refuses it once a person has signed in. Only one such
 * transaction runs at a time.
 */
export async function inOneTransaction<T>(
  { databaseUrl, log }: TransactionNeeds,
  work: (portal: PortalDatabase, setTime: (time: Date) => void) => Promise<T>,
): Promise<T> {
  const database = openDatabase(await portalAddress(databaseUrl), { log, connections: 1, statementTimeout: patience })
  try {
    return await database.transaction(async (tx) => {
      await lockSamples(tx)
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

function asPeople(tx: Queryable, now: () => string): PortalDatabase['as'] {
  async function as<const Statements extends readonly PreparedStatement[]>(
    actor: Actor,
    statements: Statements,
  ): Promise<RowsOf<Statements>>
  async function as(actor: Actor, statements: readonly PreparedStatement[]): Promise<readonly unknown[]> {
    const context = contextOf(actor)
    await leaveRole(tx)
    await tx.rows(context.text, context.values)
    await setSampleTime(tx, now())
    const results: unknown[] = []
    for (const { text, values = [] } of statements) results.push(await tx.rows(text, values))
    return results
  }
  return as
}
