import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import OpenAI from 'openai'
import { zodResponsesFunction, zodTextFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { eventsOf, replyOf } from '../../../tests/support/scripted-reply.ts'
import type { Prompt, ReplyPart } from '../../models/conversation.ts'
import { openAiResponses } from './openai-responses.ts'

/** The official client in front of the dialect, with a model that gives these replies, and the prompts that it received. */
function clientOf(...replies: readonly (readonly ReplyPart[])[]) {
  const prompts: Prompt[] = []
  const answer = async (input: string | URL | Request, init?: RequestInit) => {
    const parsed = openAiResponses.read(await new Request(input, init).json())
    const { stream, prompt } = parsed.request
    const reply = replyOf(replies[prompts.push(prompt) - 1] ?? [])
    return stream
      ? new Response(eventsOf(parsed, reply, 100), { headers: { 'content-type': 'text/event-stream' } })
      : new Response(parsed.wholeBody(reply), { headers: { 'content-type': 'application/json' } })
  }
  const client = new OpenAI({ apiKey: 'k', baseURL: 'http://vendor.test/v1', fetch: answer, maxRetries: 0 })
  return { client, prompts }
}

const weather: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather in a city.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  strict: true,
}
const thought: ReplyPart = { kind: 'thinking', text: 'I need the weather.', signature: 'c2ln' }
const calls = ['Bern', 'Rome'].map((city, index): ReplyPart => ({
  kind: 'call',
  id: `call_${index}`,
  tool: 'get_weather',
  input: JSON.stringify({ city }),
}))
const question = { role: 'user', content: 'Where is it warmer?' } as const

/** The model's turn and the results, as the next request must bring them. */
const conversation = [
  { role: 'user', text: question.content },
  { role: 'assistant', parts: [thought, ...calls] },
  {
    role: 'user',
    parts: calls.map((_, index) => ({
      kind: 'result',
      callId: `call_${index}`,
      content: [{ kind: 'text', text: `${index} degrees` }],
    })),
  },
]

const resultsOf = (output: readonly OpenAI.Responses.ResponseOutputItem[]) =>
  output
    .filter((item) => item.type === 'function_call')
    .map(({ call_id }, index) => ({ type: 'function_call_output', call_id, output: `${index} degrees` }) as const)

/** The items as they were received. The client's types also know items that cannot be sent back. */
const said = (output: readonly OpenAI.Responses.ResponseOutputItem[]) =>
  output.filter((item) => item.type === 'message' || item.type === 'function_call' || item.type === 'reasoning')

const asked = {
  model: 'fast',
  tools: [weather],
  parallel_tool_calls: true,
  store: false,
  reasoning: { effort: 'low', summary: 'auto' },
  include: ['reasoning.encrypted_content'],
} satisfies OpenAI.Responses.ResponseCreateParams

describe("OpenAI's official client in front of the dialect", () => {
  it('calls tools, and sends thoughts, calls and results back', async () => {
    const { client, prompts } = clientOf([thought, ...calls], [{ kind: 'text', text: 'Rome.' }])
    const input: OpenAI.Responses.ResponseInput = [question]
    const first = await client.responses.create({ ...asked, input })
    const next = await client.responses.create({
      ...asked,
      input: [...input, ...said(first.output), ...resultsOf(first.output)],
    })
    assert.equal(next.output_text, 'Rome.')
    assert.deepEqual(prompts[1]?.messages, conversation)
    assert.deepEqual(next.usage, {
      input_tokens: 45,
      input_tokens_details: { cached_tokens: 30, cache_write_tokens: 5 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 4 },
      total_tokens: 52,
    })
  })

  it('calls tools in a stream, and sends its output back', async () => {
    const { client, prompts } = clientOf([thought, ...calls], [{ kind: 'text', text: 'Rome.' }])
    const stream = client.responses.stream({ ...asked, input: [question] })
    const heard: string[] = []
    stream.on('response.function_call_arguments.delta', ({ delta, snapshot }) => {
      assert.ok(snapshot.endsWith(delta))
      heard.push(delta)
    })
    const first = await stream.finalResponse()
    assert.deepEqual(heard, ['{"city":"Bern"}', '{"city":"Rome"}'])
    // The client adds the parsed arguments to the items.
    assert.ok(first.output.some((item) => item.type === 'function_call' && item.parsed_arguments !== null))
    await client.responses.create({ ...asked, input: [question, ...said(first.output), ...resultsOf(first.output)] })
    assert.deepEqual(prompts[1]?.messages, conversation)
  })

  it('parses replies in a format', async () => {
    const { client, prompts } = clientOf([{ kind: 'text', text: '{"city":"Rome"}' }])
    const format = zodTextFormat(z.object({ city: z.string() }), 'answer')
    const response = await client.responses.parse({ model: 'fast', input: 'Where?', text: { format } })
    assert.deepEqual(response.output_parsed, { city: 'Rome' })
    await client.responses.create({ model: 'fast', input: [...said(response.output), question] })
    assert.deepEqual(prompts[1]?.messages[0], { role: 'assistant', text: '{"city":"Rome"}' })
    assert.deepEqual(prompts[0]?.format, {
      kind: 'schema',
      name: 'answer',
      schema: format.schema,
      strict: true,
      field: 'text.format.schema',
    })
  })

  it('parses the arguments of calls', async () => {
    const { client } = clientOf([thought, ...calls])
    const tool = zodResponsesFunction({ name: 'get_weather', parameters: z.object({ city: z.string() }) })
    const { output } = await client.responses.parse({ model: 'fast', input: 'Where?', tools: [tool] })
    const parsed = output.flatMap((item): unknown[] => (item.type === 'function_call' ? [item.parsed_arguments] : []))
    assert.deepEqual(parsed, [{ city: 'Bern' }, { city: 'Rome' }])
  })
})
