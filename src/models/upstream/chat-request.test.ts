import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Prompt } from '../conversation.ts'
import { writeRequest } from './chat-request.ts'

const limits = { maxOutputTokens: 9 }
const written = (prompt: Prompt, name = 'm', reasons = false): unknown =>
  JSON.parse(writeRequest({ name, reasons }, prompt, limits, false))

const user = { role: 'user', text: 'Hello' } as const
const parameters = { type: 'object', properties: { city: { type: 'string' } } }
const calling: Prompt = {
  messages: [
    user,
    {
      role: 'assistant',
      parts: [
        { kind: 'thinking', text: 'Hm.', signature: 's' },
        { kind: 'text', text: 'I look.' },
        { kind: 'call', id: 'c', tool: 'weather', input: '{"city":"Bern"}' },
      ],
    },
    {
      role: 'user',
      parts: [
        {
          kind: 'result',
          callId: 'c',
          content: [
            { kind: 'text', text: 'Rain', cache: {} },
            { kind: 'file', mediaType: 'image/png', data: 'AAAA', extent: { width: 1, height: 1 }, field: 'x' },
          ],
        },
        { kind: 'text', text: 'And now?' },
      ],
    },
  ],
  tools: [{ name: 'weather', description: 'Tells it.', parameters, strict: true }],
  toolChoice: { tool: 'weather' },
  parallelCalls: false,
}

describe('a chat completion request', () => {
  test('of text only has nothing but text', () => {
    assert.equal(
      writeRequest(
        { name: 'm', reasons: true },
        { messages: [{ role: 'system', text: 'Be brief.' }, user] },
        limits,
        true,
      ),
      '{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hello"}],"max_tokens":9,' +
        '"temperature":0,"stream":true,"stream_options":{"include_usage":true}}',
    )
  })

  test('has tools, calls, and one message for each result, with its files in the next message', () => {
    assert.deepEqual(written(calling), {
      model: 'm',
      messages: [
        { role: 'user', content: 'Hello' },
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'Rain' },
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'text', text: 'And now?' },
          ],
        },
      ],
      max_tokens: 9,
      temperature: 0,
      tools: [{ type: 'function', function: { name: 'weather', description: 'Tells it.', parameters, strict: true } }],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      parallel_tool_calls: false,
    })
  })

  test('has earlier thoughts and marks for the cache only where the server accepts them', () => {
    const text = JSON.stringify(written(calling))
    assert.doesNotMatch(text, /Hm\.|cache_control|reasoning/)
    assert.match(JSON.stringify(written(calling, 'deepseek-chat')), /"reasoning_content":"Hm\."/)
    const claude = JSON.stringify(written(calling, 'anthropic/claude-5'))
    assert.match(claude, /"type":"reasoning\.text","text":"Hm\.","signature":"s"/)
    assert.match(claude, /"text":"Rain","cache_control":\{"type":"ephemeral"\}/)
  })

  test('has the format, the effort and the key of the cache, and no default temperature for a model that thinks', () => {
    const format = { kind: 'schema', name: 'n', schema: parameters, strict: true, field: 'f' } as const
    assert.deepEqual(written({ messages: [user], format, reasoning: { effort: 'max' }, cacheKey: 'k' }), {
      model: 'm',
      messages: [{ role: 'user', content: 'Hello' }],
      max_tokens: 9,
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: parameters, strict: true } },
      reasoning_effort: 'xhigh',
      prompt_cache_key: 'k',
    })
    const json = written({ messages: [user], format: { kind: 'json' }, reasoning: { budgetTokens: 8000 } })
    assert.ok(typeof json === 'object' && json !== null)
    assert.deepEqual(Reflect.get(json, 'response_format'), { type: 'json_object' })
    assert.equal(Reflect.get(json, 'reasoning_effort'), 'medium')
  })

  test('asks for no reasoning only a model that is known to reason, at the default temperature', () => {
    const [plain, none] = [{ messages: [user] }, { messages: [user], reasoning: { effort: 'none' } } as const]
    assert.deepEqual(written(none), written(plain))
    assert.deepEqual(written(none, 'm', true), {
      model: 'm',
      messages: [{ role: 'user', content: 'Hello' }],
      max_tokens: 9,
      temperature: 0,
      reasoning_effort: 'none',
    })
    assert.deepEqual(written(plain, 'm', true), written(plain))
  })
})
