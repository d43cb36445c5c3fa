import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createGate } from '../support/gate.ts'
import { until } from '../support/until.ts'
import { openWire, type Wire } from '../support/wire.ts'
import { openVendorService } from '../support/vendor-service.ts'

const { vendor, service } = openVendorService()

async function send(key: string, changes: object = {}, version = '1.1'): Promise<Wire> {
  const wire = await openWire(service.port)
  const body = JSON.stringify({ model: 'fast', input: 'Hello', max_output_tokens: 100, ...changes })
  const head = ['host: x', `authorization: Bearer ${key}`, 'content-type: application/json']
  wire.send(
    `POST /v1/generate HTTP/${version}\r\n${head.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  return wire
}

const untilHeld = (accountId: string) => until(async () => (await service.books(accountId)).holds === 1)

/** The hold comes before the call, and a caller who leaves between the two is not charged. */
const untilCalled = (before: number) => until(() => vendor.calls > before)

describe('a caller that closes its sending side after its request', () => {
  it('receives the whole reply for one charge', async () => {
    const gate = createGate()
    const { accountId, key } = await service.customer()
    vendor.set({ gate: gate.pass })
    const wire = await send(key)
    await untilHeld(accountId)
    wire.endSending()
    let answer = await wire.answer()
    assert.equal(answer.status, 100)
    gate.open()
    while (answer.status === 100) answer = await wire.answer()
    vendor.set({})
    assert.equal(answer.status, 200)
    assert.match(answer.body, /"output_text":"Hello there\."/)
    await wire.closed
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows.length, rows[0]?.stopReason, holds], [1, 'complete', 0])
  })

  it('receives its stream to the last event', async () => {
    const gate = createGate()
    const { accountId, key } = await service.customer()
    vendor.set({ gate: gate.pass, tokens: 3 })
    const wire = await send(key, { stream: true })
    gate.open(1)
    await untilHeld(accountId)
    wire.endSending()
    gate.open()
    assert.match(await wire.rest(), /event: done\n/)
    vendor.set({})
    const { rows } = await service.books(accountId)
    assert.deepEqual([rows.length, rows[0]?.stopReason], [1, 'complete'])
  })

  it('counts as disconnected with HTTP/1.0, which has no interim response to probe with', async () => {
    const { calls, abandoned } = vendor
    const { accountId, key } = await service.customer()
    vendor.set({ gate: createGate().pass })
    const wire = await send(key, {}, '1.0')
    await untilCalled(calls)
    wire.endSending()
    assert.equal(await wire.rest(), '')
    await until(() => vendor.abandoned === abandoned + 1)
    vendor.set({})
    await until(async () => (await service.books(accountId)).holds === 0)
    const { rows } = await service.books(accountId)
    assert.deepEqual([rows.length, rows[0]?.stopReason], [1, 'cancelled'])
  })
})
