import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Client } from 'pg'
import { createTestDatabase } from '../../../tests/support/database.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { openPooler } from '../../../tests/support/pooler.ts'
import { until } from '../../../tests/support/until.ts'
import { listen } from '../../../tests/support/server.ts'
import { at, valuesOf } from '../../../tests/support/json.ts'
import { openDatabase } from './database.ts'
import { earlierChecksums } from './earlier-checksums.ts'
import { migrate, requireCurrentSchema } from './migrations.ts'
import { OperatorError } from '../problems.ts'

let root: string
before(async () => void (root = await mkdtemp(join(tmpdir(), 'tollgate-migrations-'))))
after(() => rm(root, { recursive: true }))

/** A folder with the given migrations. */
async function folder(files: Record<string, string>): Promise<string> {
  const directory = await mkdtemp(join(root, 'm-'))
  for (const [name, sql] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), sql)
  }
  return directory
}

const timers = { skip: 'FAKETIME' in process.env ? 'under libfaketime, no timer of PostgreSQL expires' : false }

/** An empty database and a connection to it. */
async function empty() {
  const own = await createTestDatabase({ empty: true })
  const { url, superuserUrl } = own
  const database = openDatabase(url, { log: createTestLog().log, connections: 1 })
  const tables = async () => {
    const rows = await database.rows<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by 1`,
    )
    return rows.map(({ name }) => name)
  }
  const end = () => database.close().then(() => own.drop())
  return { url, superuserUrl, rows: (sql: string) => database.rows(sql), tables, end }
}

/** Asserts a refusal of one matching line without a password. */
function refuses(work: Promise<unknown>, line: RegExp): Promise<void> {
  return assert.rejects(work, (error) => {
    assert.ok(error instanceof OperatorError, String(error))
    assert.match(error.message, line)
    assert.ok(!error.message.includes('\n'))
    assert.ok(!error.message.includes('secret-password'))
    return true
  })
}

const one = { '0001_one.sql': 'create table a (n integer);' }
/** The file of a function. */
const returning = (name: string, result: string) => ({
  [`functions/f/${name}.sql`]: `create or replace function ${name}() returns integer language sql return ${result};`,
})
const two = { ...one, '0002_two.sql': 'create table b (n integer); insert into b select n from a;' }

describe('the shipped migrations', () => {
  test('apply in order, once', async () => {
    const { url, rows, tables, end } = await empty()
    const names = await migrate(url)
    assert.ok(names.length >= 2)
    assert.deepEqual(names, names.toSorted())
    assert.ok((await tables()).includes('ledger'))
    assert.deepEqual(await migrate(url), [])
    const history = await rows('select number, name from migration order by number')
    assert.deepEqual(
      history,
      names.map((name) => ({ number: Number.parseInt(name, 10), name })),
    )
    await end()
  })

  test('may have been applied in their text before they lost their functions', async () => {
    const { url, rows, end } = await empty()
    await migrate(url)
    const earlier = JSON.stringify([...earlierChecksums])
    const replaced = await rows(
      `update migration set checksum = earlier ->> 1 from jsonb_array_elements('${earlier}') earlier where name = earlier ->> 0 returning 1`,
    )
    assert.equal(replaced.length, earlierChecksums.size)
    await requireCurrentSchema(url)
    assert.deepEqual(await migrate(url), [])
    await rows(`update migration set checksum = '${earlierChecksums.get('0016_usage')}' where number = 13`)
    await refuses(migrate(url), /The file of migration 0013_drafting differs/)
    await end()
  })

  test('stop at once, in a migration or while they wait for another process, and leave nothing behind', async () => {
    const { url, rows, end } = await empty()
    const running = () =>
      rows(`select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`)
    const directory = await folder({ '0001_one.sql': 'create table one (); select pg_sleep(600)' })
    const stops = [new AbortController(), new AbortController()]
    const ended = Promise.allSettled(stops.map(({ signal }) => migrate(url, { directory, stop: signal })))
    // One sleeps in its migration, and the other waits for its lock.
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event in ('PgSleep', 'advisory')`
    await until(async () => (await rows(waiting)).length === 2)
    for (const stop of stops) stop.abort()
    assert.deepEqual(valuesOf(await ended, 'status'), ['rejected', 'rejected'])
    await until(async () => (await running()).length === 0)
    assert.deepEqual(await rows('select from migration'), [])
    assert.deepEqual(await rows(`select where to_regclass('one') is not null`), [])
    await refuses(migrate(url, { directory, stop: AbortSignal.abort() }), /aborted/)
    await end()
  })

  test('apply once if eight processes start at once', async () => {
    const { url, end } = await empty()
    const done = await Promise.all(Array.from({ length: 8 }, () => migrate(url)))
    assert.equal(done.filter((names) => names.length > 0).length, 1)
    await end()
  })
})

