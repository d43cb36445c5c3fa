// oxlint-disable unicorn/consistent-function-scoping -- each block describes requests of one dialect
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { Problem } from '../../platform/problems.ts'
import { anthropicMessages } from './anthropic/anthropic-messages.ts'
import type { Dialect } from './dialect.ts'
import { openAiChat } from './openai-chat/openai-chat.ts'
import { openAiResponses } from './openai-responses/openai-responses.ts'

/** Requests that cannot work, with the field that the refusal names. */
type Refused = readonly (readonly [change: object, field: string])[]

const user = { role: 'user', content: 'Hello' }
const said = { role: 'assistant', content: 'Yes.' }
const large = { type: 'object', description: 'x'.repeat(900_000) }
const recursive = { type: 'object', properties: { child: { $ref: '#' } } }

function refuses(name: string, dialect: Dialect, base: object, refused: Refused): void {
  for (const [change, field] of refused) {
    test(`A2 ${name} refuses ${field}: ${inspect(change, { maxStringLength: 40 }).slice(0, 90)}`, () => {
      assert.throws(
        () => dialect.read({ ...base, ...change }),
        (error) => {
          assert.ok(error instanceof Problem, String(error))
          assert.ok(['invalid_field', 'unknown_field', 'missing_field'].includes(error.code), error.code)
          assert.equal(error.details.field, field)
          assert.ok(`${error.message.replaceAll('. ', ' ')} `.includes(` ${field} `), error.message)
          return true
        },
      )
    })
  }
}

test('a hosted tool is named in the refusal', () => {
  const request = { model: 'fast', input: 'Hello', tools: [{ type: 'web_search' }] }
  assert.throws(() => openAiResponses.read(request), /web_search is not supported here/)
})

