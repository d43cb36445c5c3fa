import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, test, type TestContext } from 'node:test'
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
import { readAllRows, readWholeSchema } from './support/whole-schema.ts'
import { assertVerified } from './support/verified.ts'

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

  // What a function does is in its file. An older text in a migration is what its own statements need, and no more.
  test('create only functions that they use themselves, and none since functions have files', () => {
    const files = globSync('0*.sql', { cwd: migrations }).map((name) => ({
      name,
      sql: String(readMigration(name)).replaceAll(/--.*/g, ''),
    }))
    const created = files.flatMap(({ name, sql }) =>
      Array.from(sql.matchAll(/^create (?:or replace )?function (\w+)/gm), ([, each = '']) => ({ name, each })),
    )
    const others = files
      .map(({ sql }) => sql.replaceAll(/^(?:create (?:or replace )?|revoke execute on )function \w+\(/gm, ''))
      .join('\n')
    const released = new Set(list.map((line) => line.split('  ')[1]))
    const unused = ({ each }: { readonly each: string }) => !new RegExp(`\\b${each}\\(`).test(others)
    assert.deepEqual(
      created.filter((one) => !released.has(one.name) && (one.name > '0065' || unused(one))),
      [],
    )
  })

  // Those to come may be written at the same time, and land in another order.
  test('have numbers without gaps, and no migration has that of another', () => {
    const released = list.map((line) => Number(line.split('  ')[1]?.slice(0, 4)))
    assert.deepEqual(
      released,
      released.map((_, index) => index + 1),
    )
    const numbers = globSync('0*.sql', { cwd: migrations }).map((name) => name.slice(0, 4))
    assert.deepEqual(numbers.toSorted(), [...new Set(numbers)].toSorted())
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

describe('the schema of a new database', () => {
  const fresh = fixture(() => createTestDatabase())
  let superuser: Database
  let schema: readonly string[]
  setUp(async () => {
    superuser = openDatabase(fresh.superuserUrl, { log })
    schema = await readSchemaOf(fresh.url)
  })
  after(() => superuser.close())

  test('and its rows are those that the numbered files make', { timeout: 120_000 }, async (t) => {
    const directory = await copyMigrations(t, 'schema.sql')
    const numbered = await createTestDatabase({ empty: true })
    await migrate(numbered.url, { directory })
    assert.deepEqual(differences(schema, await readSchemaOf(numbered.url)), [])
    const other = openDatabase(numbered.superuserUrl, { log })
    assert.deepEqual(differences(await readAllRows(superuser), await readAllRows(other)), [])
    await other.close()
    await numbered.drop()
  })

  const changes = [
    'alter table letter alter recipient type varchar',
    'alter table client alter email set not null',
    `alter table client alter email set default 'a@b.example'`,
    'alter table client alter email set storage main',
    'alter table client alter email set statistics 7',
    'alter table expense drop tax; alter table expense add tax text check (length(tax) between 1 and 100)',
    'alter table client rename constraint client_email_check to other',
    'alter table client drop constraint client_email_check, add constraint client_email_check check (length(email) < 9)',
    'alter table client drop constraint client_consultant_id_fkey',
    'alter table client set (fillfactor = 20)',
    'alter table logout_token set unlogged',
    'alter table client no force row level security',
    'alter table client disable trigger revised',
    'alter table client replica identity full',
    `alter index client_spelling set (fastupdate = off)`,
    'drop index client_by_name; create index client_by_name on client (status, sort_key, id)',
    'alter policy every on client using (id is not null)',
    'alter policy every on client to public',
    'drop trigger revised on client; create trigger revised before insert on client for each row execute function keep_revision()',
    'grant select (secret_hash) on api_key to public',
    'grant select on api_key to public',
    'grant insert on audit to current_user with grant option',
    'grant update on audit to current_user',
    'grant usage on sequence audit_id_seq to public',
    'grant create on schema public to public',
    'grant execute on function close_months() to public',
    'alter default privileges grant select on tables to public',
    'alter function words(text) volatile',
    'alter function keep_revision() reset timezone',
    'create function other() returns integer language sql return 1',
    `alter domain label set default 'a'`,
    `alter type account_status add value 'paused' before 'closed'`,
    'alter type charge add attribute more integer',
    'alter sequence ledger_number cache 10',
    'alter sequence ledger_number owned by none',
    `create table ledger_2020_01 partition of ledger for values from ('2020-01-01') to ('2020-02-01')`,
    'create view other as select 1 as one',
    'create statistics other on name, email from client',
    `comment on table client is 'a'`,
    'create rule other as on insert to client do also notify other',
    'create aggregate other (integer) (sfunc = int4pl, stype = integer)',
  ]
  for (const change of changes) {
    test(`this check finds: ${change}`, async () => {
      const found = superuser.transaction(async (tx) => {
        await tx.rows(`set local role ${new URL(fresh.url).username}`)
        await tx.rows(change)
        throw new Rollback(differences(schema, await readWholeSchema(tx)))
      })
      const { differing } = await found.catch((error: unknown) =>
        error instanceof Rollback ? error : Promise.reject(error),
      )
      assert.notDeepEqual(differing, [])
    })
  }
})

/** A folder with the migrations, without some of them. */
async function copyMigrations(t: TestContext, ...without: readonly string[]): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'tollgate-migrations-'))
  t.after(() => rm(directory, { recursive: true }))
  await cp(migrations, directory, { recursive: true })
  for (const name of without) await rm(path.join(directory, name), { recursive: true })
  return directory
}

