import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSignInLimits } from './sign-in-limits.ts'

const [office, elsewhere] = ['192.0.2.0/24', '198.51.100.0/24']

test('a network beyond its limit is refused with the time to wait, and other networks are not', () => {
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
