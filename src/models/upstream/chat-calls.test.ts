import assert from 'node:assert/strict'
import { after, afterEach, describe, test } from 'node:test'
import { createGate } from '../../../tests/support/gate.ts'
import { eventStream, startRawUpstream } from '../../../tests/support/raw-upstream.ts'
import { until } from '../../../tests/support/until.ts'
import { createModels, prompt, readStream } from '../../../tests/support/vendor-run.ts'
import type { VendorOptions } from '../../../tests/support/vendor-options.ts'
import { startVendor } from '../../../tests/support/vendor.ts'
import type { Delta } from '../conversation.ts'
import type { Model, StreamPart } from '../model.ts'

/** Streams with calls and reasoning, in the forms that servers send. */

const upstream = await startRawUpstream()
const vendor = await startVendor()
const models = createModels()
afterEach(async () => {
  vendor.set({})
  await models.close()
})
after(async () => {
  await upstream.close()
  await vendor.close()
})

const streamOf = (model: Model, signal = new AbortController().signal) =>
  model.stream(prompt, { maxOutputTokens: 100 }, signal)

/** What the model makes of these events. */
async function streamed(events: readonly unknown[]) {
  upstream.behave((socket) => socket.end(eventStream(events)))
  return readStream(await Array.fromAsync(streamOf(models.openAi({ endpoints: [{ url: upstream.url }] }))))
}

async function fromVendor(options: VendorOptions) {
  vendor.set(options)
  return readStream(await Array.fromAsync(streamOf(models.openAi({ endpoints: [{ url: vendor.url }] }))))
}

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'c',
  choices: [{ index: 0, delta, finish_reason }],
})
const finish = (reason = 'tool_calls') => chunk({}, reason)
const fragment = (
  index: number | undefined,
  id: string | undefined,
  name: string | undefined,
  json: string | undefined,
) => chunk({ tool_calls: [{ index, id, type: id && 'function', function: { name, arguments: json } }] })

const call = (id: string, tool: string): Delta => ({ kind: 'call', id, tool })
const input = (json: string): Delta => ({ kind: 'input', json })
const thinking = (text: string): Delta => ({ kind: 'reasoning', text })

