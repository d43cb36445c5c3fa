import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spansAround } from './spans.ts'

const daysOf = (day: string) => spansAround(day).map(({ from, to }) => `${from} ${to}`)

test('spans begin and end with a month or a year', () => {
  assert.deepEqual(daysOf('2024-03-31'), [
    '2024-03-01 2024-03-31',
    '2024-02-01 2024-02-29',
    '2024-01-01 2024-12-31',
    '2023-01-01 2023-12-31',
  ])
})

test('in January the last month is in the year before', () => {
  assert.equal(daysOf('2026-01-05')[1], '2025-12-01 2025-12-31')
})
