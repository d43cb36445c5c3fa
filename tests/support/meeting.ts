import type { Database } from '../../src/platform/database/database.ts'

/**
 * A database whose transactions wait for each other after a statement that `at` picks, so that both are at the same
 * place. If a lock keeps one from getting there, the other continues after 0.3 s.
 */
export function meetingAt(database: Database, at: (statement: string) => boolean, parties = 2): Database {
  let arrived = 0
  const all = Promise.withResolvers<void>()
  const meet = async () => {
    arrived++
    if (arrived >= parties) all.resolve()
    await Promise.race([all.promise, new Promise((resolve) => setTimeout(resolve, 300))])
  }
  return watched(database, async (statement) => {
    if (at(statement)) await meet()
  })
}

/** A database that calls `seen` after each statement of a transaction, with the number of its rows. */
export function watched(database: Database, seen: (statement: string, rows: number) => Promise<void> | void): Database {
  return {
    ...database,
    transaction: (work) =>
      database.transaction((tx) =>
        work({
          rows: async <Row>(...statement: Parameters<Database['rows']>) => {
            const rows = await tx.rows<Row>(...statement)
            await seen(JSON.stringify(statement[0]), rows.length)
            return rows
          },
        }),
      ),
  }
}
