import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { ok } from '../support/answer.ts'
import { at } from '../support/json.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { pngOf } from '../support/sample-files.ts'
import { serve } from '../support/server.ts'
import { startService, upstreamModel, type Service } from '../support/service.ts'
import { startVendor } from '../support/vendor.ts'

/** Images that requests have by their URLs. */

const png = pngOf(20, 10)
let fetches = 0
const images = await serve((_, response) => {
  fetches++
  response.writeHead(200, { 'content-type': 'image/png' }).end(png)
})
after(() => images.close())
const vendor = fixture(() => startVendor())
let service: Service
setUp(async () => {
  service = await startService({
    models: [upstreamModel(vendor.url), upstreamModel(vendor.url, { id: 'text', capabilities: [] })],
    fetchHosts: [new URL(images.url).host],
    alerts: { allowed_networks: ['127.0.0.1'] },
  })
})
after(() => service.close())

const url = `${images.url}/a.png`
const asking = (part: object) => [{ role: 'user', content: [part] }]
const chat = { model: 'fast', max_tokens: 10, messages: asking({ type: 'image_url', image_url: { url } }) }
const bodies = {
  '/v1/chat/completions': chat,
  '/v1/responses': { model: 'fast', max_output_tokens: 10, input: asking({ type: 'input_image', image_url: url }) },
  '/v1/messages': {
    model: 'fast',
    max_tokens: 10,
    messages: asking({ type: 'image', source: { type: 'url', url } }),
  },
}

it('A50 an image by URL reaches the vendor as if it had been in the request, in every API', async () => {
  const { key } = await service.customer()
  for (const [address, body] of Object.entries(bodies)) {
    ok(await service.call(address, key, body))
    assert.deepEqual(at(vendor.last.body, 'messages', 0, 'content', 0), {
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${png.toString('base64')}` },
    })
  }
  const inline = { type: 'base64', media_type: 'image/png', data: png.toString('base64') }
  const counts = []
  for (const source of [{ type: 'url', url }, inline]) {
    const body = { model: 'fast', messages: asking({ type: 'image', source }) }
    counts.push(ok(await service.call('/v1/messages/count_tokens', key, body)).json['input_tokens'])
  }
  assert.equal(counts[0], counts[1])
})

it('A50 an image by URL is fetched once for a retried request', async () => {
  const { key } = await service.customer()
  const headers = { 'idempotency-key': 'once' }
  const before = fetches
  const replies = []
  for (let tries = 0; tries < 2; tries++) {
    replies.push(await (await service.post('/v1/chat/completions', key, chat, { headers })).text())
  }
  assert.equal(replies[0], replies[1])
  assert.equal(fetches, before + 1)
})

it('A50 an image by URL is not fetched for a request that is refused anyway', async () => {
  const { key } = await service.customer()
  const poor = await service.customer({ credit: 0n })
  const before = fetches
  const statuses = []
  for (const [caller, changes] of [
    [poor.key, {}],
    ['tg_none', {}],
    [key, { model: 'text' }],
    [key, { n: 2 }],
  ] as const) {
    statuses.push((await service.call('/v1/chat/completions', caller, { ...chat, ...changes })).status)
  }
  assert.deepEqual(statuses, [402, 401, 400, 400])
  assert.equal(fetches, before)
})
