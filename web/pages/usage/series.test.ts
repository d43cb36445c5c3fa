import assert from 'node:assert/strict'
import { test } from 'node:test'
import { axisOf, columnsOf, decimalOf, heightOf } from './series.ts'

const figures = {
  requests: 1,
  input_tokens: 10,
  output_tokens: 2,
  cost: '0.1',
  refused: 0,
  cached_tokens: 3,
  cache_write_tokens: 2,
}

test('every day of a period has a column, with its models', () => {
  const rows = [
    { day: '2026-03-01', model: 'fast', ...figures },
    { day: '2026-03-01', model: 'dear', ...figures, cost: '0.2' },
    { day: '2026-03-03', model: null, ...figures, requests: 0, refused: 4 },
  ]
  const columns = columnsOf({ from: '2026-03-01', to: '2026-03-03', rows })
  assert.deepEqual(
    columns.map(({ when, total }) => [when, total.requests, total.cost, total.refused]),
    [
      ['2026-03-01', 2, '0.3', 0],
      ['2026-03-02', 0, '0', 0],
      ['2026-03-03', 0, '0.1', 4],
    ],
  )
  assert.deepEqual([...(columns[0]?.parts.keys() ?? [])], ['fast', 'dear'])
  assert.equal(heightOf(columns[0]?.total, 'tokens'), 24)
})

test('a long period has a column for every month', () => {
  const rows = [
    { day: '2026-01-31', model: 'fast', ...figures },
    { day: '2026-01-01', model: 'fast', ...figures },
  ]
  const columns = columnsOf({ from: '2025-12-15', to: '2026-04-15', rows })
  assert.deepEqual(
    columns.map(({ when }) => when),
    ['2025-12', '2026-01', '2026-02', '2026-03', '2026-04'],
  )
  assert.equal(columns[1]?.total.cost, '0.2')
})

test('the axis ends at a round value that no column exceeds', () => {
  for (const [highest, measure, expected] of [
    [0, 'cost', ['0']],
    [0.00037, 'cost', ['0.0005', '0.00025', '0']],
    [0.0000001, 'cost', ['0.0000001', '0.00000005', '0']],
    [1250, 'cost', ['2000', '1000', '0']],
    [5.01, 'cost', ['10', '5', '0']],
    [1, 'requests', ['1', '0']],
    [3, 'requests', ['5', '0']],
    [20, 'tokens', ['20', '10', '0']],
  ] as const) {
    assert.deepEqual(axisOf(highest, measure).map(decimalOf), expected, String(highest))
  }
})
