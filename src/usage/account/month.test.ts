import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMoney } from '../../billing/prices/money.ts'
import { presentMonth } from './month.ts'

test('a month is projected from what of it is over, but not before its first day is', () => {
  const whole = 30n * 86_400n
  for (const [charged, elapsed, projected] of [
    ['3', 0n, null],
    ['3', 86_399n, null],
    ['3', 86_400n, '90'],
    ['0', 86_400n, '0'],
    ['3', whole / 2n, '6'],
    ['3', whole, '3'],
    ['1234.567', whole, '1234.57'],
    ['0.0000036893', whole, '0.0000037'],
    ['0.000000000003', whole, '0.000000000003'],
  ] as const) {
    const days = { from: '2026-11-01', to: '2026-11-30' }
    const month = presentMonth({ ...days, charged: parseMoney(charged), elapsed, whole })
    assert.deepEqual(month, { ...days, charged, projected }, `${charged} ${elapsed}`)
  }
})
