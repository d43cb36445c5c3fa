import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { assertBetween } from '../../../tests/support/clock.ts'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { openDatabase } from '../../platform/database/database.ts'
import { byService } from '../actor.ts'
import { createAudit } from './audit.ts'

const { log } = createTestLog()
const { own, database } = openOwnDatabase(log)

const open = () => createAudit({ database })
const read = (action: string) =>
  database.rows<Record<string, unknown>>('select * from audit where action = $1 order by id', [action])

describe('an audit event', () => {
  test("is stored completely when record() resolves, with the database's time in UTC", async () => {
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
    const began = Date.now()
    await audit.record({ action: 'note_read', outcome: 'allowed', ...entry })
    const [row] = await read('note_read')
    const { id, at, ...rest } = row ?? {}
    assert.equal(typeof id, 'bigint')
    assertBetween(at, began)
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

  test('with text that PostgreSQL does not accept is still written, and so are those of its batch', async () => {
    const audit = open()
    const odd = {
      details: { agent: 'a\0b\ud800c', long: 'x'.repeat(2000), longest: 'x'.repeat(500) },
      wholeDetails: { whole: `\0${'x'.repeat(2000)}` },
      clientId: 'no id',
    }
    await Promise.all([
      audit.record({ actor: { kind: 'command', user: 'a\0b' }, action: 'odd', outcome: 'refused', ...odd }),
      ...Array.from({ length: 20 }, () => audit.record({ ...byService, action: 'even', outcome: 'allowed' })),
    ])
    assert.equal((await read('even')).length, 20)
    const [row] = await read('odd')
    assert.deepEqual([row?.['client_id'], row?.['actor_name']], [null, 'a\ufffdb'])
    assert.deepEqual(row?.['details'], {
      agent: 'a\ufffdb\ufffdc',
      long: `${'x'.repeat(499)}…`,
      longest: 'x'.repeat(500),
      whole: `\ufffd${'x'.repeat(2000)}`,
    })
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

  test('is written even if more come at once than one statement takes, and before close() resolves', async () => {
    const audit = open()
    const records = Array.from({ length: 1200 }, () =>
      audit.record({ ...byService, action: 'flood', outcome: 'allowed' }),
    )
    let written = 0
    for (const each of records) void each.then(() => written++, assert.fail)
    await audit.close()
    assert.equal(written, 1200)
    assert.equal((await read('flood')).length, 1200)
  })

  test('fails with Problem unavailable if the database is unavailable, and is not stored', async () => {
    const away = openDatabase(new URL('/nowhere', own.url).href, { log, connections: 1 })
    const audit = createAudit({ database: away })
    const records = [1, 2, 3].map(() => audit.record({ ...byService, action: 'lost', outcome: 'allowed' }))
    for (const each of records) await assert.rejects(each, { code: 'unavailable' })
    await audit.close()
    await away.close()
  })
})

describe('the audit log', () => {
  test('is append-only: not even its owner can change or delete a row', async () => {
    const attempts = [
      `update audit set action = 'other'`,
      'delete from audit',
      'truncate audit',
      'update revision set version = 0',
      'delete from revision',
      'truncate revision',
    ]
    for (const attempt of attempts) await assert.rejects(database.rows(attempt), { code: '42501' }, attempt)
  })
})
