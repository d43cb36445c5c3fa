import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { text } from 'node:stream/consumers'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { at } from '../support/json.ts'
import { startService, upstreamModel, type Service } from '../support/service.ts'

/** What OpenAI's API sends for two calls at once, with a part of the prompt from its cache. */
const calls = [
  { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } },
  { id: 'call_2', type: 'function', function: { name: 'weather', arguments: '{"city":"Zürich"}' } },
]
/** The same call in a later reply, with the id that it gets there. */
const repeated = ({ id, ...rest }: (typeof calls)[number]) => ({ id: `${id}_2`, ...rest })
/** What a gateway sends of Claude's thoughts, if it is asked to think. */
const thought = { type: 'reasoning.text', text: 'Where?', signature: 'c2ln', format: 'anthropic-claude-v1' }
const thoughts = { reasoning: thought.text, reasoning_details: [thought] }
const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 60 },
  completion_tokens_details: { reasoning_tokens: 5 },
}

const delta = (piece: object, finish_reason: string | null = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: piece, finish_reason }],
})

const chunks: readonly object[] = [
  delta({ role: 'assistant', content: null }),
  ...calls.flatMap(({ function: { name, arguments: json }, ...call }, index) => [
    delta({ tool_calls: [{ ...call, index, function: { name, arguments: '' } }] }),
    delta({ tool_calls: [{ index, function: { arguments: json.slice(0, 9) } }] }),
    delta({ tool_calls: [{ index, function: { arguments: json.slice(9) } }] }),
  ]),
  delta({}, 'tool_calls'),
  { id: 'c', object: 'chat.completion.chunk', choices: [], usage },
]

let asked: unknown
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  asked = JSON.parse(await text(request))
  const thinks = at(asked, 'reasoning_effort') !== undefined
  if (at(asked, 'stream') === true) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const chunk of thinks ? [delta(thoughts), ...chunks] : chunks)
      response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    return void response.end('data: [DONE]\n\n')
  }
  const message = { role: 'assistant', content: null, tool_calls: calls, ...(thinks && thoughts) }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage }))
}

const upstream = createServer((request, response) => {
  if (request.method === 'POST') void answer(request, response)
  else response.writeHead(404).end()
})
let service: Service
before(async () => {
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const address = upstream.address()
  assert.ok(typeof address === 'object' && address !== null)
  const price = { input: '1', output: '4', cached_input: '0.1' }
  const url = `http://127.0.0.1:${address.port}/v1`
  const thinker = upstreamModel(url, { id: 'thinker', upstream_model: 'anthropic/claude', price })
  service = await startService({ models: [upstreamModel(url, { price }), thinker] })
})
after(async () => {
  await service.close()
  upstream.close()
})

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const openAiTools = [{ type: 'function' as const, function: { name: 'weather', parameters: schema } }]
const anthropicTools = [{ name: 'weather', input_schema: { ...schema, type: 'object' as const } }]
const question = { role: 'user' as const, content: 'How is the weather?' }

/** What an item of a response says. */
function shownItem(item: OpenAI.Responses.ResponseOutputItem): readonly unknown[] {
  if (item.type === 'reasoning') return [item.summary, item.encrypted_content]
  return item.type === 'function_call' ? [item.call_id, item.name, item.arguments] : [item.type]
}

/** The client's types also know items that cannot be sent back. */
const sentBack = (output: readonly OpenAI.Responses.ResponseOutputItem[]) =>
  output.filter((item) => item.type === 'reasoning' || item.type === 'function_call')

/** The one charge of an account: 40 tokens that were not cached, 60 that were, and 20 of output. */
async function assertCharged(accountId: string): Promise<void> {
  const { rows, holds } = await service.books(accountId)
  assert.deepEqual(
    rows.map(({ cost, stopReason }) => [cost, stopReason]),
    [[40n * 1_000_000n + 60n * 100_000n + 20n * 4_000_000n, 'complete']],
  )
  assert.equal(holds, 0)
}

