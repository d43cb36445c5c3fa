import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import { assertRefused, type Answer, ok } from '../support/answer.ts'
import { at, objectAt, valuesOf } from '../support/json.ts'
import { openFirm } from '../support/firm.ts'
import { upstreamModel } from '../support/service.ts'
import { startVendor } from '../support/vendor.ts'
import { fixture } from '../support/fixture.ts'
import { eventsOf } from '../support/recorded.ts'

const vendor = fixture(() => startVendor())
const { firm, anna, paula } = openFirm(() => {
  const { max_output_tokens: _, ...called } = objectAt(upstreamModel(vendor.url))
  const vectors = { ...called, id: 'vectors', kind: 'embeddings', price: { input: '0.02' } }
  const models = [
    upstreamModel(vendor.url, { fallback: 'a/slow:1' }),
    upstreamModel(vendor.url, { id: 'a/slow:1' }),
    upstreamModel(vendor.url, { id: 'unpriced', price: undefined }),
    vectors,
  ]
  return { models, aliases: { default: 'fast' } }
})

const setPrice = (model: string, body: object) =>
  paula.send('POST', `/models/${encodeURIComponent(model)}/prices`, body)

async function shown(id: string) {
  const { models } = (await paula.get('/models')).json
  assert.ok(Array.isArray(models))
  const { prices, keys, ...model } = objectAt(models.find((each) => at(each, 'id') === id))
  assert.ok(Array.isArray(prices) && Array.isArray(keys))
  return { ...model, price: model['price'], prices: prices as unknown[], keys: keys as unknown[] }
}

const recorded = (answer: Answer) =>
  eventsOf(answer, firm.service.database, 'action, outcome, person_id as person, noun, details')

describe('the list of models', () => {
  test('shows each configured model with its state, prices and keys', async () => {
    const { accountId } = await firm.service.customer({}, { name: 'named', allowedModels: ['default'] })
    await firm.service.customer({ name: 'Everything' })
    const closed = await firm.service.customer({}, { allowedModels: ['fast'] })
    await firm.service.accounts.close(closed.accountId, byService)
    const revoked = await firm.service.customer({}, { allowedModels: ['fast'] })
    await firm.service.keys.revoke(revoked.keyId, byService)

    const list = await paula.get('/models')
    assert.equal(list.json['unlimited_keys'], 1)
    assert.deepEqual(await recorded(list), [
      { action: 'models_listed', outcome: 'allowed', person: paula.id, noun: 'model', details: null },
    ])
    const { models } = list.json
    assert.ok(Array.isArray(models))
    assert.deepEqual(valuesOf(models, 'id'), ['fast', 'a/slow:1', 'unpriced', 'vectors'])
    const { prices, keys, ...fast } = await shown('fast')
    const price = { input: '0.15', output: '0.6' }
    assert.deepEqual(fast, {
      id: 'fast',
      engine: 'openai',
      kind: 'text',
      aliases: ['default'],
      context: 32_768,
      max_output_tokens: 4096,
      capabilities: ['tools', 'json', 'images', 'documents', 'reasoning', 'verbosity'],
      fallback: 'a/slow:1',
      ready: true,
      reason: null,
      price,
      configured_price: price,
    })
    const from = at(prices, 0, 'valid_from')
    assert.deepEqual(prices, [{ ...price, valid_from: from, source: 'configuration', state: 'in force' }])
    assert.deepEqual(
      keys.map((each) => [at(each, 'name'), at(each, 'account', 'id')]),
      [['named', accountId]],
    )
    const { price: none, prices: empty } = await shown('unpriced')
    assert.deepEqual([none, empty], [null, []])
  })
})

