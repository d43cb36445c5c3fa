import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { LlamaContextSequence } from 'node-llama-cpp'
import { letterPrompt, promptOf, tinyFile } from '../../../tests/support/engine.ts'
import type { Prompt } from '../model.ts'
import { generateReply, type GenerateNeeds } from './generate.ts'
import { loadModel } from './loaded-model.ts'

const { sequences, renderer, chunkLength, batching } = await loadModel(
  { kind: 'text', file: tinyFile, context: 1024, parallel: 4 },
  () => {},
)
after(() => sequences[0]?.model.llama.dispose())

/** Records every chosen token and its probability, which shows differences in the last bit before the text does. */
function noting(sequence: LlamaContextSequence, notes: number[]): GenerateNeeds['sequence'] {
  return {
    model: sequence.model,
    evaluateWithoutGeneratingNewTokens: (...args) => sequence.evaluateWithoutGeneratingNewTokens(...args),
    async *evaluate(tokens, options) {
      for await (const { token, confidence } of sequence.evaluateWithMetadata(tokens, { confidence: true }, options)) {
        notes.push(token, confidence)
        yield token
      }
    },
  }
}

interface Call {
  readonly prompt: Prompt
  readonly temperature: number
}

const calls: readonly Call[] = [
  { prompt: letterPrompt, temperature: 0 },
  { prompt: promptOf('Summarise.', `Notes of 3 May. ${'Anna Berg brought it. '.repeat(40)}`), temperature: 0 },
  { prompt: letterPrompt, temperature: 1 },
  { prompt: promptOf('Write a poem about the sea.'), temperature: 0 },
]

/** Returns the records of a reply of at most 48 tokens. `onText` is called as it grows. */
async function noted({ prompt, temperature }: Call, place: number, onText = () => {}): Promise<number[]> {
  const sequence = sequences[place]
  assert.ok(sequence)
  const notes: number[] = []
  await generateReply({
    sequence: noting(sequence, notes),
    prompt: await renderer.render(prompt),
    chunkLength,
    beginReply: batching.beginReply,
    limits: { maxOutputTokens: 48, temperature, seed: 7 },
    isEnd: renderer.isEnd,
    isCancelled: () => false,
    onText,
    onProgress: () => {},
  })
  await sequence.clearHistory()
  return notes
}

void test('with 16-bit weights, every probability is the same to the last bit, alone and among others', async () => {
  const alone: number[][] = []
  for (const call of calls) alone.push(await noted(call, 0))
  assert.ok(alone.flat().length > 200)
  assert.deepEqual(await Promise.all(calls.map((call, place) => noted(call, place))), alone)

  // A prompt of several chunks is processed while another reply grows.
  const [letter, summary] = calls
  assert.ok(letter && summary && (await renderer.render(summary.prompt)).length > 2 * chunkLength)
  const started = Promise.withResolvers<void>()
  const growing = noted(letter, 3, started.resolve)
  await started.promise
  assert.deepEqual(await noted(summary, 1), alone[1])
  assert.deepEqual(await growing, alone[0])
})

test('a cancellation stops prefill within one chunk', async () => {
  const [sequence] = sequences
  assert.ok(sequence)
  let chunks = 0
  const counting: GenerateNeeds['sequence'] = {
    model: sequence.model,
    evaluateWithoutGeneratingNewTokens: (...given) => {
      chunks += 1
      return sequence.evaluateWithoutGeneratingNewTokens(...given)
    },
    evaluate: () => assert.fail('nothing is generated'),
  }
  const ended = await generateReply({
    sequence: counting,
    prompt: await renderer.render(promptOf(' the'.repeat(900))),
    chunkLength,
    beginReply: batching.beginReply,
    limits: { maxOutputTokens: 9 },
    isEnd: renderer.isEnd,
    isCancelled: () => chunks === 2,
    onText: () => assert.fail('nothing is generated'),
    onProgress: () => {},
  })
  assert.deepEqual([chunks, ended.stopReason, ended.outputTokens], [2, 'cancelled', 0])
  await sequence.clearHistory()
})
