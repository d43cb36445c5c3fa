import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createTestDatabase } from '../support/database.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { createGate } from '../support/gate.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'

const valid = { model: 'fast', input: 'Hello', max_output_tokens: 100 }

it('A18 a service that stops finishes and settles what is in flight, and refuses what is new', async () => {
  const gate = createGate()
  const vendor = await startVendor({ gate: gate.pass })
  const server = await createTestDatabase()
  const options = { models: [upstreamModel(vendor.url)], databaseUrl: server.url }
  const stopping = await startService(options)
  const { accountId, key } = await stopping.customer()
  const left = new AbortController()
  const inFlight = stopping.call('/v1/generate', key, valid)
  const abandoned = fetch(`${stopping.url}/v1/generate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(valid),
    signal: left.signal,
  })
  await until(async () => (await stopping.books(accountId)).holds === 2)
  const closing = stopping.close()
  left.abort()
  await assert.rejects(abandoned)
  const refused = await stopping.call('/v1/generate', key, valid)
  assert.deepEqual([refused.status, refused.error['code']], [503, 'unavailable'])
  assert.ok(Number(refused.headers.get('retry-after')) >= 1)
  assert.equal(refused.headers.get('connection'), 'close')
  assert.equal((await stopping.call('/healthz', undefined)).status, 200)
  gate.open()
  const answer = await inFlight
  assert.equal(answer.status, 200)
  await closing
  await assert.rejects(stopping.call('/healthz', undefined))

  const next = await startService(options)
  const { rows, holds, held } = await next.books(accountId)
  assert.deepEqual(rows.map(({ stopReason }) => stopReason).toSorted(), ['cancelled', 'complete'])
  assert.deepEqual([holds, held, vendor.calls], [0, 0n, 2])
  await next.close()
  await server.drop()
  await vendor.close()
})
