import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { after, afterEach, describe, test } from 'node:test'
import { settle, stopClock } from '../../../tests/support/clock.ts'
import { createGate } from '../../../tests/support/gate.ts'
import { at } from '../../../tests/support/json.ts'
import { completion, startRawUpstream } from '../../../tests/support/raw-upstream.ts'
import { until } from '../../../tests/support/until.ts'
import type { VendorOptions } from '../../../tests/support/vendor-options.ts'
import { createModels, failure, parts, pieces, prompt, stepwise } from '../../../tests/support/vendor-run.ts'
import { startVendor } from '../../../tests/support/vendor.ts'
import type { Model, StreamPart } from '../model.ts'
import type { OpenAiModelOptions } from './chat/openai.ts'

const vendor = await startVendor()
const models = createModels()
const open = (options: Partial<OpenAiModelOptions> = {}) =>
  models.openAi({ endpoints: [{ url: vendor.url, key: 'sk-secret' }], ...options })

afterEach(async () => {
  vendor.set({})
  await models.close()
})
after(() => vendor.close())

const stream = { stream: true }
const textsOf = (all: readonly StreamPart[]) =>
  all.reduce((sum, piece) => sum + (piece.kind === 'texts' ? piece.texts.length : 0), 0)
const run = (model: Model, signal = new AbortController().signal) =>
  model.stream(prompt, { maxOutputTokens: 4096 }, signal)
const streamed = async (options: VendorOptions, limits = {}) => {
  vendor.set(options)
  return parts(await pieces(open(), { ...stream, ...limits }))
}

test('a reply arrives token by token, and the request asks for the usage', async () => {
  assert.deepEqual(await streamed({}), {
    texts: ['Hello', ' there', '.'],
    stopReason: 'complete',
    usage: { inputTokens: 12, outputTokens: 3, source: 'upstream' },
  })
  const { body } = vendor.last
  assert.ok(typeof body === 'object' && body !== null && 'stream' in body && 'stream_options' in body)
  assert.deepEqual([body.stream, body.stream_options], [true, { include_usage: true }])
})

test('a stream keeps its request body in memory, and not a Buffer pool that it is a slice of', async () => {
  const unused: number[] = []
  const measure = (message: unknown): void => {
    const body = at(message, 'request', 'body')
    assert.ok(body instanceof Uint8Array && body.byteLength > 0)
    unused.push(body.buffer.byteLength - body.byteLength)
  }
  subscribe('undici:request:create', measure)
  try {
    await streamed({})
  } finally {
    unsubscribe('undici:request:create', measure)
  }
  assert.deepEqual(unused, [0])
})

test('the first piece arrives before the second is sent', async () => {
  const gate = createGate()
  vendor.set({ tokens: 3, gate: gate.pass })
  assert.deepEqual(parts(await Array.fromAsync(stepwise(run(open()), gate))).texts, ['word', ' word', ' word'])
})

for (const cut of [1, 2, 7, 100]) {
  test(`a stream in chunks of ${cut} bytes is the same`, async () => {
    const tokens = ['Grüß', ' Gott', ' 😀', '\n\n', '"quoted"', ' data: x\r\n']
    const { texts, stopReason, usage } = await streamed({ tokens, cut })
    assert.deepEqual(texts, tokens)
    assert.deepEqual([stopReason, usage.outputTokens], ['complete', 6])
  })
}

test('halves of a character in two events are joined', async () => {
  const { texts } = await streamed({ tokens: ['a\ud83d', '\ude00b', '\ud83d', 'c\ud83d'] })
  assert.equal(texts.join(''), 'a😀b\ufffdc\ufffd')
})

test('an empty reply has no text piece', async () => {
  assert.deepEqual((await streamed({ tokens: [] })).texts, [])
})

