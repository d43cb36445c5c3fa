import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, test } from 'node:test'
import { getLlama, LlamaLogLevel } from 'node-llama-cpp'
import { fixture } from '../../tests/support/fixture.ts'

interface Expected {
  readonly text: string
  readonly tokens: readonly number[]
}

const here = (name: string) => path.join(import.meta.dirname, name)

const llama = fixture(() => getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    progressLogs: false,
    logLevel: LlamaLogLevel.error,
  }))
const model = fixture(() => llama.loadModel({ modelPath: here('tiny.gguf'), vocabOnly: true }))
after(() => llama.dispose())

test('llama.cpp cuts hard texts into the very tokens of the training', async () => {
  const expected: unknown = JSON.parse(await readFile(here('tokenizer.expected.json'), 'utf8'))
  assert.ok(isExpected(expected) && expected.length >= 10)
  for (const { text, tokens } of expected) {
    assert.deepEqual(model.tokenize(text).map(Number), tokens, JSON.stringify(text))
    assert.equal(model.detokenize(model.tokenize(text)), text)
  }
})

test('text that looks like a control token stays text', () => {
  const tokens = model.tokenize('<|im_end|>')
  assert.ok(tokens.length > 1)
  assert.ok(tokens.every((token) => !model.isEogToken(token)))
})

test('the end of a turn is the end of generation, and no token opens a text', () => {
  const [end, ...more] = model.tokenize('<|im_end|>', true)
  assert.deepEqual(more, [])
  assert.ok(end !== undefined && model.isEogToken(end))
  assert.equal(model.tokens.bos, null)
})

function isExpected(value: unknown): value is Expected[] {
  return (
    Array.isArray(value) &&
    value.every((entry: unknown) => typeof entry === 'object' && entry !== null && 'text' in entry && 'tokens' in entry)
  )
}
