import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fixture } from '../../../tests/support/fixture.ts'
import { ask, log, mostOfOne, openTills, outcome, used, type Limits } from '../../../tests/support/tills.ts'
import { until } from '../../../tests/support/until.ts'
import type { Database } from '../../platform/database/database.ts'
import { createTill } from './postgres-till.ts'
import type { Payer } from '../payer.ts'
import { TillRefusal, type HoldRequest } from './till.ts'

const stage = fixture(() => openTills(1))

const many = 1000n * mostOfOne

/** Sets columns of an account. Its buckets do not refill from levels of the future. */
const set = ({ accountId }: Payer, columns: string) =>
  stage.database.rows(`update account set ${columns}, level_at = now() + interval '2 minutes' where id = $1`, [
    accountId,
  ])

interface Case {
  readonly name: string
  readonly limits: Limits
  readonly columns?: string
  readonly request?: Partial<HoldRequest>
  readonly expected: string
}

const idempotency = { key: 'k', hash: 'a' }
const cases: readonly Case[] = [
  { name: 'with credit and limits to spare', limits: { credit: many }, expected: 'admitted' },
  { name: 'with just enough', limits: { credit: mostOfOne, requests: 1, tokens: 30 }, expected: 'admitted' },
  { name: 'without credit', limits: { credit: 1n }, expected: 'insufficient_credit' },
  { name: 'at the monthly limit', limits: { monthlyLimit: mostOfOne - 1n }, expected: 'insufficient_credit' },
  { name: 'within the monthly limit', limits: { monthlyLimit: mostOfOne }, expected: 'admitted' },
  {
    name: 'with a monthly limit used up last month',
    limits: { monthlyLimit: mostOfOne },
    columns: `month = date_trunc('month', now() - interval '40 days'), month_charged = monthly_limit`,
    expected: 'admitted',
  },
  {
    name: 'without requests',
    limits: { credit: many, requests: 60 },
    columns: 'request_level = 59999999',
    expected: 'rate_limit_exceeded',
  },
  {
    name: 'without tokens',
    limits: { credit: many, tokens: 60 },
    columns: 'token_level = 29 * 60000000',
    expected: 'rate_limit_exceeded',
  },
  { name: 'with a limit below its tokens', limits: { credit: many, tokens: 29 }, expected: 'can_never_fit_limit' },
  { name: 'of a closed account', limits: {}, columns: `status = 'closed'`, expected: 'no_billing_account' },
  {
    name: 'that costs nothing',
    limits: {},
    request: { price: { input: 0n, output: 0n } },
    expected: 'admitted',
  },
]

test('a precheck decides as an admission does, and writes nothing', async () => {
  for (const { name, limits, columns = 'status = status', request, expected } of cases) {
    const payer = await stage.addAccount(limits)
    await set(payer, columns)
    const least = ask(payer, { ...request, idempotency })
    // Every update moves the row to another place.
    const state = () => stage.database.rows('select ctid::text, * from account where id = $1', [payer.accountId])
    const earlier = await state()
    assert.equal(await outcome(stage.nth(0).precheck(least)), expected, name)
    assert.deepEqual(await state(), earlier)
    assert.deepEqual(await stage.database.rows('select from idempotency where account_id = $1', [payer.accountId]), [])
    assert.equal(await outcome(stage.nth(0).admit(least)), expected, name)
    if (expected === 'admitted') await stage.nth(0).release(least.requestId, payer.accountId)
  }
})

test('a precheck reports the key in use, and another body', async () => {
  const payer = await stage.addAccount({ credit: many })
  const first = ask(payer, { idempotency })
  await stage.nth(0).admit(first)
  assert.equal(await outcome(stage.nth(0).precheck(ask(payer, { idempotency }))), 'idempotency_in_progress')
  const other = ask(payer, { idempotency: { ...idempotency, hash: 'b' } })
  assert.equal(await outcome(stage.nth(0).precheck(other)), 'idempotency_mismatch')
  await stage.nth(0).release(first.requestId, payer.accountId)
  assert.equal(await stage.nth(0).precheck(ask(payer, { idempotency })), undefined)
})

test('a precheck counts the credit that requests in flight hold as used, and tells to retry', async () => {
  const payer = await stage.addAccount({ credit: mostOfOne })
  const first = ask(payer)
  await stage.nth(0).admit(first)
  const refusal = await stage
    .nth(0)
    .precheck(ask(payer))
    .catch((error: unknown) => error)
  assert.ok(refusal instanceof TillRefusal)
  assert.deepEqual([refusal.code, refusal.details.retryAfter], ['insufficient_credit', 1])
  await stage.nth(0).release(first.requestId, payer.accountId)
})

test('a refusal says when a request and its least tokens are available again, and what the levels are', async () => {
  const payer = await stage.addAccount({ credit: many, requests: 60, tokens: 60 })
  await set(payer, 'request_level = 0, token_level = 20 * 60000000')
  const refusal = await stage
    .nth(0)
    .precheck(ask(payer))
    .catch((error: unknown) => error)
  assert.ok(refusal instanceof TillRefusal)
  assert.deepEqual([refusal.code, refusal.details.retryAfter], ['rate_limit_exceeded', 10])
  assert.deepEqual([refusal.levels?.requests.remaining, refusal.levels?.tokens.remaining], [0, 20])
  const small = await stage.addAccount({ credit: many, tokens: 29 })
  await assert.rejects(stage.nth(0).precheck(ask(small)), { message: /asks for at least 30 tokens/ })
})

test('a precheck counts what instances have as allowances as available', async () => {
  const payer = await stage.addAccount({ credit: mostOfOne, requests: 60, tokens: 60 })
  await set(
    payer,
    `request_level = 0, requests_lent = 60000000, token_level = 0, tokens_lent = 30 * 60000000,
    credit_lent = ${mostOfOne}`,
  )
  assert.equal(await stage.nth(0).precheck(ask(payer)), undefined)
  await set(payer, 'requests_lent = 0, tokens_lent = 0, credit_lent = 0')
})

test('a precheck asks no database while the allowance of its instance covers the request', async (t) => {
  let calls = 0
  const rows: Database['rows'] = (query, values) => {
    calls++
    return stage.database.rows(query, values)
  }
  const till = await createTill({ database: { ...stage.database, rows }, log })
  t.after(() => till.drain())
  const payer = await stage.addAccount({ credit: 10_000n * mostOfOne })
  // On a slow machine an allowance may expire before the precheck.
  await until(async () => {
    const each = ask(payer)
    await till.admit(each)
    await till.settle(each.requestId, payer.accountId, used(3))
    calls = 0
    assert.equal(await till.precheck(ask(payer)), undefined)
    return calls === 0
  })
  assert.equal(await till.precheck(ask(payer, { idempotency })), undefined)
  assert.equal(await till.precheck(ask(payer, { maxOutputTokens: 1_000_000 })).catch(() => undefined), undefined)
  assert.equal(calls, 2)
})
