import assert from 'node:assert/strict'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import { copyTestDatabase, createTestDatabase, patience, type TestDatabase } from '../../tests/support/database.ts'
import { fixture, setUp } from '../../tests/support/fixture.ts'
import { sealAll, tamper, whileTampered } from '../../tests/support/tamper.ts'
import { log } from '../../tests/support/tills.ts'
import { openDatabase, type Database } from '../platform/database/database.ts'
import { verifyBooks } from './verify.ts'

// Four blocks of 20 000 numbers. The sample reads the second and the newest: row 20 005, but not row 5.
const sample = { sample: 20_000, turn: 1 }
const rows = 60_001
const [unread, read] = ['number = 5', 'number = 20005']

let copy: TestDatabase
let database: Database

const original = fixture(() => createTestDatabase())
setUp(async () => {
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
    assert.deepEqual(samples, ['sealed rows by the checksums of their seals', ...Array<string>(3).fill('part 2 of 4')])
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

const failing = async (change: string) =>
  (await whileTampered(database, change, (tampered) => verifyBooks(tampered))).checks.flatMap(({ ok, name }) =>
    ok ? [] : [name],
  )
const either = (table: string, ...columns: string[]) =>
  columns.flatMap((column) => ['+', '-'].map((sign) => `update ${table} set ${column} = ${column} ${sign} 1`))
const ofKeys = (change: string) => `${change} where tag_name is null`
const outsideBuckets = (table: string) => [
  `update ${table} set request_level = requests_per_minute * 60000000::bigint + 1`,
  `update ${table} set token_level = tokens_per_minute * 60000000::bigint + 1`,
]

describe('the books of an account and of a key with limits', () => {
  setUp(async () => {
    copy = await createTestDatabase()
    database = openDatabase(copy.url, { log, ...patience })
    await tamper(database, scene)
  })
  after(async () => {
    await database.close()
    await copy.drop()
  })

  const figures = ['requests', 'input_tokens', 'output_tokens', 'cached_tokens', 'cache_write_tokens', 'cost']
  const lent = ['credit_lent', 'requests_lent', 'tokens_lent']
  for (const [check, changes] of Object.entries({
    'every account was charged the sum of its roll-ups': either('account', 'charged'),
    'the charges of this month are the sum of its roll-ups': either('account', 'month_charged'),
    'the held credit is the sum of the holds and the allowances': either('account', 'held'),
    'the lent credit and limits are the sum of the allowances': either('account', ...lent),
    'every hold and every allowance has its account and its instance': [
      'hold',
      'allowance',
      'key_allowance',
      'budget_allowance',
    ].map((table) => `update ${table} set instance_id = gen_random_uuid()`),
    'the credit of every account is the sum of its entries': either('account', 'credited'),
    'no prepaid account is below zero': [
      'alter table account drop constraint never_negative; update account set charged = credited - held - credit_lent + 1',
    ],
    'no bucket is above its limit or filled in the future': [
      ...outsideBuckets('account'),
      `update account set level_at = now() + interval '11 minutes'`,
    ],
    'every key with limits spent the sum of its roll-ups': either('key_limit', 'day_charged', 'month_charged'),
    'the amount held by every key with limits is the sum of its holds and allowances': either('key_limit', 'held'),
    'the amounts lent by every key with limits are the sums of its allowances': either('key_limit', ...lent),
    'the limits of every key belong to its account, which is marked as having them': [
      'update account set limits_keys = false',
      'update key_limit set account_id = gen_random_uuid()',
    ],
    "no key's bucket is above its limit": outsideBuckets('key_limit'),
    'every budget was charged the sum of its charges in its period': [
      ...either('budget', 'charged'),
      `update budget set began_at = began_at + interval '1 hour'`,
    ],
    'the amount held by every budget is the sum of its holds and allowances': either('budget', 'held').map(ofKeys),
    'the amount lent by every budget is the sum of its allowances': either('budget', 'credit_lent').map(ofKeys),
    'every account with budgets is marked, and their keys are keys of the account': [
      'update account set has_budgets = false',
      'update budget set account_id = gen_random_uuid()',
      'update api_key set account_id = gen_random_uuid()',
      'delete from budget',
    ],
    'no day has more requests with tags than requests': [
      'update tag_day set requests = 3',
      'update tag_day set cost = 31',
    ],
    'the daily roll-ups are the sums of the ledger': either('usage_day', ...figures),
    'the daily sums of tags are the sums of the ledger': either('tag_day', ...figures),
    'no hold is older than a request may take': [`update hold set created_at = created_at - interval '3601 seconds'`],
  })) {
    test(`fail "${check}" in either direction`, async () => {
      for (const change of changes) assert.ok((await failing(change)).includes(check), change)
    })
  }

  test('are correct as they are, and when the last of the credit is spent', async () => {
    assert.deepEqual(await failing('select'), [])
    const onTheFirst = 'update key_limit set month = day; update account set month = (select day from key_limit)'
    assert.deepEqual(await failing(onTheFirst), [])
    for (const reason of ['max_output_tokens', 'stop_sequence', 'content_filter', 'cancelled', 'error'])
      assert.deepEqual(await failing(`update ledger set stop_reason = '${reason}'`), [], reason)
    const spent = await failing('update account set charged = credited - held - credit_lent')
    assert.ok(!spent.includes('no prepaid account is below zero'))
  })
})

const [account, key, limit, instance] = [1, 2, 3, 4].map((digit) => `'00000000-0000-0000-0000-00000000000${digit}'`)
const level = '2 * 60000000::bigint'
/** Two charges of 10 and 20, one of which has tags, a hold of 40, and an allowance of 100 with 50 in flight. */
const scene = `
  insert into account (id, name, requests_per_minute, tokens_per_minute, credited, charged, held, month_charged,
      request_level, token_level, credit_lent, requests_lent, tokens_lent, limits_keys, has_budgets)
    values (${account}, 'a', 9, 9, 1000, 30, 90, 30, ${level}, ${level}, 100, 7, 8, true, true);
  insert into credit_entry (id, account_id, amount) values (gen_random_uuid(), ${account}, 1000);
  insert into key_limit (id, account_id, requests_per_minute, tokens_per_minute, daily_budget, held, day, day_charged,
      month, month_charged, request_level, token_level, credit_lent, requests_lent, tokens_lent)
    select ${limit}, ${account}, 9, 9, 5000, 90, day, 30, date_trunc('month', day), 30, ${level}, ${level}, 100, 7, 8
    from (select (now() at time zone 'UTC')::date as day) today;
  insert into api_key (id, public_id, secret_hash, account_id, name, limit_id)
    values (${key}, 'k', sha256('k'), ${account}, 'k', ${limit});
  insert into key_issue (key_id, account_id, secret_hash) select id, account_id, secret_hash from api_key;
  insert into instance (id, host) values (${instance}, 'h');
  insert into hold (id, account_id, key_id, instance_id, model, input_tokens, max_output_tokens, input_price, output_price,
      cost, created_at)
    select gen_random_uuid(), ${account}, ${key}, ${instance}, 'm', 20, 20, 1, 1, 40, seen_at from instance;
  insert into allowance values (${instance}, ${account}, 50, 100, 7, 8);
  insert into key_allowance values (${instance}, ${limit}, 50, 100, 7, 8);
  insert into budget (id, account_id, name, tag_name, tag_value, period, time_zone, hard, amount, began_at, ends_at, charged, held, credit_lent)
    select b.id::uuid, ${account}, b.name, b.tag, b.value, 'month', 'UTC', true, 900, p.began_at, p.ends_at, b.charged, b.held, b.lent
    from budget_period('month', 'UTC', now()) p,
      (values (${limit}, 'of a key', null, null, 30, 90, 100), (${key}, 'of a tag', 'a', 'b', 10, 0, 0)) b (id, name, tag, value, charged, held, lent);
  insert into budget_key values (${limit}, ${key});
  insert into budget_allowance values (${instance}, ${limit}, 50, 100);
  insert into ledger (at, request_id, account_id, key_id, model, input_tokens, output_tokens, cached_tokens, cached_price,
      cache_write_tokens, cache_write_price, input_price, output_price, cost, stop_reason, usage_source, tags)
    select now(), gen_random_uuid(), ${account}, ${key}, 'm', cost / 2, cost / 2, 2, 0, 2, 0, 1, 1, cost, 'complete', 'model', tags
    from (values (10, '{"a":"b"}'::jsonb), (20, null)) charge(cost, tags);
  insert into usage_day (day, account_id, key_id, model, requests, input_tokens, output_tokens, cached_tokens,
      cache_write_tokens, cost)
    values ((now() at time zone 'UTC')::date, ${account}, ${key}, 'm', 2, 15, 15, 4, 4, 30);
  insert into tag_day values ((now() at time zone 'UTC')::date, ${account}, sha256(convert_to('{"a": "b"}', 'UTF8')),
    '{"a":"b"}', 1, 5, 5, 2, 2, 10);`
