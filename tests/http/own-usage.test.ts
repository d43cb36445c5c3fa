import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatMoney, parseMoney } from '../../src/billing/prices/money.ts'
import { byService } from '../../src/access/actor.ts'
import { objectAt, valuesOf } from '../support/json.ts'
import { fixture } from '../support/fixture.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'

const vendor = fixture(() => startVendor())
const service = fixture(() =>
  startService({
    models: [upstreamModel(vendor.url), upstreamModel(vendor.url, { id: 'dear', price: { input: '3', output: '7' } })],
    aliases: { quick: 'fast' },
  }),
)

const call = { model: 'fast', input: 'Hello', max_output_tokens: 100 }

type Row = Readonly<Record<string, unknown>>
function rowsOf(json: Readonly<Record<string, unknown>>): Row[] {
  const { rows } = json
  assert.ok(Array.isArray(rows))
  return Array.from({ length: rows.length }, (_, index) => objectAt(json, 'rows', index))
}

const costOf = (rows: readonly Row[]): bigint => rows.reduce((sum, { cost }) => sum + parseMoney(String(cost)), 0n)

async function report(key: string, query = '') {
  const answer = await service.call(`/v1/usage${query}`, key)
  assert.equal(answer.status, 200, answer.text)
  return answer.json
}

describe('GET /v1/usage', () => {
  it('keeps no other caller waiting, however many reports are asked for and however long they take', async () => {
    const [{ key }, other] = [await service.customer(), await service.customer()]
    const { accountId } = other
    const fresh = await service.keys.create({ accountId, name: 'x', allowedModels: null, expiresAt: null }, byService)
    const locking = await service.database.connect()
    await locking.rows('begin')
    await locking.rows('lock table usage_day in access exclusive mode')
    const reports = Array.from({ length: 120 }, () => service.call('/v1/usage?by=day,tag', key))
    await until(() => service.app.requestsInFlight() >= 100)
    // A key that was not seen before is looked up with the connections that reports use.
    assert.equal((await service.call('/v1/models', fresh.key)).status, 200)
    assert.equal((await Promise.race(reports)).error['code'], 'unavailable')
    await locking.rows('rollback')
    await locking.close()
    const statuses = (await Promise.all(reports)).map(({ status }) => status)
    assert.deepEqual(new Set(statuses), new Set([200, 503]))
    await report(other.key)
  })

  it(
    'A40 equals the ledger at any moment, in every grouping, under concurrent requests',
    { timeout: 120_000 },
    async () => {
      const { accountId, key, keyId } = await service.customer()
      const other = await service.keys.create(
        { accountId, name: 'second', allowedModels: ['dear'], expiresAt: null },
        byService,
      )
      const stranger = await service.customer()
      const sent = { done: false }
      const sending = Promise.all(
        Array.from({ length: 8 }, async (_, worker) => {
          for (let request = 0; request < 15; request++) {
            const input = 'word '.repeat(1 + ((worker * 7 + request * 3) % 11))
            const [by, model] = worker % 3 === 0 ? [other.key, 'dear'] : [key, request % 2 === 0 ? 'dear' : 'quick']
            vendor.set({ usage: { prompt_tokens: 3 + request, completion_tokens: 1 + worker } })
            const headers = request % 5 === 0 ? { 'idempotency-key': `${worker}-${request}` } : {}
            const stream = request % 4 === 0
            assert.equal(
              (await service.call('/v1/generate', by, { ...call, model, input, stream }, headers)).status,
              200,
            )
            if (request % 5 === 0) await service.call('/v1/generate', by, { ...call, model, input, stream }, headers)
            if (request % 6 === 0) await service.call('/v1/generate', by, { ...call, model: 'unknown' })
            await service.call('/v1/generate', stranger.key, call)
          }
        }),
      ).finally(() => (sent.done = true))
      const charged = async () => (await service.books(accountId)).rows.reduce((sum, { cost }) => sum + cost, 0n)
      for (let looks = 0; looks < 2 || !sent.done; looks++) {
        const least = await charged()
        const total = parseMoney(String(objectAt(await report(key), 'total')['cost']))
        const account = (await service.call('/v1/account', key)).json
        const spent = 10n ** 15n - parseMoney(String(account['balance']))
        const most = await charged()
        assert.ok(least <= total && total <= spent && spent <= most, `${least} ≤ ${total} ≤ ${spent} ≤ ${most}`)
      }
      await sending
      vendor.set({})

      const { rows: ledger } = await service.books(accountId)
      assert.equal(ledger.length, 120, 'a replay is no request')
      await until(async () => Number(objectAt(await report(key), 'total')['refused']) >= 24)
      for (const by of ['day', 'model', 'key', 'day,model', 'key,day', 'model,key', 'day,model,key']) {
        const json = await report(other.key, `?by=${by}`)
        const rows = rowsOf(json)
        const groupOf = (day: string, model: unknown, id: unknown) =>
          [by.includes('day') && day, by.includes('model') && model, by.includes('key') && id].join(' ')
        const expected = new Map<string, [number, number, number, bigint]>()
        for (const { at, model, keyId: id, inputTokens, outputTokens, cost } of ledger) {
          const group = groupOf(at.slice(0, 10), model, id)
          const [requests, input, output, sum] = expected.get(group) ?? [0, 0, 0, 0n]
          expected.set(group, [requests + 1, input + inputTokens, output + outputTokens, sum + cost])
        }
        const actual = rows
          .filter(({ requests }) => requests !== 0)
          .map((row) => {
            const id = row['key'] === undefined ? undefined : objectAt(row, 'key')['id']
            const { requests, input_tokens: input, output_tokens: output, cost } = row
            return [
              groupOf(String(row['day']), row['model'], id),
              [requests, input, output, parseMoney(String(cost))],
            ] as const
          })
        assert.deepEqual(new Map(actual), expected, by)
        const total = objectAt(json, 'total')
        assert.equal(total['cost'], formatMoney(costOf(rows)))
        assert.equal(
          total['refused'],
          rows.reduce((sum, { refused }) => sum + Number(refused), 0),
        )
        assert.deepEqual(json['refusals'], [{ code: 'unknown_model', requests: 24 }])
      }
      const names = rowsOf(await report(key, '?by=key')).map((row) => String(objectAt(row, 'key')['name']))
      assert.deepEqual(new Set(names), new Set(['second', 'test']))
      const again = await report(stranger.key, '?by=key')
      assert.ok(!JSON.stringify(again).includes(keyId), 'another account is never shown')
      assert.equal(objectAt(again, 'total')['requests'], 120)
    },
  )

  it('selects days in UTC, and the last 30 days by default', async () => {
    const { accountId, key } = await service.customer()
    await service.call('/v1/generate', key, call)
    const today = (await service.books(accountId)).rows[0]?.at.slice(0, 10) ?? ''
    const json = await report(key)
    assert.equal(Date.parse(String(json['to'])) - Date.parse(String(json['from'])), 29 * 86_400_000)
    assert.deepEqual(valuesOf(rowsOf(json), 'day'), [today])
    assert.deepEqual(rowsOf(await report(key, '?from=2020-01-01&to=2020-12-31')), [])
    assert.deepEqual(rowsOf(await report(key, `?from=${today}&to=${today}`)).length, 1)
  })

  it('names the field of a bad query', async () => {
    const { key } = await service.customer()
    for (const [query, field] of [
      ['from=2026-02-30', 'from'],
      ['to=yesterday', 'to'],
      ['from=2026-02-01T00:00:00Z', 'from'],
      ['from=2026-03-02&to=2026-03-01', 'from'],
      ['from=1000-01-01', 'from'],
      ['from=1910-01-01', 'from'],
      ['by=client', 'by'],
      ['by=', 'by'],
      ['by=day&by=key', 'by'],
      ['account=x', 'account'],
    ] as const) {
      const answer = await service.call(`/v1/usage?${query}`, key)
      assert.deepEqual([answer.status, answer.error['field']], [400, field], query)
    }
  })

  it('takes nothing from the limits, is refused to browsers and without a key, and serves keys of some models', async () => {
    const { key } = await service.customer({ requestsPerMinute: 3 }, { allowedModels: ['dear'] })
    for (const address of ['/v1/usage', '/v1/account']) {
      for (let time = 0; time < 5; time++) {
        const answer = await service.call(address, key)
        assert.deepEqual([answer.status, answer.headers.get('x-ratelimit-remaining-requests')], [200, '3'])
      }
      const page = await service.call(address, key, undefined, { origin: 'https://a.example' })
      assert.deepEqual([page.status, page.error['code']], [403, 'key_in_browser'])
      assert.equal((await service.call(address, undefined)).status, 401)
    }
  })
})

