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

test('each kind of token costs its own price, and the two kinds of the cache cost that of input where they have none', () => {
  const tokens = { inputTokens: 1, outputTokens: 1, cachedTokens: 1, cacheWriteTokens: 1 }
  for (const [price, cost] of [
    [plain, 130n],
    [{ ...plain, cachedInput: 1n }, 121n],
    [{ ...plain, cacheWrite: 13n }, 133n],
    [{ ...plain, cachedInput: 1n, cacheWrite: 13n }, 124n],
    [{ ...plain, cachedInput: 0n, cacheWrite: 0n }, 110n],
    [{ ...plain, cachedInput: null, cacheWrite: null }, 130n],
  ] satisfies [Price, bigint][]) {
    assert.equal(costOf(price, tokens), cost)
  }
})
