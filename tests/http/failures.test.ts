import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { problems } from '../../src/platform/problems.ts'
import { startService, upstreamModel, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startVendor, type Vendor } from '../support/vendor.ts'
import { createGate } from '../support/gate.ts'

const valid = { model: 'fast', instructions: 'Answer.', input: 'Hello', max_output_tokens: 100 }

let vendor: Vendor
let service: Service
before(async () => {
  vendor = await startVendor()
  service = await startService({ models: [upstreamModel(vendor.url)] })
})
after(async () => {
  await service.close()
  await vendor.close()
})

async function untilHeld(accountId: string): Promise<void> {
  await until(async () => (await service.books(accountId)).holds === 1)
}

describe('a generation that fails', () => {
  const upstreamFaults = [
    ['server_error', 'upstream_failed', 502],
    ['cut_json', 'upstream_failed', 502],
    ['reset', 'upstream_failed', 502],
    ['busy', 'overloaded', 503],
    ['context_length', 'context_length_exceeded', 400],
  ] as const
  for (const [fault, code, status] of upstreamFaults) {
    it(`a model that fails (${fault}) charges nothing and releases the hold`, async () => {
      const { accountId, key } = await service.customer()
      vendor.set({ fault })
      const answer = await service.call('/v1/generate', key, valid)
      vendor.set({})
      assert.deepEqual([answer.error['code'], answer.status], [code, status], answer.text)
      const { rows, holds, held, charged } = await service.books(accountId)
      assert.deepEqual([rows.length, holds, held, charged], [0, 0, 0n, 0n])
      assert.equal(answer.headers.get('x-should-retry'), String(problems[code].retry))
      if (status === 503) assert.ok(Number(answer.headers.get('retry-after')) >= 1)
    })
  }

  it('a charge never exceeds its hold, whatever the model reports', async () => {
    vendor.set({ usage: { prompt_tokens: 1_000_000, completion_tokens: 1_000_000 } })
    const { accountId, key } = await service.customer()
    const counted = await service.call('/v1/count_tokens', key, valid)
    const answer = await service.call('/v1/generate', key, valid)
    vendor.set({})
    assert.deepEqual(answer.json['usage'], { input_tokens: counted.json['input_tokens'], output_tokens: 100 })
    assert.equal(answer.headers.get('x-cost'), counted.json['max_cost'])
    const { held } = await service.books(accountId)
    assert.equal(held, 0n)
  })

  it('a reply whose hold was given up is not sent and not charged', async () => {
    const gate = createGate()
    vendor.set({ gate: gate.pass })
    const { accountId, key } = await service.customer()
    const pending = service.call('/v1/generate', key, valid)
    await untilHeld(accountId)
    await service.database.rows('delete from hold where account_id = $1', [accountId])
    await service.database.rows('update account set held = 0 where id = $1', [accountId])
    gate.open()
    const answer = await pending
    vendor.set({})
    assert.deepEqual([answer.status, answer.error['code']], [503, 'unavailable'])
    assert.doesNotMatch(answer.text, /Hello there/)
    const { rows, charged } = await service.books(accountId)
    assert.deepEqual([rows.length, charged], [0, 0n])
  })

  it('A15 a caller who leaves is charged for what was generated, and the model is stopped', async () => {
    vendor.set({ gate: createGate().pass })
    const abandoned = vendor.abandoned
    const { accountId, key } = await service.customer()
    const controller = new AbortController()
    const pending = fetch(`${service.url}/v1/generate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(valid),
      signal: controller.signal,
    })
    await untilHeld(accountId)
    controller.abort()
    await assert.rejects(pending)
    await until(async () => (await service.books(accountId)).holds === 0)
    vendor.set({})
    const { rows, held } = await service.books(accountId)
    assert.deepEqual([rows.length, rows[0]?.stopReason, rows[0]?.outputTokens, held], [1, 'cancelled', 0, 0n])
    await until(() => vendor.abandoned === abandoned + 1)
  })
})
