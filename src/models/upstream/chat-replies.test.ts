import assert from 'node:assert/strict'
import { after, afterEach, describe, test } from 'node:test'
import { http, startRawUpstream } from '../../../tests/support/raw-upstream.ts'
import { createModels, prompt } from '../../../tests/support/vendor-run.ts'
import { Problem } from '../../platform/problems.ts'
import type { WholeReply } from '../model.ts'

/** Whole replies with calls, reasoning and cached tokens, in the forms that servers send. */

const upstream = await startRawUpstream()
const models = createModels()
afterEach(() => models.close())
after(() => upstream.close())

/** What the model makes of a chat completion. */
async function replyTo(choice: object, usage: unknown = null): Promise<WholeReply> {
  upstream.behave((socket) =>
    socket.write(http(JSON.stringify({ id: 'c', choices: [{ index: 0, ...choice }], usage }))),
  )
  const model = models.openAi({ endpoints: [{ url: upstream.url }] })
  return model.run(prompt, { maxOutputTokens: 100 }, new AbortController().signal)
}

const message = (fields: object, finish_reason = 'stop') => ({
  message: { role: 'assistant', ...fields },
  finish_reason,
})
const call = (id: unknown, name: string, input: unknown) => ({
  id,
  type: 'function',
  function: { name, arguments: input },
})
const made = (id: string, tool: string, input: string) => ({ kind: 'call', id, tool, input })

const usageOf = async (usage: object) => (await replyTo(message({ content: 'Well.' }), usage)).usage

describe('calls', () => {
  test('of OpenAI: without a text, in their order, with their arguments as written', async () => {
    const calls = [call('call_1', 'clock', '{ "zone": "UTC" }'), call('call_2', 'die', '{}')]
    const reply = await replyTo(message({ content: null, refusal: null, tool_calls: calls }, 'tool_calls'))
    assert.deepEqual([reply.text, reply.stopReason], ['', 'complete'])
    assert.deepEqual(reply.parts, [made('call_1', 'clock', '{ "zone": "UTC" }'), made('call_2', 'die', '{}')])
  })

  test('come after the text', async () => {
    const { text, parts } = await replyTo(message({ content: 'Let me see.', tool_calls: [call('c', 'clock', '')] }))
    assert.equal(text, 'Let me see.')
    assert.deepEqual(parts, [{ kind: 'text', text: 'Let me see.' }, made('c', 'clock', '')])
  })

  test('without a content, with arguments as an object', async () => {
    const { parts } = await replyTo(message({ tool_calls: [call('c', 'clock', { zone: 'UTC' })] }, 'tool_calls'))
    assert.deepEqual(parts, [made('c', 'clock', '{"zone":"UTC"}')])
  })

  test('without an id have different ids', async () => {
    const calls = [call('', 'a', '{}'), call(null, 'b', '{}'), { function: { name: 'c' } }]
    const { parts = [] } = await replyTo(message({ content: '', tool_calls: calls }, 'tool_calls'))
    const ids = parts.flatMap((part) => (part.kind === 'call' ? [part.id] : []))
    assert.equal(new Set(ids).size, 3)
    for (const id of ids) assert.match(id, /^call_[0-9a-f]{24}$/)
  })

  test('of no tool are a failure, and none at all are a text', async () => {
    await assert.rejects(replyTo(message({ content: '', tool_calls: [{ id: 'c' }] })), Problem)
    for (const tool_calls of [null, []]) {
      assert.equal((await replyTo(message({ content: 'Well.', tool_calls }))).parts, undefined)
    }
  })
})

describe('reasoning', () => {
  const reasoning = { kind: 'reasoning', text: 'Hm.' }
  const text = { kind: 'text', text: 'Well.' }

  for (const [vendor, fields] of [
    ['DeepSeek and llama.cpp', { content: 'Well.', reasoning_content: 'Hm.' }],
    ['vLLM', { content: 'Well.', reasoning: 'Hm.', tool_calls: [] }],
    ['a server that sends both', { content: 'Well.', reasoning: 'Hm.', reasoning_content: 'Hm.' }],
    [
      'Mistral',
      {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }], closed: true },
          { type: 'text', text: 'Well.' },
        ],
      },
    ],
    [
      'OpenRouter',
      {
        content: 'Well.',
        reasoning: 'Hm.',
        reasoning_details: [{ type: 'reasoning.summary', summary: 'Hm.', format: 'x' }],
      },
    ],
  ] as const) {
    test(`of ${vendor}`, async () => {
      const reply = await replyTo(message(fields))
      assert.deepEqual([reply.text, reply.parts], ['Well.', [reasoning, text]])
    })
  }

  test('of Claude behind OpenRouter stay apart where each has its own signature', async () => {
    const format = 'anthropic-claude-v1'
    const reasoning_details = [
      { type: 'reasoning.encrypted', data: 'ZW5j', format },
      { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln', format },
      { type: 'reasoning.text', text: 'Oh.', signature: 'c2lo', format },
    ]
    const { parts } = await replyTo(message({ content: 'Well.', reasoning: 'Hm.Oh.', reasoning_details }))
    assert.deepEqual(parts, [
      { kind: 'reasoning', text: '', signature: 'ZW5j', redacted: true },
      { kind: 'reasoning', text: 'Hm.', signature: 'c2ln' },
      { kind: 'reasoning', text: 'Oh.', signature: 'c2lo' },
      text,
    ])
  })

  test('of Claude behind OpenRouter have their signatures', async () => {
    const format = 'anthropic-claude-v1'
    const reasoning_details = [
      { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln', format, index: 0 },
      { type: 'reasoning.encrypted', data: 'ZW5j', format, index: 1 },
    ]
    const { parts } = await replyTo(message({ content: 'Well.', reasoning: 'Hm.', reasoning_details }))
    const hidden = { kind: 'reasoning', text: '', signature: 'ZW5j', redacted: true }
    assert.deepEqual(parts, [{ ...reasoning, signature: 'c2ln' }, hidden, text])
  })

  test('alone are a reply', async () => {
    const { text: words, parts, stopReason } = await replyTo(message({ content: null, reasoning: 'Hm.' }, 'length'))
    assert.deepEqual([words, parts, stopReason], ['', [reasoning], 'max_output_tokens'])
  })
})

