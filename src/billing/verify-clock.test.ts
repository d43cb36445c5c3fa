import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { test } from 'node:test'
import { createTestDatabase } from '../../tests/support/database.ts'
import { sealAll, tamper } from '../../tests/support/tamper.ts'
import { ask, log, mostOfOne, openTills, used } from '../../tests/support/tills.ts'
import { openDatabase, type Database } from '../platform/database/database.ts'
import type { Payer } from './payer.ts'
import { verifyBooks, type BookOptions } from './verify.ts'

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

/** Admits and charges one request with an idempotency key while the database's clock is an hour ahead. */
async function chargeAnHourAhead(database: Database, { accountId, keyId }: Payer): Promise<void> {
  const [instance, hold, ahead] = [randomUUIDv7(), randomUUIDv7(), `now() + interval '1 hour'`]
  const request = { hold, account: accountId, key: keyId, model: 'm', requests: 1, idem: 'k', hash: 'h' }
  const admission = { ...request, input: 10, output: 20, input_price: '1', output_price: '1' }
  const charge = { hold, input: 10, output: 20, stop: 'complete', source: 'model', headers: {}, body: '{}' }
  await database.rows(`insert into instance (id, host) values ($1, 'h')`, [instance])
  const call = (batch: number, settle: object[], admit: object[]) =>
    database.rows(`select outcome from till($1, $2, $3, $4, ${ahead})`, [
      instance,
      batch,
      JSON.stringify(settle),
      JSON.stringify(admit),
    ])
  assert.deepEqual(await call(1, [], [admission]), [{ outcome: 'admitted' }])
  assert.deepEqual(await call(2, [charge], []), [{ outcome: 'settled' }])
  await database.rows('delete from instance where id = $1', [instance])
}

/** Moves the times of the hour ahead by some days. */
const shift = (table: string, column: string, days: string) =>
  `update ${table} set ${column} = ${column} + interval '${days} days' where ${column} > now() + interval '30 minutes'`

const ofKeys = 'every idempotency key has its hold or its charge'
const ofLedger = 'every ledger row has a known stop reason and a time in the past'
const ways: readonly BookOptions[] = [{}, { sample: { sample: 1, turn: 0 } }]

test('A31: verify accepts what was charged before the clock was set back by an hour, and finds later times', async (t) => {
  const stage = await openTills(1)
  t.after(() => stage.close())
  const { database } = stage
  const payer = await stage.addAccount({ credit: 10n * mostOfOne })
  await chargeAnHourAhead(database, payer)
  const later = ask(payer)
  await stage.nth(0).admit(later)
  await stage.nth(0).settle(later.requestId, payer.accountId, used(20))
  await sealAll(database)
  const assertFound = async (change: string, name: string, undo: string) => {
    await tamper(database, change)
    for (const way of ways) {
      const { checks } = await verifyBooks(database, way)
      assert.equal(checks.find((check) => check.name === name)?.faults.length, 1, change)
    }
    await tamper(database, undo)
  }
  const assertInOrder = async () => {
    for (const way of ways) assert.ok((await verifyBooks(database, way)).ok)
  }

  await assertInOrder()
  await assertFound(shift('idempotency', 'created_at', '2'), ofKeys, shift('idempotency', 'created_at', '-2'))
  await assertFound(shift('ledger', 'at', '2'), ofLedger, shift('ledger', 'at', '-2'))
  // Nothing vouches for the time of a row that is not sealed.
  const unsealed = `
    insert into ledger select at, '00000000-0000-0000-0000-0000000000ac', account_id, key_id, person_id, model, client_id,
      input_tokens, output_tokens, input_price, output_price, cost, stop_reason, usage_source, uncharged_input,
      uncharged_output, nextval('ledger_number') from ledger where at > now() + interval '30 minutes'`
  await assertFound(unsealed, ofLedger, `delete from ledger where request_id = '00000000-0000-0000-0000-0000000000ac'`)
  await assertInOrder()
})
