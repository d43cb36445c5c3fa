import assert from 'node:assert/strict'
import { after, afterEach, describe, test } from 'node:test'
import { pino } from 'pino'
import { at } from '../../../../tests/support/json.ts'
import { openPackage } from '../../../../tests/support/provider-packages.ts'
import { http, startRawUpstream, streamHead } from '../../../../tests/support/raw-upstream.ts'
import { createModels, prompt, readStream } from '../../../../tests/support/vendor-run.ts'
import type { LanguageModel } from './provider.ts'
import { readResult } from './reply.ts'

const run = { limits: { maxOutputTokens: 9 }, log: pino({ enabled: false }) }

/** Replies in forms that the stand-in does not send. */

const upstream = await startRawUpstream()
const models = createModels()
afterEach(() => models.close())
after(() => upstream.close())

const limits = { maxOutputTokens: 100 }

const openThinker = () => openPackage(models, '@ai-sdk/openai', { url: upstream.url })
const summaryEvent = (type: string, summary_index: number, more: object = {}) => ({
  type: `response.reasoning_summary_${type}`,
  item_id: 'rs_1',
  output_index: 0,
  summary_index,
  ...more,
})

describe('a summary of reasoning in two parts', () => {
  const summary = ['Hm.', 'Ok.'].map((text) => ({ type: 'summary_text', text }))
  const reasoning = { type: 'reasoning', id: 'rs_1', encrypted_content: 'c2ln', summary }
  const message = { type: 'message', id: 'msg_1', role: 'assistant', content: [] }
  const response = {
    id: 'resp_1',
    created_at: 1,
    model: 'm',
    output: [{ ...reasoning }, { ...message, content: [{ type: 'output_text', text: 'Well.', annotations: [] }] }],
    usage: { input_tokens: 12, output_tokens: 9 },
  }
  const thinks = { ...prompt, reasoning: { effort: 'low', summary: 'auto' } } as const

  test('is one part with one signature', async () => {
    upstream.behave((socket) => socket.write(http(JSON.stringify(response))))
    const { parts } = await openThinker().run(thinks, limits, new AbortController().signal)
    assert.deepEqual(parts, [
      { kind: 'reasoning', text: 'Hm.\n\nOk.', signature: 'c2ln' },
      { kind: 'text', text: 'Well.' },
    ])
  })

  test('is the same in a stream, whose first event has another signature', async () => {
    const events = [
      { type: 'response.created', response: { ...response, output: [] } },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...reasoning, encrypted_content: 'early', summary: [] },
      },
      ...summary.flatMap(({ text }, index) => [
        summaryEvent('part.added', index),
        summaryEvent('text.delta', index, { delta: text }),
        summaryEvent('part.done', index),
      ]),
      { type: 'response.output_item.done', output_index: 0, item: reasoning },
      { type: 'response.output_item.added', output_index: 1, item: message },
      { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 1, content_index: 0, delta: 'Well.' },
      { type: 'response.output_item.done', output_index: 1, item: message },
      { type: 'response.completed', response },
    ]
    upstream.behave((socket) =>
      socket.end(streamHead + events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')),
    )
    const { pieces } = readStream(
      await Array.fromAsync(openThinker().stream(thinks, limits, new AbortController().signal)),
    )
    assert.deepEqual(pieces, [
      { kind: 'reasoning', text: 'Hm.' },
      { kind: 'reasoning', text: '\n\n' },
      { kind: 'reasoning', text: 'Ok.' },
      { kind: 'signature', signature: 'c2ln' },
      'Well.',
    ])
  })
})

describe('the result of a package', () => {
  const text = { type: 'text', text: 'Well.' }
  const usageOf = (usage: object, providerMetadata?: object) => {
    const { counts } = readResult({ content: [text], finishReason: 'stop', usage, providerMetadata }, run)
    return Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== undefined))
  }

  for (const [name, usage, metadata, expected] of [
    [
      'version 3, in which input includes the cache',
      {
        inputTokens: { total: 100, noCache: 30, cacheRead: 60, cacheWrite: 10 },
        outputTokens: { total: 20, reasoning: 5 },
      },
      undefined,
      { inputTokens: 30, cachedTokens: 60, cacheWriteTokens: 10, outputTokens: 20, reasoningTokens: 5 },
    ],
    [
      'version 3 with more cached tokens than there are',
      { inputTokens: { total: 50, cacheRead: 60, cacheWrite: 10 }, outputTokens: { total: 20 } },
      undefined,
      { inputTokens: 0, cachedTokens: 50, outputTokens: 20 },
    ],
    [
      'version 2, in which input includes the cache',
      { inputTokens: 100, outputTokens: 20, cachedInputTokens: 60, reasoningTokens: 5 },
      undefined,
      { inputTokens: 40, cachedTokens: 60, outputTokens: 20, reasoningTokens: 5 },
    ],
    [
      "version 2 of Anthropic's package, in which it does not",
      { inputTokens: 30, outputTokens: 20, cachedInputTokens: 60 },
      { anthropic: { cacheCreationInputTokens: 10 } },
      { inputTokens: 30, cachedTokens: 60, cacheWriteTokens: 10, outputTokens: 20 },
    ],
    ['counts that are none', { inputTokens: Number.NaN, outputTokens: -1, cachedInputTokens: 60 }, undefined, {}],
  ] as const) {
    test(`counts each token once: ${name}`, () => {
      assert.deepEqual(usageOf(usage, metadata), expected)
    })
  }

  test('has no calls that the vendor has carried out itself', () => {
    const call = { type: 'tool-call', toolCallId: 'c', toolName: 'search', input: '{}', providerExecuted: true }
    const usage = { inputTokens: 1, outputTokens: 1 }
    const { parts } = readResult({ content: [call, text], finishReason: 'stop', usage }, run)
    assert.equal(parts, undefined)
  })
})

