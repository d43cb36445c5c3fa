import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readEmbeddings } from './answer.ts'

/** How often other work runs meanwhile. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let next = setImmediate(function turn() {
    turns++
    next = setImmediate(turn)
  })
  await work()
  clearImmediate(next)
  return turns
}

test('other work runs while many vectors are read', async () => {
  const floats = Float32Array.from({ length: 1536 }, (_, index) => Math.cos(index))
  const embedding = Buffer.from(floats.buffer).toString('base64')
  const texts = 2048
  const body = Buffer.from(JSON.stringify({ data: Array.from({ length: texts }, () => ({ embedding })) }))
  const turns = await turnsDuring(async () => {
    const answer = await readEmbeddings(receptionOf(body), texts, 'float')
    assert.deepEqual([answer?.vectors.length, answer?.vectors[7]], [texts, floats])
  })
  assert.ok(turns >= 2, `${turns}`)
})

for (const [usage, inputTokens] of [
  [{ prompt_tokens: '4' }, undefined],
  [{ prompt_tokens: null, total_tokens: -1 }, undefined],
  [{ prompt_tokens: 4.5, total_tokens: 4 }, 4],
  [{ input_tokens: 4 }, 4],
  ['none', undefined],
  [{ prompt_tokens: 2 ** 40 }, 2 ** 31 - 1],
] as const) {
  test(`the usage ${JSON.stringify(usage)} never spoils embeddings`, async () => {
    const body = Buffer.from(JSON.stringify({ data: [{ embedding: [0.5] }], usage }))
    assert.deepEqual(await readEmbeddings(receptionOf(body), 1, 'float'), { vectors: [[0.5]], inputTokens })
  })
}

function receptionOf(body: Buffer, size = 64 * 1024) {
  const chunks = Array.from({ length: Math.ceil(body.length / size) }, (_, place) =>
    body.subarray(place * size, (place + 1) * size),
  )
  return { read: async () => chunks.shift() ?? ('end' as const) }
}
