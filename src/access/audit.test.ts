import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts'
import { createTestLog } from '../../tests/support/log.ts'
import { openDatabase, type Database } from '../platform/database/database.ts'
import { byService } from './actor.ts'
import { createAudit } from './audit.ts'
import { createSealer } from './seals.ts'
import { verifyAudit } from './verify.ts'

const { log, text: logged } = createTestLog()
let own: TestDatabase
let database: Database

before(async () => {
  own = await createTestDatabase()
  database = openDatabase(own.url, { log })
})
after(async () => {
  await database.close()
  await own.drop()
})

const never = 3_600_000
const open = () => createAudit({ database, log, sealEvery: never })
const sealed = () => verifyAudit(database).then((checks) => checks.every(({ ok }) => ok))
const read = (action: string) =>
  database.rows<Record<string, unknown>>('select * from audit where action = $1 order by id', [action])

async function sealing({ seal: once }: ReturnType<typeof createSealer>): Promise<void> {
  for (let n = 0; n < 15; n += 1) await once()
}

/** Seals all rows that are there now. */
async function seal(): Promise<void> {
  const sealer = createSealer({ database, log })
  const [last] = await database.rows<{ id: bigint }>('select max(id) as id from audit')
  for (let tries = 0; tries < 100; tries += 1) {
    await sealer.seal()
    const [done] = await database.rows<{ upto: bigint | null }>('select max(upto) as upto from audit_seal')
    if ((done?.upto ?? 0n) >= (last?.id ?? 0n)) return
  }
  assert.fail('the rows are never sealed')
}

describe('an entry', () => {
  test('is there, whole, when record() is done, with the time of the database in UTC', async () => {
    const audit = open()
    const [personId, clientId, nounId] = [randomUUIDv7(), randomUUIDv7(), randomUUIDv7()]
    const entry = {
      actor: { kind: 'person', id: personId } as const,
      clientId,
      noun: 'note',
      nounId,
      requestId: 'r1',
      address: '10.0.0.1',
      details: { a: 'b' },
    }
    await audit.record({ action: 'note_read', outcome: 'allowed', ...entry })
    const [row] = await read('note_read')
    const { id, at, ...rest } = row ?? {}
    assert.equal(typeof id, 'bigint')
    assert.ok(at instanceof Date && Math.abs(at.getTime() - Date.now()) < 60_000)
    assert.deepEqual(rest, {
      action: 'note_read',
      outcome: 'allowed',
      actor: 'person',
      actor_name: null,
      person_id: personId,
      client_id: clientId,
      noun: 'note',
      noun_id: nounId,
      request_id: 'r1',
      address: '10.0.0.1',
      details: { a: 'b' },
    })
    await audit.close()
  })

  test('that says what PostgreSQL does not take is written all the same, and those beside it too', async () => {
    const audit = open()
    const odd = { details: { agent: 'a\0b\ud800c', long: 'x'.repeat(2000) }, clientId: 'no id' }
    await Promise.all([
      audit.record({ actor: { kind: 'command', user: 'a\0b' }, action: 'odd', outcome: 'refused', ...odd }),
      ...Array.from({ length: 20 }, () => audit.record({ ...byService, action: 'even', outcome: 'allowed' })),
    ])
    assert.equal((await read('even')).length, 20)
    const [row] = await read('odd')
    assert.deepEqual([row?.['client_id'], row?.['actor_name']], [null, 'a\ufffdb'])
    assert.deepEqual(row?.['details'], { agent: 'a\ufffdb\ufffdc', long: 'x'.repeat(500) })
    await audit.close()
  })

  test('shares its transaction with those of other requests', async () => {
    const audit = open()
    await Promise.all(
      Array.from({ length: 300 }, () => audit.record({ ...byService, action: 'many', outcome: 'allowed' })),
    )
    const [row] = await database.rows<{ transactions: bigint; rows: bigint }>(
      `select count(distinct xmin::text) as transactions, count(*) as rows from audit where action = 'many'`,
    )
    assert.equal(row?.rows, 300n)
    assert.ok((row?.transactions ?? 300n) < 10n, `${row?.transactions} transactions`)
    await audit.close()
  })

  test('is refused with Problem unavailable when the database is away, and nobody believes it', async () => {
    const away = openDatabase(new URL('/nowhere', own.url).href, { log, connections: 1 })
    const audit = createAudit({ database: away, log, sealEvery: never })
    const records = [1, 2, 3].map(() => audit.record({ ...byService, action: 'lost', outcome: 'allowed' }))
    for (const each of records) await assert.rejects(each, { code: 'unavailable' })
    await audit.close()
    await away.close()
  })
})