const unused = () => Promise.reject(new Error('not used'))

/** A model behind a package that is not installed here. */
function openStub(stub: Pick<LanguageModel, 'specificationVersion'> & Partial<LanguageModel>) {
  const provider = () => ({ doGenerate: unused, doStream: unused, ...stub })
  return openPackage(models, '@ai-sdk/openai', { url: upstream.url, provider })
}

const start = (id: string, toolName: string) => ({ type: 'tool-input-start', id, toolName })
const delta = (id: string, json: string) => ({ type: 'tool-input-delta', id, delta: json })
const whole = (toolCallId: string, toolName: string, input: string) => ({
  type: 'tool-call',
  toolCallId,
  toolName,
  input,
})
const finish = { type: 'finish', finishReason: 'tool-calls', usage: {} }
const streamed = async (parts: readonly object[]) => {
  const doStream = () => Promise.resolve({ stream: ReadableStream.from(parts) })
  const model = openStub({ specificationVersion: 'v2', doStream })
  return readStream(await Array.fromAsync(model.stream(prompt, limits, new AbortController().signal)))
}

describe('a stream of another package', () => {
  const calls = [
    { kind: 'call', id: 'i1', tool: 'a' },
    { kind: 'input', json: '{"a"' },
    { kind: 'input', json: ':1' },
    { kind: 'call', id: 'i2', tool: 'b' },
    { kind: 'input', json: '{"b":2}' },
  ]

  test('in which the pieces of calls are mixed is put in order, even if one is not JSON', async () => {
    const { pieces, usage } = await streamed([
      start('i1', 'a'),
      delta('i1', '{"a"'),
      start('i2', 'b'),
      delta('i2', '{"b":2}'),
      delta('i1', ':1'),
      whole('i1', 'a', '{"a":1'),
      whole('i2', 'b', '{"b":2}'),
      finish,
    ])
    assert.deepEqual(pieces, calls)
    assert.deepEqual(usage, { inputTokens: 5, outputTokens: 5, source: 'estimated' })
  })

  test('with whole calls has them, except those that the vendor carries out itself', async () => {
    const search = { providerExecuted: true }
    const { pieces } = await streamed([
      { ...start('s', 'search'), ...search },
      { ...whole('s', 'search', '{}'), ...search },
      whole('i1', 'a', '{}'),
      finish,
    ])
    // The vendor may have cut the call off before its arguments, for which packages write {}, too.
    assert.deepEqual(pieces, [{ kind: 'call', id: 'i1', tool: 'a' }])
  })

  test('is not charged for empty pieces', async () => {
    const { usage } = await streamed([start('i1', 'a'), delta('i1', ''), delta('i1', '{}'), delta('i1', ''), finish])
    assert.deepEqual(usage, { inputTokens: 5, outputTokens: 2, source: 'estimated' })
  })
})

test('a package of version 4 receives files in its form', async () => {
  let sent: unknown
  const doGenerate: LanguageModel['doGenerate'] = (options) => {
    sent = options
    return Promise.resolve({ content: [], finishReason: 'stop', usage: { inputTokens: 1, outputTokens: 0 } })
  }
  const image = {
    kind: 'file',
    mediaType: 'image/png',
    data: 'aGk=',
    extent: { width: 1, height: 1 },
    field: 'x',
  } as const
  const open = openStub({ specificationVersion: 'v4', doGenerate })
  await open.run({ messages: [{ role: 'user', parts: [image] }] }, limits, new AbortController().signal)
  assert.deepEqual(at(sent, 'prompt', 0, 'content'), [
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aGk=' } },
  ])
})
