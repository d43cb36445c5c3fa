import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { replyOf as replyWith } from '../../../../tests/support/scripted-reply.ts'
import type { Delta, Message, Prompt, ReplyPart } from '../../../models/conversation.ts'
import type { StopReason } from '../../../models/model.ts'
import { at, listAt, objectAt, parseObject, type Json, valuesOf } from '../../../../tests/support/json.ts'
import type { Reply } from '../../generation.ts'
import type { TextRequest } from '../../request.ts'
import { openAiResponses } from './openai-responses.ts'

const { id } = replyWith([])
const user = { role: 'user', content: 'Hello' }
const base = { model: 'fast', input: [user] }
const tool = { type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } }

const read = (change: object = {}) => openAiResponses.read({ ...base, ...change })
const promptOf = (change: object): Prompt => read(change).request.prompt
const needsOf = (change: object): TextRequest['needs'] => read(change).request.needs
const messagesOf = (...input: readonly unknown[]): readonly Message[] => promptOf({ input }).messages

function replyOf(parts: readonly ReplyPart[], stopReason: StopReason = 'complete'): Reply {
  return { ...replyWith(parts), stopReason }
}

const call: ReplyPart = { kind: 'call', id: 'c1', tool: 'weather', input: '{"city":"Bern"}' }
const hmm: ReplyPart = { kind: 'reasoning', text: 'Hm.', signature: 'sig' }
const bodyOf = (reply: Reply, change: object = {}): Json => parseObject(read(change).wholeBody(reply))

type Sent = string | Delta

/** The events of a stream. */
function eventsOf(sent: readonly Sent[], reply: Reply, change: object = {}): readonly Json[] {
  const writer = read(change).eventWriter({ id, model: 'tiny', inputTokens: 0 })
  const content = sent.flatMap((each) => (typeof each === 'string' ? [writer.text(each)] : writer.deltas([each])))
  const text = [...writer.opening, ...content, ...writer.closing(reply)].join('')
  const events = [...text.matchAll(/^event: (.*)\ndata: (.*)\n\n/gm)].map(([, name, data]) => ({
    name,
    data: parseObject(data ?? ''),
  }))
  events.forEach(({ name, data }, index) => {
    assert.equal(name, data['type'])
    assert.equal(data['sequence_number'], index)
  })
  return events.map(({ data }) => data)
}

/** Each event in short: its type, its place and what it adds. */
function short({ type, output_index: index, delta, item }: Json): string {
  const name = String(type).replace(/^response\./, '')
  const place = typeof index === 'number' ? ` ${index}` : ''
  const { status = delta } = objectAt(item)
  return name + place + (typeof status === 'string' ? ` ${status}` : '')
}

/** Items of a conversation. */
const saidItem = (text: string) => ({ role: 'assistant', content: [{ type: 'output_text', text }] })
const foundItem = (...tools: readonly object[]) => ({ type: 'tool_search_output', call_id: 's1', tools })
const reasoningItemOf = (fields: object) => ({ type: 'reasoning', id: 'rs_1', summary: [], ...fields })

