import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { Client } from 'pg'
import { verifyChanges } from '../src/access/verify.ts'
import { verifyAll } from '../src/commands/verification.ts'
import { openDatabase, type Database } from '../src/platform/database/database.ts'
import { migrate } from '../src/platform/database/migrations.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import { emptyTables, fillDatabase, type Contents } from './support/full-database.ts'
import { parseObject } from './support/json.ts'
import { fixture, setUp } from './support/fixture.ts'
import { plant, readUnnoticed } from './support/planted-changes.ts'
import { startService, upstreamModel } from './support/service.ts'
import { sealAll, whileTampered } from './support/tamper.ts'
import { log } from './support/tills.ts'
import { startVendor } from './support/vendor.ts'

const folder = path.join(import.meta.dirname, 'releases')
const migrations = path.join(import.meta.dirname, '../migrations')

describe('released migrations', () => {
  const list = readFileSync(path.join(folder, 'migrations.sha256'), 'utf8').trimEnd().split('\n')

  test('never change', () => {
    assert.deepEqual(
      changed(list, (name) => readFileSync(path.join(migrations, name))),
      [],
    )
  })

  test('this check finds a changed and a missing migration', () => {
    const [first = ''] = list
    const [, name = ''] = first.split('  ')
    assert.deepEqual(
      changed([first], (file) => Buffer.concat([readMigration(file), Buffer.from(' ')])),
      [name],
    )
    assert.deepEqual(
      changed([`${first}x`], (file) => readFileSync(path.join(migrations, file))),
      [`${name}x`],
    )
  })

  // An older text in a migration would be what a new database runs until the file of the function is applied.
  test('create no function since functions have files', () => {
    const since = globSync('*.sql', { cwd: migrations }).filter((name) => name > '0065')
    assert.deepEqual(
      since.filter((name) => /^create (?:or replace )?function/im.test(String(readMigration(name)))),
      [],
    )
  })

  test('have numbers without gaps or duplicates', () => {
    const numbers = globSync('*.sql', { cwd: migrations }).map((name) => Number(name.slice(0, 4)))
    assert.deepEqual(
      numbers.toSorted((a, b) => a - b),
      numbers.map((_, index) => index + 1),
    )
  })
})

const readMigration = (name: string) => readFileSync(path.join(migrations, name))

function changed(list: readonly string[], read: (name: string) => Buffer): string[] {
  return list.flatMap((line) => {
    const [hash, name = ''] = line.split('  ')
    try {
      return createHash('sha256').update(read(name)).digest('hex') === hash ? [] : [name]
    } catch {
      return [name]
    }
  })
}

describe('a database with rows in every table', () => {
  let database: Database
  const fresh = fixture(() => createTestDatabase())
  setUp(() => {
    database = openDatabase(fresh.url, { log })
  })
  after(() => database.close())

  test(
    'is what this version makes for the dump of its release, and proves its books',
    { timeout: 120_000 },
    async () => {
      const superuser = openDatabase(fresh.superuserUrl, { log })
      await fillDatabase(fresh.url, async () => assert.deepEqual(await emptyTables(superuser), []))
      await superuser.close()
      assert.deepEqual(
        (await verifyChanges(database)).filter(({ ok }) => !ok),
        [],
      )
    },
  )

  const places = Array.from({ length: 12 }, (_, index) => ({ place: index + 1 }))
  for (const change of [...places, 'removed', 'added'] as const) {
    test(`A35 names a row of each recorded table: ${JSON.stringify(change)}`, async () => {
      const { unnoticed, planted } = await whileTampered(database, plant(change), readUnnoticed)
      assert.deepEqual(unnoticed, [])
      assert.ok(planted > 0)
    })
  }
})

for (const file of globSync('*.sql.gz', { cwd: folder })) {
  const version = file.replace('.sql.gz', '')

  describe(`a database of version ${version} (A36)`, () => {
    test('opens, proves its books, and works', { timeout: 120_000 }, async () => {
      const restored = await restore(gunzipSync(readFileSync(path.join(folder, file))).toString())
      const contents = readContents(version)
      const vendor = await startVendor()
      try {
        const superuser = openDatabase(restored.superuserUrl, { log })
        assert.deepEqual(await emptyTables(superuser), [])
        await superuser.close()
        await migrate(restored.url)
        const database = openDatabase(restored.url, { log })
        const migrated = await verifyAll(database, { full: true, longestRequest: 10 ** 9 })
        assert.deepEqual(
          migrated.filter(({ ok }) => !ok),
          [],
        )
        await database.close()
        const service = await startService({ databaseUrl: restored.url, models: [upstreamModel(vendor.url)] })
        const { rows } = await service.books(contents.accountId)
        const call = { model: 'fast', input: 'Hello', max_output_tokens: 100 }
        const answer = await service.call('/v1/generate', contents.key, call)
        assert.equal(answer.status, 200, answer.text)
        assert.equal((await service.books(contents.accountId)).rows.length, rows.length + 1)
        const partner = await service.people.show(contents.partnerId)
        const cookie = await service.signIn(partner)
        const record = await service.call(`/clients/${contents.clientId}`, undefined, undefined, { cookie })
        assert.equal(record.status, 200, record.text)
        assert.equal(record.json['name'], 'Anna Berg')
        // The next seals cover the columns that this version added.
        await sealAll(service.database)
        const used = await verifyAll(service.database, { full: true, longestRequest: 10 ** 9 })
        assert.deepEqual(
          used.filter(({ ok }) => !ok),
          [],
        )
        await service.close()
      } finally {
        await vendor.close()
        await restored.drop()
      }
    })
  })
}

function readContents(version: string): Contents {
  const { key, accountId, clientId, partnerId } = parseObject(
    readFileSync(path.join(folder, `${version}.json`), 'utf8'),
  )
  return {
    key: String(key),
    accountId: String(accountId),
    clientId: String(clientId),
    partnerId: String(partnerId),
  }
}

/** Restores a dump as the owner, as `psql` would. A dump contains no roles; psql's own commands begin with a backslash. */
async function restore(dump: string): Promise<TestDatabase> {
  const database = await createTestDatabase({ empty: true })
  const client = new Client(database.url)
  await client.connect()
  const roles = new Set(
    [...dump.matchAll(/\btollgate_(?:consultant|partner|portal)_[0-9a-f]{8}\b/g)].map(([name]) => name),
  )
  const owners = new Set([...dump.matchAll(/ OWNER TO (\w+);/g)].map(([, name = '']) => name))
  for (const role of [...roles, ...owners]) await createRole(client, role)
  const portal = [...roles].find((role) => role.includes('_portal_'))
  for (const role of roles) if (role !== portal) await client.query(`grant "${role}" to "${portal}"`)
  await client.query(dump.replaceAll(/^\\.*$/gm, ''))
  await client.end()
  return database
}

async function createRole(client: Client, role: string): Promise<void> {
  const attributes = role.includes('_portal_') ? 'noinherit' : ''
  await client.query(
    `do $$ begin create role "${role}" ${attributes}; exception when duplicate_object then null; end $$`,
  )
}
