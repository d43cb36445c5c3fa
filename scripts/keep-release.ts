// Usage: node scripts/keep-release.ts <version> <folder of PostgreSQL's programs>
//
// Keeps in tests/releases what later versions are compared with: a dump of a database that this version has filled, the description
// of its API below /v1, and the checksums of its migrations. Run it once, on the commit of the release. The programs are those of the
// oldest supported PostgreSQL, pg_dump among them, because newer servers also restore its dumps: /usr/lib/postgresql/15/bin on Debian.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { openDatabase } from '../src/platform/database/database.ts'
import { readMigrations, shippedMigrations } from '../src/platform/database/migration-files.ts'
import { entriesOf } from '../src/platform/text/json.ts'
import { startCluster } from '../tests/support/cluster.ts'
import { createTestDatabase, shareCluster } from '../tests/support/database.ts'
import { emptyTables, fillDatabase } from '../tests/support/full-database.ts'
import { changesSinceReleases } from './docs/api-changes.ts'
import { readOpenApi } from './docs/openapi.ts'

const [version, programs] = process.argv.slice(2)
if (version === undefined || programs === undefined) {
  throw new Error("Usage: node scripts/keep-release.ts <version> <folder of PostgreSQL's programs>")
}

const keep = (name: string, content: string | Buffer) =>
  writeFileSync(path.join(import.meta.dirname, '../tests/releases', name), content)
const zip = (content: string | Buffer) => gzipSync(content, { level: 9 })

// Before anything needs a database.
const cluster = await startCluster({ programs })
shareCluster(cluster)
const document = await readOpenApi()
for (const [release, changes] of changesSinceReleases(document)) {
  if (changes.length > 0) throw new Error(`this version breaks callers of ${release}:\n${changes.join('\n')}`)
}

const { url, superuserUrl } = await createTestDatabase()
await fillDatabase(url, async (contents) => {
  // Row-level security hides records from the owner.
  const database = openDatabase(superuserUrl, { log: pino({ level: 'silent' }) })
  const empty = await emptyTables(database)
  await database.close()
  if (empty.length > 0) throw new Error(`nothing fills ${empty.join(', ')}: extend tests/support/full-database.ts`)
  const dump = execFileSync(path.join(programs, 'pg_dump'), ['--inserts', '--rows-per-insert=500', superuserUrl], {
    maxBuffer: 1e9,
  })
  keep(`${version}.sql.gz`, zip(dump))
  keep(`${version}.json`, `${JSON.stringify(contents, undefined, 2)}\n`)
})

const paths = Object.fromEntries(entriesOf(document['paths']).filter(([address]) => address.startsWith('/v1/')))
keep(`${version}.openapi.json.gz`, zip(JSON.stringify({ ...document, paths })))

// From now on these migrations must not change.
const checksums = (await readMigrations(shippedMigrations)).map(({ name, checksum }) => `${checksum}  ${name}.sql\n`)
keep('migrations.sha256', checksums.join(''))
await cluster.stop()
