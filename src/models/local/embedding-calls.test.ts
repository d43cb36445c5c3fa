import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settle } from '../../../tests/support/clock.ts'
import { createChildWork } from './child-work.ts'
import { createEmbeddingCalls } from './embedding-calls.ts'
import type { FromChild } from './protocol.ts'

/** A model whose tokens are characters. The test ends each vector. */
function createScripted(context = 10) {
  const sent: FromChild[] = []
  const asked: string[] = []
  let waiting: (() => void)[] = []
  const send = (message: FromChild) => void sent.push(message)
  const answer = createEmbeddingCalls({
    order: { kind: 'embeddings', file: 'none', context, parallel: 8 },
    embedder: {
      tokenise: async (texts) => texts.map((text) => text.split('')),
      embed: async (tokens) => {
        asked.push(tokens.join(''))
        await new Promise<void>((resolve) => waiting.push(resolve))
        return asked.at(-1) === 'nowhere' ? [0, 0] : [3, 4]
      },
      vectorLength: 2,
      threads: 1,
    },
    work: createChildWork(send),
    send,
    onProgress: () => undefined,
  })
  return {
    sent,
    asked,
    embed: (id: number, texts: readonly string[], dimensions?: number) =>
      answer({
        kind: 'embed',
        id,
        prompt: { messages: texts.map((text) => ({ role: 'user', text })) },
        dimensions,
      }),
    cancel: (id: number) => answer({ kind: 'cancel', id }),
    /** Ends the vectors that are being computed. */
    step: async () => {
      const ended = waiting
      waiting = []
      for (const end of ended) end()
      await settle()
    },
  }
}

void test('requests take turns, text by text', async () => {
  const { asked, embed, step, sent } = createScripted()
  embed(1, ['a', 'b', 'c'])
  embed(2, ['x'])
  await settle()
  await step()
  assert.deepEqual(asked, ['a', 'x', 'b'])
  assert.deepEqual(
    sent.map((message) => message.kind === 'embedded' && message.id),
    [2],
  )
  await step()
  await step()
  assert.partialDeepStrictEqual(sent[1], { kind: 'embedded', id: 1, tokens: 3 })
})

void test('a vector is scaled to length 1, after it is cut', async () => {
  const { embed, step, sent } = createScripted()
  embed(1, ['a'])
  embed(2, ['a'], 1)
  await settle()
  await step()
  const vectors = sent.map((message) => message.kind === 'embedded' && message.vectors)
  assert.deepEqual(vectors, [[Float32Array.of(0.6, 0.8)], [Float32Array.of(1)]])
})

void test('a cancelled request stops within one text, and has used the texts before', async () => {
  const { asked, embed, cancel, step, sent } = createScripted()
  embed(1, ['one', 'two', 'three'])
  await settle()
  await step()
  cancel(1)
  await step()
  await step()
  assert.deepEqual(asked, ['one', 'two'])
  assert.deepEqual(sent, [{ kind: 'embedded', id: 1, tokens: 6, vectors: undefined }])
})

void test('a text that is too long is named before any is computed', async () => {
  const { asked, embed, sent } = createScripted(3)
  embed(1, ['abc', 'abcd'])
  await settle()
  assert.deepEqual([asked, sent], [[], [{ kind: 'too-long', id: 1, tokens: 4, place: 1 }]])
})

void test('a vector without a direction fails its request, not another', async () => {
  const { embed, step, sent } = createScripted()
  embed(1, ['nowhere'])
  await settle()
  await step()
  embed(2, ['here'])
  await settle()
  await step()
  assert.partialDeepStrictEqual(sent, [
    { kind: 'failed', id: 1 },
    { kind: 'embedded', id: 2, tokens: 4 },
  ])
})
