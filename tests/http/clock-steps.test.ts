import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { byService } from '../../src/access/actor.ts'
import { stepClock } from '../support/clock-step.ts'
import { createGate } from '../support/gate.ts'
import { until } from '../support/until.ts'
import { openVendorService } from '../support/vendor-service.ts'

const valid = { model: 'fast', input: 'Hello', max_output_tokens: 20 }
const steps = ['-1 hour', '1 hour', '-40 days', '40 days']

const { vendor, service } = openVendorService()

describe('A31 when the clock of the database is set', () => {
  for (const step of steps) {
    it(`by ${step}, an exhausted account is admitted after the time that Retry-After says`, async () => {
      const { key } = await service.customer({ requestsPerMinute: 30 })
      const count = () => service.call('/v1/count_tokens', key, valid)
      while ((await count()).status === 200);
      await stepClock(service.database, step)
      for (let call = 0; call < 2; call++) {
        const first = await count()
        const wait = first.status === 200 ? 0 : Number(first.headers.get('retry-after'))
        assert.ok(wait <= 2, `Retry-After: ${wait}`)
        await sleep(wait * 1000)
        if (first.status !== 200) assert.equal((await count()).status, 200)
      }
    })

    it(`by ${step}, a model keeps its price, a new price is in force at once, and another instance agrees`, async () => {
      const { key } = await service.customer()
      await stepClock(service.database, step)
      await service.prices.refresh()
      assert.equal((await service.call('/v1/generate', key, valid)).status, 200)
      const price = { input: 1_000_000n, output: BigInt(2_000_000 + steps.indexOf(step)) }
      await service.prices.set('fast', price, byService)
      await service.prices.refresh()
      const { input, output } = service.prices.of('fast') ?? assert.fail('the model has lost its price')
      assert.deepEqual({ input, output }, price)
      assert.equal((await service.prices.list())[0]?.state, 'in force')
    })
  }

  for (const step of ['-1 hour', '1 hour']) {
    it(`by ${step}, a request in flight is charged, and its idempotency key still replays the reply`, async () => {
      const { accountId, key } = await service.customer()
      const gate = createGate()
      vendor.set({ gate: gate.pass })
      const headers = { 'idempotency-key': `order${step.replaceAll(' ', '')}` }
      const pending = service.call('/v1/generate', key, valid, headers)
      await until(async () => (await service.books(accountId)).holds === 1)
      await stepClock(service.database, step)
      assert.equal((await service.call('/v1/generate', key, valid, headers)).status, 409)
      gate.open()
      const first = await pending
      assert.equal(first.status, 200)
      await stepClock(service.database, step)
      const replay = await service.call('/v1/generate', key, valid, headers)
      assert.deepEqual([replay.status, replay.headers.get('idempotent-replayed')], [200, 'true'])
      assert.equal((await service.books(accountId)).rows.length, 1)
    })
  }
})
