import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isEndure } from '../support/draws.ts'
import { readEvents, type ReceivedEvent } from '../support/events.ts'
import { objectAt, type Json } from '../support/json.ts'
import type { Answer } from '../support/answer.ts'
import { settle } from '../support/clock.ts'
import { until } from '../support/until.ts'
import { createGate } from '../support/gate.ts'
import { openVendorService } from '../support/vendor-service.ts'

const { vendor, service } = openVendorService()

const user = { role: 'user', content: 'Hello' }
/** A valid request in each dialect, and where its refusals name the field. */
const dialects = {
  '/v1/generate': { model: 'fast', input: 'Hello', max_output_tokens: 100 },
  '/v1/chat/completions': { model: 'fast', messages: [user], max_tokens: 100 },
  '/v1/responses': { model: 'fast', input: [user], max_output_tokens: 100 },
  '/v1/messages': { model: 'fast', messages: [user], max_tokens: 100 },
} as const
type Address = keyof typeof dialects
const addresses: readonly Address[] = ['/v1/generate', '/v1/chat/completions', '/v1/responses', '/v1/messages']

function stream(address: Address, key: string, signal?: AbortSignal): Promise<Response> {
  return service.post(address, key, { ...dialects[address], stream: true }, { signal })
}

/** Unsupported fields, with the field that the refusal names. All are tested beside the code of the dialects. */
const unserved: Readonly<Record<Exclude<Address, '/v1/generate'>, readonly (readonly [Json, string])[]>> = {
  '/v1/chat/completions': [
    [{ n: 2 }, 'n'],
    [{ model: null }, 'model'],
    [{ max_tokens: 4097 }, 'max_tokens'],
    [{ metadata: { client_id: 'x' } }, 'metadata.client_id'],
    [{ temprature: 1 }, 'temprature'],
  ],
  '/v1/responses': [
    [{ store: true }, 'store'],
    [{ input: undefined }, 'input'],
  ],
  '/v1/messages': [
    [{ top_k: 5 }, 'top_k'],
    [{ max_tokens: undefined }, 'max_tokens'],
  ],
}

/** What reads a stream is tested with all of them beside its code. */
const faults = isEndure
  ? (['reset', 'early_end', 'half_stream', 'no_terminal', 'malformed_event', 'error_event'] as const)
  : (['reset', 'error_event'] as const)

/** The message of a refusal in any dialect. */
const reasonOf = ({ error }: Answer) => String(error['reason'] ?? error['message'])

/** The last event without its sequence number. */
const last = ({ text }: Answer) =>
  text
    .trimEnd()
    .split('\n\n')
    .at(-1)
    ?.replace(/"sequence_number":\d+/, '')

