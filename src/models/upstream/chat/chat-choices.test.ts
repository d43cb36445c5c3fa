import assert from 'node:assert/strict'
import { after, afterEach, describe, test } from 'node:test'
import { eventStream, http, startRawUpstream, streamHead } from '../../../../tests/support/raw-upstream.ts'
import { createModels, prompt } from '../../../../tests/support/vendor-run.ts'
import type { RunLimits, StreamPart } from '../../model.ts'

/** Several choices of one reply, as servers send them. */

const upstream = await startRawUpstream()
const models = createModels()
afterEach(() => models.close())
after(() => upstream.close())

const limits: RunLimits = { maxOutputTokens: 4, choices: 3 }
const { signal } = new AbortController()
const open = () => models.openAi({ endpoints: [{ url: upstream.url }] })
const said = (index: unknown, content: string, more: object = {}) => ({
  index,
  message: { content },
  finish_reason: 'stop',
  ...more,
})
const usage = { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 }

const whole = (choices: readonly object[], more: object = {}) => {
  upstream.behave((socket) => socket.write(http(JSON.stringify({ choices, ...more }))))
  return open().run(prompt, limits, signal)
}

const piece = (index: unknown, delta: object, finish_reason: string | null = null, more: object = {}) => ({
  choices: [{ index, delta, finish_reason, ...more }],
})
const stream = async (events: readonly object[]): Promise<readonly StreamPart[]> => {
  upstream.behave((socket) => socket.end(eventStream(events)))
  return Array.fromAsync(open().stream(prompt, limits, signal))
}
const endOf = (parts: readonly StreamPart[]) => {
  const end = parts.at(-1)
  assert.ok(end?.kind === 'end')
  return end
}

const fragment = (json: string, name?: string) => ({
  tool_calls: [{ index: 0, id: name && 'c', function: { name, arguments: json } }],
})

describe('the choices of a whole reply', () => {
  test('are in the order of their indices, with the usage of all', async () => {
    const call = { id: 'c', function: { name: 'find', arguments: '{}' } }
    const third = said(2, '', { message: { content: null, tool_calls: [call] }, finish_reason: 'length' })
    const reply = await whole([third, said(1, 'Two.'), said(0, 'One.')], { usage })
    assert.deepEqual(reply, {
      text: 'One.',
      stopReason: 'complete',
      others: [
        { text: 'Two.', parts: undefined, logprobs: undefined, stopReason: 'complete' },
        {
          text: '',
          parts: [{ kind: 'call', id: 'c', tool: 'find', input: '{}' }],
          logprobs: undefined,
          stopReason: 'max_output_tokens',
        },
      ],
      usage: { inputTokens: 5, outputTokens: 9, source: 'upstream' },
    })
  })

  test('are counted together if the upstream does not, up to the maximum of all', async () => {
    const own = { usage: { prompt_tokens: 5, completion_tokens: 1 } }
    const reply = await whole([said(0, 'x'.repeat(8), own), said(1, 'x'.repeat(8), own), said(2, 'x')])
    assert.deepEqual([reply.usage.outputTokens, reply.usage.source], [5, 'estimated'])
    const long = await whole([0, 1, 2].map((index) => said(index, 'x'.repeat(400))))
    assert.equal(long.usage.outputTokens, 12)
  })

  test('fail if one is missing, which says nothing about the health of the server', async () => {
    upstream.behave((socket) => socket.write(http(JSON.stringify({ choices: [said(0, 'One.'), said(1, 'Two.')] }))))
    const model = open()
    const { requests } = upstream
    for (let asked = 0; asked < 8; asked++)
      await assert.rejects(model.run(prompt, limits, signal), { code: 'upstream_failed' })
    assert.deepEqual([upstream.requests - requests, model.health()], [8, { ready: true }])
  })
})

describe('the choices of a stream', () => {
  test('are read apart, however their pieces alternate, and end for their own reasons', async () => {
    const parts = await stream([
      piece(0, { content: 'One\ud83d' }),
      piece(1, fragment('', 'find')),
      piece(2, { reasoning_content: 'Hm.' }),
      piece(1, fragment('{"a"')),
      { choices: [...piece(2, { content: 'Three' }).choices, ...piece(0, { content: '\ude00.' }).choices] },
      piece(1, fragment(':1}')),
      piece(0, {}, 'stop'),
      piece(2, {}, 'content_filter'),
      piece(1, {}, 'length'),
      { choices: [], usage },
    ])
    const joined = new Map<number, string>()
    for (const part of parts) {
      if (part.kind === 'end') continue
      const texts = part.kind === 'texts' ? part.texts : []
      const deltas = part.kind === 'deltas' ? part.deltas : []
      const written = deltas.map((each) => (each.kind === 'input' ? each.json : `<${each.kind}>`))
      const choice = part.choice ?? 0
      joined.set(choice, (joined.get(choice) ?? '') + [...texts, ...written].join(''))
    }
    assert.deepEqual(Object.fromEntries(joined), { 0: 'One😀.', 1: '<call>{"a":1}', 2: '<reasoning>Three' })
    assert.deepEqual(endOf(parts), {
      kind: 'end',
      stopReason: 'complete',
      otherReasons: ['max_output_tokens', 'content_filter'],
      usage: { inputTokens: 5, outputTokens: 9, source: 'upstream' },
    })
  })

  test('are counted together if the upstream does not, up to the maximum of all', async () => {
    const words = Array.from({ length: 5 }, () => [0, 1, 2].map((index) => piece(index, { content: 'x' }))).flat()
    const ends = [0, 1, 2].map((index) =>
      piece(index, {}, 'stop', { usage: { prompt_tokens: 5, completion_tokens: 5 } }),
    )
    assert.equal(endOf(await stream([...words.slice(0, 7), ...ends])).usage.outputTokens, 7)
    assert.equal(endOf(await stream([...words, ...ends])).usage.outputTokens, 12)
  })

  test('break off together', async () => {
    const sent = [piece(1, { content: 'Two' }), piece(1, {}, 'stop'), piece(0, { content: 'One' })]
    const events = sent.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')
    upstream.behave((socket) => socket.end(streamHead + events))
    const end = endOf(await Array.fromAsync(open().stream(prompt, limits, signal)))
    assert.deepEqual([end.stopReason, end.otherReasons, end.usage.outputTokens], ['error', ['complete', 'error'], 2])
  })

  test('break off if one is missing, which says nothing about the health of the server', async () => {
    upstream.behave((socket) => socket.end(eventStream([piece(0, { content: 'One' }), piece(0, {}, 'stop')])))
    const model = open()
    for (let asked = 0; asked < 8; asked++) {
      const end = endOf(await Array.fromAsync(model.stream(prompt, limits, signal)))
      assert.deepEqual([end.stopReason, end.problem?.code], ['error', 'upstream_failed'])
    }
    assert.deepEqual(model.health(), { ready: true })
  })

  test('may arrive as a whole reply', async () => {
    const choices = [0, 1, 2].map((index) => said(index, `${index}.`))
    upstream.behave((socket) => socket.write(http(JSON.stringify({ choices, usage }))))
    const parts = await Array.fromAsync(open().stream(prompt, limits, signal))
    const texts = parts.flatMap((part) => (part.kind === 'texts' ? [[part.choice, ...part.texts]] : []))
    assert.deepEqual(texts, [
      [undefined, '0.'],
      [1, '1.'],
      [2, '2.'],
    ])
    assert.deepEqual(endOf(parts).otherReasons, ['complete', 'complete'])
  })
})
