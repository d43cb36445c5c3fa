import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { byService } from '../../access/actor.ts'
import { patience } from '../../../tests/support/database.ts'
import {
  admitReturned,
  ask,
  log,
  mostOfOne,
  openTills,
  outcome,
  reapWhere,
  used,
  type Limits,
} from '../../../tests/support/tills.ts'
import { countOwnTime } from '../../../tests/support/clock.ts'
import { fixture } from '../../../tests/support/fixture.ts'
import { until } from '../../../tests/support/until.ts'
import { createAccounts } from '../../accounts/accounts.ts'
import { openDatabase } from '../../platform/database/database.ts'
import { createTill } from '../till/postgres-till.ts'
import type { Till } from '../till/till.ts'
import type { Payer } from '../payer.ts'

// Allowances are valid for a second, which must not depend on the machine's load.
countOwnTime()
const stage = fixture(() => openTills(3))

/** What instances hold of an account in allowances. */
async function lent({ accountId }: Payer) {
  const [row] = await stage.database.rows<{ credit: bigint; requests: bigint; tokens: bigint }>(
    'select credit_lent as credit, requests_lent / 60000000 as requests, tokens_lent / 60000000 as tokens from account where id = $1',
    [accountId],
  )
  return row ?? assert.fail()
}

/** Puts the account in steady use, so that the till takes an allowance. */
async function warm(till: Till, payer: Payer, times = 8): Promise<void> {
  for (let round = 0; round < times; round++) {
    const each = ask(payer)
    await till.admit(each)
    await till.settle(each.requestId, each.payer.accountId, used(3))
  }
}

async function warmed(limits: Limits, till = stage.nth(0)): Promise<Payer> {
  const payer = await stage.addAccount(limits)
  await warm(till, payer)
  const { credit, requests } = await lent(payer)
  assert.ok(credit >= mostOfOne && requests >= 1n, `${credit} and ${requests} lent`)
  return payer
}

/** The number of calls by the instance with an allowance of this account. The others make one every five seconds. */
async function callsFor({ accountId }: Payer): Promise<bigint> {
  const [row] = await stage.database.rows<{ calls: bigint }>(
    'select last_batch as calls from instance where id = (select instance_id from allowance where account_id = $1)',
    [accountId],
  )
  return row?.calls ?? assert.fail()
}

test('an account in steady use is admitted without the database, and charged with one call', async () => {
  const payer = await warmed({ credit: 10_000n * mostOfOne })
  await sleep(50)
  const calls = await callsFor(payer)
  const each = ask(payer)
  const admission = await stage.nth(0).admit(each)
  assert.equal(await callsFor(payer), calls, 'no call')
  assert.equal(admission.kind, 'admitted')
  const { cost } = await stage.nth(0).settle(each.requestId, each.payer.accountId, used(3))
  assert.equal(cost, mostOfOne - 17n * 400_000n)
  const rows = await stage.ledgerRows(payer)
  assert.equal(rows.filter((row) => row.request_id === each.requestId).length, 1)
  assert.equal((await stage.account(payer)).charged, 9n * cost)
  assert.equal((await stage.account(payer)).held, 0n, 'an allowance is not a hold')
})

test('an account with few requests or little credit gets no allowance', async () => {
  const rare = await stage.addAccount({ credit: 10_000n * mostOfOne })
  await warm(stage.nth(0), rare, 3)
  const small = await stage.addAccount({ credit: 150n * mostOfOne })
  await warm(stage.nth(0), small, 12)
  const slow = await stage.addAccount({ credit: 10_000n * mostOfOne, requests: 60 })
  await warm(stage.nth(0), slow, 12)
  await sleep(50)
  for (const payer of [rare, small, slow]) assert.deepEqual(await lent(payer), { credit: 0n, requests: 0n, tokens: 0n })
})

test('an instance that requests too much is granted less', async () => {
  const payer = await stage.addAccount({ credit: 10_000n * mostOfOne, requests: 1000 })
  // An allowance of 64 requests is too large for a bucket of a thousand; one of two is not.
  const asks = Array.from({ length: 63 }, () => ask(payer))
  await Promise.all(asks.map((each) => stage.nth(0).admit(each)))
  await Promise.all(asks.map((each) => stage.nth(0).settle(each.requestId, each.payer.accountId, used(3))))
  await until(async () => {
    if ((await lent(payer)).requests > 0n) return true
    await warm(stage.nth(0), payer, 1)
    await sleep(100)
    return false
  })
})

