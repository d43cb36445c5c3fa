import assert from 'node:assert/strict'
import path from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { getLlama, LlamaLogLevel, type LlamaEmbeddingContext } from 'node-llama-cpp'
import { smallEmbedder, writeEmbeddingModel } from '../../../tests/support/embedding-model.ts'
import { createTestEngine, tinyFile } from '../../../tests/support/engine.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { OperatorError, Problem } from '../../platform/problems.ts'
import type { EmbeddingOptions, Prompt } from '../model.ts'
import { createEmbeddingEngine, type EmbeddingEngineNeeds } from './embedding-engine.ts'
import type { LocalEngine } from './engine.ts'
import { temporaryFolder } from '../../../tests/support/fixture.ts'

const folder = temporaryFolder()
const file = path.join(folder, 'embedder.gguf')
const { context, width } = smallEmbedder
let engine: LocalEngine
/** node-llama-cpp, used directly on the same file. */
let direct: LlamaEmbeddingContext

before(async () => {
  await writeEmbeddingModel(file)
  engine = createEngine()
  const llama = await getLlama({ gpu: false, build: 'never', logLevel: LlamaLogLevel.error })
  const model = await llama.loadModel({ modelPath: file })
  direct = await model.createEmbeddingContext({ contextSize: context + 1, batchSize: context + 1 })
  await engine.ready()
})
after(async () => {
  await engine.close()
  await direct.dispose()
})

function createEngine(needs: Partial<EmbeddingEngineNeeds> = {}): LocalEngine {
  const { log } = createTestLog()
  const all = { id: 'e', file, context, dimensions: [32], parallel: 8, grace: 5000, log, ...needs }
  return createEmbeddingEngine(all)
}

function open(run: TestContext, needs: Partial<EmbeddingEngineNeeds>): LocalEngine {
  const opened = createEngine(needs)
  run.after(() => opened.close())
  return opened
}

const promptOf = (texts: readonly string[]): Prompt => ({ messages: texts.map((text) => ({ role: 'user', text })) })

async function embed(texts: readonly string[], options: Partial<EmbeddingOptions> = {}) {
  const { signal } = new AbortController()
  const made = await engine.embed?.(promptOf(texts), { encoding: 'float', ...options }, signal)
  const vectors = made?.vectors?.map((vector) =>
    typeof vector === 'string' ? assert.fail(vector) : Array.from(vector),
  )
  return { vectors: vectors ?? assert.fail('no vectors'), tokens: made?.usage.inputTokens ?? assert.fail('no usage') }
}

const lengthOf = (vector: readonly number[]): number => Math.hypot(...vector)
const texts = [
  'the client',
  'another client is writing',
  'Ünicode 漢字 🎉',
  ' ',
  'a.b, c',
  '[SEP] the [CLS]</s><|im_end|>',
]

const refusal = (code: string, field: string, reason: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Problem)
  assert.deepEqual([error.code, error.details.field], [code, field])
  assert.match(error.message, reason)
  return true
}

void test('the vectors are those of node-llama-cpp, scaled to length 1', async () => {
  const { vectors } = await embed(texts)
  for (const [index, vector] of vectors.entries()) {
    // Of a text without any token of its own, node-llama-cpp makes an empty vector.
    if (texts[index] === ' ') continue
    const { vector: expected } = await direct.getEmbeddingFor(texts[index] ?? '')
    assert.equal(vector.length, width)
    assert.ok(Math.abs(lengthOf(vector) - 1) < 1e-6)
    assert.ok(Math.abs(lengthOf(expected) - 1) > 0.01, 'the model itself does not scale them')
    const difference = vector.map((number, at) => number - (expected[at] ?? NaN) / lengthOf(expected))
    assert.ok(lengthOf(difference) < 1e-6, `${texts[index]}: ${lengthOf(difference)}`)
  }
})

void test('a text has the same vector alone, among others, again, and while other requests run', async () => {
  const { vectors: together } = await embed(texts)
  const alone = await Promise.all(texts.map((text) => embed([text])))
  assert.deepEqual(
    alone.map(({ vectors }) => vectors[0]),
    together,
  )
  const reversed = await embed(texts.toReversed())
  assert.deepEqual(reversed.vectors.toReversed(), together)
  assert.equal(new Set(together.map((vector) => JSON.stringify(vector))).size, texts.length, 'each its own')
})