describe('a dialect', () => {
  for (const [address, cases] of Object.entries(unserved)) {
    it(`${address} refuses by name what it does not serve, and charges nothing`, async () => {
      const { accountId, key } = await service.customer()
      const calls = vendor.calls
      const base = address === '/v1/chat/completions' || address === '/v1/responses' ? address : '/v1/messages'
      for (const [change, field] of cases) {
        const answer = await service.call(address, key, { ...dialects[base], ...change })
        const about = `${JSON.stringify(change).slice(0, 70)}: ${answer.text}`
        assert.equal(answer.status, 400, about)
        assert.ok(reasonOf(answer).replaceAll('. ', ' ').includes(` ${field} `), about)
        if (address !== '/v1/messages') assert.equal(answer.error['param'], field)
        assert.equal(answer.headers.get('x-should-retry'), 'false')
      }
      const { rows, holds } = await service.books(accountId)
      assert.deepEqual([rows.length, holds, vendor.calls - calls], [0, 0, 0])
    })
  }

  for (const address of addresses) {
    it(`${address} returns every refusal in its own format`, async () => {
      const { key } = await service.customer()
      const [{ status, error, json }, large, text] = [
        await service.call(address, undefined, {}),
        await service.call(address, key, JSON.stringify(dialects[address]).replace('Hello', 'x'.repeat(1_100_000))),
        await service.call(address, key, 'x', { 'content-type': 'text/plain' }),
      ]
      const names = {
        '/v1/generate': ['code', 'reason', 'request_id', 'docs'],
        '/v1/chat/completions': ['message', 'type', 'param', 'code'],
        '/v1/responses': ['message', 'type', 'param', 'code'],
        '/v1/messages': ['type', 'message'],
      }[address]
      assert.deepEqual([status, large.status, text.status], [401, 413, 415])
      for (const refusal of [error, large.error, text.error]) assert.deepEqual(Object.keys(refusal), names)
      assert.deepEqual(Object.keys(json), address === '/v1/messages' ? ['type', 'error', 'request_id'] : ['error'])
    })

    it(`${address} sends no 200 before the first token: a failure until then has its own status`, async () => {
      const { accountId, key } = await service.customer()
      vendor.set({ fault: 'server_error' })
      const failed = await stream(address, key)
      assert.deepEqual([failed.status, failed.headers.get('content-type')?.slice(0, 16)], [502, 'application/json'])
      assert.ok(objectAt(await failed.json(), 'error'))
      const gate = createGate()
      vendor.set({ gate: gate.pass })
      const calls = vendor.calls
      let hasHead = false
      const asked = stream(address, key).finally(() => (hasHead = true))
      await until(() => vendor.calls > calls)
      await settle()
      assert.ok(!hasHead, 'the head came before the first token')
      gate.open()
      const response = await asked
      assert.equal(response.status, 200)
      await response.text()
      vendor.set({})
      const { rows, holds } = await service.books(accountId)
      assert.deepEqual([rows.length, holds], [1, 0])
    })

    it(`${address} sends each piece while the next is still being generated`, async () => {
      const { key } = await service.customer()
      const gate = createGate()
      vendor.set({ tokens: 20, gate: gate.pass })
      gate.open(1)
      let told = 0
      for await (const { data } of readEvents(await stream(address, key))) {
        if (!data.includes('word')) continue
        told++
        gate.open(told + 1)
      }
      vendor.set({})
      assert.ok(told >= 20, `${told} texts`)
    })

    it(`A15 ${address} aborts the upstream and charges once when the caller disconnects at any event`, async () => {
      const { accountId, key } = await service.customer()
      for (const [index, most] of (isEndure ? [0, 1, 2, 3, 4, 5, 6, 7, 8] : [0, 1, 4]).entries()) {
        const gate = createGate()
        vendor.set({ tokens: 400, gate: gate.pass })
        gate.open(1)
        const abandoned = vendor.abandoned
        const controller = new AbortController()
        const response = await stream(address, key, controller.signal)
        let seen = 0
        await assert.rejects(async () => {
          if (most === 0) controller.abort()
          for await (const _ of readEvents(response)) {
            if (++seen === most) controller.abort()
            gate.open(seen + 1)
          }
        })
        await until(async () => (await service.books(accountId)).rows.length > index)
        const { rows, held } = await service.books(accountId)
        const [row] = rows
        assert.deepEqual([rows.length, row?.stopReason, held], [index + 1, 'cancelled', 0n])
        assert.ok(row && row.outputTokens < 100, `${row?.outputTokens} tokens`)
        await until(() => vendor.abandoned === abandoned + 1)
      }
      vendor.set({})
    })

    for (const fault of faults) {
      it(`A14 ${address} ends a truncated upstream stream (${fault}) with an error and charges the text sent`, async () => {
        const { accountId, key } = await service.customer()
        const gate = createGate()
        vendor.set({ tokens: 20, fault, after: 5, gate: gate.pass, usageOn: 'none' })
        gate.open(5)
        const events: ReceivedEvent[] = []
        // A reset connection may lose text as well.
        for await (const event of readEvents(await stream(address, key))) {
          if (events.push(event) && event.data.includes('word')) gate.open(events.length + 5)
        }
        vendor.set({})
        const told = events.filter(({ data }) => data.includes('word')).length
        assert.match(events.at(-1)?.data ?? '', /"error":\{.*The text received so far was charged/)
        assert.ok(events.slice(0, -1).every(({ data }) => !/"error":\{|\[DONE\]|message_stop|completed/.test(data)))
        const { rows, holds, held, charged } = await service.books(accountId)
        const [row] = rows
        assert.deepEqual([rows.length, row?.stopReason, row?.usageSource], [1, 'error', 'estimated'])
        assert.deepEqual([told, row?.outputTokens, row?.inputTokens], [5, 5, 2])
        assert.deepEqual([holds, held, charged], [0, 0n, 2n * 150_000n + 5n * 600_000n])
      })
    }

    it(`A22 ${address} generates again for the same Idempotency-Key after a stream failed`, async () => {
      const { accountId, key } = await service.customer()
      const body = { ...dialects[address], stream: true }
      const headers = { 'idempotency-key': 'k' }
      vendor.set({ tokens: 20, fault: 'reset', after: 5, times: 1 })
      assert.match(last(await service.call(address, key, body, headers)) ?? '', /"error":\{/)
      const again = await service.call(address, key, body, headers)
      vendor.set({})
      assert.equal(again.headers.get('idempotent-replayed'), null)
      assert.doesNotMatch(again.text, /"error":\{/)
      const { rows, holds } = await service.books(accountId)
      assert.deepEqual([rows.map(({ stopReason }) => stopReason), holds], [['complete', 'error'], 0])
    })

    it(`A22 ${address} replays a stored stream to its end`, async () => {
      const { accountId, key } = await service.customer()
      const body = { ...dialects[address], stream: true }
      const headers = { 'idempotency-key': 'k' }
      const first = await service.call(address, key, body, headers)
      const again = await service.call(address, key, body, headers)
      assert.equal(again.headers.get('idempotent-replayed'), 'true')
      assert.equal(last(again), last(first))
      assert.equal((await service.books(accountId)).rows.length, 1)
    })
  }
})
