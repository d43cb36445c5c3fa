import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { at, type Json } from '../support/json.ts'
import { openVendorService } from '../support/vendor-service.ts'

const { vendor, service } = await openVendorService()

const address = '/v1/chat/completions'
const user = { role: 'user', content: 'Hello' }
const base = { model: 'fast', messages: [user], max_tokens: 100 }

const functionOf = (more: object) => ({ type: 'function', function: { name: 'f', ...more } })
const tool = functionOf({})
const schemaOf = (schema: unknown) => ({ type: 'json_schema', json_schema: { name: 'answer', schema } })
const large = { type: 'object', description: 'x'.repeat(900_000) }
const recursive = { type: 'object', properties: { child: { $ref: '#' } } }

const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
const called = (input: string) => ({ id: 'c1', type: 'function', function: { name: 'f', arguments: input } })

const call = called('{}')
const calling = { role: 'assistant', content: null, tool_calls: [call] }
const result = { role: 'tool', tool_call_id: 'c1', content: '5' }
const thinking = (detail: unknown) => ({ role: 'assistant', content: 'Hi.', reasoning_details: detail })

/** Requests that ask for tools or formats in a way that cannot work, with the field that the refusal names. */
const refused: readonly (readonly [name: string, change: Json, field: string])[] = [
  ['500 tools', { tools: Array.from({ length: 500 }, (_, index) => functionOf({ name: `f${index}` })) }, 'tools'],
  ['tools that are no list', { tools: tool }, 'tools'],
  ['a tool that is no object', { tools: [5] }, 'tools[0]'],
  ['a tool that the vendor runs', { tools: [{ type: 'web_search' }] }, 'tools[0].type'],
  ['a tool with a grammar', { tools: [{ type: 'custom', custom: { name: 'f' } }] }, 'tools[0].type'],
  ['a tool without a function', { tools: [{ type: 'function' }] }, 'tools[0].function'],
  ['an unknown field of a tool', { tools: [{ ...tool, defer: true }] }, 'tools[0].defer'],
  ['an unknown field of a function', { tools: [functionOf({ when: 1 })] }, 'tools[0].function.when'],
  ['a name with a space', { tools: [functionOf({ name: 'a b' })] }, 'tools[0].function.name'],
  ['the same name twice', { tools: [tool, tool] }, 'tools[1].function.name'],
  ['a description that is no text', { tools: [functionOf({ description: 5 })] }, 'tools[0].function.description'],
  ['a large schema', { tools: [functionOf({ parameters: large })] }, 'tools[0].function.parameters'],
  ['a recursive schema', { tools: [functionOf({ parameters: recursive })] }, 'tools[0].function.parameters'],
  ['parameters that are no object', { tools: [functionOf({ parameters: {} })] }, 'tools[0].function.parameters'],
  ['strict as a text', { tools: [functionOf({ strict: 'yes' })] }, 'tools[0].function.strict'],
  ['another mark for the cache', { tools: [{ ...tool, cache_control: { type: 'x' } }] }, 'tools[0].cache_control'],
  ['an unknown tool', { tools: [tool], tool_choice: functionOf({ name: 'g' }) }, 'tool_choice.function.name'],
  ['another choice', { tools: [tool], tool_choice: 'any' }, 'tool_choice'],
  ['a choice of allowed tools', { tools: [tool], tool_choice: { type: 'allowed_tools' } }, 'tool_choice.type'],
  ['a choice without a tool', { tools: [], tool_choice: 'required' }, 'tool_choice'],
  ['parallel calls as a text', { tools: [tool], parallel_tool_calls: 'no' }, 'parallel_tool_calls'],
  ['another format', { response_format: { type: 'grammar' } }, 'response_format.type'],
  ['a format that is a text', { response_format: 'json' }, 'response_format'],
  ['a format without its schema', { response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
  [
    'a large format of other servers',
    { response_format: { type: 'json_object', schema: large } },
    'response_format.schema',
  ],
  ['an unknown field of a format', { response_format: { type: 'text', schema: {} } }, 'response_format.schema'],
  ['a schema in the wrong place', { response_format: { ...schemaOf({}), schema: {} } }, 'response_format.schema'],
  [
    "calls in a user's message",
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'a', tool_calls: [] }] }] },
    'messages[0].content[0].tool_calls',
  ],
  ['a large format', { response_format: schemaOf(large) }, 'response_format.json_schema.schema'],
  ['a recursive format', { response_format: schemaOf(recursive) }, 'response_format.json_schema.schema'],
  ['no schema', { response_format: schemaOf(undefined) }, 'response_format.json_schema.schema'],
  ['a result without its call', { messages: [user, result] }, 'messages[1].tool_call_id'],
  [
    'a result of another call',
    { messages: [user, calling, { ...result, tool_call_id: 'c2' }] },
    'messages[2].tool_call_id',
  ],
  ['two results of a call', { messages: [user, calling, result, result] }, 'messages[3].tool_call_id'],
  ['a result without an id', { messages: [user, calling, { role: 'tool', content: '5' }] }, 'messages[2].tool_call_id'],
  ['a result without a text', { messages: [user, calling, { ...result, content: 5 }] }, 'messages[2].content'],
  ['a call without its result', { messages: [user, calling, user] }, 'messages[1].tool_calls[0].id'],
  ['a call at the end', { messages: [user, calling] }, 'messages[1].role'],
  [
    'the same call twice',
    { messages: [user, { ...calling, tool_calls: [call, call] }, result] },
    'messages[1].tool_calls[1].id',
  ],
  [
    'a call whose arguments are not JSON',
    { messages: [user, { ...calling, tool_calls: [called('{')] }, result] },
    'messages[1].tool_calls[0].function.arguments',
  ],
  [
    'a call whose arguments have 100,000 levels',
    { messages: [user, { ...calling, tool_calls: [called(deep)] }, result] },
    'messages[1].tool_calls[0].function.arguments',
  ],
  ['5000 messages, of which none can be read', { messages: Array.from({ length: 5000 }, () => 5) }, 'messages'],
  [
    'a call of a vendor',
    { messages: [user, { ...calling, tool_calls: [{ ...call, type: 'custom' }] }, result] },
    'messages[1].tool_calls[0].type',
  ],
  ['calls that are no list', { messages: [user, { ...calling, tool_calls: call }, result] }, 'messages[1].tool_calls'],
  [
    'a former call',
    { messages: [user, { ...calling, function_call: { name: 'f' } }, user] },
    'messages[1].function_call',
  ],
  ['calls of a user', { messages: [{ ...user, tool_calls: [call] }] }, 'messages[0].tool_calls'],
  ['a former role', { messages: [user, { role: 'function', name: 'f', content: '5' }] }, 'messages[1].role'],
  [
    'thoughts that are no text',
    { messages: [{ ...thinking([]), reasoning_content: 5 }, user] },
    'messages[0].reasoning_content',
  ],
  ['details that are no list', { messages: [thinking('x'), user] }, 'messages[0].reasoning_details'],
  ['other details', { messages: [thinking([{ type: 'x' }]), user] }, 'messages[0].reasoning_details[0].type'],
  [
    'details at no place',
    { messages: [thinking([{ type: 'reasoning.text', text: 'x', index: -1 }]), user] },
    'messages[0].reasoning_details[0].index',
  ],
  [
    'a mark that lasts for a day',
    {
      messages: [{ ...user, content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1d' } }] }],
    },
    'messages[0].content[0].cache_control.ttl',
  ],
]

describe('chat completions with tools and formats that cannot work', () => {
  for (const [name, change, field] of refused) {
    it(`${name}: the refusal names ${field}, and nothing is held`, async () => {
      const { accountId, key } = await service.customer()
      const calls = vendor.calls
      const answer = await service.call(address, key, { ...base, ...change })
      assert.deepEqual(
        [answer.status, answer.error['code'], answer.error['param']],
        [400, 'invalid_field', field],
        answer.text,
      )
      assert.ok(String(answer.error['message']).includes(` ${field} `), answer.text)
      const { rows, holds } = await service.books(accountId)
      assert.deepEqual([rows.length, holds, vendor.calls - calls], [0, 0, 0])
    })
  }
})

describe('A38: chat completions with calls as frameworks send them back', () => {
  it('a call without its type, and with what the framework knows of the vendor, is that call', async () => {
    const { key } = await service.customer()
    const sent = { id: call.id, function: call.function, provider_specific_fields: { thought_signature: 'x' } }
    const messages = [user, { ...calling, tool_calls: [sent], provider_specific_fields: {} }, result]
    const answer = await service.call(address, key, { ...base, messages })
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(at(vendor.last.body, 'messages', 1, 'tool_calls'), [call])
  })
})
