import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { betaJSONSchemaOutputFormat, betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { jsonSchemaOutputFormat } from '@anthropic-ai/sdk/helpers/json-schema'
import { eventsOf, replyOf } from '../../../tests/support/scripted-reply.ts'
import { valuesOf } from '../../../tests/support/json.ts'
import type { Prompt, ReplyPart } from '../../models/conversation.ts'
import { Problem } from '../../platform/problems.ts'
import { anthropicMessages } from './anthropic/anthropic-messages.ts'
import type { DialectRequest } from './dialect.ts'

/** The helpers of the official client, with this dialect as the server and a script as the model. */

type Script = (prompt: Prompt) => readonly ReplyPart[]

function clientOf(script: Script): Anthropic {
  const fetch = async (input: string | URL | Request, init?: RequestInit) => {
    const parsed = readOrRefuse(await new Request(input, init).json())
    if (parsed instanceof Response) return parsed
    const reply = replyOf(script(parsed.request.prompt))
    return parsed.request.stream
      ? new Response(eventsOf(parsed, reply), { headers: { 'content-type': 'text/event-stream' } })
      : new Response(parsed.wholeBody(reply), { headers: { 'content-type': 'application/json' } })
  }
  return new Anthropic({ apiKey: 'tg_x', fetch, maxRetries: 0 })
}

function readOrRefuse(body: unknown): DialectRequest | Response {
  try {
    return anthropicMessages.read(body)
  } catch (error) {
    assert.ok(error instanceof Problem)
    const { code, message: reason, details } = error
    const refusal = anthropicMessages.errorBody({ code, reason, field: details.field, request_id: 'x' }, 400)
    return Response.json(refusal, { status: 400 })
  }
}

const asked = { model: 'fast', max_tokens: 100, messages: [{ role: 'user' as const, content: 'How is Bonn?' }] }
const weather = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const
const tools = [{ name: 'weather', input_schema: { ...weather, required: ['city'] } }]

const reasoning: ReplyPart = { kind: 'reasoning', text: 'I should look.', signature: 'c2ln' }
const secret: ReplyPart = { kind: 'reasoning', text: '', signature: 'ZGF0YQ', redacted: true }
const said: ReplyPart = { kind: 'text', text: 'Let me see.' }
const call = (id: string, city: string): ReplyPart => ({
  kind: 'call',
  id,
  tool: 'weather',
  input: `{"city": "${city}"}`,
})
const first = [reasoning, secret, said, call('call_1', 'Bonn'), call('call_2', 'Ulm')]

/** Calls two tools, and then says what they returned. */
const callsFirst: Script = ({ messages }) => {
  const results = messages.flatMap(({ parts = [] }) => parts.filter((part) => part.kind === 'result'))
  if (results.length === 0) return first
  const texts = results.flatMap(({ content }) => content.map((part) => (part.kind === 'text' ? part.text : '')))
  return [{ kind: 'text', text: texts.join(', ') }]
}

const blocks = [
  { type: 'thinking', thinking: 'I should look.', signature: 'c2ln' },
  { type: 'redacted_thinking', data: 'ZGF0YQ' },
  { type: 'text', text: 'Let me see.' },
  { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Bonn' }, caller: { type: 'direct' } },
  { type: 'tool_use', id: 'call_2', name: 'weather', input: { city: 'Ulm' }, caller: { type: 'direct' } },
]
const usage = {
  input_tokens: 10,
  output_tokens: 7,
  cache_creation_input_tokens: 5,
  cache_read_input_tokens: 30,
  output_tokens_details: { thinking_tokens: 4 },
}

describe("the helpers of Anthropic's official client", () => {
  for (const stream of [false, true]) {
    test(`reasoning without its text keeps its signature, and can be sent back; stream: ${stream}`, async () => {
      const prompts: Prompt[] = []
      const { messages } = clientOf((prompt) => {
        prompts.push(prompt)
        return callsFirst(prompt)
      })
      const body = { ...asked, tools, thinking: { type: 'adaptive', display: 'omitted' } } as const
      const heard: string[] = []
      const { content, usage: used } = stream
        ? await messages
            .stream(body)
            .on('thinking', (delta) => heard.push(delta))
            .finalMessage()
        : await messages.create(body)
      const omitted = blocks.map((block) => (block.type === 'thinking' ? { ...block, thinking: '' } : block))
      assert.deepEqual([JSON.parse(JSON.stringify(content)), used, heard], [omitted, usage, []])
      const results = ['call_1', 'call_2'].map((id) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: 'Dry',
      }))
      await messages.create({
        ...body,
        messages: [...body.messages, { role: 'assistant', content }, { role: 'user', content: results }],
      })
      const sentBack = prompts.at(-1)?.messages[1]?.parts?.filter(({ kind }) => kind === 'reasoning')
      assert.deepEqual(sentBack, [{ ...reasoning, text: '' }, secret])
    })

    test(`the tool runner carries out the calls and sends the results back; stream: ${stream}`, async () => {
      const ran: string[] = []
      const prompts: Prompt[] = []
      const client = clientOf((prompt) => {
        prompts.push(prompt)
        return callsFirst(prompt)
      })
      const run = ({ city }: { readonly city: string }) => {
        ran.push(city)
        if (city === 'Ulm') throw new Error('no station')
        return `Sunny in ${city}`
      }
      const tool = betaTool({ name: 'weather', description: 'The weather.', inputSchema: weather, run })
      const runner = client.beta.messages.toolRunner({ ...asked, tools: [tool], stream })
      const { content } = await runner.runUntilDone()
      assert.deepEqual(
        content.map((block) => block.type === 'text' && block.text),
        ['Sunny in Bonn, Error: no station'],
      )
      assert.deepEqual(ran, ['Bonn', 'Ulm'])
      const results = [
        { kind: 'result', callId: 'call_1', content: [{ kind: 'text', text: 'Sunny in Bonn' }] },
        { kind: 'result', callId: 'call_2', content: [{ kind: 'text', text: 'Error: no station' }], isError: true },
      ]
      const spaceless = first.map((part) =>
        part.kind === 'call' ? { ...part, input: part.input.replace(' ', '') } : part,
      )
      assert.deepEqual(prompts.at(-1)?.messages, [
        { role: 'user', text: 'How is Bonn?' },
        { role: 'assistant', parts: spaceless },
        { role: 'user', parts: results },
      ])
      assert.deepEqual(prompts[0]?.tools, [
        { name: 'weather', description: 'The weather.', parameters: weather, field: 'tools[0].input_schema' },
      ])
    })
  }

  test('messages.parse asks for the schema and returns the parsed reply', async () => {
    const prompts: Prompt[] = []
    const client = clientOf((prompt) => {
      prompts.push(prompt)
      return [{ kind: 'text', text: '{"city":"Bonn"}' }]
    })
    const format = jsonSchemaOutputFormat(weather)
    const { parsed_output } = await client.messages.parse({ ...asked, output_config: { format } })
    assert.deepEqual(parsed_output, { city: 'Bonn' })
    const beta = betaJSONSchemaOutputFormat(weather)
    assert.deepEqual((await client.beta.messages.parse({ ...asked, output_format: beta })).parsed_output, {
      city: 'Bonn',
    })
    const streamed = await client.messages.stream({ ...asked, output_config: { format } }).finalMessage()
    assert.deepEqual(streamed.parsed_output, { city: 'Bonn' })
    const schema = { ...weather, additionalProperties: false }
    assert.equal(prompts.length, 3)
    const field = 'output_config.format.schema'
    for (const { format: asks } of prompts) assert.deepEqual(asks, { kind: 'schema', name: 'reply', schema, field })
  })

  test('an empty reply is a valid stream', async () => {
    const stream = clientOf(() => []).messages.stream(asked)
    const { content, stop_reason } = await stream.finalMessage()
    assert.deepEqual([content, stop_reason], [[{ type: 'text', text: '' }], 'end_turn'])
    assert.deepEqual((await clientOf(() => []).messages.create(asked)).content, content)
  })

  test('a call without text has no text block', async () => {
    const client = clientOf(() => [call('call_1', 'Bonn')])
    for (const message of [await client.messages.create(asked), await client.messages.stream(asked).finalMessage()]) {
      assert.deepEqual(valuesOf(message.content, 'type'), ['tool_use'])
    }
  })
})

test('numbers that JavaScript cannot hold stay as the model wrote them', () => {
  const part = { kind: 'call', id: 'a', tool: 'pay', input: '{"order": 12345678901234567890}' } as const
  assert.match(
    anthropicMessages.read(asked).wholeBody(replyOf([part])),
    /"input":\{"order": 12345678901234567890\}\}\]/,
  )
})