test('a request gets credit that another instance has in its allowance', async () => {
  const payer = await warmed({ credit: 10_000n * mostOfOne }, stage.nth(1))
  const { left } = await stage.account(payer)
  const perToken = 400_000n
  const all = ask(payer, { inputTokens: 0, maxOutputTokens: Number(left / perToken) })
  await admitReturned(stage.nth(0), all)
  await stage.nth(0).release(all.requestId, all.payer.accountId)
})

test('a request gets tokens that another instance has in its allowance', async () => {
  const payer = await warmed({ credit: 1_000_000n * mostOfOne, tokens: 60_000 }, stage.nth(1))
  // The bucket alone does not have enough tokens, only with the returned ones.
  const all = ask(payer, { inputTokens: 0, maxOutputTokens: 59_980 })
  await admitReturned(stage.nth(0), all)
  await stage.nth(0).release(all.requestId, all.payer.accountId)
})

test('A22: an account in steady use gets the same reply for the same key, charged once', async () => {
  const payer = await warmed({ credit: 10_000n * mostOfOne })
  const idempotency = { key: 'order-1', hash: 'a' }
  const first = ask(payer, { idempotency })
  assert.equal((await stage.nth(0).admit(first)).kind, 'admitted')
  assert.equal(await outcome(stage.nth(0).admit(ask(payer, { idempotency }))), 'idempotency_in_progress')
  const answer = { headers: {}, body: '{}' }
  await stage.nth(0).settle(first.requestId, first.payer.accountId, used(3, { storedReply: answer }))
  const again = await stage.nth(0).admit(ask(payer, { idempotency }))
  assert.deepEqual(again.kind === 'replay' && again.body, answer.body)
  assert.equal((await stage.ledgerRows(payer)).length, 9)
})

test('a charge that the database refuses leaves no hold', async () => {
  const payer = await warmed({ credit: 10_000n * mostOfOne })
  const each = ask({ accountId: payer.accountId, keyId: 'none' })
  await stage.nth(0).admit(each)
  await assert.rejects(stage.nth(0).settle(each.requestId, each.payer.accountId, used(3)), { code: '22P02' })
  assert.equal((await stage.ledgerRows(payer)).length, 8)
  const held = () =>
    stage.database.rows('select from allowance where account_id = $1 and (held, credit) <> (0, 0)', [payer.accountId])
  await until(async () => (await held()).length === 0)
})

test('A25: the unused part of an allowance returns to the buckets, exactly', async () => {
  const own = openDatabase(stage.url, { log, ...patience })
  const till = await createTill({ database: own, log })
  const payer = await stage.addAccount({ credit: 10_000n * mostOfOne, requests: 6000, tokens: 6000 })
  // A full bucket takes nothing back, which would hide tokens returned twice.
  const [began] = await stage.database.rows<{ at: string }>(
    `update account set request_level = 3000 * 60000000::bigint, token_level = 3000 * 60000000::bigint,
       level_at = clock_timestamp() where id = $1 returning level_at::text as at`,
    [payer.accountId],
  )
  let largest = 0n
  for (let round = 0; round < 40; round++) {
    const asks = Array.from({ length: 5 }, () => ask(payer, { inputTokens: 1, maxOutputTokens: 2 }))
    await Promise.all(asks.map((each) => till.admit(each)))
    await Promise.all(
      asks.map((each) => till.settle(each.requestId, each.payer.accountId, used(1, { inputTokens: 1 }))),
    )
    const { requests } = await lent(payer)
    if (requests > largest) largest = requests
  }
  assert.ok(largest > 2n, 'no allowance was taken')
  await till.drain()
  await own.close()
  // Without what was refilled by the clock of the database.
  const [left] = await stage.database.rows(
    `select round((request_level - refilled) / 60000000)::int as requests, round((token_level - refilled) / 60000000)::int as tokens
     from account, lateral (select extract(epoch from level_at - $2::timestamptz) * 1000000 * 6000 as refilled) r where id = $1`,
    [payer.accountId, began?.at],
  )
  assert.deepEqual(left, { requests: 3000 - 200, tokens: 3000 - 400 })
})

