import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLedger } from '../../src/billing/reports/ledger.ts'
import { readEvents } from '../support/events.ts'
import { parseObject } from '../support/json.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { shippedModel, startService } from '../support/service.ts'

const valid = { model: 'tiny', input: 'Summarise: Anna met the client on Monday.', max_output_tokens: 40, stream: true }

const service = fixture(() => startService({ models: [shippedModel(), shippedModel({ id: 'narrow', parallel: 1 })] }))
setUp(() => service.untilReady())

describe('POST /v1/generate with stream', () => {
  it('sends the same reply in pieces, then one done event with the fields of the whole reply', async () => {
    const { accountId, key } = await service.customer({ tokensPerMinute: 1000 })
    const whole = await service.call('/v1/generate', key, { ...valid, stream: false })
    const response = await service.post('/v1/generate', key, valid)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
    assert.equal(response.headers.get('x-model'), 'tiny')
    assert.equal(response.headers.get('x-cost'), null)
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.equal(response.headers.get('x-generation-id'), response.headers.get('request-id'))
    const left = Number(response.headers.get('x-ratelimit-remaining-tokens'))
    const events = await Array.fromAsync(readEvents(response))
    const deltas = events.slice(0, -1)
    assert.ok(deltas.length > 0)
    for (const { name } of deltas) assert.equal(name, 'output_text.delta')
    assert.deepEqual(Object.keys(parseObject(deltas[0]?.data ?? '')), ['delta'])
    assert.equal(events.at(-1)?.name, 'done')
    assert.equal(events.at(-1)?.data, whole.text)
    assert.equal(deltas.map(({ data }) => parseObject(data)['delta']).join(''), whole.json['output_text'])
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows.length, holds], [2, 0])
    const held = (rows[0]?.inputTokens ?? 0) + valid.max_output_tokens
    assert.ok(left <= 1000 - held, `${left} left after the admission`)
  })

  it('is settled before done is sent', async () => {
    const { accountId, key } = await service.customer()
    for (let run = 0; run < 3; run++) {
      const response = await service.post('/v1/generate', key, { ...valid, max_output_tokens: 4 })
      const id = String(response.headers.get('request-id'))
      for await (const { name } of readEvents(response)) {
        if (name !== 'done') continue
        const rows = await createLedger({ database: service.database }).page({ accountId, limit: 1 })
        assert.equal(rows[0]?.requestId, id)
      }
    }
  })

  it('A18 runs to its end while the service stops', async () => {
    const stopping = await startService({ models: [shippedModel()], databaseUrl: service.databaseUrl })
    await stopping.untilReady()
    const { key } = await stopping.customer()
    const response = await stopping.post('/v1/generate', key, { ...valid, max_output_tokens: 200 })
    const closing = stopping.close()
    const events = await Array.fromAsync(readEvents(response))
    assert.equal(events.at(-1)?.name, 'done')
    await closing
  })
})