{
  const functionOf = (more: object) => ({ type: 'function', function: { name: 'f', ...more } })
  const tool = functionOf({})
  const schemaOf = (schema: unknown) => ({ type: 'json_schema', json_schema: { name: 'answer', schema } })
  const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) })
  const called = (input: string) => ({ id: 'c1', type: 'function', function: { name: 'f', arguments: input } })
  const call = called('{}')
  const calling = { role: 'assistant', content: null, tool_calls: [call] }
  const result = { role: 'tool', tool_call_id: 'c1', content: '5' }
  const thinking = (detail: unknown) => ({ role: 'assistant', content: 'Hi.', reasoning_details: detail })
  const image = (url: string) => ({ role: 'user', content: [{ type: 'image_url', image_url: { url } }] })

  refuses('chat completions', openAiChat, { model: 'fast', messages: [user], max_tokens: 100 }, [
    [{ tools: Array.from({ length: 500 }, (_, index) => functionOf({ name: `f${index}` })) }, 'tools'],
    [{ tools: tool }, 'tools'],
    [{ tools: [5] }, 'tools[0]'],
    [{ tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    [{ tools: [{ type: 'custom', custom: { name: 'f' } }] }, 'tools[0].type'],
    [{ tools: [{ type: 'function' }] }, 'tools[0].function'],
    [{ tools: [{ ...tool, defer: true }] }, 'tools[0].defer'],
    [{ tools: [functionOf({ when: 1 })] }, 'tools[0].function.when'],
    [{ tools: [functionOf({ name: 'a b' })] }, 'tools[0].function.name'],
    [{ tools: [tool, tool] }, 'tools[1].function.name'],
    [{ tools: [functionOf({ description: 5 })] }, 'tools[0].function.description'],
    [{ tools: [functionOf({ parameters: large })] }, 'tools[0].function.parameters'],
    [{ tools: [functionOf({ parameters: recursive })] }, 'tools[0].function.parameters'],
    [{ tools: [functionOf({ parameters: {} })] }, 'tools[0].function.parameters'],
    [{ tools: [functionOf({ strict: 'yes' })] }, 'tools[0].function.strict'],
    [{ tools: [{ ...tool, cache_control: { type: 'x' } }] }, 'tools[0].cache_control'],
    [{ tools: [tool], tool_choice: functionOf({ name: 'g' }) }, 'tool_choice.function.name'],
    [{ tools: [tool], tool_choice: 'any' }, 'tool_choice'],
    [{ tools: [tool], tool_choice: { type: 'allowed_tools' } }, 'tool_choice.type'],
    [{ tools: [], tool_choice: 'required' }, 'tool_choice'],
    [{ tools: [tool], parallel_tool_calls: 'no' }, 'parallel_tool_calls'],
    [{ response_format: { type: 'grammar' } }, 'response_format.type'],
    [{ response_format: 'json' }, 'response_format'],
    [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
    [{ response_format: { type: 'json_object', schema: large } }, 'response_format.schema'],
    [{ response_format: { type: 'text', schema: {} } }, 'response_format.schema'],
    [{ response_format: { ...schemaOf({}), schema: {} } }, 'response_format.schema'],
    [
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'a', tool_calls: [] }] }] },
      'messages[0].content[0].tool_calls',
    ],
    [{ response_format: schemaOf(large) }, 'response_format.json_schema.schema'],
    [{ response_format: schemaOf(recursive) }, 'response_format.json_schema.schema'],
    [{ response_format: schemaOf(undefined) }, 'response_format.json_schema.schema'],
    [{ messages: [user, result] }, 'messages[1].tool_call_id'],
    [{ messages: [user, calling, { ...result, tool_call_id: 'c2' }] }, 'messages[2].tool_call_id'],
    [{ messages: [user, calling, result, result] }, 'messages[3].tool_call_id'],
    [{ messages: [user, calling, { role: 'tool', content: '5' }] }, 'messages[2].tool_call_id'],
    [{ messages: [user, calling, { ...result, content: 5 }] }, 'messages[2].content'],
    [{ messages: [user, calling, user] }, 'messages[1].tool_calls[0].id'],
    [{ messages: [user, calling] }, 'messages[1].role'],
    [{ messages: [user, { ...calling, tool_calls: [call, call] }, result] }, 'messages[1].tool_calls[1].id'],
    [
      { messages: [user, { ...calling, tool_calls: [called('{')] }, result] },
      'messages[1].tool_calls[0].function.arguments',
    ],
    [
      { messages: [user, { ...calling, tool_calls: [called(deep)] }, result] },
      'messages[1].tool_calls[0].function.arguments',
    ],
    [{ messages: Array.from({ length: 5000 }, () => 5) }, 'messages'],
    [
      { messages: [user, { ...calling, tool_calls: [{ ...call, type: 'custom' }] }, result] },
      'messages[1].tool_calls[0].type',
    ],
    [{ messages: [user, { ...calling, tool_calls: call }, result] }, 'messages[1].tool_calls'],
    [{ messages: [user, { ...calling, function_call: { name: 'f' } }, user] }, 'messages[1].function_call'],
    [{ messages: [{ ...user, tool_calls: [call] }] }, 'messages[0].tool_calls'],
    [{ messages: [user, { role: 'function', name: 'f', content: '5' }] }, 'messages[1].role'],
    [{ messages: [{ ...thinking([]), reasoning_content: 5 }, user] }, 'messages[0].reasoning_content'],
    [{ messages: [thinking('x'), user] }, 'messages[0].reasoning_details'],
    [{ messages: [thinking([{ type: 'x' }]), user] }, 'messages[0].reasoning_details[0].type'],
    [
      { messages: [thinking([{ type: 'reasoning.text', text: 'x', index: -1 }]), user] },
      'messages[0].reasoning_details[0].index',
    ],
    [
      {
        messages: [
          { ...user, content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1d' } }] },
        ],
      },
      'messages[0].content[0].cache_control.ttl',
    ],
    [{ reasoning_effort: 'most' }, 'reasoning_effort'],
    [{ reasoning_effort: 1 }, 'reasoning_effort'],
    [{ verbosity: 'long' }, 'verbosity'],
    [{ reasoning: 'low' }, 'reasoning'],
    [{ reasoning: { depth: 1 } }, 'reasoning.depth'],
    [{ reasoning: { effort: 'low', max_tokens: 2000 } }, 'reasoning.max_tokens'],
    [{ reasoning: { enabled: false, max_tokens: 2000 } }, 'reasoning.enabled'],
    [{ reasoning: { max_tokens: 2000 }, reasoning_effort: 'low' }, 'reasoning_effort'],
    [{ include_reasoning: 1 }, 'include_reasoning'],
    [{ frequency_penalty: 2.1 }, 'frequency_penalty'],
    [{ presence_penalty: '1' }, 'presence_penalty'],
    [{ logit_bias: [5] }, 'logit_bias'],
    [{ logit_bias: { 5: 101 } }, 'logit_bias.5'],
    [{ top_k: 1.5 }, 'top_k'],
    [{ min_p: 1.1 }, 'min_p'],
    [{ repetition_penalty: 0 }, 'repetition_penalty'],
    [{ chat_template_kwargs: 'x' }, 'chat_template_kwargs'],
    [{ chat_template_kwargs: { text: 'x'.repeat(70_000) } }, 'chat_template_kwargs'],
    [{ provider: nested(1000) }, 'provider'],
    [{ n: 9 }, 'n'],
    [{ n: 0 }, 'n'],
    [{ n: '2' }, 'n'],
    [{ top_logprobs: 2 }, 'top_logprobs'],
    [{ logprobs: false, top_logprobs: 2 }, 'top_logprobs'],
    [{ logprobs: true, top_logprobs: 21 }, 'top_logprobs'],
    [{ logprobs: 1 }, 'logprobs'],
    [{ stream_options: { include_obfuscation: true } }, 'stream_options.include_obfuscation'],
    [{ max_completion_tokens: 5 }, 'max_tokens'],
    [{ messages: [image('http://example.com/a.png')] }, 'messages[0].content[0].image_url.url'],
    [{ messages: [image('https://a:b@example.com/')] }, 'messages[0].content[0].image_url.url'],
    [{ messages: [image(`https://example.com/${'x'.repeat(9000)}`)] }, 'messages[0].content[0].image_url.url'],
    [{ messages: [{ ...user, name: 'Anna' }] }, 'messages[0].name'],
    [{ messages: [user, { ...said, content: ' ' }] }, 'messages[1].content'],
    [{ messages: [user, { ...said, reasoning_content: 'Hm.' }] }, 'messages[1].role'],
    [{ messages: [user, { ...said, prefix: false }] }, 'messages[1].prefix'],
    [{ messages: [user, { ...said, partial: true }, user] }, 'messages[1].partial'],
    [{ messages: [{ ...user, prefix: true }] }, 'messages[0].prefix'],
    [{ messages: [{ role: 'system', content: 'Be brief.' }] }, 'messages[0].role'],
    [{ messages: [user, { role: 'developer', content: 'Be brief.' }] }, 'messages[1].role'],
    [
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'x', role: 'assistant' }], name: 'x' }] },
      'messages[0].name',
    ],
    [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
    [{ messages: [{ role: 'user', content: ' ' }] }, 'messages[0].content'],
    [{ messages: [{ role: 'user', content: 'a\0' }] }, 'messages[0].content'],
    [{ messages: [{ role: 'user', content: [{ type: 'text', text: '\ud800' }] }] }, 'messages[0].content[0].text'],
    [{ messages: [] }, 'messages'],
    [{ messages: 'Hello' }, 'messages'],
    [{ messages: undefined }, 'messages'],
    [{ stop: 5 }, 'stop'],
    [{ stop: '' }, 'stop'],
    [{ stop: ['x', ''] }, 'stop[1]'],
    [{ temprature: 1 }, 'temprature'],
  ])
}

