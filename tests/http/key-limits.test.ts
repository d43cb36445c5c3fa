import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { at, objectAt, type Json } from '../support/json.ts'
import { startFirm } from '../support/firm.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { upstreamModel } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'

let account: string

const vendor = fixture(() => startVendor())
const firm = fixture(() => startFirm({ models: [upstreamModel(vendor.url)] }))
const paula = fixture(() => firm.join('Paula', 'partner'))
const anna = fixture(() => firm.join('Anna', 'consultant'))
setUp(async () => {
  account = String((await paula.send('POST', '/accounts', { name: randomUUIDv7(), credit: '10' })).json['id'])
})

async function create(body: object = {}): Promise<{ id: string; key: string; json: Json }> {
  const { status, json, text } = await paula.send('POST', `/accounts/${account}/keys`, { name: 'backend', ...body })
  assert.equal(status, 201, text)
  return { id: String(json['id']), key: String(json['key']), json }
}

async function listed(id: string): Promise<Json> {
  const { keys } = (await paula.get(`/accounts/${account}/keys`)).json
  assert.ok(Array.isArray(keys))
  return objectAt(keys.find((each) => at(each, 'id') === id))
}

const call = (key: string) =>
  firm.service.call('/v1/generate', key, { model: 'fast', input: 'Hello', max_output_tokens: 100 })
const auditOf = (id: string, action: string) =>
  firm.service.database.rows<{ details: unknown; person_id: string }>(
    'select details, person_id from audit where noun_id = $1 and action = $2 order by id',
    [id, action],
  )

describe('the limits of a key', () => {
  test('are set when it is created, listed, and in the audit log', async () => {
    const limits = { daily_budget: '5.00', monthly_budget: '20', requests_per_minute: 30, tokens_per_minute: 4000 }
    const { id, json } = await create(limits)
    const shown = { ...limits, daily_budget: '5', charged_today: '0', charged_this_month: '0', held: '0' }
    const pick = (from: Json) => Object.fromEntries(Object.keys(shown).map((name) => [name, from[name]]))
    assert.deepEqual(pick(json), shown)
    assert.deepEqual(pick(await listed(id)), shown)
    const [created] = await auditOf(id, 'key_created')
    const { name, models, expires, account: of, ...named } = objectAt(created?.details)
    assert.deepEqual([name, models, expires, of], ['backend', 'all', 'never', account])
    assert.deepEqual(named, {
      daily_budget: '5',
      monthly_budget: '20',
      requests_per_minute: '30',
      tokens_per_minute: '4000',
    })
  })

  test('take effect within a second, name the budget that is used up, and can be removed', async () => {
    const { id, key } = await create()
    assert.equal((await call(key)).status, 200)
    const set = await paula.send('PATCH', `/keys/${id}`, { daily_budget: '0.0000001', requests_per_minute: 50 })
    assert.equal(set.status, 200, set.text)
    assert.notEqual(set.json['charged_today'], '0', 'what it spent before counts')
    await until(async () => (await call(key)).status === 402)
    const { error, headers } = await call(key)
    assert.equal(error['code'], 'insufficient_credit')
    assert.match(String(error['reason']), /budget of this key/)
    assert.equal(headers.get('retry-after'), null, 'a request that costs more than the budget never fits')
    const cleared = await paula.send('PATCH', `/keys/${id}`, { daily_budget: null, requests_per_minute: null })
    assert.deepEqual([cleared.json['daily_budget'], cleared.json['charged_today']], [null, null])
    assert.equal((await call(key)).status, 200)
    assert.deepEqual(await auditOf(id, 'key_limits_changed'), [
      { details: { daily_budget: 'none → 0.0000001', requests_per_minute: 'none → 50' }, person_id: paula.id },
      { details: { daily_budget: '0.0000001 → none', requests_per_minute: '50 → none' }, person_id: paula.id },
    ])
  })

  test('that change nothing leave no event, and absent fields keep their values', async () => {
    const { id } = await create({ daily_budget: '5', tokens_per_minute: 10 })
    const { json } = await paula.send('PATCH', `/keys/${id}`, { daily_budget: '5.000' })
    assert.deepEqual([json['daily_budget'], json['tokens_per_minute']], ['5', 10])
    assert.deepEqual(await auditOf(id, 'key_limits_changed'), [])
  })

  test('are refused by partners’ mistakes with the field, and to consultants', async () => {
    const { id } = await create()
    for (const [body, field] of [
      [{ daily_budget: '-1' }, 'daily_budget'],
      [{ monthly_budget: 'much' }, 'monthly_budget'],
      [{ monthly_budget: '1'.repeat(38) }, 'monthly_budget'],
      [{ requests_per_minute: 0 }, 'requests_per_minute'],
      [{ tokens_per_minute: 1.5 }, 'tokens_per_minute'],
      [{ weekly_budget: '1' }, 'weekly_budget'],
    ] as const) {
      for (const [method, address] of [
        ['PATCH', `/keys/${id}`],
        ['POST', `/accounts/${account}/keys`],
      ] as const) {
        const { status, error } = await paula.send(method, address, {
          name: 'x',
          ...body,
          ...(method === 'PATCH' && { name: undefined }),
        })
        assert.deepEqual([status, error['field']], [400, field], JSON.stringify(body))
      }
    }
    assert.equal((await anna.send('PATCH', `/keys/${id}`, { daily_budget: '1' })).status, 403)
    assert.equal((await paula.send('PATCH', `/keys/${randomUUIDv7()}`, { daily_budget: '1' })).status, 404)
    assert.equal((await listed(id))['daily_budget'], null)
  })

  test('pass to the key that replaces it, with what was spent', async () => {
    const { id, key } = await create({ monthly_budget: '5' })
    assert.equal((await call(key)).status, 200)
    const { json } = await paula.send('POST', `/keys/${id}/rotate`, {})
    assert.equal(json['monthly_budget'], '5')
    assert.equal(json['charged_this_month'], (await listed(id))['charged_this_month'])
    assert.equal((await call(String(json['key']))).status, 200)
    assert.equal((await listed(id))['charged_this_month'], (await listed(String(json['id'])))['charged_this_month'])
  })
})

test('GET /v1/account shows the budgets and limits of the calling key, and the headers the tighter limits', async () => {
  const { id, key } = await create({ daily_budget: '5', requests_per_minute: 3 })
  assert.equal((await call(key)).status, 200)
  const { json, headers } = await firm.service.call('/v1/account', key)
  const shown = objectAt(json, 'key')
  const daily = objectAt(shown, 'daily_budget')
  assert.deepEqual([shown['id'], shown['monthly_budget'], shown['tokens_per_minute']], [id, null, null])
  assert.deepEqual([daily['limit'], daily['spent']], ['5', (await listed(id))['charged_today']])
  assert.equal(Number(daily['spent']) + Number(daily['remaining']), 5)
  assert.equal(objectAt(shown, 'requests_per_minute')['limit'], 3)
  assert.equal(headers.get('x-ratelimit-limit-requests'), '3')
  assert.notEqual(objectAt(json, 'limits', 'requests_per_minute')['limit'], 3)
  const none = await create()
  const other = objectAt((await firm.service.call('/v1/account', none.key)).json, 'key')
  assert.deepEqual(other, {
    id: none.id,
    daily_budget: null,
    monthly_budget: null,
    requests_per_minute: null,
    tokens_per_minute: null,
  })
})
