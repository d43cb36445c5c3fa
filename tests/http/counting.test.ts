import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { objectAt } from '../support/json.ts'
import { fixture } from '../support/fixture.ts'
import { startVendor } from '../support/vendor.ts'

const valid = { model: 'fast', instructions: 'Answer.', input: 'Hello', max_output_tokens: 100 }

const vendor = fixture(() => startVendor())
const service = fixture(() => startService({ models: [upstreamModel(vendor.url)], aliases: { quick: 'fast' } }))
const customer = fixture(() => service.customer())

describe('POST /v1/count_tokens', () => {
  it('returns the tokens and the highest cost of the same request, free of charge, as one request of the limit', async () => {
    const { accountId, key } = await service.customer({ requestsPerMinute: 5 })
    const calls = vendor.calls
    const answer = await service.call('/v1/count_tokens', key, valid)
    const tokens = Number(answer.json['input_tokens'])
    assert.deepEqual(Object.keys(answer.json), ['input_tokens', 'max_cost'])
    assert.equal(answer.json['max_cost'], ((tokens * 0.15 + 100 * 0.6) / 1e6).toFixed(8).replace(/0+$/, ''))
    assert.equal(answer.headers.get('x-ratelimit-remaining-requests'), '4')
    assert.equal(answer.headers.get('x-model'), 'fast')
    assert.equal(answer.headers.get('x-cost'), null)
    assert.equal(vendor.calls, calls)
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows.length, holds], [0, 0])
  })

  it('is not refused without credit, not even if a lowered limit is exceeded', async () => {
    const { accountId, key } = await service.customer({ monthlyLimit: 10n ** 12n })
    assert.equal((await service.call('/v1/generate', key, valid)).status, 200)
    await service.accounts.setLimits(accountId, { monthlyLimit: 1n }, byService)
    const refused = await service.call('/v1/generate', key, valid)
    assert.deepEqual([refused.status, refused.error['code']], [402, 'insufficient_credit'])
    assert.equal((await service.call('/v1/count_tokens', key, valid)).status, 200)
    assert.equal((await service.call('/v1/models', key)).status, 200)
  })

  it('refuses the same invalid bodies, and is rate-limited', async () => {
    const { key } = await service.customer({ requestsPerMinute: 1 })
    assert.equal((await service.call('/v1/count_tokens', key, { ...valid, input: '' })).error['code'], 'invalid_field')
    assert.equal((await service.call('/v1/count_tokens', key, valid)).status, 200)
    const refused = await service.call('/v1/count_tokens', key, valid)
    assert.equal(refused.error['code'], 'rate_limit_exceeded')
    assert.ok(Number(refused.headers.get('retry-after')) >= 1)
  })
})

describe('GET /v1/models', () => {
  it('lists the models that the key may use, with their prices', async () => {
    const all = await service.call('/v1/models', customer.key)
    assert.equal(all.json['object'], 'list')
    assert.equal(all.json['has_more'], false)
    const model = objectAt(all.json, 'data', 0)
    assert.deepEqual(
      { ...model, created: undefined, created_at: undefined },
      {
        id: 'fast',
        object: 'model',
        type: 'model',
        display_name: 'fast',
        created: undefined,
        created_at: undefined,
        owned_by: 'tollgate',
        kind: 'text',
        context_length: 32_768,
        max_output_tokens: 4096,
        capabilities: ['tools', 'json', 'images', 'documents', 'reasoning', 'verbosity'],
        price: { input: '0.15', output: '0.6', currency: 'USD' },
        aliases: ['quick'],
      },
    )
    assert.ok(Number.isInteger(model['created']))
    assert.equal(Date.parse(String(model['created_at'])), Number(model['created']) * 1000)
    assert.deepEqual([all.json['first_id'], all.json['last_id']], ['fast', 'fast'])

    const other = await service.customer({}, { allowedModels: ['another'] })
    assert.deepEqual((await service.call('/v1/models', other.key)).json['data'], [])
    const refused = await service.call('/v1/generate', other.key, valid)
    assert.deepEqual(
      [refused.status, refused.error['code'], refused.error['field']],
      [403, 'model_not_allowed', 'model'],
    )
    assert.equal((await service.books(other.accountId)).rows.length, 0)
  })
})
