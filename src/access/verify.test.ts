import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openOwnDatabase } from '../../tests/support/own-database.ts'
import { log } from '../../tests/support/tills.ts'
import { assertVerified } from '../../tests/support/verified.ts'
import { readFunctions } from './facts-store.ts'
import { readShippedFunctions } from './shipped-functions.ts'
import { verifyChanges, verifySchema } from './verify.ts'

const { database } = openOwnDatabase(log)

test('a migrated database is as shipped', async () => {
  const faults = (await verifySchema(database)).flatMap((check) => check.faults)
  assert.deepEqual(faults, [], 'after a change of the migrations run: node scripts/schema-facts.ts')
})

test('a clock that is set back between the beginning of a change and its event is no fault', async () => {
  await database.rows(
    `with event as (insert into audit (at, actor, action, outcome) values (now() - interval '1 hour', 'service', 'account_created', 'allowed'))
     insert into price (model, input, output, valid_from, source) values ('fast', 1, 2, now(), 'command')`,
  )
  assertVerified(await verifyChanges(database))
})

test('every function of the database is compared', async () => {
  const shipped = await readShippedFunctions()
  const others = (await readFunctions(database)).filter(({ name }) => !shipped.has(name)).map(({ name }) => name)
  assert.deepEqual(others, [])
})
