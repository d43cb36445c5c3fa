import assert from 'node:assert/strict'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { createTestEngine, letterPrompt, promptOf, readRun, writeEndlessModel } from '../../../tests/support/engine.ts'
import { Problem } from '../../platform/problems.ts'
import { temporaryFolder } from '../../../tests/support/fixture.ts'

const folder = temporaryFolder()
const file = path.join(folder, 'endless.gguf')
await writeEndlessModel(file)
const engine = createTestEngine({ file, parallel: 2, queue: 2 })
before(() => engine.ready())
after(() => engine.close())

const longPrompt = promptOf(' the'.repeat(900))
const cancelledBefore = { inputTokens: 0, outputTokens: 0, source: 'model' }

/** On a busy machine a reply may be complete before the engine learns of the disconnect. */
async function cancelled<Ended extends { readonly end: { readonly stopReason: string } }>(
  attempt: () => Promise<Ended>,
): Promise<Ended> {
  for (let tries = 1; ; tries += 1) {
    const ended = await attempt()
    if (ended.end.stopReason === 'cancelled') return ended
    assert.ok(tries < 10, `it ended by ${ended.end.stopReason}`)
  }
}

void test('a caller who disconnects during the reply pays for exactly the generated tokens', async () => {
  for (const piecesRead of [1, 2, 5]) {
    const { text, end } = await cancelled(() => {
      const caller = new AbortController()
      let pieces = 0
      const onText = (): void => {
        pieces += 1
        if (pieces === piecesRead) caller.abort()
      }
      return readRun(engine, letterPrompt, { maxOutputTokens: 500 }, { signal: caller.signal, onText })
    })
    const { outputTokens } = end.usage
    assert.ok(outputTokens > 0 && outputTokens < 500, `${outputTokens}`)
    const again = await readRun(engine, letterPrompt, { maxOutputTokens: outputTokens })
    assert.deepEqual([again.text, again.end.usage], [text, end.usage])
  }
})

void test('the same without a stream: the end carries the text so far', async () => {
  const { pieces, end } = await cancelled(async () => {
    const caller = new AbortController()
    const limits = { maxOutputTokens: 500, stream: false }
    const unstreamed = readRun(engine, letterPrompt, limits, { signal: caller.signal })
    await readRun(engine, letterPrompt, { maxOutputTokens: 20 })
    caller.abort()
    return unstreamed
  })
  const { outputTokens } = end.usage
  assert.ok(outputTokens > 0 && outputTokens < 500, `${outputTokens}`)
  const again = await readRun(engine, letterPrompt, { maxOutputTokens: outputTokens })
  assert.deepEqual([pieces, end.usage], [[again.text], again.end.usage])
})

void test('a caller who disconnects during prefill pays for the prompt and no output', async () => {
  const { inputTokens } = (await readRun(engine, longPrompt, { maxOutputTokens: 1 })).end.usage
  for (let round = 0; round < 5; round += 1) {
    const { end } = await cancelled(() => {
      const caller = new AbortController()
      setImmediate(() => caller.abort())
      return readRun(engine, longPrompt, { maxOutputTokens: 100 }, { signal: caller.signal })
    })
    assert.deepEqual(end.usage, { inputTokens, outputTokens: 0, source: 'model' })
  }
})

void test('a long prompt does not stall the reply of another request', async () => {
  let texts = 0
  const caller = new AbortController()
  const started = Promise.withResolvers<void>()
  const onText = (): void => {
    texts += 1
    started.resolve()
  }
  const other = readRun(engine, letterPrompt, { maxOutputTokens: 512 }, { signal: caller.signal, onText })
  await started.promise
  const textsBefore = texts
  await readRun(engine, longPrompt, { maxOutputTokens: 1 })
  const during = texts - textsBefore
  caller.abort()
  await other
  assert.ok(during >= 3, `${during} texts arrived during prefill`)
})

void test('a caller who disconnected earlier costs nothing', async () => {
  const { pieces, end } = await readRun(engine, letterPrompt, { maxOutputTokens: 9 }, { signal: AbortSignal.abort() })
  assert.deepEqual([pieces, end.stopReason, end.usage], [[], 'cancelled', cancelledBefore])
  await assert.rejects(engine.count(letterPrompt, { signal: AbortSignal.abort() }), { code: 'malformed_request' })
})

void test('a reader that stops frees the slot', async () => {
  for (let round = 0; round < 6; round += 1) {
    for await (const piece of engine.stream(letterPrompt, { maxOutputTokens: 500 }, new AbortController().signal)) {
      assert.equal(piece.kind, 'texts')
      break
    }
  }
  const { end } = await readRun(engine, letterPrompt, { maxOutputTokens: 2 })
  assert.equal(end.usage.outputTokens, 2)
})

void test('work beyond the queue is refused at once; leaving the queue makes room', async () => {
  const callers = Array.from({ length: 4 }, () => new AbortController())
  const running = callers.map(({ signal }) => readRun(engine, letterPrompt, { maxOutputTokens: 450 }, { signal }))
  let ended = 0
  for (const run of running) void run.then(() => (ended += 1))
  await assert.rejects(readRun(engine, letterPrompt, { maxOutputTokens: 1 }), { code: 'overloaded' })
  assert.equal(ended, 0)
  callers[3]?.abort()
  const left = await running[3]
  assert.deepEqual([left?.pieces, left?.end.stopReason, left?.end.usage], [[], 'cancelled', cancelledBefore])
  const late = readRun(engine, letterPrompt, { maxOutputTokens: 1 })
  const ends = await Promise.all(running.slice(0, 3))
  assert.deepEqual(
    ends.map(({ end }) => end.usage.outputTokens),
    [450, 450, 450],
  )
  assert.equal((await late).end.usage.outputTokens, 1)
})

void test('counting a long text does not stall a reply', async () => {
  const caller = new AbortController()
  let isCounted = false
  let textsMeanwhile = 0
  const onText = (): void => {
    if (!isCounted) textsMeanwhile += 1
  }
  const other = readRun(engine, letterPrompt, { maxOutputTokens: 512 }, { signal: caller.signal, onText })
  const { tokens } = await engine.count(promptOf('lorem ipsum '.repeat(80_000)))
  isCounted = true
  caller.abort()
  await other
  assert.ok(tokens > 160_000, `${tokens}`)
  assert.ok(textsMeanwhile >= 3, `${textsMeanwhile} texts arrived during the count`)
})

void test('counts of disconnected callers are refused, and later counts are served', async () => {
  const text = promptOf('lorem ipsum '.repeat(80_000))
  const caller = new AbortController()
  const left = Array.from({ length: 40 }, () => engine.count(text, { signal: caller.signal }))
  setImmediate(() => caller.abort())
  for (const counted of await Promise.allSettled(left)) {
    assert.ok(counted.status === 'rejected' && counted.reason instanceof Problem)
    assert.equal(counted.reason.code, 'malformed_request')
  }
  assert.ok((await engine.count(text)).tokens > 160_000)
})
