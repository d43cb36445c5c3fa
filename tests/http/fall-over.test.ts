import assert from 'node:assert/strict'
import { it } from 'node:test'
import { readEvents } from '../support/events.ts'
import { fixture } from '../support/fixture.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { startVendor } from '../support/vendor.ts'

const broken = fixture(() => startVendor({ fault: 'server_error' }))
const working = fixture(() => startVendor())
const service = fixture(() =>
  startService({
    models: [
      upstreamModel(broken.url, { fallback: 'dear' }),
      upstreamModel(working.url, { id: 'dear', price: { input: '1.50', output: '6.00' } }),
    ],
  }),
)

const asked = { model: 'fast', input: 'Hello', max_output_tokens: 100 }

it('A13 if a model fails, its fallback serves the request at its own price, for one charge', async () => {
  // One request refills every thirty seconds.
  const { accountId, key } = await service.customer({ requestsPerMinute: 2 })
  const whole = await service.call('/v1/generate', key, asked)
  assert.deepEqual([whole.status, whole.headers.get('x-model'), whole.headers.get('x-cost')], [200, 'dear', '0.000036'])
  assert.equal(whole.headers.get('x-ratelimit-remaining-requests'), '1')
  const response = await service.post('/v1/generate', key, { ...asked, stream: true })
  assert.equal(response.headers.get('x-model'), 'dear')
  assert.equal((await Array.fromAsync(readEvents(response))).at(-1)?.name, 'done')
  const { rows, holds, charged } = await service.books(accountId)
  assert.deepEqual(
    rows.map(({ model, cost }) => [model, cost]),
    [
      ['dear', 36_000_000n],
      ['dear', 36_000_000n],
    ],
  )
  assert.deepEqual([holds, charged], [0, 72_000_000n])
})
