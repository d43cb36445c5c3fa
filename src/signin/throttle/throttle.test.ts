import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { type Queryable } from '../../platform/database/database.ts'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'
import { createThrottle, type Throttle } from './throttle.ts'
import * as store from './store.ts'

const [second, minute, day] = [1000, 60_000, 86_400_000]
const rule = { kind: 'test', most: 3, window: 15 * minute }
const guessed = { kind: 'guess', most: 100 }

describe('the throttle', () => {
  let now: number
  let throttle: Throttle

  const { database } = openOwnDatabase()
  beforeEach(async () => {
    now = Date.UTC(2026, 2, 12)
    throttle = createThrottle({ database, clock: () => now })
    await database.rows('truncate throttle')
  })

  test('allows as many uses as the rule says within any window, and says how long to wait', async () => {
    for (const at of [0, 5, 10]) {
      now = at * minute
      assert.equal(await throttle.take(rule, 'a'), 0)
    }
    now = 14 * minute
    assert.equal(await throttle.take(rule, 'a'), 60)
    assert.equal(await throttle.take(rule, 'b'), 0)
    now = 15 * minute
    assert.equal(await throttle.take(rule, 'a'), 0)
    assert.equal(await throttle.take(rule, 'a'), 5 * 60)
    now = 20 * minute
    assert.equal(await throttle.take(rule, 'a'), 0)
  })

  test('a refused use does not extend the wait', async () => {
    for (let use = 0; use < 3; use++) await throttle.take(rule, 'a')
    for (let use = 0; use < 50; use++) assert.equal(await throttle.take(rule, 'a'), 900)
    now += 15 * minute
    assert.equal(await throttle.take(rule, 'a'), 0)
  })

  test('of many uses at once, no more pass than the rule says', async () => {
    const waits = await Promise.all(Array.from({ length: 20 }, () => throttle.take(rule, 'a')))
    assert.equal(waits.filter((wait) => wait === 0).length, 3)
  })

  test('B46: the limits survive a restart', async () => {
    for (let use = 0; use < 3; use++) await throttle.take(rule, 'a')
    await throttle.fail('guess', 'a')
    const other = createThrottle({ database, clock: () => now })
    assert.equal(await other.take(rule, 'a'), 900)
    assert.equal(await other.fail('guess', 'a'), 2)
  })

  test('counting does not wait for the disk', async () => {
    const key = { kind: 'test', key: Buffer.alloc(32) }
    const times = { now: new Date(now), expiresAt: new Date(now + minute) }
    const counts = [
      (tx: Queryable) => store.insertUse(tx, key, { most: 3, since: new Date(0), ...times }),
      (tx: Queryable) => store.insertFailure(tx, key, times),
    ]
    for (const count of counts) {
      const during = await database.transaction(async (tx) => {
        await count(tx)
        return tx.rows('show synchronous_commit')
      })
      assert.deepEqual(during, [{ synchronous_commit: 'off' }])
    }
    assert.deepEqual(await database.rows('show synchronous_commit'), [{ synchronous_commit: 'on' }])
  })

  test('keys are not stored', async () => {
    await throttle.take(rule, 'anna@example.com')
    const [row] = await database.rows<{ text: string }>('select throttle::text as text from throttle')
    assert.doesNotMatch(row?.text ?? '', /anna|616e6e61/)
  })

  test('the wait after failures starts with the fifth, doubles, and is never longer than 15 minutes', async () => {
    const waits = []
    for (let failure = 1; failure < 20; failure++) {
      assert.equal(await throttle.fail('guess', 'a'), failure)
      waits.push(await throttle.wait(guessed, 'a'))
    }
    assert.deepEqual(waits.slice(0, 8), [0, 0, 0, 0, 1, 2, 4, 8])
    assert.equal(Math.max(...waits), 900)
    now += 899 * second
    assert.equal(await throttle.wait(guessed, 'a'), 1)
    now += second
    assert.equal(await throttle.wait(guessed, 'a'), 0)
    assert.equal(await throttle.wait(guessed, 'b'), 0)
  })

  test('a success forgets the failures', async () => {
    for (let failure = 0; failure < 10; failure++) await throttle.fail('guess', 'a')
    await throttle.succeed('guess', 'a')
    assert.equal(await throttle.wait(guessed, 'a'), 0)
    assert.equal(await throttle.fail('guess', 'a'), 1)
  })

  test('after 100 failures in succession the wait is 30 days', async () => {
    for (let failure = 1; failure < 100; failure++) await throttle.fail('guess', 'a')
    now += 15 * minute
    assert.equal(await throttle.wait(guessed, 'a'), 0)
    assert.equal(await throttle.fail('guess', 'a'), 100)
    now += 29 * day
    assert.equal(await throttle.wait(guessed, 'a'), 86_400)
    now += day
    assert.equal(await throttle.wait(guessed, 'a'), 0)
    assert.equal(await throttle.fail('guess', 'a'), 1)
  })
})
