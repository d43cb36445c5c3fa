import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { fixture } from '../../tests/support/fixture.ts'
import { installRefusals } from '../../tests/support/refusals.ts'
import { ask, log, mostOfOne, openTills, price, used } from '../../tests/support/tills.ts'
import { until } from '../../tests/support/until.ts'
import { createTill } from './till/postgres-till.ts'
import type { Charge } from './till/till.ts'

// Charges that the database refuses although it is available.

const stage = fixture(() => openTills(1))
const refusals = fixture(() => installRefusals(stage.database))
beforeEach(() => refusals.accept())
after(() => refusals.remove())

const isHeldByRow = async (id: string) => (await stage.database.rows('select from hold where id = $1', [id])).length > 0

for (const from of ['a hold', 'an allowance'] as const) {
  async function admitted() {
    const payer = await stage.addAccount({ credit: 10_000n * mostOfOne })
    let request = ask(payer)
    // An account gets an allowance after a few requests. On a slow machine it may expire before the next one.
    await until(async () => {
      request = ask(payer)
      await stage.nth(0).admit(request)
      if ((await isHeldByRow(request.requestId)) === (from === 'a hold')) return true
      await stage.nth(0).settle(request.requestId, payer.accountId, used(0, { inputTokens: 0 }))
      return false
    })
    const settle = (charge: Partial<Charge>) =>
      stage.nth(0).settle(request.requestId, payer.accountId, used(20, charge))
    const rows = async () =>
      (await stage.ledgerRows(payer)).filter(({ request_id: id }) => id === request.requestId).map(({ cost }) => cost)
    return { payer, request, settle, rows }
  }

  test(`a received reply from ${from} is charged once the database accepts the charge, and held until then`, async () => {
    const { payer, request, settle, rows } = await admitted()
    await refusals.refuse('23514', 1000)
    await assert.rejects(settle({ received: true }), { code: '23514' })
    assert.deepEqual(await rows(), [])
    // Until the next report, a request in an allowance counts as lent.
    await until(async () => (await stage.account(payer)).held === mostOfOne)
    assert.deepEqual(await rows(), [])
    await refusals.accept()
    await until(async () => (await rows()).length > 0)
    assert.deepEqual(await rows(), [mostOfOne])
    assert.equal(await isHeldByRow(request.requestId), false)
    assert.equal((await stage.account(payer)).charged, mostOfOne)
  })

  test(`a received reply with tokens beyond ${from} is charged once the database accepts it`, async () => {
    const { payer, request, settle, rows } = await admitted()
    await refusals.refuse('23514', 1000)
    await assert.rejects(settle({ received: true, inputTokens: 12 }), { code: '23514' })
    assert.deepEqual(await rows(), [])
    await refusals.accept()
    await until(async () => (await rows()).length > 0)
    assert.deepEqual(await rows(), [mostOfOne + 2n * price.input])
    assert.equal(await isHeldByRow(request.requestId), false)
    await until(async () => (await stage.account(payer)).held === 0n)
  })

  test(`a reply from ${from} that its caller has not received can be released after a refused charge`, async () => {
    const { payer, request, settle, rows } = await admitted()
    await refusals.refuse('23514', 1000)
    await assert.rejects(settle({}), { code: '23514' })
    await stage
      .nth(0)
      .release(request.requestId, payer.accountId)
      .catch(() => undefined)
    await refusals.accept()
    await until(async () => !(await isHeldByRow(request.requestId)))
    assert.deepEqual(await rows(), [])
  })

  test(`a charge from ${from} that lost a conflict is sent again at once`, async () => {
    for (const code of ['40P01', '40001', '55P03']) {
      const { settle, rows } = await admitted()
      // Once in the batch, and once alone.
      await refusals.refuse(code, 2)
      const { cost } = await settle({})
      assert.equal(cost, mostOfOne)
      assert.deepEqual(await rows(), [mostOfOne])
    }
  })

  test(`tokens beyond ${from} are charged even if the account was closed or its limit lowered since`, async () => {
    for (const change of [`status = 'closed'`, 'tokens_per_minute = 5', 'requests_per_minute = 1']) {
      const { payer, request, settle, rows } = await admitted()
      await stage.database.rows(`update account set ${change} where id = $1`, [payer.accountId])
      const { cost } = await settle({ received: true, inputTokens: 12 })
      assert.equal(cost, mostOfOne + 2n * price.input, change)
      assert.deepEqual(await rows(), [cost])
      assert.equal(await isHeldByRow(request.requestId), false)
      await until(async () => (await stage.account(payer)).held === 0n)
    }
  })
}

test('an instance that stops sends a refused charge once more', async () => {
  const payer = await stage.addAccount({ credit: mostOfOne })
  const till = await createTill({ database: stage.database, log })
  const request = ask(payer)
  await till.admit(request)
  await refusals.refuse('23514', 1000)
  await assert.rejects(till.settle(request.requestId, payer.accountId, used(20, { received: true })), { code: '23514' })
  await refusals.accept()
  await till.drain()
  assert.deepEqual(await stage.account(payer), { charged: mostOfOne, held: 0n, left: 0n })
  assert.equal((await stage.ledgerRows(payer)).length, 1)
})
