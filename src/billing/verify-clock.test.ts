import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase } from '../../tests/support/database.ts'
import { log } from '../../tests/support/tills.ts'
import { openDatabase } from '../platform/database/database.ts'
import { verifyBooks } from './verify.ts'

test("A31: verify accepts an idle account's bucket after the clock was set back, but none later than the books", async () => {
  const home = await createTestDatabase()
  const database = openDatabase(home.url, { log })
  const faulty = async () => (await verifyBooks(database)).checks.filter(({ ok }) => !ok).map(({ name }) => name)
  const future = `now() + interval '1 hour'`
  await database.rows(
    `insert into account (id, name, requests_per_minute, tokens_per_minute, request_level, token_level, created_at, level_at)
     values (gen_random_uuid(), 'Idle', 60, 6000, 0, 0, ${future}, ${future})`,
  )
  assert.deepEqual(await faulty(), [])
  await database.rows(`update account set level_at = created_at + interval '6 minutes'`)
  assert.deepEqual(await faulty(), ['no bucket is above its limit or filled in the future'])
  await database.close()
  await home.drop()
})
