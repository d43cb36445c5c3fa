import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentMonth } from './month.ts'

test('a month is projected from what of it is over, but not before its first day is', () => {
  const whole = 30n * 86_400n
  for (const [elapsed, projected] of [
    [0n, null],
    [86_399n, null],
    [86_400n, '90'],
    [whole / 2n, '6'],
    [whole, '3'],
  ] as const) {
    const month = presentMonth({ from: '2026-11-01', to: '2026-11-30', charged: 3n * 10n ** 12n, elapsed, whole })
    assert.deepEqual(month, { from: '2026-11-01', to: '2026-11-30', charged: '3', projected }, String(elapsed))
  }
})
