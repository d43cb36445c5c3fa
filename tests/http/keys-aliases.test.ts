import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at } from '../support/json.ts'
import { fixture } from '../support/fixture.ts'
import { startService, upstreamModel, type Service, type ServiceOptions } from '../support/service.ts'
import { startVendor } from '../support/vendor.ts'

const models = ['fast', 'slow', 'other']
/** Two configurations on one database: in the second, the alias points to another model. */
const vendor = fixture(() => startVendor({ text: 'output-text' }))
const startWith = (quick: string, more: Partial<ServiceOptions> = {}) =>
  startService({ models: models.map((id) => upstreamModel(vendor.url, { id })), aliases: { quick }, ...more })
const first = fixture(() => startWith('fast'))
const second = fixture(() => startWith('slow', { databaseUrl: first.databaseUrl }))

async function outcome(service: Service, key: string, model: string): Promise<string> {
  const body = { model, instructions: 'i', input: 'text', max_output_tokens: 10 }
  const { status, headers, error } = await service
    .call('/v1/generate', key, body)
    .then((answer) => ({ ...answer, error: answer.status === 200 ? {} : answer.error }))
  return status === 200 ? (headers.get('x-model') ?? '') : String(error['code'])
}

test('an alias among a key’s models permits the model that it points to at the time of the request', async () => {
  const { key } = await first.customer({}, { allowedModels: ['quick'] })
  for (const [service, own, foreign] of [
    [first, 'fast', 'slow'],
    [second, 'slow', 'fast'],
  ] as const) {
    assert.equal(await outcome(service, key, 'quick'), own)
    assert.equal(await outcome(service, key, own), own)
    assert.equal(await outcome(service, key, foreign), 'model_not_allowed')
    assert.equal(await outcome(service, key, 'other'), 'model_not_allowed')
    const { json } = await service.call('/v1/models', key)
    assert.deepEqual([at(json, 'data', 0, 'id'), at(json, 'data', 1)], [own, undefined])
  }
})
