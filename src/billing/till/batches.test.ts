import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { test } from 'node:test'
import { putForward, settle, stopClock } from '../../../tests/support/clock.ts'
import { losing } from '../../../tests/support/losses.ts'
import { fixture } from '../../../tests/support/fixture.ts'
import { ask, log, mostOfOne, openTills, used } from '../../../tests/support/tills.ts'
import { until } from '../../../tests/support/until.ts'
import type { DedicatedConnection } from '../../platform/database/database.ts'
import { Problem } from '../../platform/problems.ts'
import { createAllowances } from '../allowances/allowances.ts'
import { openBatches } from './batches.ts'
import { createTill } from './postgres-till.ts'
import type { HoldRequest } from './till.ts'

const stage = fixture(() => openTills(1))

test('a request that ended during an outage longer than its patience is released', async () => {
  let away = false
  const lost = losing(stage.database, () => (away ? 'not sent' : 'answered'))
  const session = async () => {
    if (away) throw new Problem('unavailable', 'Nobody listens.')
    return lost.connect()
  }
  const batches = await openBatches({ database: { ...lost, connect: session }, allowances: createAllowances(), log })
  const payer = await stage.addAccount({ credit: 10n * mostOfOne })
  const held = ask(payer)
  await stage.nth(0).admit(held)
  const settleHold = (hold: string) => batches.send('settle', { hold }, { patience: 300 })

  away = true
  await assert.rejects(settleHold(randomUUIDv7()), {
    code: 'unavailable',
    message: /The ledger shows whether it succeeded/,
  })
  await assert.rejects(settleHold(held.requestId), { code: 'unavailable', message: /Nothing was charged/ })
  assert.equal((await stage.account(payer)).held, mostOfOne)
  away = false
  await until(async () => (await stage.account(payer)).held === 0n)
  assert.deepEqual(await stage.ledgerRows(payer), [])
  await batches.drain()
})

test('a charge by a call during which this process slept succeeds', async (t) => {
  const forward = putForward(t)
  let slept = 'none'
  const database = losing(stage.database, (statement) => {
    if (!statement.includes(slept)) return 'answered'
    slept = 'none'
    forward(60_000)
    return 'answer lost'
  })
  const till = await createTill({ database, log })
  t.after(() => till.drain())
  const payer = await stage.addAccount({ credit: 10_000n * mostOfOne })
  const settled: string[] = []
  const pay = async (each: HoldRequest, through = 'none') => {
    await till.admit(each)
    slept = through
    await till.settle(each.requestId, each.payer.accountId, used(3))
    settled.push(each.requestId)
  }
  for (let round = 0; round < 8; round++) await pay(ask(payer))
  await pay(ask(payer), 'from exchange_timed(')
  await pay(ask(payer, { idempotency: { key: 'k', hash: 'a' } }), 'from till(')
  assert.equal(slept, 'none')
  const rows = await stage.ledgerRows(payer)
  assert.deepEqual(rows.map(({ request_id: id }) => id).toSorted(), settled.toSorted())
})

test('a call waits for items that are on their way, and for no others', { timeout: 120_000 }, async (t) => {
  const till = stage.nth(0)
  const payer = await stage.addAccount({ credit: 10_000n * mostOfOne, tokens: 100_000_000, requests: 1_000_000 })
  const admitted = async (count: number) => {
    const asks = Array.from({ length: count }, () => ask(payer))
    await Promise.all(asks.map((each) => till.admit(each)))
    return asks
  }
  const settleAll = (asks: readonly HoldRequest[]) =>
    Promise.all(asks.map((each) => till.settle(each.requestId, each.payer.accountId, used(3))))
  const isHeldByRow = async ({ requestId }: HoldRequest) =>
    (await stage.database.rows('select from hold where id = $1', [requestId])).length > 0
  let asks: HoldRequest[] = []
  // The allowance is for 16. On a slow machine it may expire before they are admitted from it.
  await until(async () => {
    await settleAll(asks)
    for (let round = 0; round < 8; round++) await settleAll(await admitted(8))
    asks = await admitted(17)
    return (await Promise.all(asks.map(isHeldByRow))).filter(Boolean).length === 1
  })
  // With the clock stopped, waiting for time alone never ends.
  stopClock(t)
  await settleAll(asks.slice(0, 8))
  let settled = false
  const first = settleAll(asks.slice(8, 13)).then(() => (settled = true))
  await settle()
  assert.equal(settled, false, 'five items after a call of eight, while four more are on their way')
  await Promise.all([first, settleAll(asks.slice(13, 14))])
  await settleAll(asks.slice(14))
  await settleAll(await admitted(1))
})

test('a call leaves a quarter of many items to the next, and none of a few', async () => {
  const sizes: number[] = []
  const session = async (): Promise<DedicatedConnection> => {
    const opened = await stage.database.connect()
    const call: DedicatedConnection['call'] = (statement) => {
      sizes.push(settlementsIn(statement.values))
      return opened.call(statement)
    }
    return { ...opened, call }
  }
  const batches = await openBatches({
    database: { ...stage.database, connect: session },
    allowances: createAllowances(),
    log,
  })
  const settleAtOnce = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () => batches.send('settle', { hold: randomUUIDv7() }, { patience: 4000 })),
    )
  await settleAtOnce(8)
  assert.deepEqual(sizes, [8])
  await settleAtOnce(40)
  assert.deepEqual(sizes, [8, 30, 8, 2])
  await batches.drain()
})

/** The items of a call of `till()`. */
function settlementsIn(values: readonly unknown[] = []): number {
  const settlements: unknown = JSON.parse(String(values[2]))
  assert.ok(Array.isArray(settlements))
  return settlements.length
}