for (const [theirs, ours] of [
  ['length', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
]) {
  test(`finish_reason ${theirs} is ${ours}`, async () => {
    assert.equal((await streamed({ finishReason: theirs ?? '' })).stopReason, ours)
  })
}

test('a whole reply that comes instead of a stream is read, in one attempt', async () => {
  await using raw = await startRawUpstream()
  const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }
  const message = { content: 'Hi', reasoning: 'Hm.', tool_calls: [call] }
  const usage = { prompt_tokens: 12, completion_tokens: 7 }
  const body = ` ${JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage })}`
  raw.behave((socket) => socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${body}`))
  const [reasoning, text, called, end] = await pieces(open({ endpoints: [{ url: raw.url }] }), stream)
  assert.deepEqual(
    [reasoning, text, called],
    [
      { kind: 'deltas', deltas: [{ kind: 'reasoning', text: 'Hm.' }] },
      { kind: 'texts', texts: ['Hi'] },
      {
        kind: 'deltas',
        deltas: [
          { kind: 'call', id: 'c1', tool: 'f' },
          { kind: 'input', json: '{"a":1}' },
        ],
      },
    ],
  )
  assert.ok(end?.kind === 'end')
  assert.deepEqual([end.stopReason, end.usage.inputTokens, end.usage.outputTokens], ['complete', 12, 7])
  assert.equal(raw.requests, 1)
})

for (const [name, space] of [
  ['of its own', ' '],
  ['longer than any line', '\n '.repeat(500)],
] as const) {
  test(`a whole reply instead of a stream is read after a chunk of white space ${name}`, async () => {
    await using raw = await startRawUpstream()
    const { promise: spaceRead, resolve: readSpace } = Promise.withResolvers<void>()
    raw.behave((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${space}`)
      void spaceRead.then(() => socket.end(completion()))
    })
    const model = open({ endpoints: [{ url: raw.url }] })
    const onBytes = (): void => readSpace()
    subscribe('undici:request:bodyChunkReceived', onBytes)
    const reply = pieces(model, stream)
    const [text] = await reply.finally(() => unsubscribe('undici:request:bodyChunkReceived', onBytes))
    assert.deepEqual([text, raw.requests], [{ kind: 'texts', texts: ['Well.'] }, 1])
  })
}

describe('A14 usage is counted once', () => {
  for (const usageOn of ['last', 'several', 'all'] as const) {
    test(`if reported on ${usageOn} of the events`, async () => {
      const { usage } = await streamed({ tokens: 20, usageOn })
      assert.deepEqual(usage, { inputTokens: 12, outputTokens: 20, source: 'upstream' })
    })
  }

  test('if missing: one token for each piece, marked as estimated', async () => {
    const { usage } = await streamed({ tokens: 20, usageOn: 'none' })
    assert.deepEqual(usage, { inputTokens: 5, outputTokens: 20, source: 'estimated' })
  })

  test('if missing and a piece has several tokens: one token for every 4 bytes', async () => {
    const { usage } = await streamed({ tokens: ['word '.repeat(20), 'word '.repeat(20)], usageOn: 'none' })
    assert.deepEqual(usage, { inputTokens: 5, outputTokens: 50, source: 'estimated' })
  })

  test('if 0, which is not missing', async () => {
    const { usage } = await streamed({ usage: { prompt_tokens: 0, completion_tokens: 0 } })
    assert.deepEqual(usage, { inputTokens: 0, outputTokens: 0, source: 'upstream' })
  })

  test('if only half of it is reported', async () => {
    const { usage } = await streamed({ usage: { prompt_tokens: 9 } })
    assert.deepEqual(usage, { inputTokens: 9, outputTokens: 3, source: 'estimated' })
  })

  test('if it exceeds the hold', async () => {
    const { usage } = await streamed({ usage: { prompt_tokens: 12, completion_tokens: 500 } }, { maxOutputTokens: 7 })
    assert.deepEqual(usage, { inputTokens: 12, outputTokens: 500, source: 'upstream' })
  })
})

