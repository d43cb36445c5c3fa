import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { Client } from 'pg'
import { insertCredit } from '../../../tests/support/credit.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { startService, upstreamModel } from '../../../tests/support/service.ts'
import { until } from '../../../tests/support/until.ts'
import { waitingForLocks } from '../../../tests/support/waiting-for-locks.ts'
import { openDatabase, type Database } from '../../platform/database/database.ts'
import { OperatorError } from '../../platform/problems.ts'
import { confirmCurrency, confirmOpenCurrency, openCurrency, replaceCurrency } from './currency.ts'
import { readCurrency } from './store.ts'
import { deleteInstance, insertInstance } from '../instance/store.ts'

let own: TestDatabase
let database: Database

beforeEach(async () => {
  own = await createTestDatabase()
  database = openDatabase(own.url, { log: createTestLog().log })
})
afterEach(async () => {
  await database.close()
  await own.drop()
})

/** Past row-level security and triggers. */
async function asSuperuser(sql: string, values: unknown[] = []): Promise<void> {
  const client = new Client(own.superuserUrl)
  await client.connect()
  await client.query(`set session_replication_role = 'replica'`)
  await client.query(sql, values)
  await client.end()
}

const draft = `insert into invoice (id, account_id, currency, decimals, net, tax, gross, taxes, state, created_at)
  values (gen_random_uuid(), gen_random_uuid(), $1, 2, 0, 0, 0, '[]', $2, $3)`

test('without amounts, the currency may change at every start', async () => {
  await database.rows(
    `insert into price (model, valid_from, input, output, source) values ('tiny', now(), 1, 2, 'configuration')`,
  )
  assert.equal(await confirmCurrency(database, 'EUR'), false)
  for (const currency of ['EUR', 'CHF', 'EUR']) {
    await openCurrency(database, currency)
    assert.equal(await readCurrency(database), currency)
  }
  const events = await database.rows(`select actor from audit where action = 'currency_replaced'`)
  assert.deepEqual(events, [{ actor: 'service' }, { actor: 'service' }])
})

test('amounts of any kind keep their currency', async () => {
  await openCurrency(database, 'EUR')
  const amounts = {
    'monthly limits': `insert into account (id, name, requests_per_minute, tokens_per_minute, monthly_limit, request_level, token_level)
      values (gen_random_uuid(), 'Limited', 1, 1, 5, 0, 0)`,
    budgets: `insert into key_limit (id, account_id, daily_budget, held, day, day_charged, month, month_charged)
      values (gen_random_uuid(), gen_random_uuid(), 5, 0, now(), 0, now(), 0)`,
    prices: `insert into price (model, valid_from, input, output, source) values ('tiny', now(), 1, 2, 'command')`,
    charges: `insert into ledger (at, request_id, account_id, key_id, model, input_tokens, output_tokens, input_price, output_price,
      cost, stop_reason, usage_source) values (now(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'tiny', 1, 1, 1, 2, 3, 'complete', 'model')`,
    invoices: `insert into invoice (id, account_id, currency, decimals, net, tax, gross, taxes)
      values (gen_random_uuid(), gen_random_uuid(), 'EUR', 2, 0, 0, 0, '[]')`,
    'time entries': `insert into time_entry (id, client_id, date, minutes, rate, text) values (gen_random_uuid(), gen_random_uuid(), now(), 1, 0, 'x')`,
    expenses: `insert into expense (id, client_id, date, amount, text) values (gen_random_uuid(), gen_random_uuid(), now(), 1000000, 'x')`,
    disputes: `insert into dispute (id, client_id, invoice, position, amount) values (gen_random_uuid(), gen_random_uuid(), 'x', 'x', 5)`,
  }
  const kinds: string[] = []
  const refused = () => {
    const named = new Intl.ListFormat('en').format(kinds)
    const message = `currency is CHF, but this database has ${named} in EUR, and amounts are never converted. Set currency to EUR.`
    const isNamed = (error: Error) => error.name === 'OperatorError' && error.message.startsWith(message)
    return Promise.all([openCurrency, confirmCurrency].map((take) => assert.rejects(take(database, 'CHF'), isNamed)))
  }
  await insertCredit(database)
  kinds.push('credit')
  await refused()
  for (const [kind, sql] of Object.entries(amounts)) {
    await asSuperuser(sql)
    kinds.push(kind)
    await refused()
  }
  assert.equal(await readCurrency(database), 'EUR')
  await openCurrency(database, 'EUR')
})