describe('functions', () => {
  const table = { '0001_one.sql': 'create table sql_function (name text primary key, checksum text not null)' }
  const called = { ...table, ...returning('a', 'b()') }

  test('are applied after the migrations, each after those that it names, and again when their text changes', async () => {
    const { url, rows, end } = await empty()
    const first = await folder({ ...called, ...returning('b', '1') })
    assert.deepEqual(await migrate(url, { directory: first }), ['0001_one'])
    assert.deepEqual(await rows('select a()'), [{ a: 1 }])
    await requireCurrentSchema(url, first)
    const second = await folder({ ...called, ...returning('b', '2') })
    await refuses(requireCurrentSchema(url, second), /older than this version .* lacks this version's function b\./)
    await migrate(url, { directory: second })
    assert.deepEqual(await rows('select a()'), [{ a: 2 }])
    await requireCurrentSchema(url, second)
    // One that has not changed is not applied again.
    await rows('create or replace function a() returns integer language sql return 7')
    await migrate(url, { directory: await folder({ ...called, ...returning('b', '3') }) })
    assert.deepEqual(await rows('select a(), b()'), [{ a: 7, b: 3 }])
    await end()
  })

  test('change all or none', async () => {
    const { url, rows, end } = await empty()
    await migrate(url, { directory: await folder({ ...called, ...returning('b', '1') }) })
    const broken = await folder({ ...called, ...returning('b', '2'), ...returning('c', 'nothing()') })
    await refuses(
      migrate(url, { directory: broken }),
      /^The change of functions failed and was rolled back: function nothing/,
    )
    assert.deepEqual(await rows('select a()'), [{ a: 1 }])
    assert.deepEqual(await rows('select count(*)::integer from sql_function'), [{ count: 2 }])
    await end()
  })
})

describe('the schema of a new database', () => {
  const table = 'create table sql_function (name text primary key, checksum text not null);'
  /** Function `d` fits no database without the table. */
  const parts: Record<string, string> = {
    ...two,
    ...returning('b', 'c()'),
    ...returning('c', '1'),
    'functions/f/d.sql': 'create or replace function d(a a) returns integer language sql return (a).n;',
    'schema.sql': `-- Of d().\n${table} create table a (n integer default b()); create table b (n integer);`,
  }

  test('is made from its file, with the functions that it calls before it and the others after it', async () => {
    const { url, rows, end } = await empty()
    const directory = await folder(parts)
    assert.deepEqual(await migrate(url, { directory }), ['0001_one', '0002_two'])
    assert.deepEqual(await rows('insert into a default values returning d(a)'), [{ d: 1 }])
    await requireCurrentSchema(url, directory)
    assert.deepEqual(await migrate(url, { directory }), [])
    const later = await folder({ ...parts, '0003_three.sql': 'alter table a add m integer', 'schema.sql': 'not read' })
    assert.deepEqual(await migrate(url, { directory: later }), ['0003_three'])
    assert.deepEqual(await rows('select d(a), m from a'), [{ d: 1, m: null }])
    await end()
  })

  test('is not that of a database with a history', async () => {
    const { url, tables, end } = await empty()
    await migrate(url, { directory: await folder(one) })
    const directory = await folder({ ...two, 'schema.sql': 'create table c ()' })
    assert.deepEqual(await migrate(url, { directory }), ['0002_two'])
    assert.deepEqual(await tables(), ['a', 'b', 'migration'])
    await end()
  })

  for (const name of ['functions/f/b.sql', 'schema.sql', 'functions/f/d.sql']) {
    test(`leaves nothing if its process is killed in ${name}, and is made by the next start`, async () => {
      const { url, rows, tables, end } = await empty()
      const slow = await folder({ ...parts, [name]: `${parts[name]}; select pg_sleep(600)` })
      const refused = refuses(migrate(url, { directory: slow }), /^The creation of the schema failed|^The database/)
      const sleeping = `from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`
      await until(async () => (await rows(`select ${sleeping}`)).length === 1)
      await rows(`select pg_terminate_backend(pid) ${sleeping}`)
      await refused
      assert.deepEqual(await tables(), ['migration'])
      assert.deepEqual(await rows('select from migration'), [])
      const directory = await folder(parts)
      await refuses(requireCurrentSchema(url, directory), /it lacks the migration 0001_one and 1 more/)
      assert.deepEqual(await migrate(url, { directory }), ['0001_one', '0002_two'])
      await requireCurrentSchema(url, directory)
      await end()
    })
  }
})

describe('a schema check', () => {
  test('accepts a current schema and otherwise names the command to run, without any change', async () => {
    const { url, rows, tables, end } = await empty()
    await refuses(
      requireCurrentSchema(url),
      /^The database is empty\. Create the schema: \.\/tollgate migrate, or \.\/tollgate start$/,
    )
    assert.deepEqual(await tables(), [])
    await rows('create table invoice (n integer)')
    await refuses(
      requireCurrentSchema(url),
      /^The database has tables, but they are not of Tollgate: check its address\./,
    )
    assert.deepEqual(await tables(), ['invoice'])
    await migrate(url, { directory: await folder(one) })
    await requireCurrentSchema(url, await folder(one))
    await refuses(
      requireCurrentSchema(url, await folder({ ...two, '0003_three.sql': 'select 1' })),
      /^The database schema is older .* lacks the migration 0002_two and 1 more\. Upgrade it: \.\/tollgate migrate$/,
    )
    await refuses(
      requireCurrentSchema(url, await folder({})),
      /schema is newer .* the migration 0001_one\. Run the newer/,
    )
    assert.deepEqual(await tables(), ['a', 'invoice', 'migration'])
    await end()
  })
})

describe('the history of migrations', () => {
  test('only new migrations are applied', async () => {
    const { url, tables, end } = await empty()
    assert.deepEqual(await migrate(url, { directory: await folder(one) }), ['0001_one'])
    assert.deepEqual(await migrate(url, { directory: await folder(two) }), ['0002_two'])
    assert.deepEqual(await tables(), ['a', 'b', 'migration'])
    await end()
  })

  test('a schema newer than the code is refused and not changed', async () => {
    const { url, tables, end } = await empty()
    await migrate(url, { directory: await folder(two) })
    await refuses(
      migrate(url, { directory: await folder(one) }),
      /schema is newer than this version of Tollgate: it has the migration 0002_two\. Run the newer version\.$/,
    )
    assert.deepEqual(await tables(), ['a', 'b', 'migration'])
    await end()
  })

  test('a changed file is refused before anything new is applied', async () => {
    const { url, tables, end } = await empty()
    await migrate(url, { directory: await folder(one) })
    const changed = await folder({ ...two, '0001_one.sql': 'create table a (n bigint);' })
    await refuses(migrate(url, { directory: changed }), /migration 0001_one differs from what was applied/)
    assert.deepEqual(await tables(), ['a', 'migration'])
    await end()
  })

  test('a new file before an applied one is refused', async () => {
    const { url, end } = await empty()
    await migrate(url, { directory: await folder({ '0002_two.sql': 'select 1' }) })
    await refuses(
      migrate(url, { directory: await folder({ ...one, '0002_two.sql': 'select 1' }) }),
      /0002_two differs from what was applied/,
    )
    await end()
  })

  test('a failed migration is rolled back, and earlier ones remain', async () => {
    const { url, rows, tables, end } = await empty()
    const failing = await folder({ ...one, '0002_two.sql': 'create table b (n integer); select 1 / 0;' })
    await refuses(
      migrate(url, { directory: failing }),
      /Migration 0002_two failed and was rolled back: division by zero/,
    )
    assert.deepEqual(await tables(), ['a', 'migration'])
    assert.deepEqual(await rows('select name from migration'), [{ name: '0001_one' }])
    assert.deepEqual(await migrate(url, { directory: await folder(two) }), ['0002_two'])
    await end()
  })

  test('other files in the folder are not migrations', async () => {
    const { url, end } = await empty()
    const directory = await folder({ ...one, 'README.md': 'no', '1_short.sql': 'no', '0003_x.sql.bak': 'no' })
    assert.deepEqual(await migrate(url, { directory }), ['0001_one'])
    await end()
  })
})

describe('the database server', () => {
  test("a migration may exceed the server's statement timeout", async () => {
    const { url, rows, end } = await empty()
    await rows(`alter database ${new URL(url).pathname.slice(1)} set statement_timeout = 50`)
    assert.deepEqual(await migrate(url, { directory: await folder({ '0001_slow.sql': 'select pg_sleep(0.3)' }) }), [
      '0001_slow',
    ])
    await end()
  })

  test('A48 nobody waits behind a migration that a long transaction keeps from a table', timers, async (t) => {
    const { url, rows, end } = await empty()
    await migrate(url, { directory: await folder(one) })
    const dump = new Client({ connectionString: url, application_name: 'pg_dump' })
    await dump.connect()
    t.after(() => dump.end())
    await dump.query('begin')
    await dump.query(`select 'of a customer' from a`)
    const lines: string[] = []
    const directory = await folder({ ...one, '0002_two.sql': 'alter table a add m integer' })
    const migrating = migrate(url, { directory, onWait: (line) => lines.push(line) })
    await until(() => lines.length > 0)
    assert.deepEqual(await rows('select from a'), [])
    assert.match(
      lines.join('\n'),
      /^Migration 0002_two waits for the session \d+ \(pg_dump\), .* since \d{4}-\S* and last ran: select$/,
    )
    await dump.end()
    assert.deepEqual(await migrating, ['0002_two'])
    await end()
  })

  test('A48 a migration that waits for one table after another lets go of those that it has', timers, async () => {
    const { url, rows, end } = await empty()
    const tables = Array.from('abcdefgh')
    const first = {
      '0001_first.sql': `create sequence attempt; ${tables.map((each) => `create table ${each} ()`).join(';')}`,
    }
    await migrate(url, { directory: await folder(first) })
    const held = tables.map((each) => `begin; lock table ${each} in access share mode`)
    const holders = held.map(() => new Client({ connectionString: url }))
    for (const [index, holder] of holders.entries()) await holder.connect().then(() => holder.query(held[index] ?? ''))
    const second = `select nextval('attempt'); ${tables.map((each) => `alter table ${each} add n integer`).join(';')}`
    const directory = await folder({ ...first, '0002_second.sql': second })
    // Each goes once it has been seen in the way.
    await migrate(url, { directory, onWait: () => void holders.shift()?.end() })
    const [attempts] = await rows('select last_value::integer as made from attempt')
    assert.ok(Number(at(attempts, 'made')) > 2)
    await end()
  })

  test('a role without the right to create tables can start on a current schema, and is refused otherwise', async () => {
    const { url, rows, end } = await empty()
    const role = `reader_${Date.now()}`
    await rows(`create role ${role} login password 'secret-password'`)
    const limited = Object.assign(new URL(url), { username: role, password: 'secret-password' })
    await refuses(migrate(limited.href, { directory: await folder(one) }), /permission denied for schema public/)
    await migrate(url, { directory: await folder(one) })
    await rows(`grant select on migration to ${role}`)
    assert.deepEqual(await migrate(limited.href, { directory: await folder(one) }), [])
    await refuses(
      migrate(limited.href, { directory: await folder(two) }),
      /0002_two failed and was rolled back: permission denied[^.]+\. It ran as the user "reader_\d+" in the database "\w+" at 127/,
    )
    await rows(`revoke select on migration from ${role}; drop role ${role}`)
    await end()
  })

  test('a server that refuses or is unreachable is named in one line without the password', async () => {
    const { url, end } = await empty()
    const { host, pathname, username } = new URL(url)
    const pooler = await serverThat((socket) =>
      socket.end(refusalOf('08P01', 'unsupported startup parameter: options')),
    )
    const refused = [
      [`postgres://stranger:secret-password@${host}${pathname}`, /refuses the user "stranger": check the user and/],
      [`postgres://${username}:secret-password@127.0.0.1:1/x`, /No database answers at 127\.0\.0\.1:1: start Postgre/],
      [`postgres://${username}:secret-password@nowhere.invalid/x`, /host "nowhere\.invalid" cannot be resolved/],
      [url.replace(pathname, '/nowhere'), /There is no database "nowhere" at 127\.0\.0\.1:\d+: create it/],
      [url.replace(/\/\/[^@]+@/, '//stranger@'), /requires a password: add it to the address/],
      [`${url}&sslrootcert=/nowhere/ca.pem`, /names a file that cannot be read: \/nowhere\/ca\.pem\.$/],
      [pooler.url, /is a pooler, or is not PostgreSQL \(unsupported startup parameter: options\): give the address/],
      ['postgres://user:secret-password@host:port/x', /address of the database is not valid: write postgres:/],
    ] as const
    for (const [address, line] of refused) await refuses(migrate(address), line)
    pooler.close()
    await end()
  })

  test('A49 a pooler in transaction mode is refused', async (t) => {
    const { url, end } = await empty()
    const pooler = await openPooler(url)
    t.after(() => pooler.close())
    await refuses(
      migrate(pooler.url),
      /^The server at .* is a pooler in transaction mode, which breaks the till: use the address/,
    )
    await end()
  })

  test('a database with another encoding is refused, whether or not the migrations would succeed', async () => {
    const { url, superuserUrl, end } = await empty()
    const superuser = openDatabase(superuserUrl, { log: createTestLog().log, connections: 1 })
    for (const encoding of ['SQL_ASCII', 'LATIN1']) {
      const name = `other_${encoding.toLowerCase()}`
      await superuser.rows(`create database ${name} encoding '${encoding}' locale 'C' template template0`)
      const address = url.replace(new URL(url).pathname, `/${name}`)
      await refuses(migrate(address), new RegExp(`encoding is ${encoding}: recreate it with .*encoding 'UTF8'`))
      await superuser.rows(`drop database ${name}`)
    }
    await superuser.close()
    await end()
  })

  test('a server older than 15 is refused', async () => {
    const old = await oldServer()
    await refuses(migrate(old.url), /The database is PostgreSQL 14\.23, and Tollgate needs 15 or newer/)
    old.close()
  })
})

/** Speaks enough of PostgreSQL's protocol (version 3, "Message Formats") to report version 14. */
function oldServer(): Promise<Pretender> {
  const ready = message('Z', 'I')
  const answer = Buffer.concat([
    message('T', int16(2), column('number'), column('version')),
    message('D', int16(2), value('140023'), value('14.23')),
    message('C', 'SELECT 1\0'),
    ready,
  ])
  return serverThat((socket) => {
    socket.write(Buffer.concat([message('R', int32(0)), ready]))
    socket.on('data', (data) => (data.toString('latin1', 0, 1) === 'X' ? socket.end() : socket.write(answer)))
  })
}

interface Pretender {
  readonly url: string
  close(): void
}

/** Answers the first message of each connection. */
async function serverThat(answers: (socket: Socket) => void): Promise<Pretender> {
  const server = createServer((socket) => void socket.once('data', () => answers(socket)))
  return { url: `postgres://u:p@127.0.0.1:${await listen(server)}/x?sslmode=disable`, close: () => server.close() }
}

function refusalOf(code: string, words: string): Buffer {
  return message('E', `SFATAL\0VFATAL\0C${code}\0M${words}\0\0`)
}

function message(type: string, ...parts: (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)))
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
}

function column(name: string): Buffer {
  const textType = 25
  return Buffer.concat([Buffer.from(`${name}\0`), int32(0), int16(0), int32(textType), int16(-1), int32(-1), int16(0)])
}

function value(text: string): Buffer {
  return Buffer.concat([int32(text.length), Buffer.from(text)])
}

function int32(n: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(n)
  return bytes
}

function int16(n: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(n)
  return bytes
}
