import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSignInLimits } from './limits.ts'

const [office, elsewhere] = ['192.0.2.0/24', '198.51.100.0/24']

test('what is too much of one network is refused, with when to come again, and hinders no other', () => {
  let now = 0
  const limits = createSignInLimits({ perMinute: 2, clock: () => now })
  for (const step of [limits.begin, limits.complete]) {
    step(office)
    step(office)
    assert.throws(() => step(office), {
      code: 'too_many_sign_ins',
      details: { retryAfter: 30, limit: { name: 'sign_ins_per_minute', value: 2, remaining: 0 } },
    })
    step(elsewhere)
  }
  now += 30_000
  limits.begin(office)
})

test('of the refused ones, the audit log gets ten of a network in a minute, and how many it did not get', () => {
  let now = 0
  const { note } = createSignInLimits({ perMinute: 1000, clock: () => now })
  const noted = Array.from({ length: 500 }, () => note(office))
  assert.deepEqual(noted, [...Array.from({ length: 10 }, () => 0), ...Array.from({ length: 490 }, () => undefined)])
  assert.equal(note(elsewhere), 0)
  now += 6000
  assert.deepEqual([note(office), note(office)], [490, undefined])
  now += 6000
  assert.equal(note(office), 1)
})
