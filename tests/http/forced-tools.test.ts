import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { z } from 'zod'
import { callAddresses, callsIn, type CallAddress } from '../support/call-dialects.ts'
import { isEndure } from '../support/draws.ts'
import { at, listAt } from '../support/json.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { shippedModel, startService, upstreamModel, type Customer, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Forced tools of the local model. */

const service = fixture(() => startService({ models: [shippedModel()] }))
setUp(async () => {
  await service.untilReady()
})

const Note = z.object({ topic: z.enum(['tax', 'pension']), urgent: z.boolean() })
const schema = {
  type: 'object' as const,
  properties: { topic: { enum: ['tax', 'pension'] }, urgent: { type: 'boolean' } },
  required: ['topic', 'urgent'],
  additionalProperties: false,
}
const question = { role: 'user' as const, content: 'Anna must file her return by Friday.' }
const openAiTools = [{ type: 'function' as const, function: { name: 'note', parameters: schema } }]
const responseTools = [{ type: 'function' as const, name: 'note', parameters: schema, strict: true }]
const anthropicTools = [{ name: 'note', input_schema: schema }]

/** Asserts one exact charge with these tokens, counted by the model, and no hold. */
async function assertCharged(
  accountId: string,
  input: number | undefined,
  output: number | undefined,
  reason = 'complete',
): Promise<void> {
  const { rows, holds, held, charged } = await service.books(accountId)
  assert.deepEqual(
    rows.map((row) => [row.inputTokens, row.outputTokens, row.stopReason, row.usageSource]),
    [[input, output, reason, 'model']],
  )
  assert.deepEqual([holds, held, charged], [0, 0n, BigInt(input ?? 0) * 100_000n + BigInt(output ?? 0) * 400_000n])
}

const openAiOf = ({ key }: Customer) => new OpenAI({ apiKey: key, baseURL: `${service.url}/v1`, maxRetries: 0 })
const anthropicOf = ({ key }: Customer) => new Anthropic({ apiKey: key, baseURL: service.url, maxRetries: 0 })

for (const stream of [false, true]) {
  describe(`a tool that the local model is forced to call, ${stream ? 'streamed' : 'whole'}`, () => {
    it("reaches OpenAI's client through chat completions", async () => {
      const choices = [{ type: 'function' as const, function: { name: 'note' } }, 'required' as const]
      for (const tool_choice of isEndure ? choices : choices.slice(Number(stream)).slice(0, 1)) {
        const customer = await service.customer()
        const { completions } = openAiOf(customer).chat
        const body = { model: 'tiny', messages: [question], tools: openAiTools, tool_choice, max_tokens: 100 }
        const { choices: replies, usage } = stream
          ? await completions.stream({ ...body, stream_options: { include_usage: true } }).finalChatCompletion()
          : await completions.create(body)
        const [choice] = replies
        assert.deepEqual([choice?.finish_reason, choice?.message.content], ['tool_calls', null])
        const [call, ...more] = choice?.message.tool_calls ?? []
        assert.ok(call?.type === 'function' && more.length === 0)
        assert.match(call.id, /^call_/)
        assert.equal(call.function.name, 'note')
        Note.strict().parse(JSON.parse(call.function.arguments))
        await assertCharged(customer.accountId, usage?.prompt_tokens, usage?.completion_tokens)
      }
    })

    it("reaches OpenAI's client through responses", async () => {
      const customer = await service.customer()
      const { responses } = openAiOf(customer)
      const body = {
        model: 'tiny',
        input: [question],
        tools: responseTools,
        tool_choice: { type: 'function' as const, name: 'note' },
        max_output_tokens: 100,
      }
      const { status, output, output_text, usage } = stream
        ? await responses.stream(body).finalResponse()
        : await responses.create(body)
      assert.deepEqual([status, output.length, output_text], ['completed', 1, ''])
      const [call] = output
      assert.ok(call?.type === 'function_call')
      assert.deepEqual([call.name, call.status], ['note', 'completed'])
      Note.strict().parse(JSON.parse(call.arguments))
      await assertCharged(customer.accountId, usage?.input_tokens, usage?.output_tokens)
    })

    it("reaches Anthropic's client, which counts the same tokens", async () => {
      const choices = [{ type: 'tool' as const, name: 'note' }, { type: 'any' as const }]
      for (const tool_choice of isEndure ? choices : choices.slice(Number(stream)).slice(0, 1)) {
        const customer = await service.customer()
        const { messages } = anthropicOf(customer)
        const asked = { model: 'tiny', messages: [question], tools: anthropicTools, tool_choice }
        const { input_tokens: counted } = await messages.countTokens(asked)
        const body = { ...asked, max_tokens: 100 }
        const reply = stream ? await messages.stream(body).finalMessage() : await messages.create(body)
        const { content, stop_reason, usage } = reply
        assert.deepEqual([stop_reason, content.length, usage.input_tokens], ['tool_use', 1, counted])
        const [block] = content
        assert.ok(block?.type === 'tool_use' && block.name === 'note')
        Note.strict().parse(block.input)
        await assertCharged(customer.accountId, usage.input_tokens, usage.output_tokens)
      }
    })
  })
}