describe('usage', () => {
  const common = { prompt_tokens: 100, completion_tokens: 9, total_tokens: 109 }

  for (const [vendor, more, expected] of [
    [
      'OpenAI',
      { prompt_tokens_details: { cached_tokens: 80, audio_tokens: 0 } },
      { inputTokens: 20, cachedTokens: 80 },
    ],
    ['vLLM', { prompt_tokens_details: null }, { inputTokens: 100 }],
    ['DeepSeek', { prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 }, { inputTokens: 36, cachedTokens: 64 }],
    ['Moonshot', { cached_tokens: 64 }, { inputTokens: 36, cachedTokens: 64 }],
    [
      'OpenRouter',
      { prompt_tokens_details: { cached_tokens: 50, cache_write_tokens: 30 }, cost: 0.1 },
      { inputTokens: 20, cachedTokens: 50, cacheWriteTokens: 30 },
    ],
    [
      'LiteLLM',
      {
        prompt_tokens_details: { cached_tokens: 50, cache_creation_tokens: 30, text_tokens: null },
        cache_read_input_tokens: 50,
        cache_creation_input_tokens: 30,
      },
      { inputTokens: 20, cachedTokens: 50, cacheWriteTokens: 30 },
    ],
    [
      'an older LiteLLM',
      { cache_read_input_tokens: 50, cache_creation_input_tokens: 30 },
      { inputTokens: 20, cachedTokens: 50, cacheWriteTokens: 30 },
    ],
    [
      'a server that reports more cached tokens than there are',
      { prompt_tokens_details: { cached_tokens: 80, cache_write_tokens: 80 } },
      { inputTokens: 0, cachedTokens: 80, cacheWriteTokens: 20 },
    ],
    [
      'a server with odd details',
      { prompt_tokens_details: { cached_tokens: -1, cache_write_tokens: '5' } },
      { inputTokens: 100 },
    ],
  ] as const) {
    test(`of ${vendor} counts each token of the prompt once`, async () => {
      assert.deepEqual(await usageOf({ ...common, ...more }), { outputTokens: 9, source: 'upstream', ...expected })
    })
  }

  test('has the reasoning, which is part of the output, even where the server counts it in the total only', async () => {
    const completion_tokens_details = { reasoning_tokens: 5 }
    const openAi = await usageOf({ ...common, completion_tokens_details })
    assert.deepEqual([openAi.outputTokens, openAi.reasoningTokens], [9, 5])
    const xAi = await usageOf({ ...common, total_tokens: 114, completion_tokens_details })
    assert.deepEqual([xAi.outputTokens, xAi.reasoningTokens], [14, 5])
    // No total, or one that is neither sum, says nothing of where the reasoning is: it is not charged twice.
    for (const total of [undefined, 0, 113, 115]) {
      const other = await usageOf({ ...common, total_tokens: total, completion_tokens_details })
      assert.deepEqual([other.outputTokens, other.reasoningTokens], [9, 5], String(total))
    }
  })

  test('has what the total counts beside prompt and completion as reasoning, unless it is the cache', async () => {
    const prompt_tokens_details = { cached_tokens: 50, cache_write_tokens: 30 }
    for (const [beside, output] of [
      [0, 9],
      [30, 9],
      [50, 9],
      [80, 9],
      [7, 16],
    ] as const) {
      const { outputTokens } = await usageOf({ ...common, total_tokens: 109 + beside, prompt_tokens_details })
      assert.equal(outputTokens, output, String(beside))
    }
  })

  test('that is missing is estimated from calls and reasoning, too', async () => {
    // 20 bytes of prompt; 8 of reasoning, 4 of the tool and 16 of its input.
    const calls = [call('c', 'tool', '{"zone":"local"}')]
    const { usage } = await replyTo(message({ content: null, reasoning: 'thinking', tool_calls: calls }, 'tool_calls'))
    assert.deepEqual(usage, { inputTokens: 5, outputTokens: 7, source: 'estimated' })
  })

  test('of the cache without that of the prompt is ignored', async () => {
    assert.deepEqual(await usageOf({ completion_tokens: 9, prompt_cache_hit_tokens: 64 }), {
      inputTokens: 5,
      outputTokens: 9,
      source: 'estimated',
    })
  })
})
