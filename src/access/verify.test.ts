import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openOwnDatabase } from '../../tests/support/own-database.ts'
import { log } from '../../tests/support/tills.ts'
import { readFunctions } from './facts-store.ts'
import { readShippedFunctions } from './shipped-functions.ts'
import { functionsOf } from './sql-functions.ts'
import { verifySchema } from './verify.ts'

const { database } = await openOwnDatabase(log)

test('a migrated database is as shipped', async () => {
  const faults = (await verifySchema(database)).flatMap((check) => check.faults)
  assert.deepEqual(faults, [], 'after a change of the migrations run: node scripts/schema-facts.ts')
})

test('every function of the database is compared', async () => {
  const shipped = await readShippedFunctions()
  const others = (await readFunctions(database)).filter(({ name }) => !shipped.has(name)).map(({ name }) => name)
  assert.deepEqual(others, [])
})

test('the last definition of a function counts, and a dropped function has none', () => {
  const sql = `create function a() returns text language sql as $$ select 'first' $$;
create function b(p_x text) returns text language sql as $body$ select $1 $body$;
create or replace function a() returns text
language sql as $$ select 'second' $$;
drop function b(text);
create function c() returns void language plpgsql as $$ begin end $$;`
  assert.deepEqual(
    functionsOf(sql),
    new Map([
      ['a', ` select 'second' `],
      ['c', ' begin end '],
    ]),
  )
})
