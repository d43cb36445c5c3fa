import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { fixture } from '../../tests/support/fixture.ts'
import { ask, log, mostOfOne, openTills, price, reapWhere, used } from '../../tests/support/tills.ts'
import type { Database } from '../platform/database/database.ts'
import { createTill } from './till/postgres-till.ts'
import type { HoldRequest, Charge, Till } from './till/till.ts'
import type { Payer } from './payer.ts'

// A model that reports more than the hold of 10 input and 20 output tokens.

const stage = fixture(() => openTills(1))

const rowsOf = ({ accountId }: Payer) =>
  stage.database.rows(
    `select input_tokens, output_tokens, uncharged_input, uncharged_output, cost from ledger
     where account_id = $1 order by at desc limit 1`,
    [accountId],
  )

async function use(till: Till, payer: Payer, charge: Charge, rest: Partial<HoldRequest> = {}) {
  const request = ask(payer, rest)
  await till.admit(request)
  const { inputTokens, outputTokens, cost } = await till.settle(request.requestId, payer.accountId, charge)
  return { inputTokens, outputTokens, cost }
}

test('A33, A3: with enough credit and limits, all input is charged, and never more output than was asked for', async () => {
  const payer = await stage.addAccount({ credit: 10_000n * mostOfOne })
  for (let round = 0; round < 12; round++) {
    // Later requests are admitted from an allowance.
    const settled = await use(stage.nth(0), payer, used(25, { inputTokens: 5000 }))
    const cost = 5000n * price.input + 20n * price.output
    assert.deepEqual(settled, { inputTokens: 5000, outputTokens: 20, cost })
    assert.deepEqual(await rowsOf(payer), [
      { input_tokens: 5000, output_tokens: 20, uncharged_input: 0, uncharged_output: 5, cost },
    ])
  }
})

test('A3: more output than was asked for is not charged, even if the hold would cover it', async () => {
  const payer = await stage.addAccount({ credit: 10_000n * mostOfOne })
  for (let round = 0; round < 12; round++) {
    const earlier = stage.nth(0).unchargedTokens()
    const settled = await use(stage.nth(0), payer, used(22, { inputTokens: 1 }))
    const cost = price.input + 20n * price.output
    assert.deepEqual(settled, { inputTokens: 1, outputTokens: 20, cost })
    assert.deepEqual(await rowsOf(payer), [
      { input_tokens: 1, output_tokens: 20, uncharged_input: 0, uncharged_output: 2, cost },
    ])
    assert.equal(stage.nth(0).unchargedTokens() - earlier, 2)
  }
})

test('A33: the charge goes as far as the credit, never past zero, and the ledger row marks the rest', async () => {
  for (const kind of ['credit', 'monthlyLimit'] as const) {
    const payer = await stage.addAccount({ [kind]: mostOfOne + 7n * price.input + 1n })
    const earlier = stage.nth(0).unchargedTokens()
    const settled = await use(stage.nth(0), payer, used(22, { inputTokens: 5000 }))
    const cost = 17n * price.input + 20n * price.output
    assert.deepEqual(settled, { inputTokens: 17, outputTokens: 20, cost })
    assert.deepEqual(await rowsOf(payer), [
      { input_tokens: 17, output_tokens: 20, uncharged_input: 4983, uncharged_output: 2, cost },
    ])
    assert.deepEqual(await stage.account(payer), { charged: cost, held: 0n, left: 1n })
    assert.equal(stage.nth(0).unchargedTokens() - earlier, 4985)
  }
})

test('A33: credit that other requests hold is not charged', async () => {
  const payer = await stage.addAccount({ credit: 2n * mostOfOne })
  const other = ask(payer)
  await stage.nth(0).admit(other)
  const settled = await use(stage.nth(0), payer, used(20, { inputTokens: 5000 }))
  assert.equal(settled.cost, mostOfOne)
  await stage.nth(0).settle(other.requestId, payer.accountId, used(20))
  assert.deepEqual(await stage.account(payer), { charged: 2n * mostOfOne, held: 0n, left: 0n })
})

test('A33: the charge goes as far as the tokens per minute, down to zero', async () => {
  const payer = await stage.addAccount({ credit: 10_000n * mostOfOne, tokens: 100 })
  const request = ask(payer)
  await stage.nth(0).admit(request)
  const settled = await stage.nth(0).settle(request.requestId, payer.accountId, used(20, { inputTokens: 5000 }))
  // 100, and one more for every 600 ms of the test.
  assert.ok(settled.inputTokens >= 80 && settled.inputTokens < 200, `${settled.inputTokens}`)
  assert.equal(settled.outputTokens, 20)
  assert.equal(settled.levels.tokens.remaining, 0)
})

test('A33: a replay states the tokens that were charged, even if the instance stopped just after the settlement', async (t) => {
  const payer = await stage.addAccount({ credit: mostOfOne })
  const idempotency = { key: 'k', hash: 'a' }
  const request = ask(payer, { idempotency })
  let isStopped = false
  const rows: Database['rows'] = (query, values) =>
    isStopped ? new Promise(() => undefined) : stage.database.rows(query, values)
  const till = await createTill({ database: { ...stage.database, rows }, log })
  t.after(() => till.drain())
  await till.admit(request)
  isStopped = true
  const storedReply = { headers: {}, body: '{"reported":"5020"}' }
  const settled = await till.settle(
    request.requestId,
    payer.accountId,
    used(20, { inputTokens: 3, cachedTokens: 5000, cacheWriteTokens: 2, storedReply }),
  )
  isStopped = false
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens } = settled
  const charged = { inputTokens: 3, outputTokens: 20, cachedTokens: 5, cacheWriteTokens: 2 }
  assert.deepEqual({ inputTokens, outputTokens, cachedTokens, cacheWriteTokens }, charged)
  for (const look of ['admit', 'precheck'] as const) {
    const replay = await stage.nth(0)[look](ask(payer, { idempotency }))
    assert.ok(replay?.kind === 'replay')
    assert.deepEqual([replay.charged, replay.body], [charged, storedReply.body], look)
  }
})

