import assert from 'node:assert/strict'
import { connect, createServer, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { Client } from 'pg'
import { createTestDatabase } from '../../../tests/support/database.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { settle } from '../../../tests/support/clock.ts'
import { fixture, setUp } from '../../../tests/support/fixture.ts'
import { until } from '../../../tests/support/until.ts'
import { listen } from '../../../tests/support/server.ts'
import { connectionConfig } from './connection.ts'
import { openDatabase } from './database.ts'
import { Problem } from '../problems.ts'

const { log, text: logged } = createTestLog()

const own = fixture(() => createTestDatabase())
const database = fixture(() => openDatabase(own.url, { log, connections: 2 }))
setUp(() => database.rows('create table thing (id integer primary key)'))

const isUnavailable = (error: unknown) => {
  assert.ok(error instanceof Problem, String(error))
  assert.equal(error.code, 'unavailable')
  assert.equal(error.details.retryAfter, 1)
  assert.ok(!error.message.includes(new URL(own.url).password))
  return true
}

/** Cuts every other connection to the database, and waits until the pool has noticed. */
async function cut(): Promise<void> {
  const other = openDatabase(own.url, { log, connections: 1 })
  const rows = await other.rows<{ pid: number }>(
    // Not a worker of autovacuum, which only a superuser may end.
    `select pid from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
  )
  const pids = [rows.map(({ pid }) => pid)]
  await other.rows('select pg_terminate_backend(pid) from unnest($1::integer[]) pid', pids)
  await until(async () => (await other.rows('select from pg_stat_activity where pid = any($1)', pids)).length === 0)
  await other.close()
  await settle()
}

/** Waits until the pool works again: statements that began before the cut may fail first. */
async function served(): Promise<void> {
  await until(async () => {
    try {
      assert.deepEqual(await database.rows('select 1 as n'), [{ n: 1 }])
      return true
    } catch (error) {
      return !isUnavailable(error)
    }
  })
}

/** Waits until this many statements run `pg_sleep(seconds)`. */
async function sleeping(seconds: number, statements = 1): Promise<void> {
  const query = `select from pg_stat_activity where datname = current_database() and state = 'active' and query = $1`
  await until(async () => (await database.rows(query, [`select pg_sleep(${seconds})`])).length === statements)
}

async function things(): Promise<number[]> {
  const rows = await database.rows<{ id: number }>('select id from thing order by id')
  return rows.map(({ id }) => id)
}

/** The sslmode that the driver gets for a URL with this query. */
function modeOf(query: string): string | null {
  const { connectionString = '' } = connectionConfig(`postgres://u:p@host/x?${query}`, 0)
  return new URL(connectionString).searchParams.get('sslmode')
}

test('a prepared statement whose types were recreated, as in a restored database, fails at most once', async () => {
  const make = async () => {
    await database.rows('drop type if exists pair cascade')
    await database.rows('create type pair as (a int, b int)')
    await database.rows(
      `create function pairs(p pair[]) returns int language sql as 'select count(*)::int from unnest(p)'`,
    )
  }
  const session = await database.connect()
  const count = () => session.call({ name: 'pairs', text: 'select pairs($1) as n', values: ['{"(1,2)"}'] })
  await make()
  assert.deepEqual(await count(), [{ n: 1 }])
  await make()
  await count().catch(() => undefined)
  assert.deepEqual(await count(), [{ n: 1 }])
  await session.close()
  await database.rows('drop type pair cascade')
})

describe('values', () => {
  test('whole numbers are read as bigint, dates as text, times as Date, without floats', async () => {
    const [row] = await database.rows(
      `select 9007199254740993::int8 as int8, 12345678901234567890123456789::numeric as numeric, date '2026-03-29' as date,
        array[1, null]::int8[] as int8s, array[90071992547409931234]::numeric[] as numerics, array[]::numeric[] as none,
        array[date '2026-01-01'] as dates, timestamptz '2026-03-29 01:00Z' as at, 7 as int4`,
    )
    assert.deepEqual(row, {
      int8: 9007199254740993n,
      numeric: 12345678901234567890123456789n,
      date: '2026-03-29',
      int8s: [1n, null],
      numerics: [90071992547409931234n],
      none: [],
      dates: ['2026-01-01'],
      at: new Date('2026-03-29T01:00:00Z'),
      int4: 7,
    })
  })

  test('a numeric with a fraction is an error, not a rounded number', async () => {
    await assert.rejects(database.rows('select 1.5::numeric as n'), SyntaxError)
    assert.deepEqual(await database.rows('select 1 as n'), [{ n: 1 }])
  })

  test('a bigint is written exactly, and settings of the database do not change how values are read', async () => {
    const name = new URL(own.url).pathname.slice(1)
    await database.rows(`alter database ${name} set datestyle = 'German'`)
    const other = openDatabase(own.url, { log })
    assert.deepEqual(await other.rows(`select $1::numeric as n, date '2026-12-31' as d`, [10n ** 30n]), [
      { n: 10n ** 30n, d: '2026-12-31' },
    ])
    await other.close()
  })

  test('nor how statements run: schema, isolation and time limits are ours, even with options in the URL', async () => {
    const fresh = await createTestDatabase()
    const address = new URL(fresh.url)
    const name = address.pathname.slice(1)
    const admin = openDatabase(fresh.url, { log, connections: 1 })
    await admin.rows('create schema elsewhere')
    for (const setting of [
      'search_path = elsewhere',
      `default_transaction_isolation = 'serializable'`,
      'lock_timeout = 1',
    ]) {
      await admin.rows(`alter database ${name} set ${setting}`)
    }
    address.searchParams.set('options', '-c lock_timeout=2 -c DateStyle=German -c work_mem=9MB')
    for (const url of [fresh.url, address.href]) {
      const other = openDatabase(url, { log, connections: 1 })
      const [found] = await other.rows(
        `select current_schema::text as schema, current_setting('transaction_isolation') as isolation,
           current_setting('lock_timeout') as wait, date '2026-12-31' as d, current_setting('work_mem') = '9MB' as theirs`,
      )
      const theirs = url === address.href
      assert.deepEqual(found, { schema: 'public', isolation: 'read committed', wait: '0', d: '2026-12-31', theirs })
      await other.close()
    }
    await admin.close()
    await fresh.drop()
  })

  test('only the modes that the driver treats as verify-full with a warning become verify-full', () => {
    for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full'])
      assert.equal(modeOf(`sslmode=${mode}`), 'verify-full')
    for (const mode of ['disable', 'no-verify']) assert.equal(modeOf(`sslmode=${mode}`), mode)
    assert.equal(modeOf('uselibpqcompat=true&sslmode=require'), 'require')
    assert.equal(modeOf('application_name=x'), null)
  })

  test('our value parsers do not affect other users of the driver', async () => {
    const stranger = new Client(own.url)
    await stranger.connect()
    const { rows } = await stranger.query('select 1::int8 as n')
    assert.deepEqual(rows, [{ n: '1' }])
    await stranger.end()
  })
})

describe('transactions', () => {
  test('commit all or nothing, and return the connection', async () => {
    await database.transaction(async (tx) => {
      await tx.rows('insert into thing values (1)')
      await tx.rows('insert into thing values (2)')
    })
    const fault = new Error('stop')
    for (let round = 0; round < 5; round += 1) {
      const refused = database.transaction(async (tx) => {
        await tx.rows('insert into thing values (3)')
        throw fault
      })
      await assert.rejects(refused, fault)
    }
    assert.deepEqual(await things(), [1, 2])
  })

  test('a statement that the database refuses keeps its own error and its connection', async () => {
    const single = openDatabase(own.url, { log, connections: 1 })
    const pid = () => single.rows<{ pid: number }>('select pg_backend_pid() as pid')
    const first = await pid()
    await assert.rejects(single.rows('insert into thing values (1)'), { code: '23505' })
    await assert.rejects(
      single.transaction((tx) => tx.rows('insert into thing values (1)')),
      { code: '23505' },
    )
    assert.deepEqual(await pid(), first)
    await single.close()
  })

  test('a connection cut in the middle writes nothing and is unavailable', async () => {
    const work = database.transaction(async (tx) => {
      await tx.rows('insert into thing values (4)')
      await cut()
      await tx.rows('insert into thing values (5)')
    })
    await assert.rejects(work, isUnavailable)
    await served()
    assert.deepEqual(await things(), [1, 2])
  })
})

describe('an unavailable database', () => {
  test('cut idle connections are replaced', async () => {
    await Promise.all([database.rows('select 1'), database.rows('select 1')])
    await cut()
    await served()
    assert.match(logged(), /a database connection was lost/)
  })

  test('a statement whose connection is cut is unavailable, and the next one succeeds', async () => {
    const slow = assert.rejects(database.rows('select pg_sleep(10)'), isUnavailable)
    await sleeping(10)
    await cut()
    await slow
    await served()
  })

  test('with cuts at random moments under load, every result is a row or unavailable', async () => {
    const ending = new AbortController()
    const worker = async () => {
      let answers = 0
      while (!ending.signal.aborted) {
        await database.rows('select pg_sleep(0.001)').catch(isUnavailable)
        answers += 1
      }
      return answers
    }
    const workers = Promise.all([worker(), worker(), worker(), worker()])
    for (let round = 0; round < 20; round += 1) await cut()
    ending.abort()
    assert.ok((await workers).every((answers) => answers > 0))
    await served()
  })

  test('an unreachable server or a wrong password is unavailable', async () => {
    const { username, password, host, pathname } = new URL(own.url)
    const wrong = [
      `postgres://${username}:${password}@127.0.0.1:1${pathname}`,
      `postgres://stranger:wrong-password@${host}${pathname}`,
      `postgres://${username}:${password}@${host}/nowhere`,
    ]
    for (const url of wrong) {
      const away = openDatabase(url, { log })
      await assert.rejects(away.rows('select 1'), isUnavailable)
      await assert.rejects(
        away.transaction((tx) => tx.rows('select 1')),
        isUnavailable,
      )
      await assert.rejects(away.connect(), isUnavailable)
      await away.close()
    }
    assert.ok(!logged().includes('wrong-password'))
    assert.ok(!logged().includes(password))
  })

  test('a statement that takes too long is unavailable', async () => {
    const hasty = openDatabase(own.url, { log, connections: 1, statementTimeout: 2000 })
    await assert.rejects(hasty.rows('select pg_sleep(30)'), isUnavailable)
    await assert.rejects(
      hasty.transaction((tx) => tx.rows('select pg_sleep(30)')),
      isUnavailable,
    )
    assert.deepEqual(await hasty.rows('select 1 as n'), [{ n: 1 }])
    await hasty.close()
  })

  test('a server that stops responding is unavailable, for the pool and for a session, which is lost', async () => {
    const line = await silentLine(own.url)
    const hasty = openDatabase(line.url, { log, connections: 1, statementTimeout: 2000 })
    const session = await hasty.connect()
    const idle = await hasty.connect()
    await hasty.rows('select 1')
    line.hush()
    const lost = new Promise<void>((resolve) => session.onLost(resolve))
    await Promise.all([
      assert.rejects(hasty.rows('select 1'), isUnavailable),
      assert.rejects(session.rows('select 1'), isUnavailable),
      lost,
    ])
    // The server closes its side neither now nor later.
    await idle.close()
    await hasty.close()
    line.close()
  })
})

/** A proxy to the server that can stop forwarding, as after a power cut, or reset its connections. */
async function silentLine(
  url: string,
): Promise<{ url: string; hush: () => void; reset: () => void; close: () => void }> {
  const { hostname, port } = new URL(url)
  const ends: Socket[] = []
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    near.pipe(far).pipe(near)
    for (const end of [near, far]) ends.push(end.on('error', () => undefined))
  })
  return {
    url: url.replace(`:${port}/`, `:${await listen(server)}/`),
    reset: () => ends.forEach((end) => end.resetAndDestroy()),
    hush: () => ends.forEach((end) => end.unpipe().pause()),
    close: () => (ends.forEach((end) => end.destroy()), server.close()),
  }
}

