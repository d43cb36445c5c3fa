import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { countOwnTime } from '../../../tests/support/clock.ts'
import { isEndure } from '../../../tests/support/draws.ts'
import { until } from '../../../tests/support/until.ts'
import { openDatabase, type Database } from '../../platform/database/database.ts'
import { patience } from '../../../tests/support/database.ts'
import { fixture } from '../../../tests/support/fixture.ts'
import {
  ask,
  log,
  mostOfOne,
  openTills,
  outcome,
  price,
  reapWhere,
  used,
  type Limits,
} from '../../../tests/support/tills.ts'
import { valuesOf } from '../../../tests/support/json.ts'
import { createTill } from './postgres-till.ts'
import type { Till } from './till.ts'
import { TillRefusal } from './limits.ts'
import type { Payer } from '../payer.ts'

// Allowances are valid for a second, which must not depend on the machine's load.
countOwnTime()
const stage = fixture(() => openTills(3))

const database = (): Database => stage.database
const nth = (index: number): Till => stage.nth(index)
const addAccount = (limits: Limits): Promise<Payer> => stage.addAccount(limits)
const account = (payer: Payer) => stage.account(payer)
const ledgerRows = (payer: Payer) => stage.ledgerRows(payer)

test('A16: credit for k requests admits exactly k of many, on three instances', async () => {
  for (const kind of ['credit', 'monthlyLimit'] as const) {
    const payer = await addAccount({ [kind]: 7n * mostOfOne + mostOfOne / 2n })
    const asks = Array.from({ length: 60 }, () => ask(payer))
    const outcomes = await Promise.all(asks.map((each, index) => outcome(nth(index).admit(each))))
    assert.equal(outcomes.filter((each) => each === 'admitted').length, 7)
    assert.equal(outcomes.filter((each) => each === 'insufficient_credit').length, 53)
    assert.ok((await account(payer)).left >= 0n)
    const admitted = asks.filter((_, index) => outcomes[index] === 'admitted')
    await Promise.all(
      admitted.map((each, index) => nth(index + 1).settle(each.requestId, each.payer.accountId, used(20))),
    )
    assert.deepEqual(await account(payer), { charged: 7n * mostOfOne, held: 0n, left: mostOfOne / 2n })
    assert.equal((await ledgerRows(payer)).length, 7)
  }
})

test('A42: requests that leave their maximum open get what the credit has room for, on three instances', async () => {
  const payer = await addAccount({ credit: 3n * mostOfOne - 5n * price.output })
  const asks = Array.from({ length: 30 }, () => ask(payer, { leastOutputTokens: 1 }))
  const admissions = await Promise.all(
    asks.map((each, index) =>
      nth(index)
        .admit(each)
        .catch(({ code }: TillRefusal) => code),
    ),
  )
  const outputs = admissions.map((each) =>
    typeof each === 'string' ? each : each.kind === 'admitted' && each.maxOutputTokens,
  )
  assert.deepEqual(
    outputs.toSorted((a, b) => (String(a) < String(b) ? -1 : 1)),
    [15, 20, 20, ...Array.from({ length: 27 }, () => 'insufficient_credit')],
  )
  assert.deepEqual(await account(payer), { charged: 0n, held: 3n * mostOfOne - 5n * price.output, left: 0n })
  const admitted = asks.filter((_, index) => typeof outputs[index] === 'number')
  await Promise.all(admitted.map((each, index) => nth(index).release(each.requestId, payer.accountId)))
})

test('402 suggests a retry only while requests in flight hold the credit', async () => {
  const payer = await addAccount({ credit: mostOfOne })
  const first = ask(payer)
  await nth(0).admit(first)
  await assert.rejects(
    nth(1).admit(ask(payer)),
    (error) => error instanceof TillRefusal && error.details.retryAfter === 1,
  )
  await nth(0).settle(first.requestId, first.payer.accountId, used(20))
  await assert.rejects(
    nth(1).admit(ask(payer)),
    (error) =>
      error instanceof TillRefusal && error.code === 'insufficient_credit' && error.details.retryAfter === undefined,
  )
})