/** Ends a transaction without a trace. */
class Rollback extends Error {
  readonly differing: readonly string[]
  constructor(differing: readonly string[]) {
    super('rolled back')
    this.differing = differing
  }
}

async function readSchemaOf(url: string): Promise<string[]> {
  const database = openDatabase(url, { log })
  const schema = await readWholeSchema(database)
  await database.close()
  return schema
}

function differences(expected: readonly string[], found: readonly string[]): string[] {
  const [known, there] = [new Set(expected), new Set(found)]
  return [
    ...expected.filter((line) => !there.has(line)).map((line) => `missing: ${line}`),
    ...found.filter((line) => !known.has(line)).map((line) => `unexpected: ${line}`),
  ]
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
      assertVerified(await verifyChanges(database))
    },
  )

  const places = Array.from({ length: 14 }, (_, index) => ({ place: index + 1 }))
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
    const fresh = fixture(() => createTestDatabase())

    test('admits and charges with its own functions until those of this version are applied', async (t) => {
      const restored = await restore(gunzipSync(readFileSync(path.join(folder, file))).toString())
      t.after(() => restored.drop())
      await migrate(restored.url, { directory: await copyMigrations(t, 'schema.sql', 'functions') })
      const database = openDatabase(restored.url, { log })
      const instance = randomUUID()
      const hold = randomUUID()
      const call = async (number: number, settle: object[], admit: object[]) => {
        const query = `select outcome from till($1, $2, $3, $4)`
        return database.rows(query, [instance, number, JSON.stringify(settle), JSON.stringify(admit)])
      }
      await database.rows(`insert into instance (id, host) values ($1, 'a')`, [instance])
      const [key] = await database.rows<{ key: string; account: string }>(
        'select id as key, account_id as account from api_key where account_id = $1',
        [readContents(version).accountId],
      )
      const tokens = { input: 3, output: 5, input_price: 1, output_price: 2, requests: 1, again: false }
      const admission = { ...key, ...tokens, hold, model: 'fast', idem: 'a', hash: 'b' }
      assert.deepEqual(await call(1, [], [admission]), [{ outcome: 'admitted' }])
      const settlement = { hold, input: 3, output: 4, stop: 'complete', source: 'model', headers: {}, body: '{}' }
      assert.deepEqual(await call(2, [settlement], []), [{ outcome: 'settled' }])
      assert.deepEqual(await database.rows('select cost from ledger where request_id = $1', [hold]), [{ cost: 11n }])
      await database.close()
    })

    test('opens, has the schema of a new database, proves its books, and works', { timeout: 120_000 }, async () => {
      const restored = await restore(gunzipSync(readFileSync(path.join(folder, file))).toString())
      const contents = readContents(version)
      const vendor = await startVendor()
      try {
        const superuser = openDatabase(restored.superuserUrl, { log })
        assert.deepEqual(await emptyTables(superuser), [])
        await superuser.close()
        await migrate(restored.url)
        const [made, upgraded] = [await readSchemaOf(fresh.url), await readSchemaOf(restored.url)]
        assert.deepEqual(differences(asDumped(made), asDumped(upgraded)), [])
        const database = openDatabase(restored.url, { log })
        // As the next start does.
        await database.rows(`select ledger_partitions(current_date, current_date + 40)`)
        assertVerified(await verifyAll(database, { full: true, longestRequest: 10 ** 9 }))
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
        assertVerified(await verifyAll(service.database, { full: true, longestRequest: 10 ** 9 }))
        await service.close()
      } finally {
        await vendor.close()
        await restored.drop()
      }
    })
  })
}

/**
 * What a dump keeps of a schema: neither the names of NOT NULL constraints nor all parentheses. The months of the ledger are those since
 * the database was made.
 */
const asDumped = (schema: readonly string[]): string[] =>
  schema
    .filter((line) => !/^(?:constraint \S+_not_null\d* |partition FOR VALUES |table public\.ledger_\d)/.test(line))
    .map((line) => (line.startsWith('constraint ') ? line.replaceAll(/[()]/g, '') : line))

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
    [...dump.matchAll(/\btollgate_(?:consultant|developer|partner|portal)_[0-9a-f]{8}\b/g)].map(([name]) => name),
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
