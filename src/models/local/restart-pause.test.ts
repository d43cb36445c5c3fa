import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pauseAfter } from './restart-pause.ts'

void test('the first restart is immediate, the next after 0.5 s, then the delay doubles up to 30 s', () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1000].map(pauseAfter)
  assert.deepEqual(pauses, [0, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
})
