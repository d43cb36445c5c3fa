import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import pino from 'pino'
import { createTestDatabase } from '../../tests/support/database.ts'
import { openDatabase } from '../platform/database.ts'
import { startHousekeeping } from './housekeeping.ts'

test('housekeeping makes partitions ahead and forgets answers after 24 hours, and no sooner', async () => {
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
  await database.rows('drop table ledger_' + new Date().toISOString().slice(0, 7).replace('-', '_'))
  await startHousekeeping({ database, log }).close()
  const keys = await database.rows<{ key: string }>('select key from idempotency order by key')
  assert.deepEqual(
    keys.map(({ key }) => key),
    ['running', 'young'],
  )
  const partitions = await database.rows<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'ledger'::regclass`,
  )
  assert.equal(partitions.length, 5, 'this month, three to come, and the one for whatever else')
  await database.close()
  await home.drop()
})