const broken = [
  'reset',
  'half_stream',
  'early_end',
  'no_terminal',
  'malformed_event',
  'odd_event',
  'error_event',
  'long_line',
  'invalid_utf8_event',
] as const

test('A43 a reply that is done without a finish reason is complete; without content it has failed', async () => {
  const done = await streamed({ tokens: 2, fault: 'no_finish', after: 2 })
  assert.deepEqual([done.texts.join(''), done.stopReason], ['word word', 'complete'])
  await assert.rejects(streamed({ tokens: 0, fault: 'no_finish', after: 0 }), { code: 'upstream_failed' })
})

describe('A14 an incomplete stream is an error, not complete', () => {
  for (const fault of broken) {
    test(`${fault} after 2 tokens ends with these tokens and is not retried`, async () => {
      const gate = createGate()
      vendor.set({ tokens: 5, fault, after: 2, gate: gate.pass, usageOn: 'none' })
      const before = vendor.calls
      models.lines.length = 0
      const { texts, stopReason, usage } = parts(await Array.fromAsync(stepwise(run(open()), gate)))
      assert.deepEqual(texts, ['word', ' word'])
      assert.deepEqual([stopReason, usage], ['error', { inputTokens: 5, outputTokens: 2, source: 'estimated' }])
      assert.equal(vendor.calls, before + 1)
      assert.equal(models.lines.length, 1, models.lines.join(''))
      assert.doesNotMatch(models.lines.join(''), /private words|sk-secret| word/)
    })
  }

  const again = ['reset', 'half_stream', 'early_end', 'error_event']
  for (const fault of [...broken, 'html', 'cut_json'] as const) {
    // A whole reply that was cut off has cost tokens.
    const attempts = fault === 'html' || again.includes(fault) ? 3 : 1
    if (fault === 'no_terminal') continue
    test(`${fault} before the first token is upstream_failed after ${attempts} attempts`, async () => {
      vendor.set({ tokens: 5, fault, ...(fault !== 'html' && fault !== 'cut_json' && { after: 0 }) })
      const before = vendor.calls
      assert.equal((await failure(open(), stream)).code, 'upstream_failed')
      assert.equal(vendor.calls - before, attempts)
    })
  }

  test('a stream interrupted after its first reasoning is not retried', async () => {
    await using raw = await startRawUpstream()
    const reasoning = JSON.stringify({ choices: [{ index: 0, delta: { reasoning: 'Hm.' } }] })
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n'
    raw.behave((socket) => socket.end(`${head}data: ${reasoning}\n\n`))
    const [thinking, end] = await pieces(open({ endpoints: [{ url: raw.url }] }), stream)
    assert.deepEqual(thinking, { kind: 'deltas', deltas: [{ kind: 'reasoning', text: 'Hm.' }] })
    assert.equal(end?.kind === 'end' && end.problem?.code, 'upstream_failed')
    assert.equal(raw.requests, 1)
  })

  test('usage reported before the interruption is kept, and at least what was received', async () => {
    const { usage } = await streamed({ tokens: 9, usageOn: 'first', fault: 'early_end', after: 4 })
    assert.deepEqual(usage, { inputTokens: 12, outputTokens: 4, source: 'estimated' })
  })
})