/** A request that forces a tool, in each API. */
const forced = {
  '/v1/chat/completions': {
    messages: [question],
    max_tokens: 100,
    tools: openAiTools,
    tool_choice: { type: 'function', function: { name: 'note' } },
  },
  '/v1/responses': {
    input: [question],
    max_output_tokens: 100,
    tools: responseTools,
    tool_choice: { type: 'function', name: 'note' },
  },
  '/v1/messages': {
    messages: [question],
    max_tokens: 100,
    tools: anthropicTools,
    tool_choice: { type: 'tool', name: 'note' },
  },
} as const

const strange = { ...schema, properties: { topic: { type: 'string', pattern: '^a' } }, required: ['topic'] }
const parameterFields = {
  '/v1/chat/completions': 'tools[0].function.parameters',
  '/v1/responses': 'tools[0].parameters',
  '/v1/messages': 'tools[0].input_schema',
}
const strangeTools = {
  '/v1/chat/completions': [{ type: 'function', function: { name: 'note', parameters: strange } }],
  '/v1/responses': [{ type: 'function', name: 'note', parameters: strange }],
  '/v1/messages': [{ name: 'note', input_schema: strange }],
}
const none = { '/v1/chat/completions': 'none', '/v1/responses': 'none', '/v1/messages': { type: 'none' } }

const boundOf = (address: CallAddress, most: number) =>
  address === '/v1/responses' ? { max_output_tokens: most } : { max_tokens: most }
const tokensOf = (json: unknown) => ({
  input: Number(at(json, 'usage', 'prompt_tokens') ?? at(json, 'usage', 'input_tokens')),
  output: Number(at(json, 'usage', 'completion_tokens') ?? at(json, 'usage', 'output_tokens')),
})

const sendTo = (address: CallAddress, key: string, changes: object, headers: Readonly<Record<string, string>> = {}) =>
  service.call(address, key, { model: 'tiny', ...forced[address], ...changes }, headers)

