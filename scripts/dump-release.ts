// Usage: node scripts/dump-release.ts <version> <address of an empty database> <address for pg_dump>
//
// Makes tests/releases/<version>.sql.gz: a dump of a database that this version has filled. Run it once, on the commit of the
// release. `pg_dump` must be in PATH and at least as new as the server; its address names a role that may see every row.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { openDatabase } from '../src/platform/database/database.ts'
import { readMigrations, shippedMigrations } from '../src/platform/database/migration-files.ts'
import { emptyTables, fillDatabase } from '../tests/support/full-database.ts'

const [version, databaseUrl, dumpUrl] = process.argv.slice(2)
if (version === undefined || databaseUrl === undefined || dumpUrl === undefined) {
  throw new Error('Usage: node scripts/dump-release.ts <version> <database> <database as seen by pg_dump>')
}
const root = path.join(import.meta.dirname, '..')
const folder = path.join(root, 'tests/releases')
mkdirSync(folder, { recursive: true })

await fillDatabase(databaseUrl, async (contents) => {
  // Row-level security hides records from the owner.
  const database = openDatabase(dumpUrl, { log: pino({ level: 'silent' }) })
  const empty = await emptyTables(database)
  await database.close()
  if (empty.length > 0) throw new Error(`nothing fills ${empty.join(', ')}: extend tests/support/full-database.ts`)
  const dump = execFileSync('pg_dump', ['--inserts', '--rows-per-insert=500', dumpUrl], { maxBuffer: 1e9 })
  writeFileSync(path.join(folder, `${version}.sql.gz`), gzipSync(dump, { level: 9 }))
  writeFileSync(path.join(folder, `${version}.json`), `${JSON.stringify(contents, undefined, 2)}\n`)
})

// From now on these migrations must not change.
const checksums = (await readMigrations(shippedMigrations)).map(({ name, checksum }) => `${checksum}  ${name}.sql\n`)
writeFileSync(path.join(folder, 'migrations.sha256'), checksums.join(''))
