import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { fixture } from '../../tests/support/fixture.ts'
import { valuesOf } from '../../tests/support/json.ts'
import { openTills } from '../../tests/support/tills.ts'
import { foldCharges } from './appended-charges.ts'
import type { Payer } from './payer.ts'
import { verifyBooks } from './verify.ts'

const stage = fixture(() => openTills(1))

interface Appended {
  readonly cost: number
  /** A time of 2026 in UTC. */
  readonly at: string
  readonly tags?: object
}

/** An account of which an instance has an allowance: 100 of credit, and 50 that its requests in flight hold. */
async function lender(limits: { readonly dailyBudget?: bigint } = {}) {
  const payer = await stage.addAccount({ credit: 1000n })
  const instance = randomUUID()
  await stage.database.rows('insert into instance (id, host) values ($1, $2)', [instance, 'test'])
  await stage.database.rows(
    'insert into allowance (instance_id, account_id, held, credit, requests, tokens) values ($1, $2, 50, 100, 0, 0)',
    [instance, payer.accountId],
  )
  await stage.database.rows(
    `update account set held = 50, credit_lent = 100, month = '2026-03-01', limits_keys = true where id = $1`,
    [payer.accountId],
  )
  if (limits.dailyBudget !== undefined) {
    await stage.database.rows(
      `with made as (
         insert into key_limit (id, account_id, daily_budget, held, day, day_charged, month, month_charged)
           values (gen_random_uuid(), $1, $2, 0, '2026-03-02', 0, '2026-03-01', 0) returning id)
       update api_key set limit_id = made.id from made where api_key.id = $3`,
      [payer.accountId, limits.dailyBudget, payer.keyId],
    )
  }
  let batch = 0
  async function append({ cost, at, tags }: Appended): Promise<void> {
    batch += 1
    const { accountId, keyId } = payer
    const common = {
      account: accountId,
      key: keyId,
      model: 'm',
      input: 1,
      output: 0,
      input_price: cost,
      output_price: 0,
    }
    const charge = { id: randomUUID(), ...common, cost, stop: 'complete', source: 'model', tags }
    await stage.database.rows(
      `select append_charges($1, $2, array(select jsonb_populate_recordset(null::timed_charge, $3)), $4)`,
      [instance, batch, JSON.stringify([{ ...charge, uncharged_input: 0, uncharged_output: 0 }]), `2026-${at}Z`],
    )
  }
  return { payer, instance, append }
}

const byDay = ([one]: readonly unknown[], [other]: readonly unknown[]) => String(one).localeCompare(String(other))

async function sums({ accountId }: Payer) {
  const [account] = await stage.database.rows(
    'select charged::int, month_charged::int, held::int, credit_lent::int from account where id = $1',
    [accountId],
  )
  const of = (what: string) =>
    stage.database.rows<Record<string, string | number>>(`select ${what} where account_id = $1`, [accountId])
  return {
    account: Object.values(account ?? {}),
    days: (await of('day::text, requests::int, cost::int from usage_day'))
      .map((row) => Object.values(row))
      .toSorted(byDay),
    tags: (await of('tags::text, cost::int from tag_day')).map((row) => Object.values(row)),
    key: (await of('day_charged::int, month_charged::int from key_limit')).flatMap((row) => Object.values(row)),
  }
}

const end = (instance: string) =>
  stage.database.rows('select reap(id, last_batch) from instance where id = $1', [instance])

test('appended charges are in no sum until they are folded, each into those of its own day', async () => {
  const { payer, instance, append } = await lender({ dailyBudget: 500n })
  await append({ cost: 7, at: '02-28T23:59:59.999999' })
  await append({ cost: 20, at: '03-01T00:00:00', tags: { team: 'red' } })
  await append({ cost: 30, at: '03-02T12:00' })
  await append({ cost: 60, at: '03-02T13:00' })
  assert.deepEqual(await sums(payer), { account: [0, 0, 50, 100], days: [], tags: [], key: [0, 0] })
  assert.equal((await stage.ledgerRows(payer)).length, 4)
  for (let times = 0; times < 2; times++) {
    await foldCharges(stage.database)
    // Of the 117, the credit of the allowance covers 100.
    assert.deepEqual(await sums(payer), {
      account: [117, 110, 33, 0],
      days: [
        ['2026-02-28', 1, 7],
        ['2026-03-01', 1, 20],
        ['2026-03-02', 2, 90],
      ],
      tags: [['{"team": "red"}', 20]],
      key: [90, 110],
    })
  }
  await end(instance)
  assert.deepEqual((await sums(payer)).account, [117, 110, 0, 0])
})

test('an instance that is reaped has what it appended in the sums, also of an account of which it has nothing any more', async () => {
  const [first, second] = [await lender(), await lender()]
  await first.append({ cost: 5, at: '03-02T12:00' })
  await second.append({ cost: 6, at: '03-02T12:00' })
  await stage.database.rows('update allowance set held = 0, credit = 0 where instance_id = $1', [second.instance])
  await stage.database.rows('update account set held = 0, credit_lent = 0 where id = $1', [second.payer.accountId])
  await end(second.instance)
  assert.deepEqual((await sums(second.payer)).account, [6, 6, 0, 0])
  assert.deepEqual((await sums(first.payer)).account, [0, 0, 50, 100], 'the other instance lives')
  await end(first.instance)
  assert.deepEqual((await sums(first.payer)).account, [5, 5, 0, 0])
})

test('a month is closed with what was appended in it', async () => {
  const { payer, instance, append } = await lender()
  await append({ cost: 9, at: '02-28T23:59' })
  await stage.database.rows('select close_months()')
  const listed = await stage.database.rows('select day::text, amount::int from unbilled where account_id = $1', [
    payer.accountId,
  ])
  assert.deepEqual(listed, [{ day: '2026-02-28', amount: 9 }])
  await end(instance)
})

test('A35 the books are right while charges are appended, and name one that was added or counted by hand', async () => {
  const { payer, instance, append } = await lender()
  await append({ cost: 5, at: '03-02T12:00' })
  const faults = async () => {
    const { checks } = await verifyBooks(stage.database)
    return valuesOf(
      checks.filter(({ ok }) => !ok),
      'name',
    )
  }
  assert.deepEqual(await faults(), [])
  const counts = 'every instance has appended as many charges as it counted'
  await stage.database.rows('update instance set appended = 2 where id = $1', [instance])
  assert.deepEqual(await faults(), [counts])
  await stage.database.rows('update instance set appended = 1 where id = $1', [instance])
  await stage.database.rows(
    `insert into ledger (at, request_id, account_id, key_id, model, input_tokens, output_tokens, input_price, output_price, cost,
       stop_reason, usage_source, instance)
     select at, gen_random_uuid(), account_id, key_id, model, input_tokens, output_tokens, input_price, output_price, cost, stop_reason,
       usage_source, instance from ledger where account_id = $1`,
    [payer.accountId],
  )
  assert.deepEqual(await faults(), [counts])
  await foldCharges(stage.database)
  assert.deepEqual(await faults(), [counts], 'nor is it forgotten when the charges are folded')
  await stage.database.rows('update instance set appended = 0, folded = 0 where id = $1', [instance])
  assert.ok((await faults()).includes('every charge that is in no sum was appended since its instance last had none'))
  await stage.database.rows('update instance set folded = (select max(number) from ledger) where id = $1', [instance])
  await end(instance)
})