test("credit in an instance's allowance can be withdrawn", async () => {
  const payer = await warmed({ credit: 10_000n * mostOfOne })
  const { left } = await stage.account(payer)
  const accounts = createAccounts({ database: stage.database })
  assert.equal((await accounts.addCredit(payer.accountId, -left, byService)).creditLeft, 0n)
  assert.equal(await outcome(stage.nth(0).admit(ask(payer))), 'insufficient_credit')
})

test('A29: closing an account or lowering its limit takes effect within a second, also where it has an allowance', async () => {
  const closed = await warmed({ credit: 10_000n * mostOfOne })
  const lowered = await warmed({ credit: 10_000n * mostOfOne })
  await stage.database.rows(`update account set status = 'closed' where id = $1`, [closed.accountId])
  await stage.database.rows('update account set requests_per_minute = 1, request_level = 0 where id = $1', [
    lowered.accountId,
  ])
  const end = performance.now() + 1000
  while (performance.now() < end) {
    for (const payer of [closed, lowered]) {
      const each = ask(payer)
      if ((await outcome(stage.nth(0).admit(each))) === 'admitted')
        await stage.nth(0).release(each.requestId, each.payer.accountId)
      await stage.nth(0).levels(payer)
    }
    await sleep(10)
  }
  assert.equal(await outcome(stage.nth(0).admit(ask(closed))), 'no_billing_account')
  assert.equal(await outcome(stage.nth(0).admit(ask(lowered))), 'rate_limit_exceeded')
})

test('a request from an allowance gets a new hold at another price, or is released', async () => {
  const payer = await warmed({ credit: 10_000n * mostOfOne })
  const { left } = await stage.account(payer)
  const first = ask(payer)
  await stage.nth(0).admit(first)
  const dearer = { input: 1_000_000n, output: 4_000_000n }
  await stage.nth(0).reprice({ ...first, price: dearer })
  assert.equal((await stage.account(payer)).held, 10n * mostOfOne)
  const { cost } = await stage.nth(0).settle(first.requestId, first.payer.accountId, used(20))
  assert.equal(cost, 10n * mostOfOne)
  assert.equal((await stage.account(payer)).left, left - cost)
  const second = ask(payer)
  await stage.nth(0).admit(second)
  const tooDear = { input: left, output: left + 1n }
  assert.equal(await outcome(stage.nth(0).reprice({ ...second, price: tooDear })), 'insufficient_credit')
  assert.deepEqual(await stage.account(payer), {
    charged: (await stage.account(payer)).charged,
    held: 0n,
    left: left - cost,
  })
})

test("a dead instance's allowance is released, and its requests can no longer be charged", async () => {
  const own = openDatabase(stage.url, { log, ...patience })
  const dying = await createTill({ database: own, log })
  const payer = await warmed({ credit: 10_000n * mostOfOne }, dying)
  await Promise.all(Array.from({ length: 4 }, () => warm(dying, payer, 4)))
  const charged = (await stage.account(payer)).charged
  const [first, second] = [ask(payer), ask(payer)]
  await dying.admit(first)
  await dying.admit(second)
  assert.equal((await stage.account(payer)).held, 0n, 'both are covered by the allowance')
  await reapWhere(stage.database, 'id = (select instance_id from allowance where account_id = $1)', [payer.accountId])
  assert.deepEqual(await lent(payer), { credit: 0n, requests: 0n, tokens: 0n })
  assert.equal((await stage.account(payer)).held, 0n)
  assert.equal(
    await outcome(dying.settle(first.requestId, first.payer.accountId, used(1))),
    'unavailable',
    'its reply must not be sent',
  )
  assert.equal((await stage.account(payer)).charged, charged)
  await warm(dying, payer)
  const { length } = await stage.ledgerRows(payer)
  assert.equal(
    await outcome(dying.settle(second.requestId, second.payer.accountId, used(1))),
    'unavailable',
    'nor after it has registered again',
  )
  assert.equal((await stage.ledgerRows(payer)).length, length)
  await dying.drain()
  await own.close()
})

test('an unused allowance is returned', async () => {
  const payer = await warmed({ credit: 10_000n * mostOfOne })
  await until(async () => (await lent(payer)).credit === 0n)
})
