import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { ok } from '../support/answer.ts'
import { at, objectAt } from '../support/json.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { startService, upstreamModel, type Customer, type Service } from '../support/service.ts'
import { startVendor } from '../support/vendor.ts'

/** Fields that reach only the models whose upstream takes them. */

let service: Service
let customer: Customer
const vendor = fixture(() => startVendor())
const pass = [
  'top_k',
  'top_a',
  'min_p',
  'repetition_penalty',
  'logit_bias',
  'chat_template_kwargs',
  'provider',
  'guided_regex',
]
const prefills = ['plain', 'prefix', 'partial', 'continue_final_message'] as const
setUp(async () => {
  const models = [
    upstreamModel(vendor.url, { pass }),
    ...prefills.map((prefill) => upstreamModel(vendor.url, { id: prefill, prefill })),
    upstreamModel(vendor.url, {
      id: 'package',
      engine: 'ai-sdk',
      package: '@ai-sdk/anthropic',
      endpoints: undefined,
      url: vendor.url,
      key: 'sk-vendor',
      prefill: 'plain',
    }),
    upstreamModel(vendor.url, { id: 'bare' }),
    upstreamModel(vendor.url, { id: 'claude', upstream_model: 'anthropic/claude-sonnet-4.5' }),
  ]
  service = await startService({ models })
  customer = await service.customer()
})
after(() => service.close())

const messages = [{ role: 'user', content: 'Hello' }]
const bodies = {
  '/v1/chat/completions': { messages, max_tokens: 10 },
  '/v1/responses': { input: messages, max_output_tokens: 10 },
  '/v1/messages': { messages, max_tokens: 10 },
  '/v1/generate': { input: 'Hello', max_output_tokens: 10 },
} as const
type Address = keyof typeof bodies
const send = (address: Address, model: string, fields: object) =>
  service.call(address, customer.key, { model, ...bodies[address], ...fields })

/** What a request that has only these fields besides its text reaches the upstream with. */
async function received(address: Address, model: string, fields: object): Promise<object> {
  ok(await send(address, model, fields))
  const body = objectAt(vendor.last.body)
  assert.deepEqual(body['messages'], messages)
  return Object.fromEntries(Object.entries(body).filter(([name]) => !ofEveryRequest.includes(name)))
}

const ofEveryRequest = ['model', 'messages', 'max_tokens', 'stream', 'stream_options']

const kwargs = { enable_thinking: false, documents: [{ title: null }] }
const everything = {
  frequency_penalty: -0.5,
  presence_penalty: 2,
  logit_bias: { '50256': -100 },
  top_k: 40,
  top_a: 0.2,
  min_p: 0,
  repetition_penalty: 1,
  chat_template_kwargs: kwargs,
  provider: { order: ['a'], allow_fallbacks: false },
  guided_regex: '[a-z]+',
}

describe('A50 a field of a vendor', () => {
  it('reaches a model that takes it as it is, whole and streamed, and nothing else does', async () => {
    for (const stream of [false, true]) {
      assert.deepEqual(await received('/v1/chat/completions', 'fast', { ...everything, stream }), everything)
      const { top_k, provider, guided_regex, frequency_penalty, presence_penalty } = everything
      const ofAll = { top_k, provider, guided_regex }
      assert.deepEqual(await received('/v1/messages', 'fast', { ...ofAll, stream }), ofAll)
      const ofResponses = { ...ofAll, frequency_penalty, presence_penalty }
      assert.deepEqual(await received('/v1/responses', 'fast', { ...ofResponses, stream }), ofResponses)
      assert.deepEqual(await received('/v1/chat/completions', 'fast', { stream }), {})
    }
  })

  it('without effect reaches no model, and every model accepts it', async () => {
    const none = { frequency_penalty: 0, presence_penalty: 0, logit_bias: {}, top_k: null, guided_regex: null }
    for (const model of ['fast', 'bare', 'claude']) {
      assert.deepEqual(await received('/v1/chat/completions', model, none), {}, model)
    }
  })

  it('is refused by name, uncharged and unsent, for a model that does not take it', async () => {
    const { frequency_penalty, presence_penalty, ...others } = everything
    const penalties = { frequency_penalty, presence_penalty }
    assert.deepEqual(await received('/v1/chat/completions', 'bare', penalties), penalties)
    const requests = vendor.calls
    const cases: readonly (readonly [Address, string, object])[] = [
      ...Object.entries(others).map(([name, value]) => ['/v1/chat/completions', 'bare', { [name]: value }] as const),
      ...Object.entries(penalties).map(
        ([name, value]) => ['/v1/chat/completions', 'claude', { [name]: value }] as const,
      ),
      ['/v1/messages', 'bare', { top_k: 40 }],
      ['/v1/responses', 'bare', { guided_regex: 'a' }],
      ['/v1/responses', 'bare', { top_k: 40 }],
    ]
    for (const [address, model, fields] of cases) {
      const [field = ''] = Object.keys(fields)
      const answer = await send(address, model, fields)
      assert.equal(answer.status, 400, field)
      assert.match(answer.text, new RegExp(`The model ${model} does not take the field ${field}\\.`))
    }
    assert.equal(vendor.calls, requests)
  })

  it('that no model is to get is unknown, as is any in the API of Tollgate', async () => {
    for (const [address, field] of [
      ['/v1/generate', 'guided_regex'],
      ['/v1/chat/completions', 'guided_json'],
    ] as const) {
      const answer = await send(address, 'fast', { [field]: 'a' })
      assert.deepEqual([answer.status, answer.error['code']], [400, 'unknown_field'], answer.text)
    }
  })
})

describe('A50 a last message of the assistant', () => {
  const begun = { role: 'assistant', content: 'Hi, I' }
  const asked = [...messages, begun]

  it('is sent to a model that continues it, marked as its server wants it', async () => {
    const marks: Readonly<Record<(typeof prefills)[number], readonly [ofMessage: object, ofRequest: object]>> = {
      plain: [{}, {}],
      prefix: [{ prefix: true }, {}],
      partial: [{ partial: true }, {}],
      continue_final_message: [{}, { add_generation_prompt: false, continue_final_message: true }],
    }
    for (const address of ['/v1/chat/completions', '/v1/messages'] as const) {
      for (const prefill of prefills) {
        const [ofMessage, ofRequest] = marks[prefill]
        ok(await send(address, prefill, { messages: asked }))
        const expected = {
          model: 'm',
          messages: [messages[0], { ...begun, ...ofMessage }],
          max_tokens: 10,
          ...ofRequest,
        }
        assert.deepEqual(vendor.last.body, expected)
        ok(await send(address, prefill, {}))
        assert.deepEqual(vendor.last.body, { model: 'm', messages, max_tokens: 10 })
      }
    }
    ok(await send('/v1/chat/completions', 'plain', { messages: [...messages, { ...begun, prefix: true }] }))
    assert.deepEqual(vendor.last.body, { model: 'm', messages: asked, max_tokens: 10 })
    ok(await send('/v1/messages', 'package', { messages: asked }))
    assert.deepEqual(at(vendor.last.body, 'messages', 1, 'content', 0, 'text'), begun.content)
  })

  it('is refused by name for other models', async () => {
    for (const address of ['/v1/chat/completions', '/v1/messages'] as const) {
      const requests = vendor.calls
      const answer = await send(address, 'bare', { messages: asked })
      assert.equal(answer.status, 400)
      assert.match(answer.text, /The model bare does not continue .*: the field messages\[1\]\.role must be user/)
      assert.equal(vendor.calls, requests)
    }
  })
})
