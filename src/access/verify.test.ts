import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openOwnDatabase } from '../../tests/support/own-database.ts'
import { log } from '../../tests/support/tills.ts'
import { readFunctions } from './facts-store.ts'
import { readShippedFunctions } from './shipped-functions.ts'
import { verifySchema } from './verify.ts'

const { database } = openOwnDatabase(log)

test('a migrated database is as shipped', async () => {
  const faults = (await verifySchema(database)).flatMap((check) => check.faults)
  assert.deepEqual(faults, [], 'after a change of the migrations run: node scripts/schema-facts.ts')
})

test('every function of the database is compared', async () => {
  const shipped = await readShippedFunctions()
  const others = (await readFunctions(database)).filter(({ name }) => !shipped.has(name)).map(({ name }) => name)
  assert.deepEqual(others, [])
})