test('A25: remaining falls by what is taken and rises by what is returned', async () => {
  const payer = await addAccount({ credit: 100n * mostOfOne, requests: 5, tokens: 100 })
  const first = ask(payer)
  const admission = await nth(0).admit(first)
  assert.deepEqual(admission.levels.requests, { limit: 5, remaining: 4, resetSeconds: 12 })
  assert.deepEqual(admission.levels.tokens, { limit: 100, remaining: 70, resetSeconds: 18 })
  const { levels, cost } = await nth(1).settle(first.requestId, first.payer.accountId, used(3))
  assert.equal(cost, 10n * price.input + 3n * price.output)
  // Both are refilled meanwhile.
  const [tokens, requests] = [levels.tokens.remaining, levels.requests.remaining]
  assert.ok(tokens >= 87 && requests >= 4, `${tokens} and ${requests}`)
})

test('A24: a first request that fits is admitted; one that can never fit is 400, not 429', async () => {
  const payer = await addAccount({ credit: 100n * mostOfOne, tokens: 30 })
  assert.equal(await outcome(nth(0).admit(ask(payer, { maxOutputTokens: 21 }))), 'can_never_fit_limit')
  const first = ask(payer)
  assert.equal(await outcome(nth(0).admit(first)), 'admitted')
  assert.equal(await outcome(nth(0).admit(ask(payer))), 'rate_limit_exceeded')
  await nth(0).release(first.requestId, first.payer.accountId)
})

test('A23: after a refusal, waiting exactly Retry-After is enough', async () => {
  const payer = await addAccount({ credit: 100n * mostOfOne, requests: 60, tokens: 1800 })
  const asks = Array.from({ length: 62 }, () => ask(payer))
  const outcomes = await Promise.all(asks.map((each) => outcome(nth(0).admit(each))))
  const admitted = outcomes.filter((each) => each === 'admitted').length
  assert.ok(admitted >= 60, `${admitted} admitted of a bucket of 60`)
  const large = Array.from({ length: 10 }, () => ask(payer, { maxOutputTokens: 50 }))
  const refusals = await Promise.all(
    large.map((each) =>
      nth(1)
        .admit(each)
        .catch((error: unknown) => error),
    ),
  )
  const refusal = refusals.at(-1)
  assert.ok(refusal instanceof TillRefusal && refusal.details.retryAfter !== undefined)
  assert.equal(refusal.code, 'rate_limit_exceeded')
  await sleep(refusal.details.retryAfter * 1000)
  const last = ask(payer, { maxOutputTokens: 50 })
  assert.equal(await outcome(nth(2).admit(last)), 'admitted')
  await Promise.all([...asks, ...large, last].map((each) => nth(1).release(each.requestId, each.payer.accountId)))
})

test('a closed or unknown account is refused and holds nothing', async () => {
  const payer = await addAccount({ credit: mostOfOne })
  await database().rows(`update account set status = 'closed' where id = $1`, [payer.accountId])
  assert.equal(await outcome(nth(0).admit(ask(payer))), 'no_billing_account')
  assert.equal(await outcome(nth(0).admit(ask({ ...payer, accountId: randomUUIDv7() }))), 'no_billing_account')
  assert.equal((await account(payer)).held, 0n)
})

test('a released hold charges nothing, and a later settlement is refused', async () => {
  const payer = await addAccount({ credit: mostOfOne, tokens: 100 })
  const first = ask(payer)
  await nth(0).admit(first)
  assert.equal((await nth(0).release(first.requestId, first.payer.accountId))?.tokens.remaining, 100)
  assert.equal(await outcome(nth(0).settle(first.requestId, first.payer.accountId, used(20))), 'unavailable')
  assert.equal(await nth(0).release(first.requestId, first.payer.accountId), undefined)
  assert.deepEqual(await account(payer), { charged: 0n, held: 0n, left: mostOfOne })
  assert.deepEqual(await ledgerRows(payer), [])
})

test('a hold is replaced at a new price, or released if the credit does not cover it', async () => {
  const payer = await addAccount({ credit: 3n * mostOfOne, requests: 2, tokens: 30 })
  const first = ask(payer)
  await nth(0).admit(first)
  const dearer = { input: 2n * price.input, output: 2n * price.output }
  const { levels } = await nth(0).reprice({ ...first, model: 'other', price: dearer })
  assert.equal(levels.requests.remaining, 1, 'no further request is taken')
  assert.equal((await account(payer)).held, 2n * mostOfOne)
  const { cost } = await nth(0).settle(first.requestId, first.payer.accountId, used(3))
  assert.equal(cost, 10n * dearer.input + 3n * dearer.output)
  const poor = await addAccount({ credit: mostOfOne })
  const second = ask(poor)
  await nth(1).admit(second)
  assert.equal(await outcome(nth(1).reprice({ ...second, price: dearer })), 'insufficient_credit')
  assert.deepEqual(await account(poor), { charged: 0n, held: 0n, left: mostOfOne })
})

