import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { objectAt, parseObject, type Json } from '../../../../tests/support/json.ts'
import type { Message, Part, Prompt } from '../../conversation.ts'
import type { RunLimits } from '../../model.ts'
import { createRequestWriter } from './chat-request.ts'

const user: Message = { role: 'user', text: 'What time is it?' }
const limits: RunLimits = { maxOutputTokens: 100 }
const form = { bound: 'max_tokens', streamOptions: true, oneSystem: false } as const

const written = (prompt: Partial<Prompt>, name = 'gpt-5', more: Partial<RunLimits> = {}, reasons = false): Json =>
  parseObject(
    createRequestWriter({ name, reasons })({ messages: [user], ...prompt }, { ...limits, ...more }, false, form),
  )
const messagesOf = (messages: readonly Message[], model = 'gpt-5') => written({ messages }, model)['messages']
const assistant = (...parts: readonly Part[]): Message => ({ role: 'assistant', parts })
const turn = (...parts: readonly Part[]): Message => ({ role: 'user', parts })

const call = { kind: 'call', id: 'call_1', tool: 'clock', input: '{ "zone": "UTC" }' } as const
const result = { kind: 'result', callId: 'call_1', content: [{ kind: 'text', text: 'noon' }] } as const
const image = {
  kind: 'file',
  mediaType: 'image/png',
  data: 'aGk=',
  extent: { width: 1, height: 1 },
  field: 'messages[0]',
} as const
const field = 'tools[0].function.parameters'
const text = (words: string) => ({ kind: 'text', text: words }) as const

const toolCalls = [{ id: 'call_1', type: 'function', function: { name: 'clock', arguments: '{ "zone": "UTC" }' } }]

test('a request of only text is what it always was, byte for byte', () => {
  const messages = [{ role: 'system', text: 'Be brief.' } as const, user]
  const write = createRequestWriter({ name: 'm', reasons: false })
  const all = { maxOutputTokens: 7, temperature: 0.5, topP: 0.9, seed: 42, stop: ['\n'] }
  assert.equal(
    write({ messages }, all, true, form),
    '{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"What time is it?"}],' +
      '"max_tokens":7,"temperature":0.5,"top_p":0.9,"seed":42,"stop":["\\n"],' +
      '"stream":true,"stream_options":{"include_usage":true}}',
  )
  assert.equal(
    write({ messages: [user] }, limits, false, form),
    '{"model":"m","messages":[{"role":"user","content":"What time is it?"}],"max_tokens":100}',
  )
})

describe('calls and results', () => {
  test('are messages of the assistant and of tools, and what else is in the turn follows', () => {
    const results = [result, { ...result, callId: 'call_2', content: [] }]
    assert.deepEqual(messagesOf([user, assistant(text('Let me see.'), call), turn(...results, text('Hurry.'))]), [
      { role: 'user', content: 'What time is it?' },
      { role: 'assistant', content: 'Let me see.', tool_calls: toolCalls },
      { role: 'tool', tool_call_id: 'call_1', content: 'noon' },
      { role: 'tool', tool_call_id: 'call_2', content: '' },
      { role: 'user', content: 'Hurry.' },
    ])
  })

  test('without a text have the content null, and nothing follows results alone', () => {
    assert.deepEqual(messagesOf([assistant(call), turn(result)]), [
      { role: 'assistant', content: null, tool_calls: toolCalls },
      { role: 'tool', tool_call_id: 'call_1', content: 'noon' },
    ])
  })

  test('an image in a result is sent with the message of the user', () => {
    assert.deepEqual(messagesOf([turn({ ...result, content: [text('noon'), image] }, text('And?'))]), [
      { role: 'tool', tool_call_id: 'call_1', content: 'noon' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
          { type: 'text', text: 'And?' },
        ],
      },
    ])
  })
})

test('images and documents', () => {
  const pdf = { ...image, mediaType: 'application/pdf', extent: { pages: 1 } } as const
  const files = [{ ...image, detail: 'low' }, pdf, { ...pdf, name: 'a.pdf' }] as const
  assert.deepEqual(messagesOf([turn(...files)]), [
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=', detail: 'low' } },
        { type: 'file', file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,aGk=' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' } },
      ],
    },
  ])
})

