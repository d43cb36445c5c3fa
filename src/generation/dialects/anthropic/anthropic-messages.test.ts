import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { Problem } from '../../../platform/problems.ts'
import type { Prompt } from '../../../models/conversation.ts'
import { anthropicMessages, readCountRequest } from './anthropic-messages.ts'

const user = { role: 'user', content: 'Hello' }
const base = { model: 'fast', max_tokens: 5000, messages: [user] }
const input_schema = { type: 'object', properties: { city: { type: 'string' } } }
const tool = { name: 'weather', input_schema }
const call = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Bonn' } }
const deepInput = JSON.parse(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`) as unknown
const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'Sunny' }
const calledWith = (...blocks: readonly object[]) => [
  user,
  { role: 'assistant', content: [call] },
  { role: 'user', content: blocks },
]
const ephemeral = { type: 'ephemeral' }

const promptOf = (change: object): Prompt => anthropicMessages.read({ ...base, ...change }).request.prompt

function chosen(tool_choice: object) {
  const { toolChoice, parallelCalls } = promptOf({ tools: [tool], tool_choice })
  return [toolChoice, parallelCalls]
}

const answered = (block: object) =>
  promptOf({ messages: [...calledWith(block), { role: 'user', content: 'Thanks.' }] }).messages[2]
const answer = (content: readonly object[], rest: object = {}) => ({
  role: 'user',
  parts: [
    { kind: 'result', callId: 'toolu_1', content, ...rest },
    { kind: 'text', text: 'Thanks.' },
  ],
})

const needsOf = (change: object) => anthropicMessages.read({ ...base, ...change }).request.needs

test('what a request needs of a model is named by its field', () => {
  assert.equal(needsOf({ tools: [], thinking: { type: 'disabled' }, cache_control: ephemeral }), undefined)
  assert.equal(needsOf({ thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }), undefined)
  const format = { type: 'json_schema', schema: input_schema }
  assert.deepEqual(needsOf({ tools: [tool], output_config: { format, effort: 'low' } }), [
    { capability: 'tools', field: 'tools' },
    { capability: 'json', field: 'output_config.format' },
    { capability: 'reasoning', field: 'output_config.effort' },
  ])
  assert.deepEqual(
    needsOf({
      messages: calledWith(result),
      output_format: format,
      thinking: { type: 'enabled', budget_tokens: 1024 },
    }),
    [
      { capability: 'forced_tools', field: 'messages' },
      { capability: 'json', field: 'output_format' },
      { capability: 'reasoning', field: 'thinking' },
    ],
  )
})

const assistantTurn = (content: unknown) => ({ role: 'assistant', content })

describe('a request in the form of Anthropic is read', () => {
  test('a request of texts only has nothing else', () => {
    assert.deepEqual(promptOf({ system: 'Be brief.' }), {
      messages: [
        { role: 'system', text: 'Be brief.' },
        { role: 'user', text: 'Hello' },
      ],
    })
    assert.deepEqual(promptOf({ tools: [], tool_choice: { type: 'auto' }, output_config: {}, thinking: null }), {
      messages: [{ role: 'user', text: 'Hello' }],
    })
    const content = [
      { type: 'text', text: 'One', citations: null },
      { type: 'text', text: 'Two' },
    ]
    assert.deepEqual(promptOf({ messages: [{ role: 'user', content }] }).messages, [{ role: 'user', text: 'One\nTwo' }])
  })

  test('tools, with the fields that have no effect', () => {
    const neutral = {
      type: 'custom',
      description: null,
      cache_control: null,
      allowed_callers: ['direct'],
      defer_loading: false,
      eager_input_streaming: true,
      input_examples: [],
    }
    const other = { name: 'time', input_schema: { type: 'object' }, description: 'The time.', strict: true }
    assert.deepEqual(
      promptOf({
        tools: [
          { ...tool, ...neutral },
          { ...other, cache_control: ephemeral },
        ],
      }).tools,
      [
        { name: 'weather', parameters: input_schema, field: 'tools[0].input_schema' },
        {
          name: 'time',
          description: 'The time.',
          parameters: { type: 'object' },
          field: 'tools[1].input_schema',
          strict: true,
          cache: {},
        },
      ],
    )
  })

  test('the choice of a tool', () => {
    assert.deepEqual(chosen({ type: 'auto' }), ['auto', undefined])
    assert.deepEqual(chosen({ type: 'any', disable_parallel_tool_use: true }), ['required', false])
    assert.deepEqual(chosen({ type: 'none' }), ['none', undefined])
    assert.deepEqual(chosen({ type: 'tool', name: 'weather', disable_parallel_tool_use: false }), [
      { tool: 'weather' },
      true,
    ])
  })

  test('a reply as clients send it back', () => {
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'ZGF0YQ' },
      { type: 'thinking', thinking: 'Unsigned.', signature: '' },
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'text', text: '', citations: null },
      { ...call, caller: { type: 'direct' }, toolset_name: null },
    ]
    const { messages } = promptOf({
      messages: [user, { role: 'assistant', content }, { role: 'user', content: [result] }],
    })
    assert.deepEqual(messages.slice(1), [
      {
        role: 'assistant',
        parts: [
          { kind: 'reasoning', text: 'Hm.', signature: 'c2ln' },
          { kind: 'reasoning', text: '', signature: 'ZGF0YQ', redacted: true },
          { kind: 'reasoning', text: 'Unsigned.' },
          { kind: 'call', id: 'toolu_1', tool: 'weather', input: '{"city":"Bonn"}' },
        ],
      },
      { role: 'user', parts: [{ kind: 'result', callId: 'toolu_1', content: [{ kind: 'text', text: 'Sunny' }] }] },
    ])
  })

  test('calls and texts of the assistant in a row, from the first call on, as one turn', () => {
    const later = { ...call, id: 'toolu_2' }
    const { messages } = promptOf({
      messages: [
        user,
        assistantTurn('Let me see.'),
        assistantTurn([call]),
        assistantTurn(''),
        assistantTurn([{ type: 'text', text: 'And:' }, later]),
        { role: 'user', content: [result, { ...result, tool_use_id: 'toolu_2' }] },
      ],
    })
    const made = { kind: 'call', id: 'toolu_1', tool: 'weather', input: '{"city":"Bonn"}' }
    assert.deepEqual(messages.slice(1, -1), [
      { role: 'assistant', text: 'Let me see.' },
      { role: 'assistant', parts: [made, { kind: 'text', text: 'And:' }, { ...made, id: 'toolu_2' }] },
    ])
    assert.deepEqual(
      messages.at(-1)?.parts?.map((part) => part.kind === 'result' && part.callId),
      ['toolu_1', 'toolu_2'],
    )
  })

  test('results of each form, which are one turn with what the user says next', () => {
    const { content: _, ...empty } = result
    assert.deepEqual(answered(empty), answer([]))
    assert.deepEqual(answered({ ...result, content: '', is_error: false }), answer([]))
    assert.deepEqual(
      answered({ ...result, is_error: true, cache_control: { type: 'ephemeral', ttl: '1h' } }),
      answer([{ kind: 'text', text: 'Sunny' }], { isError: true, cache: { ttl: '1h' } }),
    )
    const blocks = [
      { type: 'text', text: 'a' },
      { type: 'text', text: '' },
      { type: 'text', text: 'b' },
    ]
    assert.deepEqual(
      answered({ ...result, content: blocks }),
      answer([
        { kind: 'text', text: 'a' },
        { kind: 'text', text: 'b' },
      ]),
    )
  })

  test('marks for the cache; one for the whole request marks its last block', () => {
    const marked = { type: 'text', text: 'Long', cache_control: { type: 'ephemeral', ttl: '5m' } }
    assert.deepEqual(promptOf({ system: [marked] }).messages[0], {
      role: 'system',
      parts: [{ kind: 'text', text: 'Long', cache: { ttl: '5m' } }],
    })
    assert.deepEqual(promptOf({ cache_control: ephemeral }).messages, [
      { role: 'user', parts: [{ kind: 'text', text: 'Hello', cache: {} }] },
    ])
    const { messages } = promptOf({ messages: calledWith(result), cache_control: { type: 'ephemeral', ttl: '1h' } })
    assert.deepEqual(messages[2]?.parts?.at(-1)?.kind === 'result' && messages[2].parts.at(-1), {
      kind: 'result',
      callId: 'toolu_1',
      content: [{ kind: 'text', text: 'Sunny' }],
      cache: { ttl: '1h' },
    })
    const own = promptOf({ messages: [{ role: 'user', content: [marked] }], cache_control: ephemeral })
    assert.deepEqual(own.messages[0]?.parts, [{ kind: 'text', text: 'Long', cache: { ttl: '5m' } }])
  })

  test('instructions between the turns and after the last, where they are', () => {
    const system = { role: 'system', content: 'Be brief.' }
    const instructions = { role: 'system', text: 'Be brief.' }
    const messages = [
      user,
      system,
      assistantTurn('Yes.'),
      user,
      { ...system, content: [{ type: 'text', text: 'Now.' }] },
    ]
    assert.deepEqual(promptOf({ messages }).messages, [
      { role: 'user', text: 'Hello' },
      instructions,
      { role: 'assistant', text: 'Yes.' },
      { role: 'user', text: 'Hello' },
      { role: 'system', text: 'Now.' },
    ])
    const called = [...calledWith(result), system]
    assert.deepEqual(promptOf({ messages: called }).messages.at(-1), instructions)
  })

  test('thinking, effort and the format of the reply', () => {
    const reasoning = (change: object) => promptOf(change).reasoning
    assert.deepEqual(reasoning({ thinking: { type: 'enabled', budget_tokens: 1024 } }), { budgetTokens: 1024 })
    assert.deepEqual(reasoning({ thinking: { type: 'adaptive', display: 'summarized' } }), { summary: 'auto' })
    assert.deepEqual(reasoning({ thinking: { type: 'adaptive', display: 'omitted' } }), {})
    assert.deepEqual(reasoning({ thinking: { type: 'disabled' }, output_config: { effort: 'low' } }), {
      effort: 'none',
    })
    assert.deepEqual(reasoning({ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }), { effort: 'max' })
    assert.deepEqual(reasoning({ output_config: { effort: 'high' } }), { effort: 'high' })
    const format = { type: 'json_schema', schema: input_schema }
    const read = { kind: 'schema', name: 'reply', schema: input_schema }
    assert.deepEqual(promptOf({ output_config: { format } }).format, { ...read, field: 'output_config.format.schema' })
    assert.deepEqual(promptOf({ output_format: format }).format, { ...read, field: 'output_format.schema' })
  })

  test('a request to count tokens has the same prompt, and no maximum of tokens to exceed', () => {
    const { max_tokens: _, ...rest } = { ...base, tools: [tool], thinking: { type: 'enabled', budget_tokens: 9000 } }
    assert.deepEqual(readCountRequest(rest).prompt, {
      messages: [{ role: 'user', text: 'Hello' }],
      tools: [{ name: 'weather', parameters: input_schema, field: 'tools[0].input_schema' }],
      reasoning: { budgetTokens: 9000 },
    })
  })
})

/** Nested as deep as `levels`. */
const nested = (levels: number): object => (levels === 0 ? {} : { items: nested(levels - 1) })
const assistant = (...content: readonly unknown[]) => ({ messages: [user, { role: 'assistant', content }, user] })

/** What a request must not contain, and the field that the refusal names. */
const refused: Readonly<Record<string, readonly (readonly [change: object, field: string])[]>> = {
  'tools that only the vendor can run': [
    [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools[0].type'],
    [{ tools: [tool, { type: 'bash_20250124', name: 'bash' }] }, 'tools[1].type'],
    [{ tools: [{ type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' }] }, 'tools[0].type'],
    [{ tools: [{ type: 'computer_20250124', name: 'computer' }] }, 'tools[0].type'],
    [{ tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] }, 'tools[0].type'],
    [{ tools: [{ type: 'mcp_toolset', mcp_server_name: 'x' }] }, 'tools[0].type'],
    [{ mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'x' }] }, 'mcp_servers'],
  ],
  'malformed tools': [
    [{ tools: {} }, 'tools'],
    [{ tools: ['weather'] }, 'tools[0]'],
    [{ tools: [{ input_schema }] }, 'tools[0].name'],
    [{ tools: [{ ...tool, name: 'the weather' }] }, 'tools[0].name'],
    [{ tools: [{ ...tool, name: 'x'.repeat(65) }] }, 'tools[0].name'],
    [{ tools: [tool, tool] }, 'tools[1].name'],
    [{ tools: [{ ...tool, description: 5 }] }, 'tools[0].description'],
    [{ tools: [{ ...tool, strict: 'yes' }] }, 'tools[0].strict'],
    [{ tools: [{ ...tool, cache_control: { type: 'forever' } }] }, 'tools[0].cache_control'],
    [{ tools: [{ ...tool, input_examples: [{ city: 'Bonn' }] }] }, 'tools[0].input_examples'],
    [{ tools: [{ ...tool, defer_loading: true }] }, 'tools[0].defer_loading'],
    [{ tools: [{ ...tool, wheels: 4 }] }, 'tools[0].wheels'],
  ],
  'too many tools and schemas that are too large or recursive': [
    [{ tools: Array.from({ length: 500 }, (_, index) => ({ ...tool, name: `t${index}` })) }, 'tools'],
    [{ tools: [{ name: 'weather' }] }, 'tools[0].input_schema'],
    [{ tools: [{ ...tool, input_schema: { type: 'string' } }] }, 'tools[0].input_schema'],
    [{ tools: [{ ...tool, input_schema: { type: 'object', ...nested(40) } }] }, 'tools[0].input_schema'],
    [
      { tools: [{ ...tool, input_schema: { ...input_schema, description: 'x'.repeat(2 ** 20) } }] },
      'tools[0].input_schema',
    ],
    [
      { tools: [{ ...tool, input_schema: { type: 'object', properties: { next: { $ref: '#' } } } }] },
      'tools[0].input_schema',
    ],
    [
      { output_config: { format: { type: 'json_schema', schema: { type: 'object', items: { $ref: '#' } } } } },
      'output_config.format.schema',
    ],
  ],
  'a choice that no tool can satisfy': [
    [{ tools: [tool], tool_choice: { type: 'tool', name: 'time' } }, 'tool_choice.name'],
    [{ tools: [tool], tool_choice: { type: 'tool' } }, 'tool_choice.name'],
    [{ tool_choice: { type: 'tool', name: 'weather' } }, 'tool_choice.name'],
    [{ tool_choice: { type: 'any' } }, 'tool_choice'],
    [{ tools: [tool], tool_choice: 'auto' }, 'tool_choice'],
    [{ tools: [tool], tool_choice: { type: 'required' } }, 'tool_choice.type'],
    [{ tools: [tool], tool_choice: { type: 'auto', name: 'weather' } }, 'tool_choice.name'],
    [
      { tools: [tool], tool_choice: { type: 'any', disable_parallel_tool_use: 1 } },
      'tool_choice.disable_parallel_tool_use',
    ],
  ],
  'results and calls that do not fit': [
    [{ messages: [{ role: 'user', content: [result] }] }, 'messages[0].content[0].tool_use_id'],
    [{ messages: calledWith({ ...result, tool_use_id: 'toolu_2' }) }, 'messages[2].content[0].tool_use_id'],
    [{ messages: calledWith(result, result) }, 'messages[2].content[1].tool_use_id'],
    [{ messages: [...calledWith({ type: 'text', text: 'Well?' })] }, 'messages[1].content[0].id'],
    [{ messages: calledWith({ type: 'text', text: 'So:' }, result) }, 'messages[2].content'],
    [assistant(call, call), 'messages[1].content[0].id'],
    [{ messages: calledWith({ ...result, tool_use_id: 5 }) }, 'messages[2].content[0].tool_use_id'],
    [{ messages: calledWith({ ...result, is_error: 'no' }) }, 'messages[2].content[0].is_error'],
    [{ messages: calledWith({ ...result, content: 5 }) }, 'messages[2].content[0].content'],
    [
      { messages: calledWith({ ...result, content: [{ type: 'image', source: {} }] }) },
      'messages[2].content[0].content[0].source.type',
    ],
    [assistant({ ...call, input: '{}' }), 'messages[1].content[0].input'],
    [assistant({ ...call, input: [] }), 'messages[1].content[0].input'],
    [assistant({ ...call, id: '' }), 'messages[1].content[0].id'],
    [assistant({ ...call, name: '' }), 'messages[1].content[0].name'],
    [assistant({ ...call, caller: { type: 'code_execution_20250825' } }), 'messages[1].content[0].caller'],
  ],
  'malformed thinking': [
    [assistant({ type: 'thinking', signature: 'x' }), 'messages[1].content[0].thinking'],
    [assistant({ type: 'thinking', thinking: 5, signature: 'x' }), 'messages[1].content[0].thinking'],
    [assistant({ type: 'thinking', thinking: 'x', signature: 5 }), 'messages[1].content[0].signature'],
    [assistant({ type: 'thinking', thinking: 'a\0', signature: 'x' }), 'messages[1].content[0].thinking'],
    [assistant({ type: 'redacted_thinking' }), 'messages[1].content[0].data'],
    [assistant({ type: 'thinking', thinking: 'x', signature: 'x', mood: 'good' }), 'messages[1].content[0].mood'],
    [{ messages: [{ role: 'user', content: [{ type: 'thinking', thinking: 'x' }] }] }, 'messages[0].content[0].type'],
    [{ thinking: { type: 'enabled' } }, 'thinking.budget_tokens'],
    [{ thinking: { type: 'enabled', budget_tokens: 1000 } }, 'thinking.budget_tokens'],
    [{ thinking: { type: 'enabled', budget_tokens: 5000 } }, 'thinking.budget_tokens'],
    [{ thinking: { type: 'between_tools' } }, 'thinking.type'],
    [{ thinking: { type: 'disabled', budget_tokens: 1024 } }, 'thinking.budget_tokens'],
    [{ thinking: { type: 'adaptive', display: 'updates' } }, 'thinking.display'],
    [{ thinking: { type: 'disabled', display: 'omitted' } }, 'thinking.display'],
    [{ thinking: true }, 'thinking'],
  ],
  'other blocks and fields': [
    [assistant({ type: 'server_tool_use', id: 'x', name: 'web_search', input: {} }), 'messages[1].content[0].type'],
    [
      { messages: [{ role: 'user', content: [{ type: 'document', source: {} }] }] },
      'messages[0].content[0].source.type',
    ],
    [{ messages: [{ role: 'user', content: [call] }] }, 'messages[0].content[0].type'],
    [assistant(result), 'messages[1].content[0].type'],
    [assistant({ text: 'x' }), 'messages[1].content[0].type'],
    [assistant('x'), 'messages[1].content[0]'],
    [{ messages: [{ role: 'user', content: [] }] }, 'messages[0].content'],
    [{ messages: ['Hello'] }, 'messages[0]'],
    [
      { messages: [user, { role: 'assistant', content: [{ ...call, input: deepInput }] }] },
      'messages[1].content[0].input',
    ],
    [{ system: [{ type: 'image' }] }, 'system[0].type'],
    [
      { system: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '2h' } }] },
      'system[0].cache_control.ttl',
    ],
    [{ cache_control: 'yes' }, 'cache_control'],
    [{ thinking: { type: 'constructor' } }, 'thinking.type'],
    [{ thinking: { type: '__proto__' } }, 'thinking.type'],
    [{ output_config: { effort: 'none' } }, 'output_config.effort'],
    [{ output_config: { task_budget: {} } }, 'output_config.task_budget'],
    [{ output_config: { format: { type: 'json' } } }, 'output_config.format.type'],
    [{ output_config: { format: { type: 'json_schema' } } }, 'output_config.format.schema'],
    [
      {
        output_config: { format: { type: 'json_schema', schema: {} } },
        output_format: { type: 'json_schema', schema: {} },
      },
      'output_format',
    ],
  ],
}

for (const [what, cases] of Object.entries(refused)) {
  describe(`refused by name: ${what}`, () => {
    for (const [change, field] of cases) {
      test(`${field}: ${inspect(change).slice(0, 90)}`, () => {
        assert.throws(
          () => promptOf(change),
          (error) => {
            assert.ok(error instanceof Problem)
            assert.deepEqual([error.code, error.details.field], ['invalid_field', field])
            assert.ok(error.message.includes(field), error.message)
            return true
          },
        )
      })
    }
  })
}

test('a thread is refused so that clients send the whole conversation instead', () => {
  const refusal = { code: 'invalid_field', reason: 'No.', request_id: 'x' }
  assert.throws(() => promptOf({ thread: { type: 'create' } }), /The field thread has a value that is not supported/)
  assert.deepEqual(anthropicMessages.errorBody({ ...refusal, field: 'thread' }, 400), {
    type: 'error',
    error: {
      type: 'invalid_request_error',
      message: 'No.',
      details: { error_code: 'thread_unsupported_request', unsupported: [] },
    },
    request_id: 'x',
  })
  assert.deepEqual(anthropicMessages.errorBody({ ...refusal, field: 'tools' }, 400), {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'No.' },
    request_id: 'x',
  })
})

test('a tool that only the vendor can run is named', () => {
  const tools = [{ type: 'web_search_20250305', name: 'web_search' }]
  assert.throws(() => promptOf({ tools }), /tools\[0\]\.type must be custom: web_search_20250305 is not supported here/)
})
