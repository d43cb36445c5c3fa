import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Answer } from '../support/answer.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { createGate } from '../support/gate.ts'
import { parseObject } from '../support/json.ts'
import { until } from '../support/until.ts'
import { openVendorService } from '../support/vendor-service.ts'

const valid = { model: 'fast', input: 'Hello', max_output_tokens: 100 }

const { vendor, service } = openVendorService()

const once = (key: string, name: string, body: unknown = valid): Promise<Answer> =>
  service.call('/v1/generate', key, body, { 'idempotency-key': name })

describe('Idempotency-Key', () => {
  it('A22 makes twenty concurrent requests one generation and one charge', async () => {
    const { accountId, key } = await service.customer()
    vendor.set({ delay: 150 })
    const calls = vendor.calls
    const answers = await Promise.all(Array.from({ length: 20 }, () => once(key, 'k')))
    vendor.set({ text: 'Another answer.' })
    assert.equal(vendor.calls, calls + 1)
    const good = answers.filter(({ status }) => status === 200)
    assert.ok(good.length >= 1)
    assert.equal(new Set(good.map(({ text }) => text)).size, 1)
    const others = answers.filter(({ status }) => status !== 200)
    for (const answer of others) {
      assert.deepEqual([answer.status, answer.error['code']], [409, 'idempotency_in_progress'])
      assert.equal(answer.headers.get('retry-after'), '1')
    }
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows.length, holds], [1, 0])
    vendor.set({})
  })

  it('A22 replays the reply byte for byte and free of charge, also on another instance', async () => {
    const { accountId, key } = await service.customer()
    vendor.set({ text: 'Grüße\n"👋"\u2028' })
    const first = await once(key, 'k')
    vendor.set({ text: 'Another answer.' })
    const other = await startService({ models: [upstreamModel(vendor.url)], databaseUrl: service.databaseUrl })
    const calls = vendor.calls
    const replays = [await once(key, 'k'), await other.call('/v1/generate', key, valid, { 'idempotency-key': 'k' })]
    await other.close()
    vendor.set({})
    assert.equal(first.headers.get('idempotent-replayed'), null)
    assert.equal(first.headers.get('x-original-request-id'), null)
    assert.equal(first.headers.get('x-cost'), '0.0000036')
    for (const replay of replays) {
      assert.equal(replay.status, 200)
      assert.equal(replay.text, first.text)
      assert.equal(replay.headers.get('idempotent-replayed'), 'true')
      for (const name of ['x-model', 'x-generation-id', 'content-type']) {
        assert.equal(replay.headers.get(name), first.headers.get(name), name)
      }
      assert.equal(replay.headers.get('x-original-request-id'), first.headers.get('request-id'))
      assert.notEqual(replay.headers.get('request-id'), first.headers.get('request-id'))
      assert.equal(replay.headers.get('x-cost'), null)
      assert.ok(Number(replay.headers.get('x-ratelimit-limit-tokens')) > 0)
    }
    const { rows, charged } = await service.books(accountId)
    assert.deepEqual([rows.length, charged, vendor.calls], [1, 3_600_000n, calls])
  })

  it('A22 refuses a different body with idempotency_mismatch, even if only a space differs', async () => {
    const { accountId, key } = await service.customer()
    await once(key, 'k')
    for (const body of [{ ...valid, input: 'Other' }, `${JSON.stringify(valid)} `]) {
      const answer = await once(key, 'k', body)
      assert.deepEqual([answer.status, answer.error['code']], [422, 'idempotency_mismatch'])
    }
    assert.equal((await service.books(accountId)).rows.length, 1)
  })

  it('belongs to one account: another account with the same key gets its own reply', async () => {
    const [one, two] = [await service.customer(), await service.customer()]
    await once(one.key, 'k')
    const answer = await once(two.key, 'k', { ...valid, input: 'Other' })
    assert.deepEqual([answer.status, answer.headers.get('idempotent-replayed')], [200, null])
  })

  it('A22 must be 1 to 255 visible ASCII characters', async () => {
    const { accountId, key } = await service.customer()
    for (const name of ['', ' ', 'a b', 'x'.repeat(256), 'ü']) {
      const answer = await once(key, name)
      assert.deepEqual([answer.status, answer.error['field']], [400, 'Idempotency-Key'], JSON.stringify(name))
    }
    assert.equal((await once(key, 'x'.repeat(255))).status, 200)
    assert.equal((await service.books(accountId)).rows.length, 1)
  })
})

