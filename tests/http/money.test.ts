import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import { parsePrice } from '../../src/billing/prices/money.ts'
import { verifyBooks } from '../../src/billing/verify.ts'
import { fixture } from '../support/fixture.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { startVendor } from '../support/vendor.ts'
import { until } from '../support/until.ts'

const valid = { model: 'fast', input: 'Hello', max_output_tokens: 100 }
const models = (url: string) => [
  upstreamModel(url),
  upstreamModel(url, { id: 'odd', price: { input: '0.000001', output: '98765.432101' } }),
  upstreamModel(url, { id: 'unpriced', price: undefined }),
]

const vendor = fixture(() => startVendor())
const service = fixture(() => startService({ models: models(vendor.url) }))

const used = (prompt: number, completion: number) => ({
  usage: { prompt_tokens: prompt, completion_tokens: completion },
})

describe('money', () => {
  it('A20 the cost is exactly tokens times price in the header, the ledger, the roll-up and the account', async () => {
    const { accountId, key } = await service.customer({ credit: 10n ** 20n })
    let sum = 0n
    for (let i = 0; i < 30; i++) {
      vendor.set(used(i * 7, (i * 13) % 101))
      const answer = await service.call('/v1/generate', key, { ...valid, model: 'odd', input: 'x'.repeat(300) })
      assert.equal(answer.status, 200, answer.text)
      const cost = BigInt(i * 7) * 1n + BigInt((i * 13) % 101) * 98_765_432_101n
      sum += cost
      assert.equal(units(String(answer.headers.get('x-cost'))), cost)
    }
    vendor.set({})
    const { rows, charged, creditLeft } = await service.books(accountId)
    assert.equal(
      rows.reduce((total, row) => total + row.cost, 0n),
      sum,
    )
    const [day] = await service.database.rows<{ cost: bigint }>(
      'select sum(cost)::numeric as cost from usage_day where account_id = $1',
      [accountId],
    )
    assert.deepEqual([charged, day?.cost, creditLeft], [sum, sum, 10n ** 20n - sum])
  })

  it('A20 charges with a client id and without one are kept apart, and the books agree', async () => {
    const { accountId, key } = await service.customer({ own: true })
    const clients = [undefined, await service.client(), await service.client()]
    for (const id of clients) {
      assert.equal((await service.call('/v1/generate', key, { ...valid, metadata: { client_id: id } })).status, 200)
    }
    const days = await service.database.rows<{ id: string | null; requests: bigint }>(
      'select client_id as id, requests from usage_day where account_id = $1 order by 1 nulls first',
      [accountId],
    )
    assert.deepEqual(
      days,
      clients.map((id) => ({ id: id ?? null, requests: 1n })),
    )
    const faults = async () => {
      const { checks } = await verifyBooks(service.database)
      return checks.filter(({ ok }) => !ok).map(({ name }) => name)
    }
    assert.deepEqual(await faults(), [])
    const change = (set: string) =>
      service.database.rows(`update usage_day set ${set} where account_id = $1 and client_id is null`, [accountId])
    for (const [wrong, right] of [
      ['requests = requests + 1', 'requests = requests - 1'],
      ['input_tokens = input_tokens - 1', 'input_tokens = input_tokens + 1'],
      [`model = 'other'`, `model = 'fast'`],
    ] as const) {
      await change(wrong)
      assert.deepEqual(await faults(), ['the daily roll-ups are the sums of the ledger'], wrong)
      await change(right)
    }
  })

  it('A21 a new price applies to later requests and changes no past charge', async () => {
    const { accountId, key } = await service.customer()
    const cost = async () => (await service.call('/v1/generate', key, valid)).headers.get('x-cost')
    assert.equal(await cost(), '0.0000036')
    await service.prices.set('fast', { input: parsePrice('1'), output: parsePrice('2') }, byService)
    await until(async () => (await cost()) === '0.000018')
    await service.prices.set('fast', { input: parsePrice('0.15'), output: parsePrice('0.60') }, byService)
    await until(async () => (await cost()) === '0.0000036')
    const { rows, charged } = await service.books(accountId)
    assert.ok(rows.some((row) => row.inputPrice === 1_000_000n && row.cost === 18_000_000n))
    assert.ok(rows.some((row) => row.inputPrice === 150_000n && row.cost === 3_600_000n))
    assert.equal(
      charged,
      rows.reduce((total, row) => total + row.cost, 0n),
    )
  })

  it('A21 a model without a price is not callable, and not listed', async () => {
    const { accountId, key } = await service.customer()
    const calls = vendor.calls
    const answer = await service.call('/v1/generate', key, { ...valid, model: 'unpriced' })
    assert.deepEqual([answer.status, answer.error['code']], [404, 'unknown_model'])
    assert.doesNotMatch((await service.call('/v1/models', key)).text, /unpriced/)
    assert.deepEqual([vendor.calls, (await service.books(accountId)).rows.length], [calls, 0])
  })
})

/** An amount as a decimal → 10⁻¹² of the unit. */
function units(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(12, '0'))
}
