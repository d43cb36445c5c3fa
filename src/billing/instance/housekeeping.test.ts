import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import pino from 'pino'
import { createTestDatabase } from '../../../tests/support/database.ts'
import { until } from '../../../tests/support/until.ts'
import { valuesOf } from '../../../tests/support/json.ts'
import { openDatabase, type Database } from '../../platform/database/database.ts'
import { startHousekeeping } from './housekeeping.ts'

/** The partitions that are missing of this month, the next three and the rest. */
const missingPartitions = (database: Database) =>
  database.rows(
    `select name from (select 'ledger_' || to_char(month, 'YYYY_MM')
         from generate_series(date_trunc('month', now() at time zone 'UTC'), now() at time zone 'UTC' + interval '3 months', '1 month') month
       union all select 'ledger_default') expected (name)
     where not exists (select from pg_inherits where inhparent = 'ledger'::regclass and inhrelid = to_regclass(name))`,
  )

test('housekeeping creates partitions ahead and deletes stored replies after 24 hours, no sooner', async () => {
  const home = await createTestDatabase()
  const log = pino({ level: 'silent' })
  const database = openDatabase(home.url, { log })
  const account = randomUUID()
  await database.rows(
    `insert into idempotency (account_id, key, request_hash, hold_id, created_at, body)
     select $1::uuid, 'old ' || i, 'h', gen_random_uuid(), now() - interval '25 hours', '{}' from generate_series(1, 2500) i
     union all select $1::uuid, 'young', 'h', gen_random_uuid(), now() - interval '23 hours', '{}'
     union all select $1::uuid, 'running', 'h', gen_random_uuid(), now() - interval '25 hours', null`,
    [account],
  )
  await database.rows(
    `do $$ begin execute 'drop table ledger_' || to_char(now() at time zone 'UTC', 'YYYY_MM'); end $$`,
  )
  assert.equal((await missingPartitions(database)).length, 1)
  await startHousekeeping({ database, log }).close()
  const keys = await database.rows<{ key: string }>('select key from idempotency order by key')
  assert.deepEqual(valuesOf(keys, 'key'), ['running', 'young'])
  assert.deepEqual(await missingPartitions(database), [])
  await database.close()
  await home.drop()
})

test('housekeeping does not block the till while a reader holds the whole ledger', async () => {
  const home = await createTestDatabase()
  const log = pino({ level: 'silent' })
  // Less than the half minute after which PostgreSQL ends the idle reader.
  const database = openDatabase(home.url, { log, statementTimeout: 10_000 })
  // Only the limit on its lock ends housekeeping while the reader is there.
  const patient = openDatabase(home.url, { log, statementTimeout: 0 })
  await database.rows(`do $$ begin
    execute 'drop table ledger_' || to_char((now() at time zone 'UTC') + interval '1 month', 'YYYY_MM');
  end $$`)
  await database.rows(
    `insert into idempotency (account_id, key, request_hash, hold_id, created_at, body)
     values (gen_random_uuid(), 'old', 'h', gen_random_uuid(), now() - interval '25 hours', '{}')`,
  )
  const reader = await database.connect()
  await reader.rows('begin')
  await reader.rows('select count(*) from ledger')
  let done = false
  const keeping = startHousekeeping({ database: patient, log })
    .close()
    .then(() => (done = true))
  await until(async () => {
    const waiting = await database.rows(`select from pg_locks where not granted and relation = 'ledger'::regclass`)
    return waiting.length > 0 || done
  })
  // Housekeeping gives up its lock while the reader keeps its own: otherwise the insert would wait for the reader and time out.
  await database.rows(`insert into ledger (at, request_id, account_id, key_id, model, input_tokens, output_tokens, input_price,
      output_price, cost, stop_reason, usage_source) values (now(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'm',
    1, 1, 1, 2, 3, 'complete', 'model')`)
  await keeping
  assert.deepEqual(await database.rows('select key from idempotency'), [], 'the other work is done')
  await Promise.all([reader.close(), patient.close()])
  await startHousekeeping({ database, log }).close()
  assert.deepEqual(await missingPartitions(database), [])
  await database.close()
  await home.drop()
})

test('A31: a stored reply whose time lies in the future is kept for 24 hours from now, not longer', async () => {
  const home = await createTestDatabase()
  const log = pino({ level: 'silent' })
  const database = openDatabase(home.url, { log })
  await database.rows(
    `insert into idempotency (account_id, key, request_hash, hold_id, created_at, headers, body)
     select gen_random_uuid(), 'future', 'a', gen_random_uuid(), now() + interval '30 days', '{}', '{}'`,
  )
  await startHousekeeping({ database, log }).close()
  const rows = await database.rows(`select created_at <= now() as past from idempotency where key = 'future'`)
  assert.deepEqual(rows, [{ past: true }])
  await database.close()
  await home.drop()
})
