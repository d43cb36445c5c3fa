import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'
import { log } from '../../../tests/support/tills.ts'
import { until } from '../../../tests/support/until.ts'
import { type Database } from '../../platform/database/database.ts'
import { deleteOldRefusals } from './store.ts'
import { createApiRefusals, type ApiRefusal } from './refusals.ts'

const { database } = openOwnDatabase(log)

const refusal = (changes: Partial<ApiRefusal> = {}): ApiRefusal => ({
  requestId: randomUUID(),
  accountId: randomUUID(),
  keyId: randomUUID(),
  model: 'fast',
  code: 'overloaded',
  status: 503,
  milliseconds: 12,
  call: { field: null, reason: null, route: '/v1/generate', dialect: 'tollgate', user_agent: null, streamed: false },
  ...changes,
})

async function countOf(accountId: string): Promise<number> {
  const [row] = await database.rows<{ sum: bigint | null }>(
    'select sum(requests)::bigint as sum from refusal_day where account_id = $1',
    [accountId],
  )
  return Number(row?.sum ?? 0n)
}

test('what was noted is written in batches, and the rest when it closes; only a few requests are kept one by one', async () => {
  const refusals = createApiRefusals({ database, log, pause: 5 })
  const one = refusal()
  for (let each = 0; each < 1000; each++) refusals.note({ ...one, requestId: randomUUID() })
  await until(async () => (await countOf(one.accountId)) === 1000)
  refusals.note({ ...one, requestId: randomUUID() })
  refusals.note(refusal({ accountId: one.accountId, keyId: one.keyId, model: undefined }))
  await refusals.close()
  assert.equal(await countOf(one.accountId), 1002)
  const kept = await database.rows('select from refused_request where account_id = $1', [one.accountId])
  assert.ok(kept.length >= 3 && kept.length <= 12, `${kept.length} kept`)
})

test('a batch whose answer is lost is sent again and counts once, and what comes meanwhile is kept', async () => {
  let lost = 3
  const losing: Database = {
    ...database,
    async rows<Row>(...query: Parameters<Database['rows']>) {
      const rows = await database.rows<Row>(...query)
      if (lost-- > 0) throw new Error('the answer was lost')
      return rows
    },
  }
  const refusals = createApiRefusals({ database: losing, log, pause: 5 })
  const one = refusal()
  refusals.note(one)
  await until(() => lost < 3)
  refusals.note({ ...one, requestId: randomUUID() })
  await until(async () => (await countOf(one.accountId)) >= 2)
  await refusals.close()
  assert.equal(await countOf(one.accountId), 2)
  assert.equal((await database.rows('select from refused_request where account_id = $1', [one.accountId])).length, 2)
})

test('a batch that did not reach the database is written later', async () => {
  let failures = 2
  const failing: Database = {
    ...database,
    rows: (...query: Parameters<Database['rows']>) =>
      failures-- > 0 ? Promise.reject(new Error('away')) : database.rows(...query),
  }
  const refusals = createApiRefusals({ database: failing, log, pause: 5 })
  const one = refusal()
  refusals.note(one)
  await until(() => failures < 0)
  await refusals.close()
  assert.equal(await countOf(one.accountId), 1)
})

test('while the database is away, at most 10 000 kinds of refusals are kept', async () => {
  let isAway = true
  const away: Database = {
    ...database,
    rows: (...query: Parameters<Database['rows']>) =>
      isAway ? Promise.reject(new Error('away')) : database.rows(...query),
  }
  const refusals = createApiRefusals({ database: away, log, pause: 3_600_000 })
  const model = randomUUID()
  for (let each = 0; each < 10_010; each++) refusals.note(refusal({ model }))
  isAway = false
  await refusals.close()
  assert.equal((await database.rows('select from refusal_day where model = $1', [model])).length, 10_000)
})

test('refused requests are deleted after 30 days, and no sooner', async () => {
  await database.rows('delete from refused_request')
  await database.rows(
    `insert into refused_request (request_id, at, account_id, key_id, status, code, milliseconds)
     select gen_random_uuid(), now() - make_interval(days => days), gen_random_uuid(), gen_random_uuid(), days, 'overloaded', 1
     from unnest(array[29, 31, 400]) days union all
     select gen_random_uuid(), now() - interval '40 days', gen_random_uuid(), gen_random_uuid(), 1, 'overloaded', 1
     from generate_series(1, 2500)`,
  )
  await deleteOldRefusals(database)
  assert.deepEqual(await database.rows('select status from refused_request'), [{ status: 29 }])
})
