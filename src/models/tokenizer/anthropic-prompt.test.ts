import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseObject, type Json } from '../../../tests/support/json.ts'
import type { Prompt } from '../conversation.ts'
import { anthropicPrompt } from './anthropic-prompt.ts'

const hello = { role: 'user', text: 'Hello' } as const
/** The fields besides the messages. */
function written(prompt: Partial<Prompt>): Json {
  const { messages: _, ...rest } = parseObject(JSON.stringify(anthropicPrompt({ messages: [hello], ...prompt })))
  return rest
}
const parameters = { type: 'object', properties: { city: { type: 'string' } } }
const field = 'tools[0].input_schema'

describe("a prompt in the form of Anthropic's API", () => {
  test('texts stay texts, and the system text is a field', () => {
    const messages = [
      { role: 'system', text: 'Be brief.' },
      { role: 'system', text: 'Be kind.' },
      hello,
      { role: 'assistant', text: 'Hi.' },
      hello,
    ] as const
    assert.deepEqual(anthropicPrompt({ messages }), {
      system: 'Be brief.\nBe kind.',
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Hi.' },
        { role: 'user', content: 'Hello' },
      ],
    })
  })

  test('every part has its block, with its mark for the cache', () => {
    const text = { kind: 'text', text: 'It is', cache: { ttl: '1h' } } as const
    const file = { kind: 'file', extent: { pages: 1 }, field: 'x' } as const
    const image = { ...file, mediaType: 'image/png', data: 'AAAA', cache: {} } as const
    const paper = { ...file, mediaType: 'application/pdf', data: 'BBBB', name: 'a.pdf' } as const
    const messages: Prompt['messages'] = [
      { role: 'system', parts: [{ kind: 'text', text: 'Be brief.', cache: {} }] },
      { role: 'user', parts: [image, paper, { kind: 'text', text: 'What is it?' }] },
      {
        role: 'assistant',
        parts: [
          { kind: 'reasoning', text: 'Hm.', signature: 'c2ln' },
          { kind: 'reasoning', text: '', signature: 'ZGF0YQ', redacted: true },
          { kind: 'reasoning', text: 'Unsigned.' },
          text,
          { kind: 'call', id: 'a', tool: 'look', input: '{"x":[1,2]}', cache: { ttl: '5m' } },
          { kind: 'call', id: 'b', tool: 'look', input: '{}' },
        ],
      },
      {
        role: 'user',
        parts: [
          { kind: 'result', callId: 'a', content: [{ kind: 'text', text: 'red' }, image], cache: {} },
          { kind: 'result', callId: 'b', content: [], isError: true },
        ],
      },
    ]
    const ephemeral = { type: 'ephemeral' }
    const picture = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
      cache_control: ephemeral,
    }
    assert.deepEqual(anthropicPrompt({ messages }), {
      system: [{ type: 'text', text: 'Be brief.', cache_control: ephemeral }],
      messages: [
        {
          role: 'user',
          content: [
            picture,
            {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' },
              title: 'a.pdf',
            },
            { type: 'text', text: 'What is it?' },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
            { type: 'redacted_thinking', data: 'ZGF0YQ' },
            { type: 'thinking', thinking: 'Unsigned.', signature: '' },
            { type: 'text', text: 'It is', cache_control: { type: 'ephemeral', ttl: '1h' } },
            {
              type: 'tool_use',
              id: 'a',
              name: 'look',
              input: { x: [1, 2] },
              cache_control: { type: 'ephemeral', ttl: '5m' },
            },
            { type: 'tool_use', id: 'b', name: 'look', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'a',
              content: [{ type: 'text', text: 'red' }, picture],
              cache_control: ephemeral,
            },
            { type: 'tool_result', tool_use_id: 'b', content: [], is_error: true },
          ],
        },
      ],
    })
  })

  test('tools and their choice', () => {
    const tools = [
      { name: 'look', description: 'Looks.', parameters, field, strict: true, cache: {} },
      { name: 'go', parameters, field },
    ]
    assert.deepEqual(written({ tools })['tools'], [
      {
        name: 'look',
        description: 'Looks.',
        input_schema: parameters,
        strict: true,
        cache_control: { type: 'ephemeral' },
      },
      { name: 'go', input_schema: parameters },
    ])
    const choice = (prompt: Partial<Prompt>) => written({ tools, ...prompt })['tool_choice']
    assert.equal(choice({}), undefined)
    assert.deepEqual(choice({ toolChoice: 'auto' }), { type: 'auto' })
    assert.deepEqual(choice({ toolChoice: 'required' }), { type: 'any' })
    assert.deepEqual(choice({ toolChoice: { tool: 'go' } }), { type: 'tool', name: 'go' })
    assert.deepEqual(choice({ toolChoice: 'none', parallelCalls: false }), { type: 'none' })
    assert.deepEqual(choice({ parallelCalls: false }), { type: 'auto', disable_parallel_tool_use: true })
    assert.deepEqual(choice({ toolChoice: 'required', parallelCalls: true }), {
      type: 'any',
      disable_parallel_tool_use: false,
    })
    assert.equal(written({ toolChoice: 'none' })['tool_choice'], undefined)
  })

  test('thinking, effort and the format of the reply', () => {
    const schema = { type: 'object' }
    assert.deepEqual(written({ reasoning: { effort: 'none' } }), { thinking: { type: 'disabled' } })
    assert.deepEqual(written({ reasoning: { budgetTokens: 2000, summary: 'auto' } }), {
      thinking: { type: 'enabled', budget_tokens: 2000, display: 'summarized' },
    })
    assert.deepEqual(written({ reasoning: {} }), { thinking: { type: 'adaptive' } })
    assert.deepEqual(
      written({ reasoning: { effort: 'minimal' }, format: { kind: 'schema', name: 'x', schema, field: 'f' } }),
      {
        thinking: { type: 'adaptive' },
        output_config: { effort: 'low', format: { type: 'json_schema', schema } },
      },
    )
    assert.deepEqual(written({ format: { kind: 'json' } }), {})
  })
})
