import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameOfPeriod, periodOf } from './periods.ts'

const now = Date.parse('2026-03-10T23:59:00Z')

test('periods end today, in UTC', () => {
  assert.deepEqual(periodOf('today', now), { from: '2026-03-10', to: '2026-03-10' })
  assert.deepEqual(periodOf('week', now), { from: '2026-03-04', to: '2026-03-10' })
  assert.deepEqual(periodOf('days', now), { from: '2026-02-09', to: '2026-03-10' })
  assert.deepEqual(periodOf('month', now), { from: '2026-03-01', to: '2026-03-10' })
})

test('a period is recognised by its days', () => {
  for (const name of ['today', 'week', 'days', 'month'] as const) {
    assert.equal(nameOfPeriod(periodOf(name, now), now), name)
  }
  assert.equal(nameOfPeriod({ from: '2026-03-01', to: '2026-03-09' }, now), 'custom')
})