describe('reasoning of earlier turns', () => {
  const reasoning = { kind: 'reasoning', text: 'Hm.', signature: 'c2ln' } as const
  const hidden = { kind: 'reasoning', text: '', signature: 'ZW5j', redacted: true } as const
  const messages = [assistant(reasoning, hidden, call)]
  const sent = (model: string, all: readonly Message[] = messages) => objectAt(messagesOf(all, model), 0)

  test('are dropped where servers refuse them', () => {
    for (const model of ['gpt-5', 'mistral-large-latest', 'openai/gpt-oss-120b', 'm']) {
      assert.deepEqual(sent(model), { role: 'assistant', content: null, tool_calls: toolCalls }, model)
    }
  })

  test('are sent with calls where servers read them', () => {
    for (const model of ['deepseek-chat', 'moonshotai/kimi-k2-thinking', 'GLM-4.6']) {
      assert.equal(sent(model)['reasoning_content'], 'Hm.', model)
      assert.ok(!('reasoning_content' in sent(model, [assistant(reasoning, text('Noon.'))])), model)
    }
  })

  test('are sent to DeepSeek even if empty, which requires them', () => {
    assert.equal(sent('deepseek-reasoner', [assistant(call)])['reasoning_content'], '')
    assert.ok(!('reasoning_content' in sent('kimi-k2', [assistant(call)])))
  })

  test('leave an empty text behind where they are not sent: null is for calls', () => {
    assert.equal(sent('m', [assistant({ kind: 'reasoning', text: 'Hm.' })])['content'], '')
    assert.equal(sent('m', [assistant(call)])['content'], null)
  })

  test('are sent to Claude with their signatures', () => {
    const format = 'anthropic-claude-v1'
    assert.deepEqual(sent('anthropic/claude-sonnet-4.5')['reasoning_details'], [
      { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln', format },
      { type: 'reasoning.encrypted', data: 'ZW5j', format },
    ])
    assert.ok(!('reasoning_content' in sent('anthropic/claude-sonnet-4.5')))
    assert.ok(!('reasoning_details' in sent('claude', [assistant({ kind: 'reasoning', text: 'Hm.' }, call)])))
  })
})

test('marks for the cache are sent to Claude only', () => {
  const cache = { ttl: '1h' } as const
  const prompt = {
    messages: [
      { role: 'system', parts: [text('Be brief.'), { ...text('Be kind.'), cache: {} }] } as const,
      assistant({ ...call, cache }),
      turn({ ...result, cache }, text('And?')),
    ],
    tools: [{ name: 'clock', parameters: { type: 'object' }, field, cache: {} }],
  }
  const mark = { cache_control: { type: 'ephemeral' } }
  const long = { cache_control: { type: 'ephemeral', ttl: '1h' } }
  const claude = written(prompt, 'claude-opus')
  assert.deepEqual(claude['messages'], [
    {
      role: 'system',
      content: [
        { type: 'text', text: 'Be brief.' },
        { type: 'text', text: 'Be kind.', ...mark },
      ],
    },
    { role: 'assistant', content: null, tool_calls: [{ ...toolCalls[0], ...long }] },
    { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'noon', ...long }] },
    { role: 'user', content: 'And?' },
  ])
  assert.deepEqual(objectAt(claude, 'tools', 0)['cache_control'], { type: 'ephemeral' })
  const other = written(prompt)
  assert.doesNotMatch(JSON.stringify(other), /cache_control|ephemeral/)
  assert.deepEqual(objectAt(other, 'messages', 0), { role: 'system', content: 'Be brief.\nBe kind.' })
})

describe('tools', () => {
  const parameters = { type: 'object', properties: { zone: { type: 'string' } } }
  const tools = [
    { name: 'clock', description: 'The time', parameters, field, strict: true },
    { name: 'die', parameters, field },
  ]

  test('are functions', () => {
    assert.deepEqual(written({ tools, toolChoice: 'required', parallelCalls: false }), {
      ...written({}),
      tools: [
        { type: 'function', function: { name: 'clock', description: 'The time', parameters, strict: true } },
        { type: 'function', function: { name: 'die', parameters } },
      ],
      tool_choice: 'required',
      parallel_tool_calls: false,
    })
    assert.deepEqual(written({ tools, toolChoice: { tool: 'die' } })['tool_choice'], {
      type: 'function',
      function: { name: 'die' },
    })
  })

  test('that do not exist have no choice', () => {
    assert.deepEqual(written({ toolChoice: 'none', parallelCalls: true }), written({}))
  })
})

test('formats, and the key of the cache', () => {
  const schema = { type: 'object' }
  const format = { kind: 'schema', name: 'answer', schema, strict: true, field: 'x' } as const
  assert.deepEqual(written({ format })['response_format'], {
    type: 'json_schema',
    json_schema: { name: 'answer', schema, strict: true },
  })
  assert.deepEqual(written({ format: { kind: 'json' } })['response_format'], { type: 'json_object' })
  assert.equal(written({ cacheKey: 'k' })['prompt_cache_key'], 'k')
  assert.equal(written({ verbosity: 'low' })['verbosity'], 'low')
})

test('the fields of a vendor are sent as they are, and replace nothing', () => {
  const vendorFields = { min_p: 0.1, provider: { order: ['a'] }, model: 'dearer', max_tokens: 1000 }
  const { min_p, provider } = vendorFields
  assert.deepEqual(written({ vendorFields }), { ...written({}), min_p, provider })
})

const effort = (reasoning: Prompt['reasoning']) => written({ reasoning })['reasoning_effort']

describe('reasoning', () => {
  test('has an effort, from a budget if need be', () => {
    assert.equal(effort({ effort: 'minimal' }), 'minimal')
    assert.equal(effort({ effort: 'max' }), 'xhigh')
    assert.equal(effort({}), undefined)
    assert.deepEqual(
      [1024, 4999, 5000, 15_999, 16_000, 100_000].map((budgetTokens) => effort({ budgetTokens })),
      ['low', 'low', 'medium', 'medium', 'high', 'high'],
    )
  })

  test('is asked not to happen of a model only that is known to reason', () => {
    const reasoning = { effort: 'none', budgetTokens: 9 } as const
    assert.deepEqual(written({ reasoning }), written({}))
    assert.deepEqual(written({ reasoning }, 'gpt-5', {}, true), { ...written({}), reasoning_effort: 'none' })
    assert.deepEqual(written({}, 'gpt-5', {}, true), written({}))
  })
})
