import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { at } from '../support/json.ts'
import { modelLists, startModelServer } from '../support/model-lists.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { shippedModel, startService, upstreamModel, type Customer, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'

let service: Service
let customer: Customer

const vendor = fixture(() => startVendor())
const reporting = fixture(() => startModelServer(modelLists.openRouter))
const hanging = fixture(() => startModelServer({ 'GET /v1/models': 'hangs' }))
setUp(async () => {
  const small = { upstream_model: 'vendor/small:free' }
  const models = [
    upstreamModel(vendor.url, { capabilities: ['reasoning', 'json'] }),
    upstreamModel(vendor.url, { id: 'text', capabilities: [], fallback: 'any' }),
    upstreamModel(vendor.url, { id: 'any' }),
    shippedModel(),
    upstreamModel(`${reporting.origin}/v1`, { ...small, id: 'reported' }),
    upstreamModel(`${reporting.origin}/v1`, { ...small, id: 'configured', capabilities: ['tools'] }),
    upstreamModel(`${hanging.origin}/v1`, { ...small, id: 'silent' }),
  ]
  service = await startService({ models })
  customer = await service.customer()
  // The local model is loaded in the background.
  await service.untilReady()
})
after(async () => {
  await service.close()
  await Promise.all([vendor, reporting, hanging].map((each) => each.close()))
})

const messages = [{ role: 'user', content: 'Hello' }]
const send = (address: string, model: string, changes: object) => {
  const bounds = address === '/v1/responses' ? { max_output_tokens: 10 } : { messages, max_tokens: 10 }
  return service.call(address, customer.key, { model, ...bounds, ...changes })
}
const ask = (model: string, changes: object) => send('/v1/chat/completions', model, changes)

const tools = [{ type: 'function', function: { name: 'clock', parameters: { type: 'object', properties: {} } } }]

const everything = ['tools', 'json', 'images', 'documents', 'reasoning', 'verbosity']

async function listed(model: string): Promise<unknown> {
  return (await service.call(`/v1/models/${model}`, customer.key)).json['capabilities']
}

describe('models[].capabilities', () => {
  it('is what GET /v1/models lists, in a fixed order', async () => {
    assert.deepEqual(await listed('fast'), ['json', 'reasoning'])
    assert.deepEqual(await listed('text'), [])
    assert.deepEqual(await listed('any'), everything)
    assert.deepEqual(await listed('tiny'), ['forced_tools', 'json'])
  })

  it('refuses what the list lacks before anything is held or sent', async () => {
    const [books, calls] = [await service.books(customer.accountId), vendor.calls]
    for (const [model, changes, field, feature] of [
      ['fast', { tools }, 'tools', /fast does not support tools/],
      ['text', { response_format: { type: 'json_object' } }, 'response_format', /text does not support JSON/],
      ['text', { reasoning_effort: 'low' }, 'reasoning_effort', /text does not support reasoning/],
      ['tiny', { tools }, 'tools', /tiny calls a tool only if tool_choice forces it to/],
      ['text', { tools, tool_choice: 'required' }, 'tools', /text does not support tools/],
    ] as const) {
      const { status, json } = await ask(model, changes)
      assert.deepEqual([status, at(json, 'error', 'param')], [400, field], model)
      assert.match(String(at(json, 'error', 'message')), feature)
    }
    assert.deepEqual([await service.books(customer.accountId), vendor.calls], [books, calls])
  })

  it('passes a request for no reasoning on to models that list it, and to no other', async () => {
    for (const [model, effort] of [
      ['fast', 'none'],
      ['text', undefined],
      ['any', undefined],
    ] as const) {
      for (const [address, changes] of [
        ['/v1/chat/completions', { reasoning_effort: 'none' }],
        ['/v1/responses', { input: 'Hello', reasoning: { effort: 'none', summary: 'auto' } }],
        ['/v1/messages', { thinking: { type: 'disabled' } }],
      ] as const) {
        const { status, text } = await send(address, model, changes)
        assert.equal(status, 200, `${model}: ${text}`)
        assert.equal(at(vendor.last.body, 'reasoning_effort'), effort, `${model} ${address}`)
      }
    }
    const local = await send('/v1/responses', 'tiny', { input: 'Hello', reasoning: { effort: 'none' } })
    assert.equal(local.status, 200, local.text)
  })

  it('passes an effort that is the default on only to models that can reason', async () => {
    for (const [model, effort] of [
      ['fast', 'high'],
      ['text', undefined],
    ] as const) {
      const asked = { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }
      const { status, text } = await send('/v1/messages', model, asked)
      assert.deepEqual([status, at(vendor.last.body, 'reasoning_effort')], [200, effort], `${model}: ${text}`)
    }
  })

  it('lets through what the list has', async () => {
    for (const [model, changes] of [
      ['fast', { response_format: { type: 'json_object' } }],
      ['any', { tools }],
      ['text', {}],
    ] as const) {
      const { status, text } = await ask(model, changes)
      assert.equal(status, 200, `${model}: ${text}`)
    }
  })
})

describe('without models[].capabilities', () => {
  it('a model lacks what its upstream rules out', async () => {
    await until(async () => JSON.stringify(await listed('reported')) === '["documents"]')
    const refused = await ask('reported', { tools })
    assert.deepEqual([refused.status, at(refused.json, 'error', 'param')], [400, 'tools'])
  })

  it('a configured list is not changed by what the upstream reports', async () => {
    await until(async () => JSON.stringify(await listed('reported')) === '["documents"]')
    assert.deepEqual(await listed('configured'), ['tools'])
  })

  it('an upstream that does not answer keeps nothing from starting, and its models can do everything', async () => {
    await until(() => hanging.asked.length > 0)
    assert.deepEqual(await listed('silent'), everything)
  })
})