describe('A15 a caller who disconnects', () => {
  test('aborts the upstream at once and pays for the received tokens', async () => {
    const gate = createGate()
    vendor.set({ tokens: 1000, gate: gate.pass })
    const [calls, abandoned] = [vendor.calls, vendor.abandoned]
    const leaving = new AbortController()
    const all: StreamPart[] = []
    gate.open(5)
    // The end must not wait for another token, since none is sent.
    for await (const piece of run(open(), leaving.signal)) {
      all.push(piece)
      if (piece.kind === 'texts' && textsOf(all) === 5) leaving.abort()
    }
    const { texts, stopReason, usage } = parts(all)
    assert.deepEqual([texts.length, stopReason], [5, 'cancelled'])
    assert.deepEqual(usage, { inputTokens: 5, outputTokens: 5, source: 'estimated' })
    await until(() => vendor.abandoned === abandoned + 1)
    assert.equal(vendor.calls, calls + 1)
  })

  test('before the first token pays for the prompt', async () => {
    vendor.set({ fault: 'stall', after: 0 })
    const [calls, abandoned] = [vendor.calls, vendor.abandoned]
    const leaving = new AbortController()
    const left = pieces(open(), stream, leaving.signal)
    await until(() => vendor.calls > calls)
    leaving.abort()
    const { stopReason, usage } = parts(await left)
    assert.deepEqual([stopReason, usage.inputTokens, usage.outputTokens], ['cancelled', 5, 0])
    await until(() => vendor.abandoned === abandoned + 1)
  })

  test('aborts the upstream also by no longer reading', async () => {
    const gate = createGate()
    vendor.set({ tokens: 1000, gate: gate.pass })
    const { abandoned } = vendor
    gate.open(1)
    for await (const piece of run(open())) {
      assert.equal(piece.kind, 'texts')
      break
    }
    await until(() => vendor.abandoned === abandoned + 1)
  })

  test('frees the connection', async () => {
    const gate = createGate()
    vendor.set({ tokens: 1000, gate: gate.pass })
    gate.open(1)
    const model = open({ connections: 1 })
    for (let round = 0; round < 3; round++) {
      const { abandoned } = vendor
      for await (const piece of run(model)) {
        assert.equal(piece.kind, 'texts')
        break
      }
      await until(() => vendor.abandoned === abandoned + 1)
    }
    vendor.set({})
    assert.equal(parts(await pieces(model, stream)).stopReason, 'complete')
  })
})

describe('timeouts', () => {
  const timeout = { connect: 100_000, first_token: 20_000, total: 70_000 }
  test('a late first token is upstream_timeout, and the hung endpoint is not retried', async (t) => {
    const clock = stopClock(t)
    vendor.set({ fault: 'hang' })
    const before = vendor.calls
    models.lines.length = 0
    let isOver = false
    const failed = failure(open({ timeout }), stream).finally(() => (isOver = true))
    await until(() => vendor.calls === before + 1)
    await settle()
    clock.advance(timeout.first_token - 1)
    await settle()
    assert.equal(isOver, false)
    clock.advance(1)
    assert.equal((await failed).code, 'upstream_timeout')
    clock.advance(timeout.total)
    await settle()
    assert.equal(vendor.calls - before, 1)
  })

  test('first_token limits only the first token', async (t) => {
    const clock = stopClock(t)
    const gate = createGate()
    vendor.set({ tokens: 5, gate: gate.pass })
    const all: StreamPart[] = []
    for await (const piece of stepwise(run(open({ timeout })), gate)) {
      all.push(piece)
      if (all.length === 1) clock.advance(timeout.first_token + 1)
    }
    const { texts, stopReason } = parts(all)
    assert.deepEqual([texts.length, stopReason], [5, 'complete'])
  })

  test('the total timeout ends a stream with an error', async (t) => {
    const clock = stopClock(t)
    const gate = createGate()
    vendor.set({ tokens: 100, gate: gate.pass })
    const { abandoned } = vendor
    const all: StreamPart[] = []
    for await (const piece of stepwise(run(open({ timeout })), gate)) {
      all.push(piece)
      if (all.length <= 7) clock.advance(timeout.total / 7)
    }
    const { stopReason, texts } = parts(all)
    assert.deepEqual([stopReason, texts.length], ['error', 7])
    await until(() => vendor.abandoned === abandoned + 1)
  })
})

test('a connection is reused after a complete stream', async () => {
  const model = open({ connections: 1 })
  for (let round = 0; round < 20; round++) assert.equal(parts(await pieces(model, stream)).texts.length, 3)
})