test("A31: after a step of the clock into last month, this month's charges still count", async () => {
  const payer = await addAccount({ credit: 10n * mostOfOne })
  await database().rows(
    `update account set month = (date_trunc('month', now() at time zone 'UTC') + interval '1 month')::date,
       month_charged = 0 where id = $1`,
    [payer.accountId],
  )
  const first = ask(payer)
  await nth(0).admit(first)
  const { cost } = await nth(0).settle(first.requestId, first.payer.accountId, used(20))
  const [row] = await database().rows('select charged, month_charged from account where id = $1', [payer.accountId])
  assert.deepEqual(row, { charged: cost, month_charged: cost })
})

test('A22: concurrent requests with one idempotency key are one request, whose reply is stored', async () => {
  const payer = await addAccount({ credit: 100n * mostOfOne })
  const idempotency = { key: 'order-1', hash: 'a' }
  const asks = Array.from({ length: 20 }, () => ask(payer, { idempotency }))
  const outcomes = await Promise.all(asks.map((each, index) => outcome(nth(index).admit(each))))
  assert.equal(outcomes.filter((each) => each === 'admitted').length, 1)
  assert.equal(outcomes.filter((each) => each === 'idempotency_in_progress').length, 19)
  const first = asks[outcomes.indexOf('admitted')] ?? assert.fail()
  const answer = { headers: { 'x-cost': '0.1' }, body: '{"output_text":"é\\n\\u0000"}' }
  await nth(0).settle(first.requestId, first.payer.accountId, used(20, { storedReply: answer }))
  const replay = await nth(2).admit(ask(payer, { idempotency }))
  assert.ok(replay.kind === 'replay')
  assert.deepEqual({ headers: replay.headers, body: replay.body }, answer)
  assert.equal(
    await outcome(nth(1).admit(ask(payer, { idempotency: { ...idempotency, hash: 'b' } }))),
    'idempotency_mismatch',
  )
  assert.equal((await ledgerRows(payer)).length, 1)
  assert.equal((await account(payer)).held, 0n)
})

test('A22: precheck() and admit() find the stored reply for 24 hours, no longer', async () => {
  const payer = await addAccount({ credit: 100n * mostOfOne })
  const idempotency = { key: 'order-day', hash: 'a' }
  const first = ask(payer, { idempotency })
  await nth(0).admit(first)
  await nth(0).settle(first.requestId, payer.accountId, used(20, { storedReply: { headers: {}, body: '{}' } }))
  const replayAfter = async (age: string) => {
    await database().rows(
      'update idempotency set created_at = clock_timestamp() - $2::interval where account_id = $1',
      [payer.accountId, age],
    )
    return nth(1).precheck(ask(payer, { idempotency }))
  }
  const replay = await replayAfter('23 hours 50 minutes')
  assert.equal((await nth(1).admit(ask(payer, { idempotency }))).kind, 'replay')
  assert.deepEqual([replay?.originalRequestId, replay?.body], [first.requestId, '{}'])
  const charged = { inputTokens: 10, outputTokens: 20, cachedTokens: 0, cacheWriteTokens: 0 }
  assert.deepEqual(replay?.charged, charged)
  assert.equal(await replayAfter('24 hours'), undefined)
  const again = ask(payer, { idempotency })
  assert.equal((await nth(1).admit(again)).kind, 'admitted')
  await nth(1).release(again.requestId, payer.accountId)
})

test('a request that failed frees its idempotency key', async () => {
  const payer = await addAccount({ credit: 100n * mostOfOne })
  const idempotency = { key: 'order-2', hash: 'a' }
  const first = ask(payer, { idempotency })
  await nth(0).admit(first)
  await nth(0).release(first.requestId, first.payer.accountId)
  const second = ask(payer, { idempotency })
  assert.equal((await nth(1).admit(second)).kind, 'admitted')
  await nth(1).release(second.requestId, second.payer.accountId)
})

