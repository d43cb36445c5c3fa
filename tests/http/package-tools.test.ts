import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { at, listAt } from '../support/json.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { startService, upstreamModel, type Service } from '../support/service.ts'
import { startVendor } from '../support/vendor.ts'

/** Calls of tools by upstreams, through provider packages and `engine: openai`, from official clients to the ledger. */

const weather = { id: 'call_1', name: 'weather', input: '{"city":"Bern"}' }
const time = { id: 'call_2', name: 'weather', input: '{"city":"Zürich"}' }
const calls = [weather, time]
const thinks = { thinking: 'Where?', signature: 'c2ln' }
const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  prompt_tokens_details: { cached_tokens: 60 },
  completion_tokens_details: { reasoning_tokens: 5 },
}

let service: Service
const vendor = fixture(() => startVendor({ ...thinks, calls, usage }))
setUp(async () => {
  const price = { input: '1', output: '4', cached_input: '0.1' }
  const model = (id: string, name: string, more: object = {}) =>
    upstreamModel(vendor.url, {
      id,
      engine: 'ai-sdk',
      endpoints: undefined,
      package: name,
      url: vendor.url,
      key: 'sk-vendor',
      price,
      ...more,
    })
  service = await startService({
    models: [
      model('claude', '@ai-sdk/anthropic', { upstream_model: 'claude-opus-4-6' }),
      model('compatible', '@ai-sdk/openai-compatible'),
      upstreamModel(vendor.url, { price }),
      model('text', '@ai-sdk/anthropic', { capabilities: ['json'] }),
    ],
  })
})
after(() => service.close())

const schema = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] }
const question = { role: 'user' as const, content: 'How is the weather?' }
const inputs = [{ city: 'Bern' }, { city: 'Zürich' }]

/** The one charge of an account: 40 tokens that were not cached, 60 that were, and 20 of output. */
async function assertCharged(accountId: string): Promise<void> {
  const { rows, holds } = await service.books(accountId)
  assert.deepEqual(
    rows.map(({ cost, inputTokens, cachedTokens, outputTokens, stopReason }) => [
      cost,
      inputTokens,
      cachedTokens,
      outputTokens,
      stopReason,
    ]),
    [[40n * 1_000_000n + 60n * 100_000n + 20n * 4_000_000n, 40, 60, 20, 'complete']],
  )
  assert.equal(holds, 0)
}

describe("Anthropic's client over an OpenAI-compatible upstream", () => {
  for (const [model, stream] of [
    ['compatible', false],
    ['compatible', true],
    ['fast', false],
    ['fast', true],
  ] as const) {
    it(`gets calls of ${model}, and sends their results back; stream: ${stream}`, async () => {
      const { accountId, key } = await service.customer()
      const { messages } = new Anthropic({ apiKey: key, baseURL: service.url, maxRetries: 0 })
      const body = {
        model,
        max_tokens: 50,
        messages: [question],
        tools: [{ name: 'weather', input_schema: schema }],
        tool_choice: { type: 'tool' as const, name: 'weather', disable_parallel_tool_use: true },
      }
      const reply = stream ? await messages.stream(body).finalMessage() : await messages.create(body)
      assert.equal(reply.stop_reason, 'tool_use')
      assert.deepEqual(
        reply.content.flatMap((block) => (block.type === 'tool_use' ? [[block.id, block.input]] : [])),
        calls.map(({ id }, index) => [id, inputs[index]]),
      )
      assert.deepEqual([reply.usage.input_tokens, reply.usage.cache_read_input_tokens], [40, 60])
      assert.deepEqual(at(vendor.last.body, 'tool_choice'), { type: 'function', function: { name: 'weather' } })
      assert.equal(at(vendor.last.body, 'parallel_tool_calls'), false)
      await assertCharged(accountId)

      const results = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: 'Rain' }))
      await messages.create({
        ...body,
        tool_choice: { type: 'auto' },
        messages: [question, { role: 'assistant', content: reply.content }, { role: 'user', content: results }],
      })
      assert.deepEqual(listAt(vendor.last.body, 'messages'), [
        question,
        {
          role: 'assistant',
          content: null,
          tool_calls: calls.map(({ id, name, input }) => ({
            id,
            type: 'function',
            function: { name, arguments: input },
          })),
        },
        ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Rain' })),
      ])
    })
  }
})

/** What reaches Anthropic when the results of the calls are sent back. */
const claudeTurns = [
  { role: 'user', content: [{ type: 'text', text: question.content }] },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Where?', signature: 'c2ln' },
      ...calls.map(({ id, name }, index) => ({ type: 'tool_use', id, name, input: inputs[index] })),
    ],
  },
  {
    role: 'user',
    content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'Rain' })),
  },
]

describe("OpenAI's client over Anthropic", () => {
  for (const stream of [false, true]) {
    it(`gets calls in chat completions, and sends their results back; stream: ${stream}`, async () => {
      const { accountId, key } = await service.customer()
      const { completions } = new OpenAI({ apiKey: key, baseURL: `${service.url}/v1`, maxRetries: 0 }).chat
      const body = {
        model: 'claude',
        messages: [question],
        max_tokens: 50,
        reasoning_effort: 'low' as const,
        tools: [{ type: 'function' as const, function: { name: 'weather', parameters: schema } }],
      }
      const reply = stream
        ? await completions.stream({ ...body, stream_options: { include_usage: true } }).finalChatCompletion()
        : await completions.create(body)
      const message = reply.choices[0]?.message
      assert.equal(reply.choices[0]?.finish_reason, 'tool_calls')
      assert.deepEqual(
        message?.tool_calls?.map((call) => call.type === 'function' && [call.id, call.function.arguments]),
        calls.map(({ id, input }) => [id, input]),
      )
      const { prompt_tokens, prompt_tokens_details: read, completion_tokens_details: written } = reply.usage ?? {}
      assert.deepEqual([prompt_tokens, read?.cached_tokens, written?.reasoning_tokens], [100, 60, 5])
      assert.deepEqual(at(vendor.last.body, 'output_config'), { effort: 'low' })
      await assertCharged(accountId)

      assert.ok(message)
      const results = calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'Rain' }))
      await completions.create({ ...body, messages: [question, message, ...results] })
      assert.deepEqual(listAt(vendor.last.body, 'messages'), claudeTurns)
    })
  }
})

describe('the capabilities of a model with engine: ai-sdk', () => {
  it('are those of the configuration, and what they lack is refused before anything is held or sent', async () => {
    const { accountId, key } = await service.customer()
    const listed = async (model: string) => (await service.call(`/v1/models/${model}`, key)).json['capabilities']
    assert.deepEqual(await listed('text'), ['json'])
    assert.deepEqual(await listed('claude'), ['tools', 'json', 'images', 'documents', 'reasoning'])
    const { calls: asked } = vendor
    const tools = [{ type: 'function', function: { name: 'weather', parameters: schema } }]
    const body = { model: 'text', messages: [question], max_tokens: 50, tools }
    const refused = await service.call('/v1/chat/completions', key, body)
    assert.deepEqual([refused.status, refused.error['param']], [400, 'tools'])
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows.length, holds, vendor.calls - asked], [0, 0, 0])
  })
})
