import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, mock, test, type TestContext } from 'node:test'
import { PgBoss } from 'pg-boss'
import { verifySchema } from '../access/verify.ts'
import { createTestLog } from '../../tests/support/log.ts'
import { fixture, setUp } from '../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../tests/support/own-database.ts'
import { migrateMailQueue, openMailQueue } from './queue.ts'

const starts = fixture(() => mock.method(PgBoss.prototype, 'start').mock)
const stops = fixture(() => mock.method(PgBoss.prototype, 'stop').mock)

/** What is left running would keep this process from ending, until the runner's limit. */
async function requireAllStopped(): Promise<void> {
  const stopped = new Set(stops.calls.map(({ this: boss }) => boss))
  const left = starts.calls.flatMap(({ this: boss }) => (boss instanceof PgBoss && !stopped.has(boss) ? [boss] : []))
  await Promise.all(left.map((boss) => boss.stop({ graceful: false })))
  assert.equal(left.length, 0, 'the queue was not closed')
}

describe('the schema of the queue', () => {
  const { log } = createTestLog()
  let name: string

  const { own: fresh, database: owner } = openOwnDatabase(log)
  setUp(async () => {
    const [row] = await owner.rows<{ name: string }>('select current_database()::text as name')
    name = row?.name ?? assert.fail()
    // As every start of the service does.
    await owner.rows(`revoke temporary on database ${name} from public`)
  })

  const schemas = async () =>
    (await owner.rows<{ name: string }>(`select nspname::text as name from pg_namespace where nspname = 'pgboss'`))
      .length
  const permit = async (statement: 'grant' | 'revoke') => {
    const who = statement === 'grant' ? 'to' : 'from'
    await owner.rows(`${statement} create on database ${name} ${who} current_user`)
  }

  async function migrateQueue() {
    await migrateMailQueue(fresh.url, log)
    await requireAllStopped()
  }

  async function openQueue(t: TestContext) {
    const opened = await openMailQueue({ databaseUrl: fresh.url, log })
    t.after(() => opened.close().then(requireAllStopped))
    return opened
  }

  test('is refused, in one line that says what to do, to a login that may not create it', async () => {
    await permit('revoke')
    const message = /^The mail queue needs a schema "pgboss" .*Grant CREATE on the database[^\n]*$/
    await assert.rejects(migrateQueue(), { name: 'OperatorError', message })
    assert.equal(await schemas(), 0)
    await permit('grant')
  })

  test('is created by a login that is no superuser, and needs no rights from then on', async () => {
    await migrateQueue()
    assert.equal(await schemas(), 1)
    await permit('revoke')
    await migrateQueue()
    await permit('grant')
  })

  test('is nothing unexpected to verify', async () => {
    await migrateQueue()
    const checks = await verifySchema(owner)
    assert.deepEqual(
      checks.flatMap(({ ok, name: check }) => (ok ? [] : [check])),
      [],
    )
  })

  test('holds a mail for who took it last: a late report of an earlier try does not put it back', async (t) => {
    const mailQueue = await openQueue(t)
    const id = randomUUID()
    await owner.transaction((tx) => mailQueue.add(tx, { id, sealed: Buffer.from('mail') }))
    const take = async () => (await mailQueue.take(1))[0] ?? assert.fail('no mail is due')
    const first = await take()
    await mailQueue.postpone(first)
    await owner.rows('update pgboss.job set start_after = now() where id = $1', [id])
    const second = await take()
    assert.deepEqual([first.tries, second.tries, second.id], [0, 1, id])
    await mailQueue.postpone(first)
    assert.deepEqual(await owner.rows('select state::text from pgboss.job where id = $1', [id]), [{ state: 'active' }])
    await mailQueue.finish(id)
  })

  test('gives a mail to another instance 30 s after it was last reported as in work', async (t) => {
    const mailQueue = await openQueue(t)
    const [kept, lost] = [randomUUID(), randomUUID()]
    for (const id of [kept, lost])
      await owner.transaction((tx) => mailQueue.add(tx, { id, sealed: Buffer.from('mail') }))
    assert.equal((await mailQueue.take(2)).length, 2)
    await owner.rows(`update pgboss.job set heartbeat_on = heartbeat_on - interval '31 seconds'`)
    await mailQueue.keep([kept])
    const silent = await owner.rows<{ id: string }>(
      `select id from pgboss.job where state = 'active' and heartbeat_on < now() - heartbeat_seconds * interval '1 second'`,
    )
    assert.deepEqual(silent, [{ id: lost }])
    for (const id of [kept, lost]) await mailQueue.finish(id)
  })

  test('removes a mail that was sent, even if it was put back in the meantime', async (t) => {
    const mailQueue = await openQueue(t)
    const id = randomUUID()
    await owner.transaction((tx) => mailQueue.add(tx, { id, sealed: Buffer.from('mail') }))
    assert.equal((await mailQueue.take(1)).length, 1)
    await owner.rows(`update pgboss.job set state = 'retry' where id = $1`, [id])
    await mailQueue.finish(id)
    const rows = await owner.rows('select state::text from pgboss.job where id = $1', [id])
    assert.deepEqual(rows, [{ state: 'completed' }])
  })
})
