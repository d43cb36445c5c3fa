import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { copyTestDatabase, createTestDatabase, type TestDatabase } from '../../tests/support/database.ts'
import { sealAll, tamper } from '../../tests/support/tamper.ts'
import { log } from '../../tests/support/tills.ts'
import { openDatabase, type Database } from '../platform/database/database.ts'
import { verifyBooks } from './verify.ts'

// Four blocks of 20 000 numbers. The sample reads the second and the newest: row 20 005, but not row 5.
const sample = { sample: 20_000, turn: 1 }
const rows = 60_001
const [unread, read] = ['number = 5', 'number = 20005']

let original: TestDatabase
let copy: TestDatabase
let database: Database

before(async () => {
  original = await createTestDatabase()
  const full = openDatabase(original.url, { log })
  await full.rows(
    `insert into ledger (at, request_id, account_id, key_id, model, input_tokens, output_tokens, input_price, output_price,
       cost, stop_reason, usage_source)
     select now() - interval '1 hour', gen_random_uuid(), md5((i % 3)::text)::uuid, md5((i % 7)::text)::uuid, 'm', 1, 1, 1, 2, 3,
       'complete', 'model' from generate_series(1, ${rows}) i`,
  )
  await full.rows(rollUp)
  await sealAll(full)
  await full.close()
})
after(() => original.drop())

const rollUp = `
  insert into usage_day (day, account_id, key_id, person_id, model, client_id, requests, input_tokens, output_tokens, cost)
  select (at at time zone 'UTC')::date, account_id, key_id, person_id, model, client_id, count(*), sum(input_tokens),
    sum(output_tokens), sum(cost) from ledger group by 1, 2, 3, 4, 5, 6`

const faultsOf = async (name: RegExp, options = {}) =>
  (await verifyBooks(database, options)).checks.find((check) => name.test(check.name))?.faults ?? assert.fail()

/** A copy of a charge, which is not sealed yet. */
const chargeAgain = (row: string, request = 'request_id') => `
  insert into ledger select at + interval '1 s', ${request}, account_id, key_id, person_id, model, client_id, input_tokens,
    output_tokens, input_price, output_price, cost, stop_reason, usage_source, uncharged_input, uncharged_output,
    nextval('ledger_number') from ledger where ${row};`

describe('the books of a sampled ledger', () => {
  beforeEach(async () => {
    copy = await copyTestDatabase(original.url)
    database = openDatabase(copy.url, { log, connections: 2 })
  })
  afterEach(async () => {
    await database.close()
    await copy.drop()
  })

  test('are correct, including unsealed rows, and the output names what was read', async () => {
    await tamper(database, `${chargeAgain(read, 'gen_random_uuid()')} delete from usage_day; ${rollUp}`)
    assert.deepEqual(await faultsOf(/roll-ups are/, { sample }), [])
    const { checks } = await verifyBooks(database, { sample })
    const samples = checks.flatMap(({ sample: part }) => part ?? [])
    assert.deepEqual(samples, ['sealed rows by the checksums of their seals', 'part 2 of 4', 'part 2 of 4'])
  })

  test('name every roll-up that differs', async () => {
    const [wanted] = await database.rows<{ key_id: string }>('select key_id from usage_day order by key_id limit 1')
    const key = wanted?.key_id ?? assert.fail()
    for (const column of ['requests', 'input_tokens', 'output_tokens', 'cost']) {
      await tamper(database, `update usage_day set ${column} = ${column} + 1 where key_id = '${key}'`)
      const faults = await faultsOf(/roll-ups are/, { sample })
      assert.equal(faults.length, 3, `${column} of three accounts`)
      assert.ok(faults.every((fault) => 'key' in fault && fault.key === key))
      await tamper(database, `update usage_day set ${column} = ${column} - 1 where key_id = '${key}'`)
    }
  })

  test('show that rows outside the sample were changed together with their roll-ups', async () => {
    await tamper(database, `delete from ledger where ${unread}; delete from usage_day; ${rollUp}`)
    const faults = await faultsOf(/roll-ups are/, { sample })
    assert.match(JSON.stringify(faults), /checksums in the seals/)
    assert.deepEqual(await faultsOf(/roll-ups are/), [], 'the roll-ups match the ledger')
  })

  test('show a second charge of an old request and of a sampled one', async () => {
    for (const what of [unread, read]) await tamper(database, chargeAgain(what))
    const wanted = await database.rows(`select request_id as request, 2::bigint as rows from ledger
      where ${unread} or ${read}`)
    assert.deepEqual(new Set(await faultsOf(/charged twice/, { sample })), new Set(wanted))
    assert.deepEqual(new Set(await faultsOf(/charged twice/)), new Set(wanted))
  })

  test('show two charges of a request outside the sample if everything is read', async () => {
    await tamper(
      database,
      `update ledger set request_id = (select request_id from ledger where ${unread}), at = at + interval '1 s'
      where number = 6`,
    )
    assert.deepEqual(await faultsOf(/charged twice/, { sample }), [])
    assert.equal((await faultsOf(/charged twice/)).length, 1)
  })
})
