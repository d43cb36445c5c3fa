import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { chunksOf, eventsOf, replyOf as chatReply } from '../../../../tests/support/scripted-reply.ts'
import { at, objectAt, parseObject } from '../../../../tests/support/json.ts'
import type { Message, Part, ReplyPart } from '../../../models/conversation.ts'
import type { TextRequest } from '../../request.ts'
import { openAiChat } from './openai-chat.ts'

const user = { role: 'user', content: 'How is Bonn?' } as const
const base = { model: 'fast', messages: [user] }
const read = (change: object): TextRequest => openAiChat.read({ ...base, ...change }).request

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const weather = { type: 'function', function: { name: 'weather', parameters } } as const
const callOf = (id: string, city: string) => ({
  id,
  type: 'function' as const,
  function: { name: 'weather', arguments: `{"city": "${city}"}` },
})
const calling = { role: 'assistant', content: null, tool_calls: [callOf('c1', 'Bonn'), callOf('c2', 'Ulm')] }
const results = [
  { role: 'tool', tool_call_id: 'c2', content: 'rain' },
  { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'sun' }] },
]
const call = (id: string, city: string) =>
  ({ kind: 'call', id, tool: 'weather', input: `{"city": "${city}"}` }) as const
const text = (words: string) => ({ kind: 'text', text: words }) as const
const result = (callId: string, words: string): Part => ({ kind: 'result', callId, content: [text(words)] })
const asked: Message = { role: 'user', text: 'How is Bonn?' }

const turnOf = (...parts: readonly object[]) => ({ role: 'assistant', parts })
const oneCall = (each: object | undefined, content?: string) => ({ role: 'assistant', content, tool_calls: [each] })

const messagesOf = (...messages: readonly object[]) => read({ messages: [user, ...messages, user] }).prompt.messages

const ask = (message: object, ...rest: readonly object[]) =>
  openAiChat.read({ model: 'm', messages: [{ role: 'user', content: 'Hello' }, message, ...rest] }).request.prompt
    .messages

