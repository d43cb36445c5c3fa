import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { at } from '../support/json.ts'
import { pdfOf, pngOf } from '../support/sample-files.ts'
import { openVendorService } from '../support/vendor-service.ts'
import { ok } from '../support/answer.ts'

const { vendor, service } = openVendorService()

const user = { role: 'user', content: 'Hello' }
const bodies = {
  '/v1/chat/completions': { model: 'fast', messages: [user], max_tokens: 100 },
  '/v1/responses': { model: 'fast', input: [user], max_output_tokens: 100 },
  '/v1/messages': { model: 'fast', messages: [user], max_tokens: 100 },
} as const

const png = pngOf(1, 1).toString('base64')
const pdf = `data:application/pdf;base64,${pdfOf(1).toString('base64')}`
/** A message with an image or a document. */
const shown = (part: object) => [{ role: 'user', content: [part] }]

/** Fields without effect: null, explicit defaults, and hints that never change a reply. */
const neutral: Readonly<Record<keyof typeof bodies, readonly object[]>> = {
  '/v1/chat/completions': [
    { reasoning_effort: null },
    { verbosity: 'medium' },
    { safety_identifier: 'user-1' },
    { prompt_cache_retention: '24h' },
    { parallel_tool_calls: true },
    { stream_options: { include_obfuscation: false } },
    { tools: [], tool_choice: 'auto', n: 1, logprobs: false, store: false },
    { metadata: { project: null, client_id: null }, stream_options: { include_usage: null } },
    { messages: shown({ type: 'image_url', image_url: { url: `data:image/png;base64,${png}`, detail: null } }) },
    { messages: shown({ type: 'file', file: { file_data: pdf, file_id: null, filename: null } }) },
  ],
  '/v1/responses': [
    { reasoning: { effort: null } },
    { reasoning: { effort: null, summary: null, context: 'all_turns', mode: 'standard' } },
    { max_tool_calls: 2, include: ['reasoning.encrypted_content'] },
    { reasoning: {} },
    { text: { format: { type: 'text' }, verbosity: 'medium' } },
    { stream_options: { include_obfuscation: false } },
    { stream_options: {} },
    { prompt_cache_retention: '24h', safety_identifier: 'user-1' },
    { tools: [], include: [], truncation: 'disabled', store: false, previous_response_id: null },
    { client_metadata: { installation: 'a' }, input: [{ type: 'message', id: 'msg_1', ...user }] },
    { metadata: { project: null, client_id: null } },
    { input: shown({ type: 'input_file', file_data: pdf, file_id: null, file_url: null, filename: null }) },
  ],
  '/v1/messages': [
    { cache_control: { type: 'ephemeral' } },
    { context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } },
    { system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
    {
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } }] }],
    },
    { thinking: { type: 'disabled' }, tools: [], tool_choice: { type: 'auto' } },
    { metadata: { user_id: null } },
    {
      messages: shown({
        type: 'image',
        source: { type: 'base64', media_type: 'image/png', data: png, url: null, file_id: null },
      }),
    },
  ],
}

/** Assistant turns as agent frameworks send them back, and the texts that the model must receive. */
const turns: Readonly<Record<string, readonly [keyof typeof bodies, object]>> = {
  'the Agents SDK over chat completions: parts with the fields of their message': [
    '/v1/chat/completions',
    {
      messages: [
        user,
        {
          role: 'assistant',
          content: [{ type: 'text', text: 'Hi.', role: 'assistant', refusal: null, annotations: [] }],
        },
        user,
      ],
    },
  ],
  'a message of a chat completion, sent back whole': [
    '/v1/chat/completions',
    { messages: [user, { role: 'assistant', content: 'Hi.', refusal: null, annotations: [], tool_calls: [] }, user] },
  ],
  'LiteLLM: a message with what it knows of the vendor': [
    '/v1/chat/completions',
    {
      messages: [user, { role: 'assistant', content: 'Hi.', provider_specific_fields: { refusal: null } }, user],
    },
  ],
  'an agent with a name': [
    '/v1/chat/completions',
    { messages: [user, { role: 'assistant', content: 'Hi.', name: 'writer' }, user] },
  ],
  'an output item of a response, sent back whole': [
    '/v1/responses',
    {
      input: [
        user,
        {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          phase: 'final_answer',
          content: [{ type: 'output_text', text: 'Hi.', annotations: [], logprobs: [] }],
        },
        user,
      ],
    },
  ],
  'the content of a message, sent back whole': [
    '/v1/messages',
    { messages: [user, { role: 'assistant', content: [{ type: 'text', text: 'Hi.', citations: null }] }, user] },
  ],
}

describe('A38: a field without effect is accepted', () => {
  for (const [address, changes] of Object.entries(neutral)) {
    it(address, async () => {
      const { key } = await service.customer()
      const base = bodies[address === '/v1/responses' || address === '/v1/messages' ? address : '/v1/chat/completions']
      for (const change of changes) {
        const answer = await service.call(address, key, { ...base, ...change })
        assert.equal(answer.status, 200, `${JSON.stringify(change).slice(0, 90)}: ${answer.text}`)
      }
    })
  }

  it('an empty list of stops is not sent to an upstream, which may refuse it', async () => {
    const { key } = await service.customer()
    for (const [address, change] of [
      ['/v1/chat/completions', { stop: [] }],
      ['/v1/messages', { stop_sequences: [] }],
    ] as const) {
      ok(await service.call(address, key, { ...bodies[address], ...change }))
      assert.ok(!('stop' in Object(vendor.last.body)))
    }
  })

  it('and not passed on to an upstream', async () => {
    const { key } = await service.customer()
    const hints = { safety_identifier: 's', verbosity: 'medium' }
    await service.call('/v1/chat/completions', key, { ...bodies['/v1/chat/completions'], ...hints })
    for (const name of Object.keys(hints)) assert.ok(!(name in Object(vendor.last.body)), name)
  })
})

describe('A38: assistant turns are accepted as agent frameworks send them back', () => {
  for (const [name, [address, change]] of Object.entries(turns)) {
    it(name, async () => {
      const { key } = await service.customer()
      ok(await service.call(address, key, { ...bodies[address], ...change }))
      const messages: unknown = Reflect.get(Object(vendor.last.body), 'messages')
      assert.deepEqual(messages, [user, { role: 'assistant', content: 'Hi.' }, user])
    })
  }
})

it('A38: a call without its type, and with what a framework knows of the vendor, is that call', async () => {
  const { key } = await service.customer()
  const call = {
    id: 'c1',
    function: { name: 'f', arguments: '{}' },
    provider_specific_fields: { thought_signature: 'x' },
  }
  const calling = { role: 'assistant', content: null, tool_calls: [call], provider_specific_fields: {} }
  const messages = [user, calling, { role: 'tool', tool_call_id: 'c1', content: '5' }]
  ok(await service.call('/v1/chat/completions', key, { ...bodies['/v1/chat/completions'], messages }))
  const { provider_specific_fields: _, ...known } = call
  assert.deepEqual(at(vendor.last.body, 'messages', 1, 'tool_calls'), [{ ...known, type: 'function' }])
})