/** Sends a request and disconnects while the model works on it; with a stream, after its first event. */
async function leave(key: string, accountId: string, body: { readonly stream?: boolean }): Promise<void> {
  const controller = new AbortController()
  const left = service.post(
    '/v1/generate',
    key,
    { ...valid, ...body },
    { signal: controller.signal, headers: { 'idempotency-key': 'k' } },
  )
  if (body.stream) await (await left).body?.getReader().read()
  else await until(async () => (await service.books(accountId)).holds === 1)
  controller.abort()
  if (!body.stream) await assert.rejects(left)
  await until(() => service.app.requestsInFlight() === 0)
}

describe('a caller that disconnects from a request with an Idempotency-Key', () => {
  for (const stream of [false, true]) {
    it(`A32 receives the reply on a retry, for one charge (${stream ? 'stream' : 'whole reply'})`, async () => {
      const gate = createGate()
      const { accountId, key } = await service.customer()
      const [calls, abandoned] = [vendor.calls, vendor.abandoned]
      vendor.set({ gate: gate.pass })
      gate.open(stream ? 1 : 0)
      const body = stream ? { stream } : {}
      await leave(key, accountId, body)
      const early = await once(key, 'k', { ...valid, ...body })
      assert.deepEqual([early.status, early.error['code']], [409, 'idempotency_in_progress'])
      assert.ok(Number(early.headers.get('retry-after')) >= 1)
      assert.equal(early.headers.get('x-should-retry'), 'true')
      gate.open()
      await until(async () => (await service.books(accountId)).rows.length === 1)
      const retry = await once(key, 'k', { ...valid, ...body })
      vendor.set({})
      assert.deepEqual([retry.status, retry.headers.get('idempotent-replayed')], [200, 'true'])
      assert.match(retry.text, /Hello there\./)
      const { rows, holds, charged } = await service.books(accountId)
      assert.deepEqual([rows.length, rows[0]?.stopReason, holds, charged], [1, 'complete', 0, rows[0]?.cost])
      assert.equal(retry.headers.get('x-original-request-id'), rows[0]?.requestId)
      assert.deepEqual([retry.headers.get('x-cost'), vendor.calls, vendor.abandoned], [null, calls + 1, abandoned])
      const line = service
        .logText()
        .split('\n')
        .find((each) => each.includes('charged after the caller disconnected'))
      const fields = parseObject(line ?? '{}')
      assert.equal(typeof fields['cost'], 'string')
      assert.ok(service.logText().includes(`"request_id":"${rows[0]?.requestId}"`))
    })
  }

  it('A32 is not charged for a stream that fails afterwards, and pays only for the retry', async () => {
    const gate = createGate()
    const { accountId, key } = await service.customer()
    vendor.set({ gate: gate.pass, fault: 'reset', after: 2, tokens: 5 })
    gate.open(1)
    await leave(key, accountId, { stream: true })
    gate.open()
    await until(async () => (await service.books(accountId)).holds === 0)
    assert.deepEqual((await service.books(accountId)).rows, [])
    vendor.set({})
    const retry = await once(key, 'k', { ...valid, stream: true })
    assert.deepEqual([retry.status, retry.headers.get('idempotent-replayed')], [200, null])
    assert.equal((await service.books(accountId)).rows.length, 1)
  })
})