describe('a request for a response', () => {
  it('reads tools, the choice and the number of calls', () => {
    const strict = { ...tool, name: 'f', description: 'Does.', strict: true, allowed_callers: ['direct'] }
    const prompt = promptOf({
      tools: [{ type: 'function', name: 'bare', parameters: null, strict: null, description: null }, strict],
      tool_choice: { type: 'function', name: 'f' },
      parallel_tool_calls: false,
    })
    assert.deepEqual(prompt, {
      messages: [{ role: 'user', text: 'Hello' }],
      tools: [
        { name: 'bare', parameters: { type: 'object', properties: {} }, field: 'tools[0].parameters' },
        { name: 'f', description: 'Does.', parameters: tool.parameters, field: 'tools[1].parameters', strict: true },
      ],
      toolChoice: { tool: 'f' },
      parallelCalls: false,
    })
    for (const choice of ['none', 'auto', 'required'] as const) {
      assert.equal(promptOf({ tools: [tool], tool_choice: choice }).toolChoice, choice)
    }
    assert.deepEqual(Object.keys(promptOf({ tools: [], tool_choice: 'none', parallel_tool_calls: true })), ['messages'])
  })

  it('reads tools in namespaces under one name each, and calls of them', () => {
    const spaced = { ...tool, description: 'Asks.' }
    const { tools } = promptOf({
      tools: [{ type: 'namespace', name: 'n', description: 'For rain.', tools: [spaced, { ...spaced, name: 'f' }] }],
    })
    assert.deepEqual(
      tools?.map(({ name, description, field }) => [name, description, field]),
      [
        ['n__weather', 'n: For rain.\n\nAsks.', 'tools[0].tools[0].parameters'],
        ['n__f', 'Asks.', 'tools[0].tools[1].parameters'],
      ],
    )
    const called = { type: 'function_call', call_id: 'c1', namespace: 'n', name: 'f', arguments: '{}' }
    const messages = messagesOf(user, called, { type: 'function_call_output', call_id: 'c1', output: '' })
    assert.deepEqual(messages[1]?.parts, [{ kind: 'call', id: 'c1', tool: 'n__f', input: '{}' }])
  })

  it('reads custom tools as functions of one text, and explains their grammar', () => {
    const format = { type: 'grammar', syntax: 'lark', definition: 'start: "a"' }
    const tools = [{ type: 'custom', name: 'patch', description: 'Patches.', format }]
    const prompt = promptOf({ tools, tool_choice: { type: 'custom', name: 'patch' } })
    assert.deepEqual(prompt.toolChoice, { tool: 'patch' })
    const [patch] = prompt.tools ?? []
    assert.match(patch?.description ?? '', /^Patches\.\n\n.*"input" .*Lark grammar:\nstart: "a"$/)
    assert.deepEqual(patch?.parameters, {
      type: 'object',
      properties: { input: { type: 'string' } },
      required: ['input'],
      additionalProperties: false,
    })
    assert.deepEqual(bodyOf(replyOf([]), { tools })['tools'], tools)
    const called = { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: '"a"\n' }
    const messages = messagesOf(user, called, { type: 'custom_tool_call_output', call_id: 'c1', output: 'Done.' })
    assert.deepEqual(messages[1]?.parts, [{ kind: 'call', id: 'c1', tool: 'patch', input: '{"input":"\\"a\\"\\n"}' }])
    for (const [change, field] of [
      [{ format: { type: 'grammar', syntax: 'bnf', definition: '' } }, 'tools[0].format.syntax'],
      [{ format: { type: 'grammar', syntax: 'regex' } }, 'tools[0].format.definition'],
      [{ format: { type: 'json' } }, 'tools[0].format.type'],
      [{ parameters: {} }, 'tools[0].parameters'],
    ] as const) {
      assert.throws(
        () => promptOf({ tools: [{ ...tools[0], ...change }] }),
        new RegExp(`The field ${RegExp.escape(field)} must`),
      )
    }
  })

  it('adds the tools that items bring, each once, and says what a search found', () => {
    const searched = { type: 'tool_search_call', execution: 'client', call_id: 's1', arguments: { query: 'rain' } }
    const spaced = { type: 'namespace', name: 'n', tools: [tool] }
    const search = { type: 'tool_search', execution: 'client', parameters: tool.parameters }
    const input = [
      { type: 'additional_tools', role: 'developer', tools: [tool] },
      user,
      searched,
      foundItem(spaced),
      searched,
      foundItem(spaced),
    ]
    const prompt = promptOf({ tools: [search], input })
    assert.deepEqual(
      prompt.tools?.map(({ name }) => name),
      ['tool_search', 'weather', 'n__weather'],
    )
    assert.deepEqual(prompt.messages[1]?.parts, [
      { kind: 'call', id: 's1', tool: 'tool_search', input: '{"query":"rain"}' },
    ])
    assert.match(JSON.stringify(prompt.messages[2]), /can be called now: n__weather\./)
    assert.match(JSON.stringify(messagesOf(user, searched, foundItem())), /No tool was found/)
    const twice = { tools: [tool], input: [input[0], user] }
    assert.throws(() => promptOf(twice), /The field input\[0\]\.tools\[0\]\.name must be a name that no other/)
    assert.throws(
      () => promptOf({ tools: [{ ...search, execution: 'server' }] }),
      /tools\[0\]\.execution must be client/,
    )
  })

  it('reads how much to write; medium is what models do by themselves', () => {
    assert.equal(promptOf({ text: { verbosity: 'low' } }).verbosity, 'low')
    assert.equal(promptOf({ text: { verbosity: 'medium' } }).verbosity, undefined)
    assert.deepEqual(bodyOf(replyOf([]), { text: { verbosity: 'low' } })['text'], {
      format: { type: 'text' },
      verbosity: 'low',
    })
  })

  it('leaves out a search beside tools of the caller, and says so', () => {
    const asked = { tools: [{ type: 'web_search', external_web_access: true }, tool] }
    assert.deepEqual(
      promptOf(asked).tools?.map(({ name }) => name),
      ['weather'],
    )
    const repeated = listAt(bodyOf(replyOf([]), asked), 'tools')
    assert.deepEqual(valuesOf(repeated, 'type'), ['function'])
  })

  it('reads formats, reasoning and the key of the cache', () => {
    const schema = { type: 'object' }
    const named = { type: 'json_schema', name: 'n', description: 'd', schema, strict: true }
    assert.deepEqual(promptOf({ text: { format: named } }).format, {
      kind: 'schema',
      name: 'n',
      description: 'd',
      schema,
      strict: true,
      field: 'text.format.schema',
    })
    assert.deepEqual(promptOf({ text: { format: { type: 'json_object' } } }).format, { kind: 'json' })
    assert.deepEqual(Object.keys(promptOf({ text: { format: { type: 'text' } }, reasoning: {} })), ['messages'])
    const reasoning = { effort: 'high', summary: 'auto' }
    assert.deepEqual(promptOf({ reasoning }).reasoning, reasoning)
    assert.deepEqual(promptOf({ reasoning: { generate_summary: 'detailed' } }).reasoning, { summary: 'detailed' })
    assert.equal(promptOf({ prompt_cache_key: 'k' }).cacheKey, 'k')
  })

  it('names what it needs of the model', () => {
    assert.equal(needsOf({}), undefined)
    assert.equal(needsOf({ tools: [], reasoning: { effort: 'none' }, text: { format: { type: 'text' } } }), undefined)
    assert.deepEqual(
      needsOf({ tools: [tool], reasoning: { effort: 'low' }, text: { format: { type: 'json_object' } } }),
      [
        { capability: 'tools', field: 'tools' },
        { capability: 'json', field: 'text.format' },
        { capability: 'reasoning', field: 'reasoning' },
      ],
    )
  })

  it('reads what the assistant reasoned, said and called as one turn, and results with the message after them as one', () => {
    const items = [
      user,
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'sig' },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Well.', annotations: [] }],
      },
      { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{"a": 1}', status: 'completed' },
      { type: 'function_call', call_id: 'c2', name: 'f', arguments: '' },
      { type: 'function_call_output', id: 'fco_1', call_id: 'c1', output: 'one', status: 'completed' },
      { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'two' }] },
      user,
      user,
    ]
    assert.deepEqual(messagesOf(...items), [
      { role: 'user', text: 'Hello' },
      {
        role: 'assistant',
        parts: [
          hmm,
          { kind: 'text', text: 'Well.' },
          { kind: 'call', id: 'c1', tool: 'f', input: '{"a": 1}' },
          { kind: 'call', id: 'c2', tool: 'f', input: '{}' },
        ],
      },
      {
        role: 'user',
        parts: [
          { kind: 'result', callId: 'c1', content: [{ kind: 'text', text: 'one' }] },
          { kind: 'result', callId: 'c2', content: [{ kind: 'text', text: 'two' }] },
          { kind: 'text', text: 'Hello' },
        ],
      },
      { role: 'user', text: 'Hello' },
    ])
  })

  it('ends with a result, even an empty one', () => {
    const items = [
      user,
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: '' },
    ]
    assert.deepEqual(messagesOf(...items).at(-1), {
      role: 'user',
      parts: [{ kind: 'result', callId: 'c1', content: [] }],
    })
  })

  it('keeps messages in a row apart, and joins the texts of one', () => {
    const texts = ['One', 'Two'].map((text) => ({ type: 'input_text', text }))
    const refused = { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }
    assert.deepEqual(messagesOf(saidItem('A'), saidItem('B'), refused, { role: 'user', content: texts }), [
      { role: 'assistant', text: 'A' },
      { role: 'assistant', text: 'B' },
      { role: 'assistant', text: 'No.' },
      { role: 'user', text: 'One\nTwo' },
    ])
  })

  it('reads reasoning: shown, withheld, and by its content', () => {
    const summary = ['One', 'Two'].map((text) => ({ type: 'summary_text', text }))
    const content = [{ type: 'reasoning_text', text: 'All' }]
    for (const [fields, parts] of [
      [{ summary, status: 'completed' }, [{ kind: 'reasoning', text: 'One\n\nTwo' }]],
      [{ summary, content }, [{ kind: 'reasoning', text: 'All' }]],
      [{ encrypted_content: 'abc' }, [{ kind: 'reasoning', text: '', signature: 'abc' }]],
      [{ encrypted_content: 'redacted:abc' }, [{ kind: 'reasoning', text: '', signature: 'abc', redacted: true }]],
    ] as const) {
      assert.deepEqual(messagesOf(reasoningItemOf(fields), user)[0], { role: 'assistant', parts })
    }
    // Nothing is stored, so its id alone says nothing.
    assert.deepEqual(messagesOf(reasoningItemOf({ encrypted_content: null }), user), [{ role: 'user', text: 'Hello' }])
  })
})

