import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTill } from '../../src/billing/till/postgres-till.ts'
import type { Payer } from '../../src/billing/payer.ts'
import type { Database } from '../../src/platform/database/database.ts'
import { countOwnTime, settle, stopClock } from '../support/clock.ts'
import { losing, type Fate } from '../support/losses.ts'
import { fixture } from '../support/fixture.ts'
import { ask, log, mostOfOne, openTills, outcome, used } from '../support/tills.ts'
import { until } from '../support/until.ts'
import { waitingForLocks } from '../support/waiting-for-locks.ts'

// A database that does not respond, instead of refusing or closing the connection.

// An allowance is valid for a second: that must not depend on when this process is scheduled.
countOwnTime()
const stage = fixture(() => openTills(1, { callerPatience: 4000 }))

/** Locks the account's row in a transaction that stays open until the returned function is called. */
async function lock({ accountId }: Payer): Promise<() => Promise<void>> {
  const locked = Promise.withResolvers<void>()
  const unlock = Promise.withResolvers<void>()
  const holding = stage.database.transaction(async (tx) => {
    await tx.rows('select from account where id = $1 for update', [accountId])
    locked.resolve()
    await unlock.promise
  })
  await locked.promise
  return async () => {
    unlock.resolve()
    await holding
  }
}

const isWaiting = async () => (await waitingForLocks(stage.database)) > 0

test('an admission waits 4 s for a database that hangs, and what it admits afterwards is released', async (t) => {
  const payer = await stage.addAccount({ credit: 10n * mostOfOne })
  const unlock = await lock(payer)
  const clock = stopClock(t)
  let result = 'waiting'
  const admission = outcome(stage.nth(0).admit(ask(payer))).then((code) => (result = code))
  // The second one waits in the queue: a call is in flight.
  const queued = outcome(stage.nth(0).takeRequest(ask(payer).requestId, payer))
  await until(isWaiting)
  clock.advance(3999)
  await settle()
  assert.equal(result, 'waiting')
  clock.advance(1)
  assert.deepEqual(await Promise.all([admission, queued]), ['unavailable', 'unavailable'])
  await unlock()
  await until(async () => (await stage.nth(0).release(ask(payer).requestId, payer.accountId)) === undefined)
  await until(async () => (await stage.account(payer)).held === 0n)
  assert.deepEqual(await stage.database.rows('select id from hold'), [])
})

test('levels wait 4 s for a database that hangs', async (t) => {
  const never = new Promise<never>(() => undefined)
  let hangs = false
  const rows: Database['rows'] = (query, values) => (hangs ? never : stage.database.rows(query, values))
  const till = await createTill({ database: { ...stage.database, rows }, log })
  const payer = await stage.addAccount({})
  hangs = true
  const clock = stopClock(t)
  const reading = outcome(till.levels(payer))
  clock.advance(4000)
  assert.equal(await reading, 'unavailable')
  hangs = false
  await till.drain()
})

test('levels are read without writing, also while the account is locked', async () => {
  const payer = await stage.addAccount({ requests: 60, tokens: 6000 })
  // Every update moves the row to another place.
  const place = () => stage.database.rows('select ctid::text from account where id = $1', [payer.accountId])
  const earlier = await place()
  const unlock = await lock(payer)
  const levels = await stage.nth(0).levels(payer)
  await unlock()
  assert.deepEqual(levels, {
    requests: { limit: 60, remaining: 60, resetSeconds: 0 },
    tokens: { limit: 6000, remaining: 6000, resetSeconds: 0 },
  })
  assert.deepEqual(await place(), earlier)
})

test('after an exchange() that was lost, admissions wait until it is sent again', async () => {
  const calls: string[] = []
  let fates: Fate[] = []
  const database = losing(stage.database, (statement) => {
    const name = /^select \* from (append|exchange|till)/.exec(statement)?.[1]
    if (name === undefined) return 'answered'
    calls.push(name)
    return name !== 'till' ? (fates.shift() ?? 'answered') : 'answered'
  })
  const till = await createTill({ database, log })
  const payer = await stage.addAccount({ credit: 10_000n * mostOfOne })
  for (let round = 0; round < 8; round++) {
    const each = ask(payer)
    await till.admit(each)
    await till.settle(each.requestId, payer.accountId, used(3))
  }
  const taken = ask(payer)
  await till.admit(taken)
  calls.length = 0
  fates = ['not sent']
  const other = ask(payer, { idempotency: { key: 'k', hash: 'a' } })
  await Promise.all([till.settle(taken.requestId, payer.accountId, used(3)), till.admit(other)])
  assert.deepEqual(calls.slice(0, 3), ['append', 'exchange', 'till'])
  await till.release(other.requestId, payer.accountId)
  await till.drain()
})