describe('GET /v1/account', () => {
  it('shows a prepaid account and an account with a monthly limit, and what is held', async () => {
    const prepaid = await service.customer({ credit: 5n * 10n ** 12n, requestsPerMinute: 60 })
    const gate = Promise.withResolvers<void>()
    vendor.set({ gate: () => gate.promise })
    const pending = service.call('/v1/generate', prepaid.key, call)
    await until(async () => (await service.books(prepaid.accountId)).holds === 1)
    const { held } = await service.books(prepaid.accountId)
    const during = (await service.call('/v1/account', prepaid.key)).json
    assert.ok(held > 0n)
    const expected = [formatMoney(held), formatMoney(5n * 10n ** 12n - held), '5', null]
    assert.deepEqual([during['held'], during['available'], during['balance'], during['monthly_limit']], expected)
    gate.resolve()
    await pending
    vendor.set({})
    const account = (await service.call('/v1/account', prepaid.key)).json
    const { charged } = await service.books(prepaid.accountId)
    assert.equal(account['balance'], formatMoney(5n * 10n ** 12n - charged))
    assert.deepEqual([account['available'], account['held']], [account['balance'], '0'])
    const { limit } = objectAt(objectAt(account, 'limits'), 'requests_per_minute')
    assert.equal(limit, 60)

    const monthly = await service.customer({ credit: undefined, monthlyLimit: 10n ** 12n })
    await service.call('/v1/generate', monthly.key, call)
    const later = (await service.call('/v1/account', monthly.key)).json
    const spent = (await service.books(monthly.accountId)).charged
    assert.ok(spent > 0n)
    assert.deepEqual(
      [later['balance'], later['monthly_limit'], later['charged_this_month'], later['available']],
      [null, '1', formatMoney(spent), formatMoney(10n ** 12n - spent)],
    )
  })
})
