import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatTable, isMet, median, type Goal, type Row } from './row.ts'

const row = (samples: number[], goals: Pick<Row, 'goal' | 'nextGoal'> = {}): Row => ({
  name: 'rate',
  unit: '×',
  samples,
  ...goals,
})

test('the median is the middle sample, or the mean of the middle two', () => {
  assert.equal(median([5, 1, 3]), 3)
  assert.equal(median([4, 1, 3, 2]), 2.5)
  assert.equal(median([7]), 7)
})

test('a goal is compared with the median', () => {
  const cases: [number[], Goal | undefined, boolean | undefined][] = [
    [[0.4, 0.6, 0.5], { atLeast: 0.5 }, true],
    [[0.4, 0.6, 0.49], { atLeast: 0.5 }, false],
    [[4, 2, 3], { atMost: 3 }, true],
    [[4, 2, 3.1], { atMost: 3 }, false],
    [[1], undefined, undefined],
    [[], { atLeast: 1 }, false],
  ]
  for (const [samples, goal, expected] of cases) assert.equal(isMet(samples, goal), expected, samples.join(' '))
})

test('the table marks a missed goal, and a next goal that is not met yet', () => {
  const table = formatTable([
    row([0.4, 0.6, 0.5], { goal: { atLeast: 0.5 } }),
    row([12_345.6], { goal: { atMost: 3 } }),
    row([0.5], { goal: { atLeast: 0.5 }, nextGoal: { atLeast: 0.65 } }),
    row([1.5], { nextGoal: { atMost: 2 } }),
  ])
  const [, first, second, third, fourth] = table.split('\n')
  assert.match(first ?? '', /^rate +0\.50 × +0\.40 … 0\.60 +≥ 0\.50 +met$/)
  assert.match(second ?? '', /^rate +12,346 × +≤ 3\.00 +MISSED$/)
  assert.match(third ?? '', /^rate +0\.50 × +≥ 0\.50 +met +≥ 0\.65 +not yet$/)
  assert.match(fourth ?? '', /^rate +1\.50 × +≤ 2\.00 +met$/)
})