describe('the log', () => {
  test('only grows: not even its owner changes a row or takes one away', async () => {
    const attempts = [
      `update audit set action = 'other'`,
      'delete from audit',
      'truncate audit',
      `update audit_seal set rows = 0`,
      'delete from audit_seal',
      'truncate audit_seal',
      `update revision set data = '{}'`,
      'delete from revision',
      'truncate revision',
    ]
    for (const attempt of attempts) await assert.rejects(database.rows(attempt), { code: '42501' }, attempt)
  })

  test('its seals prove it, and go to the log of the service', async () => {
    await seal()
    assert.equal(await sealed(), true)
    assert.match(logged(), /"seal":"1".*"hash":"[0-9a-f]{64}".*audit log sealed/)
  })

  test('rows of several instances that write and seal at once are all sealed, in one chain', async () => {
    const instances = [open(), open(), open()]
    const sealers = instances.map(() => createSealer({ database, log }))
    const write = async (audit: ReturnType<typeof open>) => {
      for (let n = 0; n < 30; n += 1) await audit.record({ ...byService, action: 'busy', outcome: 'allowed' })
    }
    await Promise.all([...instances.map(write), ...sealers.map(sealing)])
    await Promise.all(instances.map((audit) => audit.close()))
    await seal()
    assert.equal(await sealed(), true)
    const [row] = await database.rows<{ all: bigint; sealed: bigint }>(
      'select (select count(*) from audit) as all, (select sum(rows) from audit_seal)::bigint as sealed',
    )
    assert.equal(row?.sealed, row?.all)
  })

  test('a row whose transaction is slow is waited for: no row can appear below a seal', async () => {
    const sealer = createSealer({ database, log })
    const slow = await database.session()
    await slow.rows('begin')
    await slow.rows(`insert into audit (action, outcome, actor) values ('slow', 'allowed', 'service')`)
    const audit = open()
    await audit.record({ ...byService, action: 'quick', outcome: 'allowed' })
    const upTo = () => database.rows<{ upto: bigint }>('select max(upto) as upto from audit_seal')
    const [start] = await upTo()
    for (let n = 0; n < 5; n += 1) await sealer.seal()
    assert.deepEqual(await upTo(), [start])
    await slow.rows('commit')
    await slow.close()
    await seal()
    await audit.close()
    assert.equal(await sealed(), true)
    const [[slowRow], [quickRow], [end]] = [await read('slow'), await read('quick'), await upTo()]
    assert.ok(Number(slowRow?.['id']) < Number(quickRow?.['id']))
    assert.ok(Number(end?.upto) >= Number(quickRow?.['id']))
  })
})

/** As a superuser of the database could, and back again. */
async function tamper(statement: string): Promise<object[]> {
  const session = await database.session()
  await session.rows('set session_replication_role = replica')
  await session.rows('begin')
  await session.rows(statement)
  await session.rows('commit')
  await session.close()
  const checks = await verifyAudit(database)
  return checks.flatMap(({ faults }) => faults)
}

describe('who changes the log behind its back is found out', () => {
  test('by a changed row, a row that is gone, one that was put in, and a seal that was made anew', async () => {
    const audit = open()
    for (let n = 0; n < 5; n += 1) {
      await audit.record({ ...byService, action: 'kept', outcome: 'allowed' })
      await seal()
    }
    await audit.close()
    const [[first], [, second]] = [await read('kept'), await read('kept')]
    const id = String(first?.['id'])
    assert.deepEqual(await tamper('select 1'), [])

    assert.equal((await tamper(`update audit set outcome = 'refused' where id = ${id}`)).length, 1)
    assert.deepEqual(await tamper(`update audit set outcome = 'allowed' where id = ${id}`), [])

    assert.equal((await tamper(`update audit set at = at + interval '1 microsecond' where id = ${id}`)).length, 1)
    assert.deepEqual(await tamper(`update audit set at = at - interval '1 microsecond' where id = ${id}`), [])

    const moved = await tamper(
      `create table gone as select * from audit where id = ${id}; delete from audit where id = ${id}`,
    )
    assert.equal(moved.length, 1)
    const back = 'insert into audit overriding system value select * from gone'
    assert.deepEqual(await tamper(back), [])

    const seal1 = `(select number from audit_seal where upto >= ${String(second?.['id'])} order by number limit 1)`
    assert.ok((await tamper(`update audit_seal set hash = sha256('made up') where number = ${seal1}`)).length >= 2)
    assert.ok((await tamper(`delete from audit_seal where number = ${seal1}`)).length > 0)
  })
})