describe('calls of tools by an upstream that speaks the OpenAI API', () => {
  it("reach OpenAI's client, whole and streamed, for one exact charge", async () => {
    for (const stream of [false, true]) {
      const { accountId, key } = await service.customer()
      const { completions } = new OpenAI({ apiKey: key, baseURL: `${service.url}/v1`, maxRetries: 0 }).chat
      const body = { model: 'fast', messages: [question], tools: openAiTools, max_tokens: 50 }
      const reply = stream
        ? await completions.stream({ ...body, stream_options: { include_usage: true } }).finalChatCompletion()
        : await completions.create(body)
      const [choice] = reply.choices
      assert.equal(choice?.finish_reason, 'tool_calls')
      assert.deepEqual(
        choice.message.tool_calls?.map((call) => call.type === 'function' && [call.id, call.function.arguments]),
        calls.map(({ id, function: called }) => [id, called.arguments]),
      )
      assert.equal(reply.usage?.prompt_tokens, 100)
      assert.equal(reply.usage.prompt_tokens_details?.cached_tokens, 60)
      assert.equal(reply.usage.completion_tokens_details?.reasoning_tokens, 5)
      await assertCharged(accountId)
    }
  })

  it("reach Anthropic's client, whole and streamed, and its results reach the upstream", async () => {
    for (const stream of [false, true]) {
      const { accountId, key } = await service.customer()
      const { messages } = new Anthropic({ apiKey: key, baseURL: service.url, maxRetries: 0 })
      const body = { model: 'fast', messages: [question], tools: anthropicTools, max_tokens: 50 }
      const reply = stream ? await messages.stream(body).finalMessage() : await messages.create(body)
      assert.equal(reply.stop_reason, 'tool_use')
      assert.deepEqual(
        reply.content.map((block) => block.type === 'tool_use' && [block.id, block.input]),
        [
          ['call_1', { city: 'Bern' }],
          ['call_2', { city: 'Zürich' }],
        ],
      )
      assert.deepEqual([reply.usage.input_tokens, reply.usage.cache_read_input_tokens], [40, 60])
      await assertCharged(accountId)

      const results = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: 'Rain' }))
      const turns = [question, { role: 'assistant' as const, content: reply.content }]
      await messages.create({ ...body, messages: [...turns, { role: 'user', content: results }] })
      const sent = at(asked, 'messages')
      assert.deepEqual(sent, [
        question,
        { role: 'assistant', content: null, tool_calls: calls },
        ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Rain' })),
      ])
    }
  })

  it("reach OpenAI's client of responses, whole and streamed, and its items reach the upstream when they are sent back", async () => {
    for (const stream of [false, true]) {
      const { accountId, key } = await service.customer()
      const { responses } = new OpenAI({ apiKey: key, baseURL: `${service.url}/v1`, maxRetries: 0 })
      const body = {
        model: 'thinker',
        input: [question],
        tools: [{ type: 'function' as const, name: 'weather', parameters: schema, strict: true }],
        tool_choice: { type: 'function' as const, name: 'weather' },
        reasoning: { effort: 'low' as const },
        max_output_tokens: 50,
      }
      const reply = stream ? await responses.stream(body).finalResponse() : await responses.create(body)
      assert.equal(reply.status, 'completed')
      assert.deepEqual(reply.output.map(shownItem), [
        [[{ type: 'summary_text', text: thought.text }], thought.signature],
        ...calls.map(({ id, function: called }) => [id, called.name, called.arguments]),
      ])
      const { input_tokens, input_tokens_details: read, output_tokens_details: written } = reply.usage ?? {}
      assert.deepEqual([input_tokens, read?.cached_tokens, written?.reasoning_tokens], [100, 60, 5])
      assert.deepEqual(
        ['tool_choice', 'reasoning_effort', 'response_format'].map((field) => at(asked, field)),
        [{ type: 'function', function: { name: 'weather' } }, 'low', undefined],
      )
      assert.equal(at(asked, 'tools', 0, 'function', 'strict'), true)
      await assertCharged(accountId)

      const output = 'Rain'
      const results = calls.map(({ id }) => ({ type: 'function_call_output' as const, call_id: id, output }))
      const format = { type: 'json_schema' as const, name: 'answer', schema }
      await responses.create({
        ...body,
        tool_choice: 'auto',
        text: { format },
        input: [question, ...sentBack(reply.output), ...results],
      })
      assert.deepEqual(at(asked, 'messages'), [
        question,
        { role: 'assistant', content: null, reasoning_details: [thought], tool_calls: calls },
        ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Rain' })),
      ])
      assert.deepEqual(at(asked, 'response_format', 'json_schema'), { name: 'answer', schema })
    }
  })

  it('get other ids if the upstream numbers them from the beginning in each reply', async () => {
    const { key } = await service.customer()
    const { messages } = new Anthropic({ apiKey: key, baseURL: service.url, maxRetries: 0 })
    for (const stream of [false, true]) {
      const turns: Anthropic.MessageParam[] = [question]
      for (const ids of [
        ['call_1', 'call_2'],
        ['call_1_2', 'call_2_2'],
        ['call_1_3', 'call_2_3'],
      ]) {
        const body = { model: 'fast', messages: turns, tools: anthropicTools, max_tokens: 50 }
        const reply = stream ? await messages.stream(body).finalMessage() : await messages.create(body)
        assert.deepEqual(
          reply.content.map((block) => block.type === 'tool_use' && block.id),
          ids,
        )
        const results = ids.map((id) => ({ type: 'tool_result' as const, tool_use_id: id, content: id }))
        turns.push({ role: 'assistant', content: reply.content }, { role: 'user', content: results })
      }
    }
  })

  it('that a caller sends back with repeated ids reach the upstream with different ones', async () => {
    const { key } = await service.customer()
    const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Rain' }))
    const turn = [{ role: 'assistant', content: null, tool_calls: calls }, ...results]
    const body = { model: 'fast', messages: [question, ...turn, ...turn], tools: openAiTools, max_tokens: 50 }
    assert.equal((await service.call('/v1/chat/completions', key, body)).status, 200)
    assert.deepEqual(at(asked, 'messages'), [
      question,
      ...turn,
      { role: 'assistant', content: null, tool_calls: calls.map(repeated) },
      ...results.map((result) => ({ ...result, tool_call_id: `${result.tool_call_id}_2` })),
    ])
  })

  it('are not lost in a replay', async () => {
    const { accountId, key } = await service.customer()
    const body = { model: 'fast', messages: [question], tools: openAiTools, max_tokens: 50 }
    const headers = { 'idempotency-key': 'again' }
    const replies = []
    for (let round = 0; round < 2; round += 1) {
      replies.push(await service.call('/v1/chat/completions', key, body, headers))
    }
    const [first, second] = replies
    assert.equal(second?.text, first?.text)
    assert.equal(at(first?.json, 'choices', 0, 'message', 'tool_calls', 1, 'id'), 'call_2')
    await assertCharged(accountId)
  })
})
