// oxlint-disable unicorn/consistent-function-scoping -- each block describes requests of one dialect
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { at, type Json } from '../support/json.ts'
import { pdfOf, pngOf } from '../support/sample-files.ts'
import { openVendorService } from '../support/vendor-service.ts'

const { vendor, service } = openVendorService()

{
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
    [
      'a result without an id',
      { messages: [user, calling, { role: 'tool', content: '5' }] },
      'messages[2].tool_call_id',
    ],
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
    [
      'calls that are no list',
      { messages: [user, { ...calling, tool_calls: call }, result] },
      'messages[1].tool_calls',
    ],
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
        messages: [
          { ...user, content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1d' } }] },
        ],
      },
      'messages[0].content[0].cache_control.ttl',
    ],
  ]

  describe('chat completions with tools and formats that cannot work', () => {
    it('the refusal names the field, and nothing is held', async () => {
      const { accountId, key } = await service.customer()
      const calls = vendor.calls
      for (const [name, change, field] of refused) {
        const { status, error, text } = await service.call(address, key, { ...base, ...change })
        const about = `${name}: ${text}`
        assert.deepEqual([status, error['code'], error['param']], [400, 'invalid_field', field], about)
        assert.ok(String(error['message']).includes(` ${field} `), about)
      }
      const { rows, holds } = await service.books(accountId)
      assert.deepEqual([rows.length, holds, vendor.calls - calls], [0, 0, 0])
    })
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
}

{
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

  const hosted = ['file_search', 'code_interpreter', 'mcp', 'computer', 'image_generation']
  const spaced = (...tools: readonly unknown[]) => ({ tools: [{ type: 'namespace', name: 'n', tools }] })
  const others = ['item_reference', 'web_search_call', 'shell_call', 'mcp_approval_response', 'compaction']
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
    ['only a search', { tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    ['a call or a search', { tools: [tool, { type: 'web_search' }], tool_choice: 'required' }, 'tools[1].type'],
    ['a namespace without functions', { tools: [{ type: 'namespace', name: 'n' }] }, 'tools[0].tools'],
    ['a namespace in a namespace', spaced(...spaced().tools), 'tools[0].tools[0].type'],
    ['a long name in a namespace', spaced({ ...tool, name: 'x'.repeat(62) }), 'tools[0].tools[0].name'],
    [
      '500 tools in a namespace',
      spaced(...Array.from({ length: 500 }, (_, index) => ({ ...tool, name: `f${index}` }))),
      'tools',
    ],
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
    ['a call of a namespace without a name', after({ ...call, namespace: '' }, result), 'input[1].namespace'],
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
    it('the refusal names the field, and nothing is held', async () => {
      const { accountId, key } = await service.customer()
      const calls = vendor.calls
      for (const [name, change, field] of refused) {
        const { status, error, text } = await service.call(address, key, { ...base, ...change })
        const about = `${name}: ${text}`
        assert.deepEqual([status, error['param']], [400, field], about)
        assert.ok(['invalid_field', 'unknown_field'].includes(String(error['code'])), about)
        assert.ok(`${String(error['message']).replaceAll('. ', ' ')} `.includes(` ${field} `), about)
      }
      const { rows, holds } = await service.books(accountId)
      assert.deepEqual([rows.length, holds, vendor.calls - calls], [0, 0, 0])
    })

    it('a hosted tool is named in the refusal', async () => {
      const { key } = await service.customer()
      const { error } = await service.call(address, key, { ...base, tools: [{ type: 'web_search' }] })
      assert.match(String(error['message']), /web_search is not supported here/)
    })
  })
}

{
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
        const base =
          bodies[address === '/v1/responses' || address === '/v1/messages' ? address : '/v1/chat/completions']
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
        const answer = await service.call(address, key, { ...bodies[address], ...change })
        assert.equal(answer.status, 200, answer.text)
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
        const answer = await service.call(address, key, { ...bodies[address], ...change })
        assert.equal(answer.status, 200, answer.text)
        const messages: unknown = Reflect.get(Object(vendor.last.body), 'messages')
        assert.deepEqual(messages, [user, { role: 'assistant', content: 'Hi.' }, user])
      })
    }
  })
}
