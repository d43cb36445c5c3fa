// Writes src/access/schema-facts.txt: the triggers, policies, rights and constraints that `tollgate verify` expects. Run
// it after changing migrations, and review the diff: each new line is a right or a rule that you add.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { pino } from 'pino'
import { readFacts } from '../src/access/facts-store.ts'
import { openDatabase } from '../src/platform/database/database.ts'
import { createTestDatabase } from '../tests/support/database.ts'

const fresh = await createTestDatabase()
const database = openDatabase(fresh.url, { log: pino({ level: 'silent' }) })
const facts = await readFacts(database)
writeFileSync(
  path.join(import.meta.dirname, '../src/access/schema-facts.txt'),
  facts.map((fact) => `${fact}\n`).join(''),
)
await database.close()
await fresh.drop()
