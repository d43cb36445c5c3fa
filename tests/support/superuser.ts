import { openDatabase, type Queryable } from '../../src/platform/database/database.ts'
import { superuserAddress } from './database.ts'
import { createTestLog } from './log.ts'

/** Runs `work` in a transaction on the same test database as a superuser, whom neither rights nor row-level security bind. */
export async function asSuperuser<T>(database: Queryable, work: (tx: Queryable) => Promise<T>): Promise<T> {
  const [found] = await database.rows<{ name: string }>('select current_database()::text as name')
  const superuser = openDatabase(await superuserAddress(found?.name ?? ''), {
    ...createTestLog(),
    connections: 1,
    // A test may insert many rows in one statement, also on a busy machine.
    statementTimeout: 0,
  })
  try {
    return await superuser.transaction(work)
  } finally {
    await superuser.close()
  }
}
