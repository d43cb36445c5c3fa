import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTestEngine, promptOf, readRun } from '../../tests/support/engine.ts'
import { readEvaluation, type Sample } from './evaluation-file.ts'

const limits = { maxOutputTokens: 220, temperature: 0, stream: false }
const engine = createTestEngine({ parallel: 8 })
after(() => engine.close())

/** The reply, how it ended and what it counted. */
async function answerTo({ instructions, input }: Sample) {
  const { text, end } = await readRun(
    engine,
    instructions === '' ? promptOf(input) : promptOf(instructions, input),
    limits,
  )
  return { text, end }
}

test('at temperature 0 a reply is the same alone and among eight', async () => {
  await engine.ready()
  const { samples } = await readEvaluation(new URL('evaluation.jsonl', import.meta.url))
  const chosen = Map.groupBy(samples, ({ set, job }) => `${set}: ${job}`)
    .values()
    .flatMap((members) => members.slice(0, 2))
    .toArray()
  assert.ok(chosen.length >= 16)
  const alone = []
  for (const sample of chosen) alone.push(await answerTo(sample))
  assert.deepEqual(await Promise.all(chosen.map(answerTo)), alone)
  assert.ok(alone.some(({ end }) => end.usage.outputTokens > 64))
})
