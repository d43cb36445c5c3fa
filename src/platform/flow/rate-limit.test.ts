import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRateLimit } from './rate-limit.ts'

test('a minute’s worth is allowed at once, then as many as refill, after the stated wait', () => {
  let now = 1_000_000
  const { take } = createRateLimit({ perMinute: 30, clock: () => now })
  for (let taken = 0; taken < 30; taken++) assert.equal(take('a'), 0, `the ${taken}th`)
  assert.equal(take('a'), 2)
  now += 500
  assert.equal(take('a'), 2)
  now += 1500
  assert.equal(take('a'), 0)
  assert.equal(take('a'), 2)
  now += 60_000
  for (let taken = 0; taken < 30; taken++) assert.equal(take('a'), 0, `the ${taken}th of the next minute`)
  assert.equal(take('a'), 2)
})

test('each key has its own bucket', () => {
  const { take } = createRateLimit({ perMinute: 1, clock: () => 0 })
  assert.deepEqual([take('a'), take('a'), take('b'), take('b')], [0, 60, 0, 60])
})

test('it never allows more than a bucket and its refill', () => {
  let now = 0
  const { take } = createRateLimit({ perMinute: 60, clock: () => now })
  let through = 0
  for (; now < 180_000; now += 100) if (take('a') === 0) through++
  assert.ok(through >= 238 && through <= 240, `${through}`)
})

test('it keeps a bounded number of buckets, and drops the least recently used first', () => {
  const { take } = createRateLimit({ perMinute: 1, clock: () => 0 })
  take('early')
  for (let who = 0; who < 9_999; who++) take(`${who}`)
  assert.equal(take('early'), 60)
  take('one more')
  assert.equal(take('early'), 0)
})

test('a bucket that is used again is not the next to be dropped', () => {
  const { take } = createRateLimit({ perMinute: 2, clock: () => 0 })
  take('early')
  for (let who = 0; who < 9_999; who++) take(`${who}`)
  assert.equal(take('early'), 0)
  take('one more')
  assert.equal(take('early'), 30)
})