const kindsOf = async ({ accountId }: Payer) => {
  const [row] = await stage.database.rows<{ cost: bigint }>(
    `select input_tokens as "inputTokens", output_tokens as "outputTokens", cached_tokens as "cachedTokens",
       cache_write_tokens as "cacheWriteTokens", cost, uncharged_input as "unchargedInput" from ledger
     where account_id = $1 order by at desc limit 1`,
    [accountId],
  )
  return row ?? assert.fail()
}

const cached = { ...price, cachedInput: 10_000n, cacheWrite: 125_000n }
const kinds = { inputTokens: 4, cachedTokens: 30, cacheWriteTokens: 6 }

test('A33: the charge of a prompt is cut from its end: first cached tokens, then cache writes, then input', async () => {
  const held = 10n * cached.cacheWrite + 20n * cached.output
  const used4 = 4n * cached.input + 6n * cached.cacheWrite + 20n * cached.output
  // What the hold was too large for is credit again: the hold prices every input token as a cache write.
  const spare = 4n * (cached.cacheWrite - cached.input)
  for (const [credit, charged] of [
    [0n, { inputTokens: 4, cacheWriteTokens: 6, cachedTokens: Number(spare / cached.cachedInput) }],
    [7n * cached.cachedInput, { inputTokens: 4, cacheWriteTokens: 6, cachedTokens: 17 }],
  ] as const) {
    const payer = await stage.addAccount({ credit: held + credit })
    const settled = await use(stage.nth(0), payer, used(20, kinds), { price: cached })
    const cost = used4 + BigInt(charged.cachedTokens) * cached.cachedInput
    assert.equal(settled.cost, cost)
    const unchargedInput = 30 - charged.cachedTokens
    assert.deepEqual(await kindsOf(payer), { ...charged, outputTokens: 20, cost, unchargedInput })
  }
})

test('A33: cache writes are cut before input', async () => {
  const payer = await stage.addAccount({ credit: mostOfOne + 2n * price.input })
  const settled = await use(stage.nth(0), payer, used(20, { inputTokens: 11, cacheWriteTokens: 9, cachedTokens: 9 }))
  assert.equal(settled.cost, mostOfOne + 2n * price.input)
  const charged = { inputTokens: 11, outputTokens: 20, cacheWriteTokens: 1, cachedTokens: 0, unchargedInput: 17 }
  assert.deepEqual(await kindsOf(payer), { ...charged, cost: settled.cost })
})

test('A33: the tokens and the credit that are left are used once for all kinds of tokens together', async () => {
  for (const left of [
    [1000, 6],
    [6, 1000],
  ]) {
    const rows = await stage.database.rows('select * from chargeable(3, 0, 5, 4, 1, 0, 1, 1, 1, 1, $1, $2)', left)
    assert.deepEqual(rows, [{ input: 6, output: 0 }])
  }
})

test('a hold that moves from an allowance covers every kind of token at its price', async () => {
  const { accountId: account, keyId: key } = await stage.addAccount({ credit: mostOfOne })
  const instance = randomUUID()
  await stage.database.rows(`insert into instance (id, host) values ($1, 'h')`, [instance])
  for (const [index, dearest] of ['input_price', 'cached_price', 'cache_write_price'].entries()) {
    const prices = { input_price: 1, cached_price: 1, cache_write_price: 1, output_price: 2, [dearest]: 5 }
    const hold = { hold: randomUUID(), account, key, model: 'm', input: 10, output: 20, ...prices }
    await stage.database.rows(
      `select from exchange_moving($1, (select last_batch + 1 from instance where id = $1), '{}', '{}', '{}', $2)`,
      [instance, JSON.stringify([hold])],
    )
    const sums = await stage.database.rows(
      'select held, (select sum(cost) from hold where instance_id = $2) as holds from account where id = $1',
      [account, instance],
    )
    const held = 90n * BigInt(index + 1)
    assert.deepEqual(sums, [{ held, holds: held }], dearest)
  }
  await reapWhere(stage.database, 'id = $1', [instance])
})

test('a hold covers every kind of token at its price, also in an allowance', async () => {
  const payer = await stage.addAccount({ credit: 10_000n * mostOfOne })
  for (const [tokens, each] of [
    [{ inputTokens: 0, cachedTokens: 10, cacheWriteTokens: 0 }, cached],
    [{ inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 10 }, cached],
    [
      { inputTokens: 3, cachedTokens: 5, cacheWriteTokens: 2 },
      { ...cached, cachedInput: null },
    ],
    [
      { inputTokens: 3, cachedTokens: 5, cacheWriteTokens: 2 },
      { ...cached, cacheWrite: 0n },
    ],
  ] as const) {
    for (let round = 0; round < 8; round++) {
      const settled = await use(stage.nth(0), payer, used(20, tokens), { price: each })
      const cost =
        BigInt(tokens.inputTokens) * each.input +
        BigInt(tokens.cachedTokens) * (each.cachedInput ?? each.input) +
        BigInt(tokens.cacheWriteTokens) * each.cacheWrite +
        20n * each.output
      assert.equal(settled.cost, cost)
      assert.deepEqual(await kindsOf(payer), { ...tokens, outputTokens: 20, cost, unchargedInput: 0 })
    }
  }
})
