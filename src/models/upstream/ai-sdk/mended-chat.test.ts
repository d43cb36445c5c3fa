import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { openPackage } from '../../../../tests/support/provider-packages.ts'
import { eventStream, http, startRawUpstream, streamHead } from '../../../../tests/support/raw-upstream.ts'
import { createModels, failure, prompt, readStream } from '../../../../tests/support/vendor-run.ts'

/** What the package for chat completions would refuse, though most programs accept it. */

const raw = await startRawUpstream()
const models = createModels()
afterEach(() => models.close())
after(() => raw.close())

const open = () => openPackage(models, '@ai-sdk/openai-compatible', { url: raw.url })
const limits = { maxOutputTokens: 100 }
const { signal } = new AbortController()
const run = () => open().run(prompt, limits, signal)
const stream = async () => readStream(await Array.fromAsync(open().stream(prompt, limits, signal)))

const event = (delta: object, finish_reason: unknown) => ({ choices: [{ index: 0, delta, finish_reason }] })
const called = (input: unknown) => ({ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: input } })
const text = event({ content: 'Well.' }, null)
const streamOf = (...events: readonly object[]) => raw.behave((socket) => socket.end(eventStream(events)))

for (const reason of [null, undefined, 5, { x: 1 }, ['stop']]) {
  test(`a stream whose finish reason is ${JSON.stringify(reason)} is complete`, async () => {
    streamOf(text, event({}, reason))
    const { pieces, stopReason } = await stream()
    assert.deepEqual([pieces, stopReason], [['Well.'], 'complete'])
  })
}

test('a stream without content or a finish reason has failed', async () => {
  streamOf(event({}, null))
  assert.equal((await failure(open(), { stream: true })).code, 'upstream_failed')
})

test('a stream that was cut off after its text has failed', async () => {
  raw.behave((socket) => socket.end(`${streamHead}data: ${JSON.stringify(text)}\n\n`))
  assert.equal((await stream()).stopReason, 'error')
})

test('a finish reason that is no text does not spoil a whole reply', async () => {
  const sent = { choices: [{ message: { content: 'Well.' }, finish_reason: 5 }] }
  raw.behave((socket) => socket.write(http(JSON.stringify(sent))))
  const reply = await run()
  assert.deepEqual([reply.text, reply.stopReason], ['Well.', 'complete'])
})

test('an event that says nothing is ignored', async () => {
  streamOf({ type: 'ping' }, text, { type: 'ping' }, event({}, 'stop'))
  assert.deepEqual((await stream()).pieces, ['Well.'])
})

test('events of nothing, and what is not of the type of the API, do not end a stream', async () => {
  const odd = { id: 7, created: 'now', model: 5 }
  const started = { choices: [null, { index: 0, delta: { role: 'model', content: 'We' } }], ...odd }
  const events = [null, [], { choices: {} }, started, event({ content: 'll.' }, null), event({}, 'stop')]
  raw.behave((socket) => socket.end(eventStream(events)))
  const { pieces, stopReason } = await stream()
  assert.deepEqual([pieces, stopReason], [['We', 'll.'], 'complete'])
})

test('calls that are numbered in their own way are read', async () => {
  const begun = { index: '0', id: 7, type: 'function', function: { name: 'f', arguments: '{"a"' } }
  const more = { index: '0', function: { arguments: ':1}' } }
  const none = { index: '0', function: null }
  streamOf(
    event({ tool_calls: [begun] }, null),
    event({ tool_calls: [more] }, null),
    event({ tool_calls: [none] }, 'tool_calls'),
  )
  const { pieces, stopReason } = await stream()
  const json = pieces.map((piece) => (typeof piece === 'object' && piece.kind === 'input' ? piece.json : '')).join('')
  assert.deepEqual([pieces[0], json, stopReason], [{ kind: 'call', id: '7', tool: 'f' }, '{"a":1}', 'complete'])
  const message = { role: 'model', content: null, tool_calls: [{ id: 7, function: { name: 'f' } }] }
  raw.behave((socket) => socket.write(http(JSON.stringify({ id: 7, choices: [{ message, finish_reason: 'stop' }] }))))
  assert.deepEqual((await run()).parts, [{ kind: 'call', id: '7', tool: 'f', input: '' }])
})

const call = [
  { kind: 'call', id: 'c1', tool: 'f' },
  { kind: 'input', json: '{"a":1}' },
]

test('arguments that are an object are those of the call', async () => {
  streamOf(event({ tool_calls: [called({ a: 1 })] }, null), event({}, 'tool_calls'))
  assert.deepEqual((await stream()).pieces, call)
  const message = { content: null, tool_calls: [called({ a: 1 })] }
  raw.behave((socket) => socket.write(http(JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] }))))
  assert.deepEqual((await run()).parts, [{ kind: 'call', id: 'c1', tool: 'f', input: '{"a":1}' }])
})

for (const space of ['', '\n  ']) {
  test(`a whole reply instead of a stream is read, after the white space ${JSON.stringify(space)}`, async () => {
    const { index: _, ...unnumbered } = called('{"a":1}')
    const message = { content: 'Well.', tool_calls: [unnumbered] }
    const usage = { prompt_tokens: 12, completion_tokens: 7 }
    const body = JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage })
    raw.behave((socket) => socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${space}${body}`))
    const { pieces, stopReason, usage: counted } = await stream()
    assert.deepEqual([pieces, stopReason], [['Well.', ...call], 'complete'])
    assert.deepEqual(counted, { inputTokens: 12, outputTokens: 7, source: 'upstream' })
  })
}
