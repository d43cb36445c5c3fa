import { openDatabase } from '../../src/platform/database/database.ts'
import { createTestDatabase } from './database.ts'
import { fixture } from './fixture.ts'
import { createTestLog } from './log.ts'
import type { Logger } from 'pino'

/** A database, and a connection to it, for the tests of a file or a suite. */
export function openOwnDatabase(log: Logger = createTestLog().log) {
  const own = fixture(() => createTestDatabase())
  return { own, database: fixture(() => openDatabase(own.url, { log })) }
}