describe('a price', () => {
  test('is in force at once, and the next charge has it', async () => {
    const answer = ok(await setPrice('a/slow:1', { input: '0.000001', output: '1000000' }), 201)
    const { valid_from: from, ...rest } = answer.json
    assert.deepEqual(rest, { model: 'a/slow:1', input: '0.000001', output: '1000000' })
    const details = { model: 'a/slow:1', input: '0.000001', output: '1000000', from }
    assert.deepEqual(await recorded(answer), [
      { action: 'price_set', outcome: 'allowed', person: paula.id, noun: 'price', details },
    ])
    const { price, prices } = await shown('a/slow:1')
    assert.deepEqual(price, { input: '0.000001', output: '1000000' })
    assert.deepEqual(
      prices.map((each) => [at(each, 'source'), at(each, 'state')]),
      [
        ['portal', 'in force'],
        ['configuration', 'past'],
      ],
    )
    const { key } = await firm.service.customer({ credit: 10n ** 18n })
    vendor.set({ usage: { prompt_tokens: 3, completion_tokens: 2 } })
    const called = await firm.service.call('/v1/generate', key, { model: 'a/slow:1', input: 'x', max_output_tokens: 5 })
    assert.equal(called.headers.get('x-cost'), '2.000000000003')
  })

  test('may have parts for a prompt cache, which the list of models shows', async () => {
    const parts = { input: '1', output: '2', cached_input: '0', cache_write: '1.25' }
    const answer = await setPrice('fast', parts)
    const { valid_from: _, ...rest } = answer.json
    assert.deepEqual([answer.status, rest], [201, { model: 'fast', ...parts }])
    const [row] = await recorded(answer)
    const { from: __, ...details } = objectAt(at(row, 'details'))
    assert.deepEqual(details, { model: 'fast', ...parts })
    const { price, prices } = await shown('fast')
    assert.deepEqual(price, parts)
    assert.deepEqual([at(prices[0], 'cached_input'), at(prices[0], 'cache_write')], ['0', '1.25'])
    const { key } = await firm.service.customer()
    const listed = await firm.service.call('/v1/models/fast', key)
    const { currency: ___, ...sent } = objectAt(listed.json['price'])
    assert.deepEqual(sent, parts)
    assert.equal((await setPrice('fast', { input: '1', output: '2' })).status, 201)
    assert.deepEqual((await shown('fast')).price, { input: '1', output: '2' })
  })

  test('makes a model without one callable', async () => {
    const { key } = await firm.service.customer()
    const ask = () => firm.service.call('/v1/generate', key, { model: 'unpriced', input: 'x', max_output_tokens: 5 })
    assert.equal((await ask()).error['code'], 'unknown_model')
    assert.equal((await setPrice('unpriced', { input: '1', output: '2' })).status, 201)
    assert.equal((await ask()).status, 200)
  })

  test('of embeddings has input only', async () => {
    for (const part of ['output', 'cached_input', 'cache_write']) {
      assertRefused(await setPrice('vectors', { input: '1', [part]: '2' }), 'invalid_field', part)
    }
    const { price, ...model } = await shown('vectors')
    assert.deepEqual([objectAt(model)['kind'], price], ['embeddings', { input: '0.02', output: '0' }])
    ok(await setPrice('vectors', { input: '0.03' }), 201)
    assert.deepEqual((await shown('vectors')).price, { input: '0.03', output: '0' })
    // As the list shows it.
    assert.equal((await setPrice('vectors', { input: '0.04', output: '0' })).status, 201)
  })

  test('can be scheduled', async () => {
    const given = { input: '7', output: '8', valid_from: '2099-01-31T12:30:00Z' }
    assert.equal((await setPrice('fast', given)).status, 201)
    const { price, prices } = await shown('fast')
    assert.notEqual(at(price, 'input'), '7')
    const [first] = prices
    assert.deepEqual(first, { ...given, valid_from: '2099-01-31T12:30:00.000Z', source: 'portal', state: 'to come' })
    assert.equal((await setPrice('fast', given)).status, 201, 'a repeated request changes nothing')
    assert.equal((await shown('fast')).prices.length, prices.length)
    assertRefused(await setPrice('fast', { ...given, input: '6' }), 'invalid_field', 'valid_from')
  })

  test('is refused with the field at fault', async () => {
    const wrong: [object, string, string][] = [
      [{ output: '1' }, 'missing_field', 'input'],
      [{ input: '1' }, 'missing_field', 'output'],
      [{ input: '1', output: '1' }, 'invalid_field', 'output'],
      [{ input: '2', output: '1' }, 'invalid_field', 'output'],
      [{ input: '-1', output: '1' }, 'invalid_field', 'input'],
      [{ input: '0.0000001', output: '1' }, 'invalid_field', 'input'],
      [{ input: '1', output: '1000001' }, 'invalid_field', 'output'],
      [{ input: 1, output: '2' }, 'invalid_field', 'input'],
      [{ input: '1', output: '2', cached_input: '1.01' }, 'invalid_field', 'cached_input'],
      [{ input: '1', output: '2', cached_input: '-1' }, 'invalid_field', 'cached_input'],
      [{ input: '1', output: '2', cached_input: null }, 'invalid_field', 'cached_input'],
      [{ input: '1', output: '2', cache_write: '-1' }, 'invalid_field', 'cache_write'],
      [{ input: '1', output: '2', cache_write: 'x' }, 'invalid_field', 'cache_write'],
      [{ input: '1', output: '2', valid_from: '2020-01-01' }, 'invalid_field', 'valid_from'],
      [{ input: '1', output: '2', valid_from: 'tomorrow' }, 'invalid_field', 'valid_from'],
      [{ input: '1', output: '2', currency: 'EUR' }, 'unknown_field', 'currency'],
    ]
    const { prices: before } = await shown('fast')
    for (const [body, code, field] of wrong) assertRefused(await setPrice('fast', body), code, field)
    assert.deepEqual((await shown('fast')).prices, before)
    const alias = await setPrice('default', { input: '1', output: '2' })
    assertRefused(alias, 'not_found')
    assert.match(String(alias.error['reason']), /alias of fast/)
    assertRefused(await setPrice('nothing', { input: '1', output: '2' }), 'not_found')
  })

  test('is not for consultants to see or set', async () => {
    const { prices: before } = await shown('fast')
    for (const model of ['fast', 'nothing']) {
      const answer = await anna.send('POST', `/models/${model}/prices`, { input: '1', output: '2' })
      assertRefused(answer, 'forbidden')
      const row = { action: 'access_denied', outcome: 'refused', person: anna.id, noun: 'model' }
      assert.deepEqual(await recorded(answer), [{ ...row, details: { action: 'change' } }])
    }
    assert.deepEqual((await shown('fast')).prices, before)
  })
})