describe('a response', () => {
  it('has an item for reasoning, text and calls, and repeats what was asked', () => {
    const format = { type: 'json_schema', name: 'n', description: null, schema: { type: 'object' }, strict: true }
    const asked = {
      tools: [{ ...tool, strict: false }],
      tool_choice: { type: 'function', name: 'weather' },
      parallel_tool_calls: false,
      text: { format },
      reasoning: { effort: 'low' },
      prompt_cache_key: 'k',
    }
    const body = bodyOf(replyOf([hmm, { kind: 'text', text: 'Well.' }, call]), asked)
    assert.deepEqual(body['output'], [
      { id: `rs_${id}`, type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'sig' },
      {
        id: `msg_${id}_1`,
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Well.', annotations: [], logprobs: [] }],
      },
      {
        id: `fc_${id}_2`,
        type: 'function_call',
        status: 'completed',
        call_id: 'c1',
        name: 'weather',
        arguments: '{"city":"Bern"}',
      },
    ])
    assert.deepEqual(body['tools'], [{ ...tool, description: null, strict: false }])
    assert.deepEqual(
      ['status', 'tool_choice', 'parallel_tool_calls', 'text', 'reasoning', 'prompt_cache_key'].map(
        (name) => body[name],
      ),
      ['completed', asked.tool_choice, false, { format }, { effort: 'low', summary: null }, 'k'],
    )
    assert.deepEqual(body['usage'], {
      input_tokens: 45,
      input_tokens_details: { cached_tokens: 30, cache_write_tokens: 5 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 4 },
      total_tokens: 52,
    })
  })

  it('has no message if there are only calls, and one if there is nothing at all', () => {
    assert.deepEqual(valuesOf(listAt(bodyOf(replyOf([call])), 'output'), 'type'), ['function_call'])
    assert.equal(at(bodyOf(replyOf([])), 'output', 0, 'content', 0, 'text'), '')
  })

  it('that was cut off is incomplete, and so is its last text', () => {
    const body = bodyOf(replyOf([hmm, { kind: 'text', text: 'We' }], 'max_output_tokens'))
    assert.deepEqual(
      [body['status'], at(body, 'incomplete_details', 'reason'), at(body, 'output', 1, 'status')],
      ['incomplete', 'max_output_tokens', 'incomplete'],
    )
    const called = bodyOf(replyOf([{ kind: 'text', text: 'We' }, call], 'max_output_tokens'))
    assert.deepEqual(valuesOf(listAt(called, 'output'), 'status'), ['completed', 'completed'])
  })
})

