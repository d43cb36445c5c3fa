import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { test } from 'node:test'
import { putForward } from '../../../tests/support/clock.ts'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'
import { log } from '../../../tests/support/tills.ts'
import { until } from '../../../tests/support/until.ts'
import { createReaper, type Reaper } from './reaper.ts'
import { createTill } from '../till/postgres-till.ts'

const own = randomUUIDv7()

const { database } = openOwnDatabase(log)

/** Instances that send nothing, silent for `silence` by the database's clock. */
async function addSilent(count: number, silence = '0'): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUIDv7())
  await database.rows(
    `insert into instance (id, host, seen_at) select id, 'gone', clock_timestamp() - $2::interval from unnest($1::uuid[]) id`,
    [ids, silence],
  )
  return ids
}

const remaining = (ids: readonly string[]) => database.rows('select from instance where id = any($1)', [ids])

/** Runs the reaper's check every five seconds. */
async function lookFor(
  reaper: Reaper,
  seconds: number,
  forward: (milliseconds: number) => void,
  living?: string,
): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 5) {
    await database.rows('update instance set last_batch = last_batch + 1 where id = $1', [living])
    await reaper.look(database, own)
    forward(5000)
  }
}

test('all dead instances are reaped after 20 s, and a live one is not', async (t) => {
  const forward = putForward(t)
  const [living, ...dead] = await addSilent(8)
  const reaper = createReaper(log)
  await lookFor(reaper, 20, forward, living)
  assert.equal((await remaining(dead)).length, 7)
  await lookFor(reaper, 40, forward, living)
  assert.deepEqual(await remaining(dead), [])
  assert.equal((await remaining([living ?? ''])).length, 1)
  await database.rows('delete from instance')
})

test("A31: a step of the database's clock neither ends nor extends a lease", async (t) => {
  const forward = putForward(t)
  const silent = [...(await addSilent(1, '1 hour')), ...(await addSilent(1, '-1 hour'))]
  const reaper = createReaper(log)
  await lookFor(reaper, 20, forward)
  assert.equal((await remaining(silent)).length, 2)
  await lookFor(reaper, 5, forward)
  assert.deepEqual(await remaining(silent), [])
})

test('an instance that slept or lost its connection starts observing again', async (t) => {
  const forward = putForward(t)
  const silent = await addSilent(1)
  const reaper = createReaper(log)
  await lookFor(reaper, 15, forward)
  forward(30_000)
  await lookFor(reaper, 20, forward)
  assert.equal((await remaining(silent)).length, 1)
  reaper.forget()
  await lookFor(reaper, 20, forward)
  assert.equal((await remaining(silent)).length, 1)
  await lookFor(reaper, 5, forward)
  assert.deepEqual(await remaining(silent), [])
})

test('an instance that sends a batch between check and reaping is not reaped', async () => {
  const [id] = await addSilent(1)
  await database.rows('update instance set last_batch = 1 where id = $1', [id])
  assert.deepEqual(await database.rows('select reap($1, 0) as reaped', [id]), [{ reaped: false }])
  assert.deepEqual(await database.rows('select reap($1, 1) as reaped', [id]), [{ reaped: true }])
})

test('a till reaps dead instances by itself, but not while it recovers from a lost connection', async (t) => {
  const forward = putForward(t)
  const [silent] = await addSilent(1)
  const till = await createTill({ database: database, log })
  t.after(() => till.drain())
  const isThere = async () => (await remaining([silent ?? ''])).length === 1
  /** Sends batches five seconds apart. After each, the till checks the other instances. */
  const work = async (rounds: number) => {
    for (let round = 0; round < rounds; round++) {
      forward(5000)
      for (let call = 0; call < 2; call++)
        await till
          .takeRequest(randomUUIDv7(), { accountId: randomUUIDv7(), keyId: randomUUIDv7() })
          .catch(() => undefined)
    }
  }
  await work(4)
  await database.rows(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and query ~ 'till[(]|exchange[(]|other instances'`,
  )
  await work(4)
  assert.ok(await isThere())
  await until(async () => {
    await work(1)
    return !(await isThere())
  })
})
