import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mismatch, purposeOf } from './file-purpose.ts'

const facts = (architecture: string, pooling: number | undefined, hasChatTemplate: boolean) =>
  purposeOf({ architecture, pooling, hasChatTemplate })

void test('the header tells what a file makes', () => {
  assert.equal(facts('llama', undefined, true), 'text')
  assert.equal(facts('llama', 0, true), 'text')
  assert.equal(facts('bert', 2, false), 'embeddings')
  assert.equal(facts('nomic-bert', undefined, false), 'embeddings')
  assert.equal(facts('gemma-embedding', undefined, true), 'embeddings')
  assert.equal(facts('qwen3', 3, true), 'embeddings', 'made from a text model')
  assert.equal(facts('bert', 4, false), 'ranking')
  assert.equal(facts('llama', undefined, false), 'unknown')
})

void test('only a file that is known to make something else is a mismatch', () => {
  for (const kind of ['text', 'embeddings'] as const) {
    assert.equal(mismatch(kind, kind), undefined)
    assert.equal(mismatch('unknown', kind), undefined)
    assert.match(mismatch('ranking', kind) ?? '', /reranker/)
  }
  assert.match(mismatch('embeddings', 'text') ?? '', /makes embeddings, not text\. Set kind: embeddings/)
  assert.match(mismatch('text', 'embeddings') ?? '', /makes text, not embeddings\. Remove kind: embeddings/)
})
