import type { Database, Session, Statement } from '../../src/platform/database.ts'
import { Problem } from '../../src/platform/problems.ts'

/** What becomes of a call: it is carried out, it is not, or it is and nobody hears of it. */
export type Fate = 'answered' | 'not sent' | 'answer lost'

/** The same database, where sessions lose their connection as `fateOf` tells of each of their statements. */
export function losing(database: Database, fateOf: (statement: string) => Fate): Database {
  return {
    ...database,
    async session() {
      const session = await database.session()
      return { ...session, rows: (query, values) => carry(session, fateOf, query, values) }
    },
  }
}

async function carry<Row>(
  session: Session,
  fateOf: (statement: string) => Fate,
  query: string | Statement,
  values?: readonly unknown[],
): Promise<Row[]> {
  const fate = fateOf(typeof query === 'string' ? query : query.text)
  if (fate === 'answered') return session.rows<Row>(query, values)
  if (fate === 'answer lost') await session.rows(query, values)
  await session.close()
  throw new Problem('unavailable', 'The connection was lost.')
}
