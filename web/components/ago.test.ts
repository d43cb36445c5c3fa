import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ago } from './ago.ts'

const now = Date.UTC(2026, 10, 21, 12)
const cases: [secondsBefore: number, words: string][] = [
  [-3600, 'just now'],
  [0, 'just now'],
  [59, 'just now'],
  [60, '1 min ago'],
  [59 * 60 + 59, '59 min ago'],
  [3600, '1 hr ago'],
  [24 * 3600 - 1, '23 hr ago'],
  [24 * 3600, 'yesterday'],
  [6 * 24 * 3600, '6 days ago'],
  [7 * 24 * 3600, '14 Nov 2026'],
]
for (const [seconds, words] of cases) {
  test(`${seconds} s before is "${words}"`, () => assert.equal(ago(new Date(now - seconds * 1000), now), words))
}
