import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BatchItem, Token } from 'node-llama-cpp'
import { createBatching, type Batching } from './batching.ts'

function itemOf(length: number): BatchItem {
  return { tokens: Array.from<Token>({ length }), logits: [], evaluationPriority: 5 }
}

/** For each item of the batch, in order: how many of its tokens are processed. */
function deal({ nextBatch }: Batching, lengths: readonly number[], size = 512): [item: number, tokens: number][] {
  const items = lengths.map(itemOf)
  return nextBatch({ items, size }).map(({ item, processAmount }) => [items.indexOf(item), processAmount])
}

/** Batching while this many replies grow. */
function batchingOf(replies: number, { isApart = false } = {}): Batching {
  const batching = createBatching(128, isApart)
  for (let index = 0; index < replies; index += 1) batching.beginReply()
  return batching
}

void test('replies come first, then one chunk of the oldest prompt', () => {
  assert.deepEqual(deal(batchingOf(2), [128, 1, 128, 1]), [
    [1, 1],
    [3, 1],
    [0, 128],
  ])
})

void test('small chunks are combined if they fit, and none is split for another', () => {
  assert.deepEqual(deal(batchingOf(1), [60, 1, 100, 62, 6]), [
    [1, 1],
    [0, 60],
    [3, 62],
    [4, 6],
  ])
})

void test('while no reply grows, prompts fill the whole batch', () => {
  assert.deepEqual(
    deal(batchingOf(0), [128, 128, 128, 128, 128]).map(([, tokens]) => tokens),
    [128, 128, 128, 128],
  )
})

void test('a batch waits for replies without a pending token, but not forever', () => {
  const batching = batchingOf(2)
  assert.deepEqual(deal(batching, [1, 128]), [])
  assert.deepEqual(deal(batching, [1, 128, 1]).length, 3)
  let empty = 0
  while (deal(batching, [1, 128]).length === 0) empty += 1
  assert.ok(empty > 3 && empty < 100, `${empty}`)
  assert.deepEqual(deal(batching, [1, 128]), [], 'and then again for the next')
})

void test('a batch does not wait for a finished reply', () => {
  const batching = createBatching(128, false)
  const reply = batching.beginReply()
  assert.deepEqual(deal(batching, [128]), [])
  reply[Symbol.dispose]()
  assert.deepEqual(deal(batching, [128]), [[0, 128]])
})

void test('an item longer than a batch is processed as far as it fits', () => {
  assert.deepEqual(deal(batchingOf(0), [5000]), [[0, 512]])
})

void test('a batch never exceeds its size', () => {
  for (let round = 0; round < 500; round += 1) {
    const replies = Math.floor(Math.random() * 4)
    const chunks = Array.from({ length: 1 + Math.floor(Math.random() * 8) }, () => 2 + Math.floor(Math.random() * 127))
    const batch = deal(batchingOf(replies), [...chunks, ...Array.from({ length: replies }, () => 1)], 136)
    const total = batch.reduce((sum, [, tokens]) => sum + tokens, 0)
    assert.ok(batch.length > replies && total <= 136 && batch.every(([, tokens]) => tokens > 0), String(chunks))
  }
})

void test('apart, a batch has tokens of one run only, first come, first served', () => {
  const batching = batchingOf(0, { isApart: true })
  assert.deepEqual(deal(batching, [60, 128, 6]), [[0, 60]])
  assert.deepEqual(deal(batching, [1, 1, 1]), [[0, 1]])
  assert.deepEqual(deal(batching, []), [])
})

void test('apart, every reply has one turn between two chunks, however often each asks', () => {
  const batching = batchingOf(3, { isApart: true })
  const turns = Array.from({ length: 12 }, () => deal(batching, [128, 1, 1, 1, 128])[0])
  const chunk = [0, 128]
  const token = [1, 1]
  assert.deepEqual(turns, [chunk, token, token, token, chunk, token, token, token, chunk, token, token, token])
})

void test('apart, no batch waits for an idle reply', () => {
  const batching = batchingOf(3, { isApart: true })
  assert.deepEqual(deal(batching, [128, 128]), [[0, 128]])
  assert.deepEqual(deal(batching, [128, 128]), [[0, 128]])
  assert.deepEqual(deal(batching, [1]), [[0, 1]])
})