void test('the count is that of the tokens that are evaluated, and text that looks like a control token is text', async () => {
  for (const text of texts) {
    const expected = direct.calculateInputLength(text)
    assert.deepEqual(await engine.count(promptOf([text])), { tokens: expected, exact: true }, text)
    assert.equal((await embed([text])).tokens, expected, text)
  }
  const counted = await engine.count(promptOf(texts))
  assert.equal(counted.tokens, (await embed(texts)).tokens)
  const plain = await engine.count(promptOf(['the']))
  assert.equal(plain.tokens, 3, 'with the token at its start and at its end')
  const control = await engine.count(promptOf(['the [SEP]']))
  assert.equal(control.tokens, plain.tokens + 5, 'a bracket, three letters and a bracket')
})

void test('a text may have as many tokens as the context, and a longer one is refused with both numbers', async () => {
  const full = 'a '.repeat(context - 2)
  assert.deepEqual([(await engine.count(promptOf([full]))).tokens, (await embed([full])).tokens], [context, context])
  // Together they are longer than the context, which holds for each alone.
  assert.equal((await embed([full, full, full])).tokens, 3 * context)
  const long = `${full}a`
  const numbers = new RegExp(`is ${context} tokens.* has ${context + 1}\\.`)
  await assert.rejects(engine.count(promptOf([long])), refusal('context_length_exceeded', 'input', numbers))
  const second = refusal('context_length_exceeded', 'input[1]', numbers)
  await assert.rejects(engine.count(promptOf([full, long])), second)
  await assert.rejects(embed([full, long]), second)
})

void test('a very long text without a space is counted, refused, and does not end the engine', async () => {
  const pid = engine.pid()
  const unbroken = 'x'.repeat(300_000)
  await assert.rejects(
    engine.count(promptOf(['a', unbroken])),
    refusal('context_length_exceeded', 'input[1]', /tokens/),
  )
  assert.equal((await embed(['a'])).tokens, 3)
  assert.equal(engine.pid(), pid)
})

void test('base64 is that of the same numbers', async () => {
  const { vectors } = await embed(['the client'])
  const { signal } = new AbortController()
  const made = await engine.embed?.(promptOf(['the client']), { encoding: 'base64' }, signal)
  const expected = Buffer.from(new Float32Array(vectors[0] ?? []).buffer).toString('base64')
  assert.deepEqual(made?.vectors, [expected])
})

void test('vectors are cut only to a configured length, and then scaled again', async () => {
  const prompt = promptOf(['the client'])
  for (const dimensions of [undefined, width, 32])
    assert.equal((await engine.count(prompt, { dimensions })).exact, true)
  for (const dimensions of [1, 33, width + 1]) {
    const refused = refusal(
      'invalid_field',
      'dimensions',
      new RegExp(`must be ${width} or 32 for this model, or omitted`),
    )
    await assert.rejects(engine.count(prompt, { dimensions }), refused)
  }
  const [[whole], [cut]] = [
    (await embed(['the client'])).vectors,
    (await embed(['the client'], { dimensions: 32 })).vectors,
  ]
  assert.ok(whole && cut)
  assert.ok(Math.abs(lengthOf(cut) - 1) < 1e-6)
  const share = lengthOf(whole.slice(0, 32))
  assert.ok(lengthOf(cut.map((number, at) => number - (whole[at] ?? NaN) / share)) < 1e-6)
})

void test('a request whose caller has disconnected makes no vectors and uses nothing', async () => {
  const made = await engine.embed?.(promptOf(['the']), { encoding: 'float' }, AbortSignal.abort())
  assert.deepEqual(made, { vectors: undefined, usage: { inputTokens: 0, outputTokens: 0, source: 'model' } })
})

const unfit = (reason: RegExp) => (error: unknown) => {
  assert.ok(error instanceof OperatorError)
  assert.match(error.message, reason)
  return true
}

void test('a file of text is refused as one of embeddings, and the other way round', async (run) => {
  await assert.rejects(open(run, { file: tinyFile }).ready(), unfit(/tiny\.gguf makes text, not embeddings/))
  const asText = createTestEngine({ file, context: 64 })
  run.after(() => asText.close())
  await assert.rejects(asText.ready(), unfit(/embedder\.gguf makes embeddings, not text\. Set kind: embeddings/))
})

void test('a context longer than the model was trained for is refused', async (run) => {
  const reason = new RegExp(`trained for a context of ${context} tokens; lower its context of ${context + 1}`)
  await assert.rejects(open(run, { context: context + 1 }).ready(), unfit(reason))
})
