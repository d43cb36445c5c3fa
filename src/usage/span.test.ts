import assert from 'node:assert/strict'
import { test } from 'node:test'
import { daysOf, previousSpan, spanOf } from './span.ts'

test('a report without a first day has 30 days, and so has the time before it', () => {
  const span = spanOf({ to: '2026-03-31' })
  assert.deepEqual([span.from, daysOf(span).length], ['2026-03-02', 30])
  assert.deepEqual(previousSpan(span), { from: '2026-01-31', to: '2026-03-01' })
})
