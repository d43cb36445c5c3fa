import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { at } from '../support/json.ts'
import { shippedModel, startService, upstreamModel, type Customer, type Service } from '../support/service.ts'
import { startVendor, type Vendor } from '../support/vendor.ts'

let vendor: Vendor
let service: Service
let customer: Customer

before(async () => {
  vendor = await startVendor()
  const models = [
    upstreamModel(vendor.url, { capabilities: ['reasoning', 'json'] }),
    upstreamModel(vendor.url, { id: 'text', capabilities: [], fallback: 'any' }),
    upstreamModel(vendor.url, { id: 'any' }),
    shippedModel(),
  ]
  service = await startService({ models })
  customer = await service.customer()
})
after(async () => {
  await service.close()
  await vendor.close()
})

const messages = [{ role: 'user', content: 'Hello' }]
const send = (address: string, model: string, changes: object) => {
  const bounds = address === '/v1/responses' ? { max_output_tokens: 10 } : { messages, max_tokens: 10 }
  return service.call(address, customer.key, { model, ...bounds, ...changes })
}
const ask = (model: string, changes: object) => send('/v1/chat/completions', model, changes)

const tools = [{ type: 'function', function: { name: 'clock', parameters: { type: 'object', properties: {} } } }]

describe('models[].capabilities', () => {
  it('is what GET /v1/models lists, in a fixed order', async () => {
    const { json } = await service.call('/v1/models', customer.key)
    const listed = Array.isArray(json['data'])
      ? json['data'].map((each) => [at(each, 'id'), at(each, 'capabilities')])
      : []
    assert.deepEqual(Object.fromEntries(listed), {
      fast: ['json', 'reasoning'],
      text: [],
      any: ['tools', 'json', 'images', 'documents', 'reasoning'],
      tiny: ['json'],
    })
  })

  it('refuses what the list lacks before anything is held or sent', async () => {
    const [books, calls] = [await service.books(customer.accountId), vendor.calls]
    for (const [model, changes, field, feature] of [
      ['fast', { tools }, 'tools', /fast does not support tools/],
      ['text', { response_format: { type: 'json_object' } }, 'response_format', /text does not support JSON/],
      ['text', { reasoning_effort: 'low' }, 'reasoning_effort', /text does not support reasoning/],
      ['tiny', { tools }, 'tools', /tiny does not support tools/],
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