test('a request whose idempotency key was taken while it changed its model is refused, and nothing of it is held', async () => {
  const payer = await addAccount({ credit: 100n * mostOfOne })
  const idempotency = { key: 'order-3', hash: 'a' }
  const [first, second] = [ask(payer, { idempotency }), ask(payer, { idempotency })]
  await nth(0).admit(first)
  await nth(0).release(first.requestId, first.payer.accountId)
  await nth(1).admit(second)
  assert.equal(await outcome(nth(0).reprice(first)), 'idempotency_in_progress')
  const storedReply = { headers: {}, body: '{"text":"hello"}' }
  await nth(1).settle(second.requestId, second.payer.accountId, used(4, { storedReply }))
  assert.equal(await outcome(nth(0).reprice(first)), 'idempotency_in_progress')
  assert.equal((await account(payer)).held, 0n)
  assert.deepEqual(valuesOf(await ledgerRows(payer), 'request_id'), [second.requestId])
})

test('A19: connections cut at random moments, including COMMIT, neither lose nor double a charge', async () => {
  const payer = await addAccount({ credit: 10_000n * mostOfOne })
  const stop = new AbortController()
  const settled: string[] = []
  const cutting = (async () => {
    let settledThen = -1
    while (!stop.signal.aborted) {
      await sleep(Math.random() * 60)
      // Even a slow machine makes progress between two cuts.
      if (settled.length === settledThen) continue
      settledThen = settled.length
      await database().rows(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and query like 'select * from %' and pid <> pg_backend_pid()`,
      )
    }
  })()
  const worker = async (index: number): Promise<void> => {
    for (let round = 0; round < (isEndure ? 25 : 8); round++) {
      const each = ask(payer)
      await nth(index).admit(each)
      await nth(index).settle(each.requestId, each.payer.accountId, used(round % 20))
      settled.push(each.requestId)
    }
  }
  await Promise.all(Array.from({ length: 12 }, (_, index) => worker(index)))
  stop.abort()
  await cutting
  const rows = await ledgerRows(payer)
  assert.deepEqual(rows.map((row) => row.request_id).toSorted(), settled.toSorted())
  const sum = rows.reduce((total, row) => total + row.cost, 0n)
  assert.deepEqual(await account(payer), { charged: sum, held: 0n, left: 10_000n * mostOfOne - sum })
})

test('an item that the database refuses does not fail the others of its batch', async () => {
  const payer = await addAccount({ credit: 10n * mostOfOne })
  const good = Array.from({ length: 4 }, () => ask(payer))
  const bad = ask({ ...payer, clientId: 'not a uuid' })
  const outcomes = await Promise.allSettled([nth(0).admit(bad), ...good.map((each) => nth(0).admit(each))])
  assert.deepEqual(valuesOf(outcomes, 'status'), ['rejected', 'fulfilled', 'fulfilled', 'fulfilled', 'fulfilled'])
  await Promise.all(good.map((each) => nth(0).release(each.requestId, each.payer.accountId)))
})

const ids = async () => (await database().rows<{ id: string }>('select id from instance')).map(({ id }) => id)

test('an idle instance renews its lease', async () => {
  const others = new Set(await ids())
  const own = openDatabase(stage.url, { log, ...patience })
  const silent = await createTill({ database: own, log })
  const id = (await ids()).find((each) => !others.has(each))
  const heard = `select from instance where id = $1 and seen_at > started_at + interval '1 second'`
  await until(async () => (await database().rows(heard, [id])).length > 0)
  await silent.drain()
  await own.close()
})

test("a dead instance's holds are released by another, uncharged", async () => {
  const payer = await addAccount({ credit: mostOfOne })
  const own = openDatabase(stage.url, { log, ...patience })
  const dying = await createTill({ database: own, log })
  const first = ask(payer)
  await dying.admit(first)
  await reapWhere(database(), 'id = (select instance_id from hold where id = $1)', [first.requestId])
  assert.deepEqual(await account(payer), { charged: 0n, held: 0n, left: mostOfOne })
  assert.equal(
    await outcome(dying.settle(first.requestId, first.payer.accountId, used(1))),
    'unavailable',
    'its reply must not be sent',
  )
  assert.equal(
    await outcome(dying.admit(ask(payer, { maxOutputTokens: 1 }))),
    'admitted',
    'it continues as a new instance',
  )
  assert.deepEqual(await ledgerRows(payer), [])
  await own.rows('delete from hold where account_id = $1', [payer.accountId])
  await own.rows('update account set held = 0 where id = $1', [payer.accountId])
  await dying.drain()
  await own.close()
})