describe('a reply that is sent back', () => {
  const again = { role: 'user', content: 'And?' }

  it('may be empty', () => {
    assert.deepEqual(ask({ role: 'assistant', content: null, refusal: null }, again)[1], {
      role: 'assistant',
      text: '',
    })
    const reasoning = { role: 'assistant', content: null, reasoning_content: 'Hm.' }
    assert.deepEqual(ask(reasoning, again)[1], { role: 'assistant', parts: [{ kind: 'reasoning', text: 'Hm.' }] })
  })

  it('may have long ids, and names that no tool can have', () => {
    const id = `call_${'x'.repeat(4000)}`
    const sent = { id, type: 'function', function: { name: 'clock.get now', arguments: '{}' } }
    const answered = { role: 'tool', tool_call_id: id, content: 'noon' }
    const [, turn] = ask({ role: 'assistant', content: null, tool_calls: [sent] }, answered)
    assert.deepEqual(turn?.parts, [{ kind: 'call', id, tool: 'clock.get now', input: '{}' }])
  })
})
describe('chat completions read', () => {
  it('tools with their defaults', () => {
    const { prompt, needs } = read({
      tools: [
        { type: 'function', function: { name: 'now', description: null, parameters: null, strict: null } },
        {
          type: 'function',
          function: { ...weather.function, description: 'The weather.', strict: true },
          cache_control: { type: 'ephemeral', ttl: '1h' },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      parallel_tool_calls: false,
    })
    assert.deepEqual(prompt, {
      messages: [asked],
      tools: [
        { name: 'now', parameters: { type: 'object', properties: {} }, field: 'tools[0].function.parameters' },
        {
          name: 'weather',
          description: 'The weather.',
          parameters,
          field: 'tools[1].function.parameters',
          strict: true,
          cache: { ttl: '1h' },
        },
      ],
      toolChoice: { tool: 'weather' },
      parallelCalls: false,
    })
    assert.deepEqual(needs, [{ capability: 'forced_tools', field: 'tools' }])
    for (const choice of ['none', 'auto', 'required'] as const) {
      assert.equal(read({ tools: [weather], tool_choice: choice }).prompt.toolChoice, choice)
    }
    for (const none of [{}, { tools: [] }, { tools: null, tool_choice: 'none', parallel_tool_calls: true }]) {
      const without = read(none)
      assert.deepEqual([without.prompt, without.needs], [{ messages: [asked] }, undefined])
    }
  })

  it('formats, effort and the key of the cache', () => {
    const schema = { name: 'answer', schema: parameters, strict: true, description: 'An answer.' }
    const { prompt, needs } = read({
      response_format: { type: 'json_schema', json_schema: schema },
      reasoning_effort: 'low',
      prompt_cache_key: 'k',
    })
    assert.deepEqual(prompt, {
      messages: [asked],
      format: { kind: 'schema', ...schema, field: 'response_format.json_schema.schema' },
      reasoning: { effort: 'low' },
      cacheKey: 'k',
    })
    assert.deepEqual(needs, [
      { capability: 'json', field: 'response_format' },
      { capability: 'reasoning', field: 'reasoning_effort' },
    ])
    assert.deepEqual(read({ response_format: { type: 'json_object' } }).prompt.format, { kind: 'json' })
    assert.equal(read({ response_format: { type: 'text' } }).prompt.format, undefined)
    assert.deepEqual(read({ response_format: { type: 'json_object', schema: parameters } }).prompt.format, {
      kind: 'schema',
      name: 'reply',
      schema: parameters,
      field: 'response_format.schema',
    })
    for (const effort of ['none', 'minimal', 'max'] as const) {
      assert.deepEqual(read({ reasoning_effort: effort }).prompt.reasoning, { effort })
    }
    assert.equal(read({ reasoning_effort: 'none' }).needs, undefined)
    for (const [reasoning, expected] of [
      [{ effort: 'high' }, { effort: 'high' }],
      [{ max_tokens: 2000 }, { budgetTokens: 2000 }],
      [
        { max_tokens: 2000, enabled: true, summary: 'auto' },
        { budgetTokens: 2000, summary: 'auto' },
      ],
      [{ enabled: true }, { effort: 'medium' }],
      [{ enabled: false }, { effort: 'none' }],
      [{ exclude: true, effort: null }, undefined],
    ] as const) {
      assert.deepEqual(read({ reasoning }).prompt.reasoning, expected)
    }
    assert.deepEqual(read({ reasoning: { max_tokens: 2000 } }).needs, [{ capability: 'reasoning', field: 'reasoning' }])
  })

  it('calls and their results, which are one turn with what the user says next', () => {
    assert.deepEqual(messagesOf({ ...calling, content: 'Let me see.' }, ...results), [
      asked,
      { role: 'assistant', parts: [text('Let me see.'), call('c1', 'Bonn'), call('c2', 'Ulm')] },
      { role: 'user', parts: [result('c2', 'rain'), result('c1', 'sun'), text('How is Bonn?')] },
    ])
    for (const content of ['', undefined, null]) {
      const [, turn] = messagesOf({ ...calling, content }, ...results)
      assert.deepEqual(turn?.parts, [call('c1', 'Bonn'), call('c2', 'Ulm')])
    }
    const { prompt, needs } = read({ messages: [user, calling, ...results] })
    assert.deepEqual(prompt.messages[2]?.parts, [result('c2', 'rain'), result('c1', 'sun')])
    assert.deepEqual(needs, [{ capability: 'forced_tools', field: 'messages' }])
  })

  it('what the assistant calls and says after a call, before the results, as one turn with it', () => {
    const [first, second] = calling.tool_calls
    const [, called] = messagesOf(oneCall(first), oneCall(second), ...results)
    assert.deepEqual(called, turnOf(call('c1', 'Bonn'), call('c2', 'Ulm')))
    const said = { role: 'assistant', content: 'One moment.' }
    const empty = { role: 'assistant', content: null }
    const [, joined, answered] = messagesOf(oneCall(first, 'Let me see.'), said, empty, oneCall(second), ...results)
    assert.deepEqual(joined, turnOf(text('Let me see.'), call('c1', 'Bonn'), text('One moment.'), call('c2', 'Ulm')))
    assert.equal(answered?.role, 'user')
    const apart = messagesOf(said, said, calling, ...results, said, said)
    const roles = ['user', 'assistant', 'assistant', 'assistant', 'user', 'assistant', 'assistant', 'user']
    assert.deepEqual(
      apart.map(({ role }) => role),
      roles,
      'messages without a call, or after its result, remain turns of their own',
    )
  })

  it('a call without arguments, and an empty result', () => {
    const empty = { id: 'c1', index: 0, type: 'function', function: { name: 'now', arguments: '' } }
    const [, turn, after] = messagesOf(
      { role: 'assistant', tool_calls: [empty] },
      { role: 'tool', tool_call_id: 'c1', content: '', name: 'now' },
    )
    assert.deepEqual(turn?.parts, [{ kind: 'call', id: 'c1', tool: 'now', input: '{}' }])
    assert.deepEqual(after?.parts?.[0], { kind: 'result', callId: 'c1', content: [] })
  })

  it('reasoning in the forms in which clients send them back', () => {
    const thinking = { kind: 'reasoning', text: 'Hm.' } as const
    const said = { role: 'assistant', content: 'Hi.' }
    const encrypted = { type: 'reasoning.encrypted', data: 'x', format: 'y', id: null }
    for (const [fields, parts] of [
      [{ reasoning_content: 'Hm.' }, [thinking, text('Hi.')]],
      [{ reasoning: 'Hm.', reasoning_details: [] }, [thinking, text('Hi.')]],
      [{ reasoning: 'no', reasoning_content: 'Hm.', reasoning_details: null }, [thinking, text('Hi.')]],
      [
        { reasoning: 'no', reasoning_details: [{ type: 'reasoning.summary', summary: 'Hm.' }] },
        [thinking, text('Hi.')],
      ],
      [
        { reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', signature: 's', index: 0 }, encrypted] },
        [{ ...thinking, signature: 's' }, { kind: 'reasoning', text: '', signature: 'x', redacted: true }, text('Hi.')],
      ],
      [
        {
          reasoning_details: [
            { type: 'reasoning.text', text: 'Hm.', index: 1 },
            { ...encrypted, index: 0 },
          ],
        },
        [{ kind: 'reasoning', text: '', signature: 'x', redacted: true }, thinking, text('Hi.')],
      ],
      [{ reasoning_content: '', reasoning: '', reasoning_details: [] }, undefined],
    ] as const) {
      const [, turn] = messagesOf({ ...said, ...fields })
      assert.deepEqual(turn, parts ? { role: 'assistant', parts } : { role: 'assistant', text: 'Hi.' })
    }
  })

  it('a text with the fields of its message, which count where the message lacks them', () => {
    const details = [{ type: 'reasoning.text', text: 'Hm.', signature: 's', index: 0 }]
    const said = { type: 'text', text: 'Let me see.', role: 'assistant', refusal: null }
    const thinking = { kind: 'reasoning', text: 'Hm.', signature: 's' } as const
    const calls = calling.tool_calls
    for (const turn of [
      { content: [{ ...said, reasoning_details: details, tool_calls: calls }], tool_calls: calls },
      { content: [{ ...said, reasoning_details: details, reasoning_content: 'no', tool_calls: calls }] },
      {
        content: [{ ...said, reasoning_details: null, tool_calls: [] }],
        reasoning_details: details,
        tool_calls: calls,
      },
    ]) {
      const [, assistant] = messagesOf({ role: 'assistant', ...turn }, ...results)
      assert.deepEqual(assistant?.parts, [thinking, text('Let me see.'), call('c1', 'Bonn'), call('c2', 'Ulm')])
    }
  })

  it('a refusal to reply as the text that it is', () => {
    for (const turn of [
      { content: null, refusal: 'No.' },
      { content: '', refusal: 'No.', tool_calls: [] },
      { content: [{ type: 'refusal', refusal: 'No.' }] },
      { content: 'No.', refusal: null },
    ]) {
      assert.deepEqual(messagesOf({ role: 'assistant', ...turn })[1], { role: 'assistant', text: 'No.' })
    }
    for (const [turn, field] of [
      [{ content: 'Yes.', refusal: 'No.' }, 'messages[1].refusal'],
      [{ content: null, refusal: 5 }, 'messages[1].refusal'],
      [{ content: null, refusal: 'a\0' }, 'messages[1].refusal'],
      [{ role: 'user', content: 'Yes.', refusal: 'No.' }, 'messages[1].refusal'],
      [{ role: 'user', content: [{ type: 'refusal', refusal: 'No.' }] }, 'messages[1].content[0].type'],
    ] as const) {
      assert.throws(() => messagesOf({ role: 'assistant', ...turn }), { code: 'invalid_field', details: { field } })
    }
  })

  it('marks for the cache, and otherwise joins the texts of a message', () => {
    const [one, two] = [
      { type: 'text', text: 'One' },
      { type: 'text', text: 'Two' },
    ]
    const marked = { ...two, cache_control: { type: 'ephemeral' } }
    const { messages } = read({
      messages: [
        { role: 'system', content: [one, marked] },
        { role: 'user', content: [one, two] },
      ],
    }).prompt
    assert.deepEqual(messages, [
      { role: 'system', parts: [text('One'), { ...text('Two'), cache: {} }] },
      { role: 'user', text: 'One\nTwo' },
    ])
  })
})

const reasoning: ReplyPart = { kind: 'reasoning', text: 'I should look.', signature: 'sig' }
const parts: readonly ReplyPart[] = [reasoning, text('Let me see.'), call('c1', 'Bonn'), call('c2', 'Ulm')]
const message = {
  role: 'assistant',
  content: 'Let me see.',
  refusal: null,
  reasoning_content: 'I should look.',
  reasoning_details: [{ type: 'reasoning.text', text: 'I should look.', signature: 'sig', index: 0 }],
  tool_calls: [callOf('c1', 'Bonn'), callOf('c2', 'Ulm')],
}
const usage = {
  prompt_tokens: 45,
  completion_tokens: 7,
  total_tokens: 52,
  prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 5 },
  completion_tokens_details: { reasoning_tokens: 4 },
}

/** The body of a reply, parsed. */
const bodyOf = (...reply: Parameters<typeof chatReply>) =>
  parseObject(openAiChat.read(base).wholeBody(chatReply(...reply)))
const messageOf = (...reply: Parameters<typeof chatReply>) => at(bodyOf(...reply), 'choices', 0, 'message')
const finishOf = (...reply: Parameters<typeof chatReply>) => at(bodyOf(...reply), 'choices', 0, 'finish_reason')

/** The chunk of a fragment of arguments, and that of a new call. */
const fragment = (index: number, words: string) => [{ tool_calls: [{ index, function: { arguments: words } }] }, null]
const begun = (index: number, id: string) => [
  { tool_calls: [{ index, id, type: 'function', function: { name: 'weather', arguments: '' } }] },
  null,
]

describe('chat completions write', () => {
  it('calls, reasoning and every count of tokens', () => {
    const completion = bodyOf(parts)
    assert.deepEqual(completion['choices'], [{ index: 0, message, logprobs: null, finish_reason: 'tool_calls' }])
    assert.deepEqual(completion['usage'], usage)
  })

  it('null for the content of a reply with calls only, and details of reasoning only where they are needed', () => {
    const said = { role: 'assistant', content: 'Hi.', refusal: null }
    assert.deepEqual(messageOf([call('c1', 'Bonn')]), { ...said, content: null, tool_calls: [callOf('c1', 'Bonn')] })
    assert.deepEqual(messageOf([{ kind: 'reasoning', text: 'Hm.' }, text('Hi.')]), {
      ...said,
      reasoning_content: 'Hm.',
    })
    assert.deepEqual(messageOf([text('Hi.')]), said)
    assert.deepEqual(messageOf([]), { ...said, content: '' })
  })

  it('a reply with calls, wherever they are, as such, unless it was cut off', () => {
    assert.equal(finishOf([call('c1', 'Bonn'), text('Hi.')]), 'tool_calls')
    assert.equal(finishOf(parts, { stopReason: 'max_output_tokens' }), 'length')
    assert.equal(finishOf([reasoning, text('Hi.')]), 'stop')
  })

  it('no reasoning tokens that the model does not report', () => {
    const reported = objectAt(bodyOf(parts, { reasoningTokens: undefined }), 'usage')
    assert.ok(!('completion_tokens_details' in reported))
  })

  it("a stream of the same, in the chunks of OpenAI's API", () => {
    const streamed = eventsOf(
      openAiChat.read({ ...base, stream: true }),
      chatReply([reasoning, call('c1', 'Bonn'), call('c2', 'Ulm')]),
      9,
    )
    const deltas = chunksOf(streamed).map((chunk) => [
      at(chunk, 'choices', 0, 'delta'),
      at(chunk, 'choices', 0, 'finish_reason'),
    ])
    assert.deepEqual(deltas, [
      [{ role: 'assistant', content: '', refusal: null }, null],
      [{ reasoning_content: 'I should ' }, null],
      [{ reasoning_content: 'look.' }, null],
      begun(0, 'c1'),
      fragment(0, '{"city": '),
      fragment(0, '"Bonn"}'),
      begun(1, 'c2'),
      fragment(1, '{"city": '),
      fragment(1, '"Ulm"}'),
      [{ reasoning_details: message.reasoning_details }, null],
      [{}, 'tool_calls'],
    ])
    assert.ok(streamed.endsWith('data: [DONE]\n\n'))
  })

  it('an object for a streamed call that got no arguments, unless it was cut off', () => {
    const parsed = openAiChat.read(base)
    for (const [stopReason, expected] of [
      ['complete', ['', '{}', '', '{}']],
      ['max_output_tokens', ['', '{}', '']],
    ] as const) {
      const writer = parsed.eventWriter({ id: chatReply([]).id, model: 'fast', inputTokens: 0 })
      const begin = (id: string) => writer.deltas([{ kind: 'call', id, tool: 'now' }])
      const events = [...begin('c1'), ...begin('c2'), ...writer.closing(chatReply([], { stopReason }))].join('')
      assert.deepEqual(
        [...events.matchAll(/"arguments":"(.*?)"/g)].map(([, words]) => words),
        expected,
      )
    }
  })
})

const called = (input: string) => ({ kind: 'call', id: 'c1', tool: 'patch', input }) as const

/** Cursor's. */
describe('a custom tool in chat completions', () => {
  const custom = { type: 'custom', name: 'patch', description: 'Patches.' }
  const words = '*** "a"\n'
  const asCall = { id: 'c1', type: 'function', function: { name: 'patch', arguments: words } }
  const history = [
    user,
    { role: 'assistant', content: [], tool_calls: [asCall] },
    { role: 'tool', tool_call_id: 'c1', content: 'Done.' },
  ]
  const items = [
    user,
    { type: 'function_call', call_id: 'c1', name: 'patch', arguments: words },
    { type: 'function_call_output', call_id: 'c1', output: 'Done.' },
  ]
  const forms = [
    ['beside messages', { messages: history }],
    ['in the form of a response', { input: items }],
  ] as const
  const bodyIn = (form: object) => ({ model: 'fast', tools: [custom], ...form })

  for (const [name, form] of forms) {
    it(`is a function with one text for the model, and its calls have that text as their arguments, ${name}`, () => {
      const { prompt } = openAiChat.read(bodyIn(form)).request
      const input = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] }
      assert.deepEqual(prompt.tools, [
        {
          name: 'patch',
          description: 'Patches.',
          parameters: { ...input, additionalProperties: false },
          field: 'tools[0].format',
        },
      ])
      assert.deepEqual(prompt.messages, [
        asked,
        turnOf(called(JSON.stringify({ input: words }))),
        { role: 'user', parts: [result('c1', 'Done.')] },
      ])
    })

    it(`is called with the text as arguments, in a whole reply and in a stream, ${name}`, () => {
      const parsed = openAiChat.read({ ...bodyIn(form), stream: true, stream_options: { include_usage: true } })
      const reply = chatReply([called(JSON.stringify({ input: words })), call('c2', 'Bonn')])
      assert.deepEqual(at(parseObject(parsed.wholeBody(reply)), 'choices', 0, 'message', 'tool_calls'), [
        asCall,
        callOf('c2', 'Bonn'),
      ])
      const chunks = chunksOf(eventsOf(parsed, reply))
      const inputs = chunks.flatMap((chunk) => {
        const sent = at(chunk, 'choices', 0, 'delta', 'tool_calls', 0)
        return sent === undefined ? [] : [[at(sent, 'index'), at(sent, 'function', 'arguments')]]
      })
      assert.deepEqual(inputs.slice(0, 3), [
        [0, ''],
        [0, words],
        [1, ''],
      ])
      assert.equal(at(chunks.at(-1), 'usage', 'completion_tokens'), 7)
    })
  }

  it('is the same if an item of the input adds it', () => {
    const added = { type: 'additional_tools', role: 'developer', tools: [custom] }
    const parsed = openAiChat.read({ model: 'fast', input: [added, ...items] })
    const made = called(JSON.stringify({ input: words }))
    assert.ok(parsed.request.prompt.messages.some((turn) => isDeepStrictEqual(turn, turnOf(made))))
    assert.deepEqual(at(parseObject(parsed.wholeBody(chatReply([made]))), 'choices', 0, 'message', 'tool_calls'), [
      asCall,
    ])
  })

  it('has no arguments in a stream if its call was cut off', () => {
    const parsed = openAiChat.read(bodyIn(forms[0][1]))
    const events = eventsOf(parsed, chatReply([called('{"input": "*** ')], { stopReason: 'max_output_tokens' }))
    assert.deepEqual(
      [...events.matchAll(/"arguments":"(.*?)"/g)].map(([, sent]) => sent),
      [''],
    )
  })

  for (const [field, body] of [
    [
      'tools',
      { input: [user], tools: [{ type: 'namespace', name: 'n', tools: [{ ...weather.function, type: 'function' }] }] },
    ],
    [
      'tools[0].format.syntax',
      { tools: [{ ...custom, format: { type: 'grammar', syntax: 'ebnf', definition: 'a' } }] },
    ],
    ['tools[1].name', { tools: [custom, custom] }],
    [
      'messages[1].tool_calls[0].function.arguments',
      { messages: [user, oneCall({ ...asCall, function: { name: 'patch', arguments: '\0' } }), ...history.slice(2)] },
    ],
    ['input[1].arguments', { messages: null, input: [user, { ...items[1], arguments: '\0' }, items[2]] }],
    ['max_tokens', { messages: null, input: items, max_tokens: 5 }],
    [
      'stream_options.include_obfuscation',
      { messages: null, input: items, stream_options: { include_obfuscation: true } },
    ],
  ] as const) {
    it(`is refused with the name of the field: ${field}`, () => {
      const sent = 'input' in body ? bodyIn(body) : { ...bodyIn(forms[0][1]), ...body }
      assert.throws(
        () => openAiChat.read(sent),
        (error) => objectAt(error, 'details')['field'] === field,
      )
    })
  }
})
