import type { Database, DedicatedConnection } from '../../src/platform/database/database.ts'
import { Problem } from '../../src/platform/problems.ts'

/** The fate of a call: answered, never sent, or executed while its answer is lost. */
export type Fate = 'answered' | 'not sent' | 'answer lost'

/** A database that loses its dedicated connections as `fateOf` decides for each statement. */
export function losing(database: Database, fateOf: (statement: string) => Fate): Database {
  return {
    ...database,
    async connect() {
      const session = await database.connect()
      return {
        ...session,
        rows: (query, values) =>
          carry(session, fateOf(typeof query === 'string' ? query : query.text), () => session.rows(query, values)),
        call: (statement) => carry(session, fateOf(statement.text), () => session.call(statement)),
      }
    },
  }
}

async function carry<Rows>(session: DedicatedConnection, fate: Fate, run: () => Promise<Rows>): Promise<Rows> {
  if (fate === 'answered') return run()
  if (fate === 'answer lost') await run()
  await session.close()
  throw new Problem('unavailable', 'The connection was lost.')
}
