import assert from 'node:assert/strict'
import { test } from 'node:test'
import { costOf, mostCostOf, type Price } from './price.ts'

const plain = { input: 10n, output: 100n }

test('a hold assumes the highest price of the three kinds for the whole prompt', () => {
  for (const [price, most] of [
    [plain, 50n],
    [{ ...plain, cachedInput: 1n }, 50n],
    [{ ...plain, cachedInput: null, cacheWrite: null }, 50n],
    [{ ...plain, cacheWrite: 13n }, 65n],
    [{ ...plain, cachedInput: 1n, cacheWrite: 0n }, 50n],
    [{ input: 0n, output: 100n, cacheWrite: 1n }, 5n],
  ] satisfies [Price, bigint][]) {
    assert.equal(mostCostOf(price, 5, 2), most + 200n)
    for (const kind of ['inputTokens', 'cachedTokens', 'cacheWriteTokens']) {
      const tokens = { inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 2, [kind]: 5 }
      assert.ok(costOf(price, tokens) <= mostCostOf(price, 5, 2), kind)
    }
  }
})
