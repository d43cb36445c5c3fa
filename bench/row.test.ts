import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isMet, median, printable, type Row } from './row.ts'

const row = (samples: number[], goal?: Row['goal']): Row => ({
  name: 'rate',
  unit: '×',
  samples,
  ...(goal && { goal }),
})

test('the median is the middle one, or lies between the two in the middle', () => {
  assert.equal(median([5, 1, 3]), 3)
  assert.equal(median([4, 1, 3, 2]), 2.5)
  assert.equal(median([7]), 7)
})

test('a goal is held against the median', () => {
  assert.equal(isMet(row([0.4, 0.6, 0.5], { atLeast: 0.5 })), true)
  assert.equal(isMet(row([0.4, 0.6, 0.49], { atLeast: 0.5 })), false)
  assert.equal(isMet(row([4, 2, 3], { atMost: 3 })), true)
  assert.equal(isMet(row([4, 2, 3.1], { atMost: 3 })), false)
  assert.equal(isMet(row([1])), undefined)
  assert.equal(isMet(row([], { atLeast: 1 })), false)
})

test('the table shows what is missed', () => {
  const table = printable([row([0.4, 0.6, 0.5], { atLeast: 0.5 }), row([12_345.6], { atMost: 3 })])
  const [, first, second] = table.split('\n')
  assert.match(first ?? '', /^rate +0\.50 × +0\.40 … 0\.60 +≥ 0\.50 +met$/)
  assert.match(second ?? '', /^rate +12,346 × +≤ 3\.00 +MISSED$/)
})