test('a connection reset during a statement is unavailable, for the pool and for a session', async () => {
  const line = await silentLine(own.url)
  const through = openDatabase(line.url, { log, statementTimeout: 0 })
  const session = await through.connect()
  const statements = [through.rows('select pg_sleep(60)'), session.rows('select pg_sleep(60)')]
  await sleeping(60, 2)
  line.reset()
  for (const each of statements) await assert.rejects(each, isUnavailable)
  await through.close()
  line.close()
})

describe('sessions', () => {
  test('prepare a named statement once', async () => {
    const session = await database.connect()
    for (const n of [1, 2]) {
      assert.deepEqual(await session.rows({ name: 'twice', text: 'select $1::int * 2 as n', values: [n] }), [
        { n: n * 2 },
      ])
    }
    const [prepared] = await session.rows<{ n: bigint }>(`select count(*) as n from pg_prepared_statements`)
    assert.deepEqual(prepared, { n: 1n })
    await session.close()
  })

  test('report their loss, even to later listeners, and then throw unavailable', async () => {
    const session = await database.connect()
    const losses: string[] = []
    const lost = new Promise<void>((resolve) => session.onLost(() => resolve(void losses.push('early'))))
    await cut()
    await lost
    await new Promise<void>((resolve) => session.onLost(resolve))
    await assert.rejects(session.rows('select 1'), isUnavailable)
    await session.close()
    assert.deepEqual(losses, ['early'])
  })

  test('survive a statement timeout', async () => {
    const hasty = openDatabase(own.url, { log, statementTimeout: 2000 })
    const session = await hasty.connect()
    await assert.rejects(session.rows('select pg_sleep(30)'), isUnavailable)
    assert.deepEqual(await session.rows('select 1 as n'), [{ n: 1 }])
    await hasty.close()
  })

  test('do not take a connection of the pool', async () => {
    const single = openDatabase(own.url, { log, connections: 1 })
    const session = await single.connect()
    const held = session.rows('select pg_sleep(0.2)')
    assert.deepEqual(await single.rows('select 1 as n'), [{ n: 1 }])
    await held
    await single.close()
  })
})

test('closing ends pool and sessions, is idempotent, and leaves no connection behind', async () => {
  const other = openDatabase(own.url, { log })
  const session = await other.connect()
  await other.rows(`set application_name = 'closing'`)
  await session.rows(`set application_name = 'closing'`)
  await Promise.all([other.close(), other.close()])
  await other.close()
  await session.close()
  await assert.rejects(other.rows('select 1'), isUnavailable)
  await assert.rejects(session.rows('select 1'), isUnavailable)
  const left = `select from pg_stat_activity where application_name = 'closing'`
  await until(async () => (await database.rows(left)).length === 0)
})
