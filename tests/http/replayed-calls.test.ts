import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  callAddresses,
  callDialects,
  callInput,
  callsIn,
  pieceIn,
  vendorCall,
  type CallAddress,
} from '../support/call-dialects.ts'
import { readEvents } from '../support/events.ts'
import { createGate } from '../support/gate.ts'
import { until } from '../support/until.ts'
import { openVendorService } from '../support/vendor-service.ts'

/** Replies with calls under an Idempotency-Key. */

const { vendor, service } = await openVendorService()

/** The reply to all requests: 3 tokens of output. */
const calling = { thinking: 'Hm.', calls: [vendorCall] }
const headers = { 'idempotency-key': 'k' }
const bodyOf = (address: CallAddress, stream: boolean) => ({ model: 'fast', ...callDialects[address], stream })

async function send(address: CallAddress, key: string, stream: boolean, signal?: AbortSignal) {
  const response = await fetch(`${service.url}${address}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(bodyOf(address, stream)),
    ...(signal && { signal }),
  })
  return { response, status: response.status, isReplayed: response.headers.get('idempotent-replayed') === 'true' }
}

/** The arguments that a stream brings, and its last event without its place: a replay has fewer events. */
async function readCall(response: Response) {
  const events = await Array.fromAsync(readEvents(response))
  const received = events.flatMap((event) => pieceIn(event) ?? []).join('')
  return { received, last: (events.at(-1)?.data ?? '').replace(/"sequence_number":\d+,/, '') }
}

async function assertChargedOnce(accountId: string): Promise<void> {
  const { rows, holds, charged } = await service.books(accountId)
  assert.deepEqual([rows.length, rows[0]?.stopReason, rows[0]?.outputTokens], [1, 'complete', 3])
  assert.deepEqual([holds, charged], [0, rows[0]?.cost])
}

for (const address of callAddresses) {
  describe(`${address} with a call and an Idempotency-Key`, () => {
    it('A22 a whole reply is replayed byte for byte, free of charge', async () => {
      const { accountId, key } = await service.customer()
      vendor.set(calling)
      const first = await send(address, key, false)
      const text = await first.response.text()
      const asked = vendor.calls
      vendor.set({ text: 'Another reply.' })
      const again = await send(address, key, false)
      assert.deepEqual([again.isReplayed, await again.response.text()], [true, text])
      assert.deepEqual([first.isReplayed, vendor.calls], [false, asked])
      assert.deepEqual(callsIn(JSON.parse(text)), [['clock', callInput]])
      await assertChargedOnce(accountId)
    })

    it('A22 a stream is replayed to its end, and generated again if it broke off within the call', async () => {
      const { accountId, key } = await service.customer()
      vendor.set({ ...calling, fault: 'early_end', after: 6, times: 1 })
      const broken = await readCall((await send(address, key, true)).response)
      assert.match(broken.last, /"error":\{/)
      const first = await send(address, key, true)
      const whole = await readCall(first.response)
      const second = await send(address, key, true)
      assert.deepEqual([first.isReplayed, second.isReplayed], [false, true])
      assert.equal(whole.received, vendorCall.input)
      assert.deepEqual(await readCall(second.response), whole)
      const { rows, holds } = await service.books(accountId)
      assert.deepEqual([rows.map(({ stopReason }) => stopReason), holds], [['complete', 'error'], 0])
    })

    it('A32 a caller who disconnects within the arguments receives the call on a retry, for one charge', async () => {
      const { accountId, key } = await service.customer()
      const { abandoned } = vendor
      const gate = createGate()
      vendor.set({ ...calling, gate: gate.pass })
      // Two pieces of the thought, the name, and a piece of the arguments.
      gate.open(4)
      const leaving = new AbortController()
      const { response } = await send(address, key, true, leaving.signal)
      await assert.rejects(async () => {
        for await (const event of readEvents(response)) if (pieceIn(event) !== undefined) leaving.abort()
      })
      await until(() => service.app.requestsInFlight() === 0)
      gate.open()
      await until(async () => (await service.books(accountId)).rows.length === 1)
      const retry = await send(address, key, true)
      assert.equal(retry.isReplayed, true)
      assert.equal((await readCall(retry.response)).received, vendorCall.input)
      await assertChargedOnce(accountId)
      assert.equal(vendor.abandoned, abandoned)
    })
  })
}