describe('a stream with calls', () => {
  test('of OpenAI and llama.cpp: one after the other, each in pieces', async () => {
    const { pieces, stopReason } = await streamed([
      chunk({ role: 'assistant', content: null, refusal: null }),
      fragment(0, 'call_1', 'clock', ''),
      ...['{"', 'zone', '":"', 'UTC', '"}'].map((json) => fragment(0, undefined, undefined, json)),
      fragment(1, 'call_2', 'die', ''),
      fragment(1, undefined, undefined, '{}'),
      finish(),
    ])
    const first = ['{"', 'zone', '":"', 'UTC', '"}'].map(input)
    assert.deepEqual(pieces, [call('call_1', 'clock'), ...first, call('call_2', 'die'), input('{}')])
    assert.equal(stopReason, 'complete')
  })

  test('of Mistral: whole calls, with the finish reason', async () => {
    const calls = ['a', 'b'].map((name, index) => ({
      id: `id${name}`,
      index,
      function: { name, arguments: `{"${name}":1}` },
    }))
    const { pieces } = await streamed([chunk({ content: '', tool_calls: calls }, 'tool_calls')])
    assert.deepEqual(pieces, [call('ida', 'a'), input('{"a":1}'), call('idb', 'b'), input('{"b":1}')])
  })

  for (const [server, index] of [
    ['Gemini: whole calls without an index', undefined],
    ['Ollama: whole calls that all have the index 0', 0],
  ] as const) {
    test(`of ${server}`, async () => {
      const events = [fragment(index, 'i1', 'a', '{"a":1}'), fragment(index, 'i2', 'a', '{"a":2}'), finish('stop')]
      const { pieces } = await streamed(events)
      assert.deepEqual(pieces, [call('i1', 'a'), input('{"a":1}'), call('i2', 'a'), input('{"a":2}')])
    })

    test(`of ${server} and without an id`, async () => {
      const { pieces } = await streamed([
        fragment(index, '', 'a', '{"a":1}'),
        fragment(index, '', 'a', '{"a":2}'),
        finish('stop'),
      ])
      const ids = pieces.flatMap((piece) => (typeof piece !== 'string' && piece.kind === 'call' ? [piece.id] : []))
      assert.equal(new Set(ids).size, 2)
      assert.deepEqual(
        pieces.filter((piece) => typeof piece !== 'string' && piece.kind === 'input'),
        [input('{"a":1}'), input('{"a":2}')],
      )
    })
  }

  test('whose id and name are repeated, with empty fragments', async () => {
    const { pieces } = await streamed([
      fragment(0, 'i1', 'a', ''),
      fragment(0, 'i1', 'a', '{"a"'),
      fragment(0, 'i1', 'a', ''),
      fragment(0, '', '', ':1}'),
      fragment(0, 'i1', 'a', ''),
      finish(),
    ])
    assert.deepEqual(pieces, [call('i1', 'a'), input('{"a"'), input(':1}')])
  })

  test('whose fragments are mixed is put in order', async () => {
    const { pieces } = await streamed([
      fragment(0, 'i1', 'a', '{"a"'),
      fragment(1, 'i2', 'b', '{"b"'),
      chunk({ content: 'Wait.' }),
      fragment(1, undefined, undefined, ':2}'),
      fragment(0, undefined, undefined, ':1}'),
      fragment(2, 'i3', 'c', ''),
      finish(),
    ])
    assert.deepEqual(pieces, [
      call('i1', 'a'),
      input('{"a"'),
      input(':1}'),
      call('i2', 'b'),
      input('{"b":2}'),
      'Wait.',
      call('i3', 'c'),
    ])
  })

  test('with a text between calls keeps the order', async () => {
    const { pieces } = await streamed([
      chunk({ content: 'One' }),
      fragment(0, 'i1', 'a', '{}'),
      chunk({ content: 'Two' }),
      fragment(1, 'i2', 'b', '{}'),
      chunk({ reasoning_content: 'Hm.' }),
      finish('stop'),
    ])
    const calls = [call('i1', 'a'), input('{}'), 'Two', call('i2', 'b'), input('{}')]
    assert.deepEqual(pieces, ['One', ...calls, thinking('Hm.')])
  })

  test('with halves of a character in two fragments joins them', async () => {
    const halves = ['{"a":"\ud83d', '\ude00"}'].map((json) => fragment(0, undefined, undefined, json))
    const { pieces } = await streamed([fragment(0, 'i1', 'a', ''), ...halves, finish()])
    assert.deepEqual(pieces, [call('i1', 'a'), input('{"a":"'), input('😀"}')])
  })

  for (const [fault, events] of [
    ['a fragment of no call', [fragment(undefined, undefined, undefined, '{}')]],
    ['a call without a tool', [fragment(0, 'i1', undefined, '{}')]],
    [
      'a call that goes on after its end',
      [fragment(0, 'i1', 'a', '{}'), chunk({ content: 'x' }), fragment(0, 'i1', '', '}')],
    ],
  ] as const) {
    test(`and ${fault} breaks off`, async () => {
      assert.equal((await streamed([chunk({ content: 'One' }), ...events, finish()])).stopReason, 'error')
    })
  }
})