for (const address of callAddresses) {
  const isFirst = address === callAddresses[0]
  describe(`${address} of the local model`, () => {
    it('A3 cuts a call at the limit exactly: the reply has no call, and the reason says so', async () => {
      for (const stream of [false, true]) {
        for (const most of isEndure ? [1, 3] : [3]) {
          const { accountId, key } = await service.customer()
          const { status, text } = await sendTo(address, key, { ...boundOf(address, most), stream })
          assert.equal(status, 200, text)
          assert.match(text, /"finish_reason":"length"|"stop_reason":"max_tokens"|"reason":"max_output_tokens"/)
          assert.doesNotMatch(text, /"tool_calls"\}|"tool_use","stop_sequence"|"status":"completed"/)
          if (!stream) assert.deepEqual(callsIn(JSON.parse(text)), [])
          const [row] = (await service.books(accountId)).rows
          await assertCharged(accountId, row?.inputTokens, most, 'max_output_tokens')
        }
      }
    })

    // The dialect does not matter.
    if (isEndure || isFirst) {
    }

    it('refuses a free choice, and a schema that it cannot enforce, before anything is held', async () => {
      const { accountId, key } = await service.customer({ requestsPerMinute: 1 })
      for (const [changes, field] of [
        [{ tool_choice: undefined }, 'tools'],
        [{ tools: strangeTools[address] }, `${parameterFields[address]}.properties.topic.pattern`],
      ] as const) {
        const { status, text, json, headers } = await sendTo(address, key, changes)
        assert.equal(status, 400, text)
        assert.equal(headers.get('x-ratelimit-remaining-requests'), '1', 'it was refused before it was admitted')
        assert.ok(String(at(json, 'error', 'message')).includes(field), text)
        if (address !== '/v1/messages') assert.equal(at(json, 'error', 'param'), field)
      }
      const { rows, holds, charged } = await service.books(accountId)
      assert.deepEqual([rows.length, holds, charged], [0, 0, 0n])
    })

    it('reads the call and its result, and replies in text if the choice is none', async () => {
      const { key } = await service.customer()
      const { json: called } = await sendTo(address, key, {})
      const conversation = conversationOf(address, called)
      const { status, text, json } = await sendTo(address, key, { ...conversation, tool_choice: none[address] })
      assert.equal(status, 200, text)
      assert.deepEqual(callsIn(json), [])
      assert.ok(tokensOf(json).input > 0)
      const withoutTools = await sendTo(address, key, { ...conversation, tools: undefined, tool_choice: undefined })
      assert.equal(tokensOf(withoutTools.json).input, tokensOf(json).input, 'the tools have no effect')
      const again = await sendTo(address, key, conversation)
      assert.equal(callsIn(again.json).length, 1)
    })
  })
}

/** The conversation after a call: the call and its result are sent back. */
function conversationOf(address: CallAddress, called: unknown): object {
  if (address === '/v1/chat/completions') {
    const message = at(called, 'choices', 0, 'message')
    const id = at(message, 'tool_calls', 0, 'id')
    return { messages: [question, message, { role: 'tool', tool_call_id: id, content: 'Noted.' }] }
  }
  if (address === '/v1/responses') {
    const output = listAt(called, 'output')
    const result = { type: 'function_call_output', call_id: at(output[0], 'call_id'), output: 'Noted.' }
    return { input: [question, ...output, result] }
  }
  const content = listAt(called, 'content')
  const result = { type: 'tool_result', tool_use_id: at(content[0], 'id'), content: 'Noted.' }
  return { messages: [question, { role: 'assistant', content }, { role: 'user', content: [result] }] }
}

describe('a local model of another Tollgate', () => {
  const body = { model: 'far', messages: [question], tools: openAiTools, max_tokens: 100 }
  let near: Service
  let customer: Customer
  const far = fixture(() => service.customer())
  setUp(async () => {
    const endpoints = [{ url: `${service.url}/v1`, key: far.key }]
    near = await startService({ models: [upstreamModel('', { id: 'far', endpoints, upstream_model: 'tiny' })] })
    customer = await near.customer()
    const listed = async () => (await near.call('/v1/models/far', customer.key)).json['capabilities']
    await until(async () => !listAt(await listed()).includes('tools'))
    assert.deepEqual(await listed(), ['forced_tools', 'json'])
  })
  after(() => near.close())

  it('calls a tool that it is forced to call', async () => {
    const { status, json } = await near.call('/v1/chat/completions', customer.key, { ...body, tool_choice: 'required' })
    assert.equal(status, 200)
    assert.deepEqual(
      callsIn(json).map(([name, input]) => [name, Note.safeParse(input).success]),
      [['note', true]],
    )
    assert.equal((await near.books(customer.accountId)).rows.length, 1)
  })

  it('is not asked where it could choose, and nothing is held', async () => {
    const [earlier, asked] = [await near.books(customer.accountId), await service.books(far.accountId)]
    const { status, json } = await near.call('/v1/chat/completions', customer.key, body)
    assert.equal(status, 400)
    assert.equal(at(json, 'error', 'param'), 'tools')
    assert.match(String(at(json, 'error', 'message')), /calls a tool only if tool_choice forces it to/)
    assert.deepEqual(await near.books(customer.accountId), earlier)
    assert.equal(earlier.holds, 0)
    assert.deepEqual(await service.books(far.accountId), asked)
  })
})
