import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BatchItem, Token } from 'node-llama-cpp'
import { nextBatch } from './batching.ts'

function itemOf(length: number): BatchItem {
  return { tokens: Array.from<Token>({ length }), logits: [], evaluationPriority: 5 }
}

/** For each item how many of its tokens go in, in the order of the batch. */
function dealt(lengths: readonly number[], size: number): [item: number, tokens: number][] {
  const items = lengths.map(itemOf)
  return nextBatch({ items, size }).map(({ item, processAmount }) => [items.indexOf(item), processAmount])
}

void test('replies come first, then the prompt that came first, whole', () => {
  assert.deepEqual(dealt([128, 1, 128, 1], 136), [
    [1, 1],
    [3, 1],
    [0, 128],
  ])
})

void test('several chunks go together where they fit, and none is cut for another', () => {
  assert.deepEqual(dealt([60, 100, 70, 6], 136), [
    [0, 60],
    [2, 70],
    [3, 6],
  ])
})

void test('what is longer than a batch goes in as far as it fits', () => {
  assert.deepEqual(dealt([500], 136), [[0, 136]])
})

void test('a batch is never too large, and never empty', () => {
  for (let round = 0; round < 500; round += 1) {
    const lengths = Array.from({ length: 1 + Math.floor(Math.random() * 8) }, () => 1 + Math.floor(Math.random() * 200))
    const batch = dealt(lengths, 136)
    assert.ok(batch.reduce((sum, [, tokens]) => sum + tokens, 0) <= 136)
    assert.ok(batch.length > 0 && batch.every(([, tokens]) => tokens > 0), String(lengths))
  }
})
