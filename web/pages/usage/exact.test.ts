import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sumOfAmounts } from './exact.ts'

test('amounts are summed exactly', () => {
  assert.equal(sumOfAmounts([]), '0')
  assert.equal(sumOfAmounts(['0.1', '0.2']), '0.3')
  assert.equal(sumOfAmounts(['0.000000000001', '12', '0.5']), '12.500000000001')
  assert.equal(sumOfAmounts(['90071992547409.93', '0.000000000007']), '90071992547409.930000000007')
  assert.equal(sumOfAmounts(['0.5', '0.5']), '1')
})