{
  const tool = { type: 'function', name: 'f' }
  const schemaOf = (schema: unknown) => ({ text: { format: { type: 'json_schema', name: 'answer', schema } } })
  const call = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{}', status: 'completed' }
  const result = { type: 'function_call_output', call_id: 'c1', output: '5' }
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] }
  const hosted = ['file_search', 'code_interpreter', 'mcp', 'computer', 'image_generation']
  const spaced = (...tools: readonly unknown[]) => ({ tools: [{ type: 'namespace', name: 'n', tools }] })
  const others = ['item_reference', 'web_search_call', 'shell_call', 'mcp_approval_response', 'compaction']
  const after = (...items: readonly unknown[]) => ({ input: [user, ...items] })
  const before = (item: unknown) => ({ input: [item, user] })

  refuses('responses', openAiResponses, { model: 'fast', input: [user], max_output_tokens: 100 }, [
    [{ tools: Array.from({ length: 500 }, (_, index) => ({ ...tool, name: `f${index}` })) }, 'tools'],
    [{ tools: Array.from({ length: 5000 }, () => 5) }, 'tools'],
    [{ input: Array.from({ length: 5000 }, () => 5) }, 'input'],
    [{ tools: tool }, 'tools'],
    [{ tools: [5] }, 'tools[0]'],
    ...hosted.map((type) => [{ tools: [tool, { type }] }, 'tools[1].type'] as const),
    [{ tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    [{ tools: [tool, { type: 'web_search' }], tool_choice: 'required' }, 'tools[1].type'],
    [{ tools: [{ type: 'namespace', name: 'n' }] }, 'tools[0].tools'],
    [spaced(...spaced().tools), 'tools[0].tools[0].type'],
    [spaced({ ...tool, name: 'x'.repeat(62) }), 'tools[0].tools[0].name'],
    [spaced(...Array.from({ length: 500 }, (_, index) => ({ ...tool, name: `f${index}` }))), 'tools'],
    [{ tools: [{ ...tool, when: true }] }, 'tools[0].when'],
    [{ tools: [{ ...tool, defer_loading: true }] }, 'tools[0].defer_loading'],
    [{ tools: [{ ...tool, name: 'a b' }] }, 'tools[0].name'],
    [{ tools: [{ type: 'function' }] }, 'tools[0].name'],
    [{ tools: [tool, tool] }, 'tools[1].name'],
    [{ tools: [{ ...tool, description: 5 }] }, 'tools[0].description'],
    [{ tools: [{ ...tool, parameters: large }] }, 'tools[0].parameters'],
    [{ tools: [{ ...tool, parameters: recursive }] }, 'tools[0].parameters'],
    [{ tools: [{ ...tool, strict: 'yes' }] }, 'tools[0].strict'],
    [{ tools: [tool], tool_choice: { type: 'function', name: 'g' } }, 'tool_choice.name'],
    [{ tools: [tool], tool_choice: 'any' }, 'tool_choice'],
    [{ tools: [tool], tool_choice: { type: 'allowed_tools' } }, 'tool_choice.type'],
    [{ tools: [tool], tool_choice: { type: 'web_search_preview' } }, 'tool_choice.type'],
    [{ tools: [], tool_choice: 'required' }, 'tool_choice'],
    [{ tools: [tool], parallel_tool_calls: 'no' }, 'parallel_tool_calls'],
    [{ text: 'json' }, 'text'],
    [{ text: { form: 'x' } }, 'text.form'],
    [{ text: { format: { type: 'grammar' } } }, 'text.format.type'],
    [{ text: { format: 'json' } }, 'text.format'],
    [{ text: { format: { type: 'json_object', name: 'x' } } }, 'text.format.name'],
    [schemaOf(large), 'text.format.schema'],
    [schemaOf(recursive), 'text.format.schema'],
    [schemaOf(undefined), 'text.format.schema'],
    [{ prompt_cache_key: 5 }, 'prompt_cache_key'],
    [{ reasoning: { summary: 'long' } }, 'reasoning.summary'],
    [after(result), 'input[1].call_id'],
    [after(call, { ...result, call_id: 'c2' }), 'input[2].call_id'],
    [after(call, result, result), 'input[3].call_id'],
    [after(call, { ...result, call_id: undefined }), 'input[2].call_id'],
    [after(call, { ...result, output: 5 }), 'input[2].output'],
    [after(call, { ...result, output: [{ type: 'input_image', image_url: 'x' }] }), 'input[2].output[0].image_url'],
    [after(call, user), 'input[1].call_id'],
    [after(call), 'input[1].type'],
    [after(reasoning), 'input[1].type'],
    [after(call, call, result), 'input[2].call_id'],
    [after({ ...call, arguments: '{' }, result), 'input[1].arguments'],
    [after({ ...call, arguments: '[]' }, result), 'input[1].arguments'],
    [after({ ...call, namespace: '' }, result), 'input[1].namespace'],
    [after({ ...call, caller: { type: 'program', caller_id: 'x' } }, result), 'input[1].caller'],
    ...others.map((type) => [after({ type, id: 'x' }), 'input[1].type'] as const),
    [before({ type: 'reasoning', id: 'rs_1' }), 'input[0].summary'],
    [before({ ...reasoning, summary: 'Hm.' }), 'input[0].summary'],
    [before({ ...reasoning, summary: [{ type: 'text', text: 'x' }] }), 'input[0].summary[0].type'],
    [before({ ...reasoning, summary: [{ type: 'summary_text' }] }), 'input[0].summary[0].text'],
    [before({ ...reasoning, content: [5] }), 'input[0].content[0]'],
    [before({ ...reasoning, encrypted_content: 5 }), 'input[0].encrypted_content'],
    [before({ ...reasoning, encrypted_content: 'a\0' }), 'input[0].encrypted_content'],
    [before({ ...reasoning, effort: 'low' }), 'input[0].effort'],
    [after({ role: 'user', content: [{ type: 'refusal', refusal: 'No.' }] }), 'input[1].content[0].type'],
    [{ include: ['file_search_call.results'] }, 'include[0]'],
    [{ top_logprobs: 2 }, 'top_logprobs'],
    [{ include: ['message.output_text.logprobs'], top_logprobs: 21 }, 'top_logprobs'],
    [{ reasoning: { effort: 'most' } }, 'reasoning.effort'],
    [{ reasoning: { mode: 'pro' } }, 'reasoning.mode'],
    [{ reasoning: { depth: 1 } }, 'reasoning.depth'],
    [{ reasoning: 'low' }, 'reasoning'],
    [{ text: { verbosity: 'long' } }, 'text.verbosity'],
    [{ stream_options: { include_obfuscation: true } }, 'stream_options.include_obfuscation'],
    [{ input: [{ type: 'item_reference', id: 'x' }] }, 'input[0].type'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'x' }] }] },
      'input[0].content[0].image_url',
    ],
    [{ input: ' ' }, 'input'],
    [{ input: 'a\0' }, 'input'],
    [{ input: [{ ...user, content: ' ' }] }, 'input[0].content'],
    [{ input: undefined }, 'input'],
    [{ stop: ['x'] }, 'stop'],
    [{ instructions: 'a\0' }, 'instructions'],
  ])
}