const detail = (more: object) => [{ type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', ...more }]

describe('a stream with reasoning', () => {
  test('of DeepSeek', async () => {
    const { pieces } = await streamed([
      chunk({ role: 'assistant', content: null, reasoning_content: '' }),
      chunk({ content: null, reasoning_content: 'Hm' }),
      chunk({ content: null, reasoning_content: '.' }),
      chunk({ content: 'Well.', reasoning_content: null }),
      finish('stop'),
    ])
    assert.deepEqual(pieces, [thinking('Hm'), thinking('.'), 'Well.'])
  })

  test('of vLLM, also if it sends both fields', async () => {
    const { pieces } = await streamed([
      chunk({ reasoning: 'Hm' }),
      chunk({ reasoning: '.', reasoning_content: '.' }),
      chunk({ content: 'Well.' }),
      finish('stop'),
    ])
    assert.deepEqual(pieces, [thinking('Hm'), thinking('.'), 'Well.'])
  })

  test('of Claude behind OpenRouter, with the signature', async () => {
    const { pieces } = await streamed([
      chunk({ content: '', reasoning: 'Hm.', reasoning_details: detail({ text: 'Hm.' }) }),
      chunk({ content: '', reasoning: null, reasoning_details: detail({ signature: 'c2ln' }) }),
      fragment(0, 'toolu_1', 'clock', '{}'),
      finish(),
    ])
    const signature: Delta = { kind: 'signature', signature: 'c2ln' }
    assert.deepEqual(pieces, [thinking('Hm.'), signature, call('toolu_1', 'clock'), input('{}')])
  })

  test('of Claude, with a signature that does not name its format', async () => {
    const { pieces } = await streamed([
      chunk({ reasoning: 'Hm.', reasoning_details: detail({ text: 'Hm.', format: undefined }) }),
      chunk({ reasoning_details: detail({ signature: 'c2ln', format: undefined }) }),
      chunk({ reasoning_details: detail({ signature: 'b3RoZXI=', format: 'another-v1' }) }),
      finish('stop'),
    ])
    assert.deepEqual(pieces, [thinking('Hm.'), { kind: 'signature', signature: 'c2ln' }])
  })

  test('of Mistral', async () => {
    const reasoning = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }
    const { pieces } = await streamed([chunk({ content: [reasoning] }), chunk({ content: 'Well.' }), finish('stop')])
    assert.deepEqual(pieces, [thinking('Hm.'), 'Well.'])
  })
})

const clock = { id: 'call_1', name: 'clock', input: '{"zone":"UTC"}' }
const calling: VendorOptions = { thinking: 'Hm.', calls: [clock] }

describe('A14 usage of a stream with calls', () => {
  const details = { prompt_tokens_details: { cached_tokens: 8 }, completion_tokens_details: { reasoning_tokens: 2 } }
  const usage = { prompt_tokens: 12, completion_tokens: 20, ...details }
  const expected = { inputTokens: 4, outputTokens: 20, cachedTokens: 8, reasoningTokens: 2, source: 'upstream' }

  for (const usageOn of ['last', 'several', 'all'] as const) {
    test(`is counted once if reported on ${usageOn} of the events`, async () => {
      const { pieces, usage: counted } = await fromVendor({ ...calling, usage, usageOn })
      assert.deepEqual(counted, expected)
      assert.equal(pieces.length, 2 + 1 + 2)
    })
  }

  test('with details on one event and without them on the next counts cached tokens once', async () => {
    const bare = { prompt_tokens: 12, completion_tokens: 20 }
    const { usage: counted } = await streamed([
      chunk({ content: 'Well.' }, 'stop'),
      { choices: [], usage },
      { choices: [], usage: bare },
    ])
    assert.deepEqual(counted, expected)
  })

  test('that is missing is one token for each piece', async () => {
    const { usage: counted } = await fromVendor({ ...calling, usageOn: 'none' })
    // Two pieces of reasoning, the name, and two pieces of the input.
    assert.deepEqual(counted, { inputTokens: 5, outputTokens: 5, source: 'estimated' })
  })

  test('that is missing is estimated from the bytes of a call that comes whole', async () => {
    // 5 bytes of the tool, and 395 of its input.
    const whole = JSON.stringify({ zone: 'x'.repeat(384) })
    const { usage: counted } = await streamed([fragment(0, 'i1', 'clock', whole), finish()])
    assert.deepEqual(counted, { inputTokens: 5, outputTokens: 100, source: 'estimated' })
  })
})

describe('A14 an incomplete stream with calls is an error', () => {
  for (const fault of [
    'reset',
    'half_stream',
    'early_end',
    'no_terminal',
    'malformed_event',
    'odd_event',
    'error_event',
  ] as const) {
    test(`${fault} after 3 pieces ends with them and is not retried`, async () => {
      const gate = createGate()
      vendor.set({
        ...calling,
        calls: [{ ...clock, pieces: ['{', '}'] }],
        fault,
        after: 4,
        gate: gate.pass,
        usageOn: 'none',
      })
      const { calls } = vendor
      const all: StreamPart[] = []
      gate.open(1)
      for await (const part of streamOf(models.openAi({ endpoints: [{ url: vendor.url }] }))) {
        all.push(part)
        const read = readStream([...all, { kind: 'end', stopReason: 'error', usage: none }]).pieces.length
        gate.open(read + 1)
      }
      const { pieces, stopReason, usage } = readStream(all)
      assert.deepEqual(pieces, [thinking('Hm'), thinking('.'), call('call_1', 'clock'), input('{')])
      assert.deepEqual([stopReason, usage], ['error', { inputTokens: 5, outputTokens: 4, source: 'estimated' }])
      assert.equal(vendor.calls, calls + 1)
    })
  }
})

const none = { inputTokens: 0, outputTokens: 0, source: 'estimated' } as const

test('A15 a caller who disconnects within a call aborts the upstream and pays for what arrived', async () => {
  const gate = createGate()
  vendor.set({ ...calling, gate: gate.pass })
  const { calls, abandoned } = vendor
  const leaving = new AbortController()
  const all: StreamPart[] = []
  gate.open(4)
  for await (const part of streamOf(models.openAi({ endpoints: [{ url: vendor.url }] }), leaving.signal)) {
    all.push(part)
    if (part.kind === 'deltas' && part.deltas.some(({ kind }) => kind === 'input')) leaving.abort()
  }
  const { pieces, stopReason, usage } = readStream(all)
  assert.deepEqual(pieces.at(-1), input('{"zone":'))
  assert.deepEqual([stopReason, usage], ['cancelled', { inputTokens: 5, outputTokens: 4, source: 'estimated' }])
  await until(() => vendor.abandoned === abandoned + 1)
  assert.equal(vendor.calls, calls + 1)
})
