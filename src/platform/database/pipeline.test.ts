import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTestDatabase } from '../../../tests/support/database.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { fixture, setUp } from '../../../tests/support/fixture.ts'
import { until } from '../../../tests/support/until.ts'
import { openDatabase } from './database.ts'
import { openPipeline, type PreparedStatement } from './pipeline.ts'

const { log } = createTestLog()

const own = fixture(() => createTestDatabase())
const database = fixture(() => openDatabase(own.url, { log, connections: 2 }))
setUp(() => database.rows('create table thing (id integer primary key, name text)'))
setUp(() =>
  database.rows(`create sequence conflicts;
    create function conflict(p_times bigint) returns void language plpgsql as $$ begin
      if nextval('conflicts') <= p_times then raise exception 'deadlock detected' using errcode = '40P01'; end if;
    end $$`),
)
const pipeline = fixture(() => openPipeline(own.url, { log, connections: 2 }))

const insert = (id: number) => ({ name: 'insert', text: 'insert into thing values ($1, $2)', values: [id, `n${id}`] })
const read = (id: number) => ({ name: 'read', text: 'select id, name from thing where id = $1', values: [id] })
const conflict = (times: number) => ({ name: 'conflict', text: 'select conflict($1)', values: [times] })
const setting = (value: string) => ({
  name: 'set',
  text: `select set_config('test.value', $1, true) as value`,
  values: [value],
})
const getting: PreparedStatement<{ value: string | null }> = {
  name: 'get',
  text: `select current_setting('test.value', true) as value`,
}

describe('a pipeline', () => {
  test('returns the rows of each statement, before and after it is prepared', async () => {
    for (const id of [1, 2]) {
      const rows = await pipeline.transact([insert(id), read(id), read(99)])
      assert.deepEqual(rows, [[], [{ id, name: `n${id}` }], []])
    }
  })

  test('converts values as the pool does', async () => {
    const [rows] = await pipeline.transact([
      {
        name: 'values',
        text: `select $1::bigint as big, $2::text as nothing, $3::boolean as yes, date '2026-03-01' as day`,
        values: [9007199254740993n, undefined, true],
      },
    ])
    assert.deepEqual(rows, [{ big: 9007199254740993n, nothing: null, yes: true, day: '2026-03-01' }])
  })

  test('runs a transaction again that was undone because of another one, a few times', async () => {
    await pipeline.transact([insert(20), conflict(2)])
    await assert.rejects(pipeline.transact([insert(21), conflict(99)]), { code: '40P01' })
    const [next] = await database.rows<{ tries: bigint }>('select last_value as tries from conflicts')
    assert.equal(next?.tries, 8n)
    assert.deepEqual(await database.rows('select id from thing where id in (20, 21)'), [{ id: 20 }])
  })

  test('is a transaction: an error rolls back all of it and nothing else', async () => {
    const [good, bad, other] = await Promise.allSettled([
      pipeline.transact([insert(10)]),
      pipeline.transact([insert(11), insert(11), insert(12)]),
      pipeline.transact([insert(13)]),
    ])
    assert.equal(good.status, 'fulfilled')
    assert.equal(other.status, 'fulfilled')
    assert.ok(bad.status === 'rejected' && bad.reason instanceof Error && 'code' in bad.reason)
    assert.equal(bad.reason.code, '23505')
    const rows = await database.rows('select id from thing where id between 10 and 13 order by id')
    assert.deepEqual(rows, [{ id: 10 }, { id: 13 }])
  })

  test('keeps local settings within their transaction, however many share a connection', async () => {
    const seen = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const [, rows] = await pipeline.transact(n % 3 === 0 ? [read(1), getting] : [setting(`v${n}`), getting])
        return [n, rows?.[0]?.value ?? ''] as const
      }),
    )
    for (const [n, value] of seen) assert.equal(value, n % 3 === 0 ? '' : `v${n}`)
  })

  test('prepares failed statements again, also for batches that expected them', async () => {
    const later: PreparedStatement<{ name: string }> = {
      name: 'later',
      text: 'select name from later where id = $1',
      values: [1],
    }
    const early = await Promise.allSettled(Array.from({ length: 6 }, () => pipeline.transact([read(1), later])))
    assert.ok(early.every((each) => each.status === 'rejected' && String(each.reason).includes('"later"')))
    await database.rows(`create table later as select 1 as id, 'now' as name`)
    const rows = await Promise.all(Array.from({ length: 6 }, () => pipeline.transact([read(1), later])))
    assert.ok(rows.every(([, found]) => found?.[0]?.name === 'now'))
  })

  test('a cut connection is Problem unavailable for its transactions, and is replaced', async () => {
    const slow = [1, 2].map((n) =>
      pipeline.transact([{ name: `slow${n}`, text: 'select pg_sleep(10)::text as x' }, insert(20 + n)]),
    )
    const refused = slow.map((each) => assert.rejects(each, { code: 'unavailable' }))
    const sleeping = `select from pg_stat_activity where datname = current_database() and query ~ 'pg_sleep.10' and wait_event = 'PgSleep'`
    await until(async () => (await database.rows(sleeping)).length === 2)
    await database.rows(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query ~ 'pg_sleep.10'
        and pid <> pg_backend_pid()`,
    )
    await Promise.all(refused)
    assert.deepEqual(await pipeline.transact([read(1)]), [[{ id: 1, name: 'n1' }]])
    assert.deepEqual(await database.rows('select id from thing where id > 20'), [])
  })

  test('a statement timeout is unavailable, and the connection stays usable', async () => {
    const hasty = openPipeline(own.url, { log, connections: 1, statementTimeout: 2000 })
    const pid = { name: 'pid', text: 'select pg_backend_pid() as pid' }
    const first = await hasty.transact([pid])
    await assert.rejects(hasty.transact([{ name: 'slow', text: 'select pg_sleep(30)::text as x' }]), {
      code: 'unavailable',
    })
    assert.deepEqual(await hasty.transact([pid]), first)
    await hasty.close()
  })

  test('an unreachable server is unavailable', async () => {
    const { username, password, pathname } = new URL(own.url)
    const away = openPipeline(`postgres://${username}:${password}@127.0.0.1:1${pathname}`, { log })
    await assert.rejects(away.transact([read(1)]), { code: 'unavailable' })
    await away.close()
  })
})
