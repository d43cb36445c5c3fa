import { after } from 'node:test'
import type { Logger } from 'pino'
import { openDatabase } from '../../src/platform/database/database.ts'
import { createTestDatabase } from './database.ts'

/** Creates a database for a test file and opens it. It is dropped after the file. */
export async function openOwnDatabase(log: Logger) {
  const own = await createTestDatabase()
  const database = openDatabase(own.url, { log })
  after(async () => {
    await database.close()
    await own.drop()
  })
  return { own, database }
}