test('a replaced currency is the one of the amounts from then on', async () => {
  await openCurrency(database, 'EUR')
  await insertCredit(database)
  assert.equal(await replaceCurrency(database, 'CHF'), true)
  assert.equal(await replaceCurrency(database, 'CHF'), false)
  await openCurrency(database, 'CHF')
  await assert.rejects(openCurrency(database, 'EUR'), /currency is EUR, but this database has credit in CHF/)
})

test('an instance that runs keeps its currency', async () => {
  await openCurrency(database, 'EUR')
  const id = randomUUID()
  await insertInstance(database, id, 'desk')
  await confirmOpenCurrency(database, 'EUR')
  await openCurrency(database, 'EUR')
  const message = /^currency is CHF, but an instance on desk runs with EUR\. Stop every instance first\./
  await assert.rejects(openCurrency(database, 'CHF'), { name: 'OperatorError', message })
  await assert.rejects(replaceCurrency(database, 'CHF'), { name: 'OperatorError', message })
  assert.equal(await readCurrency(database), 'EUR')
  // Killed, even before the clock was set back.
  for (const [seen, currency] of [
    ['-21 seconds', 'CHF'],
    ['1 hour', 'EUR'],
    ['-21 seconds', 'CHF'],
  ] as const) {
    await database.rows('update instance set seen_at = clock_timestamp() + $1::interval', [seen])
    await openCurrency(database, currency)
  }
  await deleteInstance(database, id)
  await openCurrency(database, 'EUR')
})

test('of two instances that start at once with different currencies, one ends', async () => {
  await openCurrency(database, 'EUR')
  const { confirmed } = await database.transaction(async (tx) => {
    // The other instance sees none that runs, and this one registers before the other has replaced the currency.
    await replaceCurrency(tx, 'CHF')
    await insertInstance(database, randomUUID(), 'desk')
    const result = Promise.allSettled([confirmOpenCurrency(database, 'EUR')])
    await until(async () => (await waitingForLocks(database)) > 0)
    return { confirmed: result }
  })
  const [end] = await confirmed
  assert.ok(end.status === 'rejected' && end.reason instanceof OperatorError)
  assert.match(end.reason.message, /currency is EUR, but an instance that started in the meantime uses CHF/)
  await confirmOpenCurrency(database, 'CHF')
})

test('a service that finds its currency replaced as it registers does not run', async () => {
  await openCurrency(database, 'EUR')
  // As another start does that has just seen no instance.
  await asSuperuser(`create function replace_currency() returns trigger language plpgsql as $$
      begin update books_currency set currency = 'CHF'; return new; end $$;
    create trigger replace_currency before insert on instance for each row execute function replace_currency()`)
  const start = startService({
    models: [upstreamModel('http://127.0.0.1:9/v1')],
    databaseUrl: own.url,
    currency: 'EUR',
  })
  await assert.rejects(start, /an instance that started in the meantime uses CHF/)
  assert.deepEqual(await database.rows('select from price'), [], 'its prices would be in force for the other')
  assert.deepEqual(await database.rows('select from instance'), [], 'nothing is left')
})

/** Applies the migration to a database that is already in use. */
async function upgrade(): Promise<void> {
  const file = path.join(import.meta.dirname, '../../../migrations/0046_currency.sql')
  await database.rows('drop table books_currency')
  const client = new Client(own.url)
  await client.connect()
  await client.query(await readFile(file, 'utf8'))
  await client.end()
}

describe('of an installation that did not record it', () => {
  test('it is that of the newest invoice that is not void', async () => {
    await asSuperuser(draft, ['GBP', 'draft', '2026-01-01'])
    await asSuperuser(draft, ['EUR', 'draft', '2026-02-01'])
    await asSuperuser(draft, ['CHF', 'void', '2026-03-01'])
    await asSuperuser(
      `insert into invoice (id, kind, account_id, credits_id, currency, decimals, net, tax, gross, taxes, created_at)
       values (gen_random_uuid(), 'credit_note', gen_random_uuid(), $1, 'GBP', 2, 0, 0, 0, '[]', '2026-04-01')`,
      [randomUUID()],
    )
    await upgrade()
    assert.equal(await readCurrency(database), 'EUR')
    await assert.rejects(openCurrency(database, 'CHF'), /this database has invoices in EUR/)
  })

  test('without invoices, the first start records the configured one', async () => {
    await insertCredit(database)
    await upgrade()
    assert.equal(await readCurrency(database), undefined)
    await openCurrency(database, 'CHF')
    assert.equal(await readCurrency(database), 'CHF')
  })
})