{
  const tool = { name: 'f', input_schema: { type: 'object' } }

  refuses('messages', anthropicMessages, { model: 'fast', messages: [user], max_tokens: 100 }, [
    [{ thinking: { type: 'enabled', budget_tokens: 1024 } }, 'thinking.budget_tokens'],
    [{ tool_choice: { type: 'any' } }, 'tool_choice'],
    [{ tools: [tool], tool_choice: { type: 'tool', name: 'g' } }, 'tool_choice.name'],
    [{ tools: [{ name: 'f', input_schema: {} }] }, 'tools[0].input_schema'],
    [{ tools: [{ ...tool, input_schema: { type: 'object', items: { $ref: '#' } } }] }, 'tools[0].input_schema'],
    [{ tools: [{ ...tool, input_schema: { type: 'object', title: 'x'.repeat(900_000) } }] }, 'tools[0].input_schema'],
    [{ tools: Array.from({ length: 500 }, (_, index) => ({ ...tool, name: `f${index}` })) }, 'tools'],
    [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools[0].type'],
    [
      { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x' }] }] },
      'messages[0].content[0].tool_use_id',
    ],
    [
      { messages: [{ role: 'assistant', content: [{ type: 'thinking', thinking: 5 }] }, user] },
      'messages[0].content[0].thinking',
    ],
    [{ output_config: { format: { type: 'json_schema' } } }, 'output_config.format.schema'],
    [{ system: 5 }, 'system'],
    [{ messages: [{ role: 'user', content: [{ type: 'image', source: {} }] }] }, 'messages[0].content[0].source.type'],
    [{ messages: [{ role: 'system', content: 'x' }] }, 'messages'],
    [{ messages: [user, said, { role: 'system', content: 'x' }] }, 'messages[1].role'],
    [{ messages: [user, { role: 'system', content: [{ type: 'image' }] }] }, 'messages[1].content[0].type'],
    [{ messages: [user, { ...said, content: '' }] }, 'messages[1].content'],
    [{ max_tokens: undefined }, 'max_tokens'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ temperature: 1.5 }, 'temperature'],
    [{ metadata: { team: 5 } }, 'metadata.team'],
    [{ metadata: { team: 'x'.repeat(513) } }, 'metadata.team'],
  ])
}
