import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask, log, mostOfOne, openTills, price, used, type Tills } from '../../tests/support/tills.ts'
import type { Database } from '../platform/database/database.ts'
import { createTill } from './postgres-till.ts'
import type { Charge, Till } from './till.ts'
import type { Payer } from './payer.ts'

// A model that reports more than the hold of 10 input and 20 output tokens.

let stage: Tills

before(async () => {
  stage = await openTills(1)
})
after(() => stage.close())

const rowsOf = ({ accountId }: Payer) =>
  stage.database.rows(
    `select input_tokens, output_tokens, uncharged_input, uncharged_output, cost from ledger
     where account_id = $1 order by at desc limit 1`,
    [accountId],
  )

async function use(till: Till, payer: Payer, charge: Charge) {
  const request = ask(payer)
  await till.admit(request)
  const { inputTokens, outputTokens, cost } = await till.settle(request.requestId, payer.accountId, charge)
  return { inputTokens, outputTokens, cost }
}

test('A33: with enough credit and limits, all reported tokens are charged', async () => {
  const payer = await stage.addAccount({ credit: 10_000n * mostOfOne })
  for (let round = 0; round < 12; round++) {
    // Later requests are admitted from an allowance.
    const settled = await use(stage.nth(0), payer, used(25, { inputTokens: 5000 }))
    const cost = 5000n * price.input + 25n * price.output
    assert.deepEqual(settled, { inputTokens: 5000, outputTokens: 25, cost })
    assert.deepEqual(await rowsOf(payer), [
      { input_tokens: 5000, output_tokens: 25, uncharged_input: 0, uncharged_output: 0, cost },
    ])
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
  const settled = await till.settle(request.requestId, payer.accountId, used(20, { inputTokens: 5000, storedReply }))
  isStopped = false
  const charged = { inputTokens: 10, outputTokens: 20 }
  assert.deepEqual({ inputTokens: settled.inputTokens, outputTokens: settled.outputTokens }, charged)
  for (const look of ['admit', 'precheck'] as const) {
    const replay = await stage.nth(0)[look](ask(payer, { idempotency }))
    assert.ok(replay?.kind === 'replay')
    assert.deepEqual([replay.charged, replay.body], [charged, storedReply.body], look)
  }
})
