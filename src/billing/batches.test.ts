import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { after, before, test } from 'node:test'
import { losing } from '../../tests/support/losses.ts'
import { ask, log, mostOfOne, openTills, outcome, type Tills } from '../../tests/support/tills.ts'
import { until } from '../../tests/support/until.ts'
import { Problem } from '../platform/problems.ts'
import { createAllowances } from './allowances.ts'
import { openBatches } from './batches.ts'

let stage: Tills

before(async () => {
  stage = await openTills(1)
})
after(() => stage.close())

test('what ended while there was no connection, and for longer than it could wait, is released', async () => {
  let away = false
  const lost = losing(stage.database, () => (away ? 'not sent' : 'answered'))
  const session = async () => {
    if (away) throw new Problem('unavailable', 'Nobody listens.')
    return lost.session()
  }
  const batches = await openBatches({ database: { ...lost, session }, allowances: createAllowances(), log })
  const payer = await stage.addAccount({ credit: 10n * mostOfOne })
  const held = ask(payer)
  await stage.nth(0).admit(held)
  const settle = (hold: string) => outcome(batches.send('settle', { hold }, 300))

  away = true
  assert.equal(await settle(randomUUIDv7()), 'unavailable', 'the connection is lost')
  assert.equal(await settle(held.requestId), 'unavailable')
  assert.equal((await stage.account(payer)).held, mostOfOne)
  away = false
  await until(async () => (await stage.account(payer)).held === 0n)
  assert.deepEqual(await stage.ledgerRows(payer), [])
  await batches.drain()
})