const withTools = { tools: [tool] }
const callDeltas = [
  { kind: 'call', id: 'c1', tool: 'weather' },
  { kind: 'input', json: '{"city":' },
  { kind: 'input', json: '"Bern"}' },
] as const
const beginning = ['created', 'in_progress']

describe('a streamed response', () => {
  it('opens its text with the first piece', () => {
    const writer = read().eventWriter({ id, model: 'tiny', inputTokens: 0 })
    assert.equal(writer.opening.length, 2)
    assert.deepEqual(eventsOf(['We', 'll.'], replyOf([{ kind: 'text', text: 'Well.' }])).map(short), [
      ...beginning,
      'output_item.added 0 in_progress',
      'content_part.added 0',
      'output_text.delta 0 We',
      'output_text.delta 0 ll.',
      'output_text.done 0',
      'content_part.done 0',
      'output_item.done 0 completed',
      'completed',
    ])
  })

  it('streams reasoning, a text and a call, each to its end before the next begins', () => {
    const sent = [
      { kind: 'reasoning', text: 'H' },
      { kind: 'reasoning', text: 'm.' },
      { kind: 'signature', signature: 'sig' },
      'We',
      'll.',
      ...callDeltas,
    ] as const
    const reply = replyOf([hmm, { kind: 'text', text: 'Well.' }, call])
    const events = eventsOf(sent, reply, withTools)
    assert.deepEqual(events.map(short), [
      ...beginning,
      'output_item.added 0',
      'reasoning_summary_part.added 0',
      'reasoning_summary_text.delta 0 H',
      'reasoning_summary_text.delta 0 m.',
      'reasoning_summary_text.done 0',
      'reasoning_summary_part.done 0',
      'output_item.done 0',
      'output_item.added 1 in_progress',
      'content_part.added 1',
      'output_text.delta 1 We',
      'output_text.delta 1 ll.',
      'output_text.done 1',
      'content_part.done 1',
      'output_item.done 1 completed',
      'output_item.added 2 in_progress',
      'function_call_arguments.delta 2 {"city":',
      'function_call_arguments.delta 2 "Bern"}',
      'function_call_arguments.done 2',
      'output_item.done 2 completed',
      'completed',
    ])
    const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)
    assert.deepEqual(done, bodyOf(reply, withTools)['output'])
    assert.deepEqual(events.at(-1)?.['response'], bodyOf(reply, withTools))
    const argumentsDone = events.find(({ type }) => type === 'response.function_call_arguments.done')
    assert.deepEqual([argumentsDone?.['name'], argumentsDone?.['arguments']], ['weather', '{"city":"Bern"}'])
  })

  it('ends a text that something follows with the reply, if there are no tools', () => {
    const parts: readonly ReplyPart[] = [{ kind: 'text', text: 'A' }, hmm, { kind: 'text', text: 'B' }]
    const sent = ['A', { kind: 'reasoning', text: 'Hm.' }, { kind: 'signature', signature: 'sig' }, 'B'] as const
    const reply = replyOf(parts)
    const events = eventsOf(sent, reply)
    const done = events.filter(({ type }) => type === 'response.output_item.done')
    assert.deepEqual(valuesOf(done, 'output_index'), [1, 0, 2])
    const inOrder = done.toSorted((a, b) => Number(a['output_index']) - Number(b['output_index']))
    assert.deepEqual(valuesOf(inOrder, 'item'), bodyOf(reply)['output'])
  })

  it('writes the arguments of a call that has none', () => {
    const bare: ReplyPart = { kind: 'call', id: 'c1', tool: 'weather', input: '{}' }
    const events = eventsOf([{ kind: 'call', id: 'c1', tool: 'weather' }], replyOf([bare]), withTools)
    assert.equal(at(events.at(-2), 'item', 'arguments'), '{}')
    assert.ok(!events.some(({ type }) => String(type).includes('content_part')))
  })

  it('names a call of a tool in a namespace as the request did, whole and streamed', () => {
    const asked = { tools: [{ type: 'namespace', name: 'n', description: null, tools: [tool] }] }
    const reply = replyOf([{ kind: 'call', id: 'c1', tool: 'n__weather', input: '{}' }])
    const events = eventsOf([{ kind: 'call', id: 'c1', tool: 'n__weather' }], reply, asked)
    for (const item of [
      at(bodyOf(reply, asked), 'output', 0),
      ...events.map((event) => at(event, 'item')).filter(Boolean),
    ]) {
      assert.deepEqual([at(item, 'namespace'), at(item, 'name')], ['n', 'weather'])
    }
    assert.equal(events.find(({ type }) => type === 'response.function_call_arguments.done')?.['name'], 'weather')
    const echoed = { ...tool, description: null, strict: null }
    assert.deepEqual(bodyOf(reply, asked)['tools'], [{ ...asked.tools[0], tools: [echoed] }])
  })

  it('writes calls of custom tools and searches in their own form, whole and streamed', () => {
    const asked = {
      tools: [
        { type: 'custom', name: 'patch' },
        { type: 'tool_search', execution: 'client', parameters: tool.parameters },
      ],
    }
    const reply = replyOf([
      { kind: 'call', id: 'c1', tool: 'patch', input: '{"input":"a\\n"}' },
      { kind: 'call', id: 'c2', tool: 'tool_search', input: '{"query":"rain"}' },
    ])
    const output = [
      { id: `ctc_${id}`, type: 'custom_tool_call', status: 'completed', call_id: 'c1', name: 'patch', input: 'a\n' },
      {
        id: `tsc_${id}_1`,
        type: 'tool_search_call',
        execution: 'client',
        status: 'completed',
        call_id: 'c2',
        arguments: { query: 'rain' },
      },
    ]
    assert.deepEqual(bodyOf(reply, asked)['output'], output)
    const deltas: readonly Delta[] = [
      { kind: 'call', id: 'c1', tool: 'patch' },
      { kind: 'input', json: '{"input":' },
      { kind: 'input', json: '"a\\n"}' },
      { kind: 'call', id: 'c2', tool: 'tool_search' },
      { kind: 'input', json: '{"query":"rain"}' },
    ]
    const events = eventsOf(deltas, reply, asked)
    assert.deepEqual(events.map(short).slice(2), [
      'output_item.added 0 in_progress',
      'custom_tool_call_input.delta 0 a\n',
      'custom_tool_call_input.done 0',
      'output_item.done 0 completed',
      'output_item.added 1 in_progress',
      'output_item.done 1 completed',
      'completed',
    ])
    const done = events.filter(({ type }) => type === 'response.output_item.done')
    assert.deepEqual(valuesOf(done, 'item'), output)
    assert.equal(at(events[2], 'item', 'input'), '')
  })

  it('leaves out what was written of a custom call that was cut off', () => {
    const asked = { tools: [{ type: 'custom', name: 'patch' }] }
    const deltas: readonly Delta[] = [
      { kind: 'call', id: 'c1', tool: 'patch' },
      { kind: 'input', json: '{"input":"a' },
    ]
    const events = eventsOf(deltas, { ...replyOf([], 'max_output_tokens'), parts: [] }, asked)
    assert.deepEqual([at(events.at(-2), 'item', 'status'), at(events.at(-2), 'item', 'input')], ['incomplete', ''])
  })

  it('leaves a call that was cut off incomplete, also in the response', () => {
    const reply = replyOf([{ kind: 'text', text: 'We' }], 'max_output_tokens')
    const events = eventsOf(['We', callDeltas[0], callDeltas[1]], reply, withTools)
    assert.deepEqual(events.map(short).slice(-3), [
      'function_call_arguments.done 1',
      'output_item.done 1 incomplete',
      'incomplete',
    ])
    assert.equal(at(events.at(-2), 'item', 'arguments'), '{"city":')
    assert.deepEqual(listAt(events.at(-1), 'response', 'output').slice(1), [at(events.at(-2), 'item')])
  })

  it('without a text has an empty one; without its calls it has nothing', () => {
    const empty = eventsOf([], replyOf([]))
    assert.equal(at(empty.at(-2), 'item', 'content', 0, 'text'), '')
    assert.deepEqual(eventsOf([], { ...replyOf([]), parts: [] }).map(short), [...beginning, 'completed'])
  })
})
