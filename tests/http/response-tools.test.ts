import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../support/json.ts'
import { openVendorService } from '../support/vendor-service.ts'

const { vendor, service } = await openVendorService()

const address = '/v1/responses'
const user = { role: 'user', content: 'Hello' }
const base = { model: 'fast', input: [user], max_output_tokens: 100 }

const tool = { type: 'function', name: 'f' }
const schemaOf = (schema: unknown) => ({ text: { format: { type: 'json_schema', name: 'answer', schema } } })
const large = { type: 'object', description: 'x'.repeat(900_000) }
const recursive = { type: 'object', properties: { child: { $ref: '#' } } }

const call = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{}', status: 'completed' }
const result = { type: 'function_call_output', call_id: 'c1', output: '5' }
const thought = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] }

const hosted = ['web_search', 'web_search_preview', 'file_search', 'code_interpreter', 'mcp', 'computer', 'custom']
const others = ['item_reference', 'web_search_call', 'custom_tool_call', 'mcp_approval_response', 'compaction']
const after = (...items: readonly unknown[]): Json => ({ input: [user, ...items] })
const before = (item: unknown): Json => ({ input: [item, user] })

/** Requests that ask for tools or formats in a way that cannot work, with the field that the refusal names. */
const refused: readonly (readonly [name: string, change: Json, field: string])[] = [
  ['500 tools', { tools: Array.from({ length: 500 }, (_, index) => ({ ...tool, name: `f${index}` })) }, 'tools'],
  ['5000 tools, of which none can be read', { tools: Array.from({ length: 5000 }, () => 5) }, 'tools'],
  ['5000 items, of which none can be read', { input: Array.from({ length: 5000 }, () => 5) }, 'input'],
  ['tools that are no list', { tools: tool }, 'tools'],
  ['a tool that is no object', { tools: [5] }, 'tools[0]'],
  ...hosted.map((type) => [`the hosted tool ${type}`, { tools: [tool, { type }] }, 'tools[1].type'] as const),
  ['an unknown field of a tool', { tools: [{ ...tool, when: true }] }, 'tools[0].when'],
  ['a tool that is loaded later', { tools: [{ ...tool, defer_loading: true }] }, 'tools[0].defer_loading'],
  ['a name with a space', { tools: [{ ...tool, name: 'a b' }] }, 'tools[0].name'],
  ['a tool without a name', { tools: [{ type: 'function' }] }, 'tools[0].name'],
  ['the same name twice', { tools: [tool, tool] }, 'tools[1].name'],
  ['a description that is no text', { tools: [{ ...tool, description: 5 }] }, 'tools[0].description'],
  ['a large schema', { tools: [{ ...tool, parameters: large }] }, 'tools[0].parameters'],
  ['a recursive schema', { tools: [{ ...tool, parameters: recursive }] }, 'tools[0].parameters'],
  ['strict as a text', { tools: [{ ...tool, strict: 'yes' }] }, 'tools[0].strict'],
  ['an unknown tool', { tools: [tool], tool_choice: { type: 'function', name: 'g' } }, 'tool_choice.name'],
  ['another choice', { tools: [tool], tool_choice: 'any' }, 'tool_choice'],
  ['a choice of allowed tools', { tools: [tool], tool_choice: { type: 'allowed_tools' } }, 'tool_choice.type'],
  ['a choice of a hosted tool', { tools: [tool], tool_choice: { type: 'web_search_preview' } }, 'tool_choice.type'],
  ['a choice without a tool', { tools: [], tool_choice: 'required' }, 'tool_choice'],
  ['parallel calls as a text', { tools: [tool], parallel_tool_calls: 'no' }, 'parallel_tool_calls'],
  ['a text of settings', { text: 'json' }, 'text'],
  ['an unknown setting of the text', { text: { form: 'x' } }, 'text.form'],
  ['another format', { text: { format: { type: 'grammar' } } }, 'text.format.type'],
  ['a format that is a text', { text: { format: 'json' } }, 'text.format'],
  ['an unknown field of a format', { text: { format: { type: 'json_object', name: 'x' } } }, 'text.format.name'],
  ['a large format', schemaOf(large), 'text.format.schema'],
  ['a recursive format', schemaOf(recursive), 'text.format.schema'],
  ['no schema', schemaOf(undefined), 'text.format.schema'],
  ['a key of another type', { prompt_cache_key: 5 }, 'prompt_cache_key'],
  ['another summary', { reasoning: { summary: 'long' } }, 'reasoning.summary'],
  ['a result without its call', after(result), 'input[1].call_id'],
  ['a result of another call', after(call, { ...result, call_id: 'c2' }), 'input[2].call_id'],
  ['two results of a call', after(call, result, result), 'input[3].call_id'],
  ['a result without an id', after(call, { ...result, call_id: undefined }), 'input[2].call_id'],
  ['a result without a text', after(call, { ...result, output: 5 }), 'input[2].output'],
  [
    'a result with an image',
    after(call, { ...result, output: [{ type: 'input_image', image_url: 'x' }] }),
    'input[2].output[0].image_url',
  ],
  ['a call without its result', after(call, user), 'input[1].call_id'],
  ['a call at the end', after(call), 'input[1].type'],
  ['a thought at the end', after(thought), 'input[1].type'],
  ['the same call twice', after(call, call, result), 'input[2].call_id'],
  ['a call whose arguments are not JSON', after({ ...call, arguments: '{' }, result), 'input[1].arguments'],
  ['a call whose arguments are a list', after({ ...call, arguments: '[]' }, result), 'input[1].arguments'],
  ['a call of a namespace', after({ ...call, namespace: 'n' }, result), 'input[1].namespace'],
  ['a call of a program', after({ ...call, caller: { type: 'program', caller_id: 'x' } }, result), 'input[1].caller'],
  ...others.map((type) => [`an item ${type}`, after({ type, id: 'x' }), 'input[1].type'] as const),
  ['a thought without a summary', before({ type: 'reasoning', id: 'rs_1' }), 'input[0].summary'],
  ['a thought with a text', before({ ...thought, summary: 'Hm.' }), 'input[0].summary'],
  [
    'a thought of another type',
    before({ ...thought, summary: [{ type: 'text', text: 'x' }] }),
    'input[0].summary[0].type',
  ],
  [
    'a thought without its text',
    before({ ...thought, summary: [{ type: 'summary_text' }] }),
    'input[0].summary[0].text',
  ],
  ['a thought with other content', before({ ...thought, content: [5] }), 'input[0].content[0]'],
  ['a thought with a number', before({ ...thought, encrypted_content: 5 }), 'input[0].encrypted_content'],
  ['a thought with a NUL', before({ ...thought, encrypted_content: 'a\0' }), 'input[0].encrypted_content'],
  ['an unknown field of a thought', before({ ...thought, effort: 'low' }), 'input[0].effort'],
  [
    'a refusal of a user',
    after({ role: 'user', content: [{ type: 'refusal', refusal: 'No.' }] }),
    'input[1].content[0].type',
  ],
]

describe('responses with tools and formats that cannot work', () => {
  for (const [name, change, field] of refused) {
    it(`${name}: the refusal names ${field}, and nothing is held`, async () => {
      const { accountId, key } = await service.customer()
      const calls = vendor.calls
      const answer = await service.call(address, key, { ...base, ...change })
      assert.deepEqual([answer.status, answer.error['param']], [400, field], answer.text)
      assert.ok(['invalid_field', 'unknown_field'].includes(String(answer.error['code'])), answer.text)
      assert.ok(
        String(answer.error['message'])
          .replace(/\.(?= |$)/g, ' ')
          .includes(` ${field} `),
        answer.text,
      )
      const { rows, holds } = await service.books(accountId)
      assert.deepEqual([rows.length, holds, vendor.calls - calls], [0, 0, 0])
    })
  }

  it('a hosted tool is named in the refusal', async () => {
    const { key } = await service.customer()
    const { error } = await service.call(address, key, { ...base, tools: [{ type: 'web_search' }] })
    assert.match(String(error['message']), /web_search is not supported here/)
  })
})
