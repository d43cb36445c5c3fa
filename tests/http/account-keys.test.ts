import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { assertBetween } from '../support/clock.ts'
import { assertRefused, type Answer, ok } from '../support/answer.ts'
import { at, objectAt, type Json } from '../support/json.ts'
import { openFirm } from '../support/firm.ts'
import { upstreamModel } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { eventsOf } from '../support/recorded.ts'

const vendor = fixture(() => startVendor({ text: 'output-text' }))
const { firm, anna, paula } = openFirm(() => ({
  models: [upstreamModel(vendor.url), upstreamModel(vendor.url, { id: 'a/slow:1' })],
  aliases: { default: 'fast' },
}))
let account: string
setUp(async () => void (account = await newAccount()))

async function newAccount(): Promise<string> {
  const { json } = await paula.send('POST', '/accounts', { name: randomUUIDv7(), credit: '10' })
  return String(json['id'])
}

const keysOf = (id: string) => `/accounts/${id}/keys`

async function create(body: object = {}): Promise<{ id: string; key: string; answer: Answer }> {
  const answer = ok(await paula.send('POST', keysOf(account), { name: 'backend', ...body }), 201)
  return { id: String(answer.json['id']), key: String(answer.json['key']), answer }
}

const call = (key: string, model = 'fast') =>
  firm.service.call('/v1/generate', key, { model, input: 'Hello', max_output_tokens: 10 })

/** Waits until calls with the key get this error. */
async function untilRefused(key: string, code: string): Promise<void> {
  await until(async () => {
    const { status, error } = await call(key)
    if (status === 200) return false
    return error['code'] === code
  })
}

async function listed(id: string): Promise<Json> {
  const { keys } = (await paula.get(keysOf(account))).json
  assert.ok(Array.isArray(keys))
  return objectAt(keys.find((each) => at(each, 'id') === id))
}

const recorded = (answer: Answer) =>
  eventsOf(answer, firm.service.database, 'action, outcome, person_id as person, noun, noun_id as about, details')

describe('a new key', () => {
  test('is shown once, works, and is stored, listed and recorded without its text', async () => {
    const { id, key, answer } = await create({ allowed_models: ['default'], expires_at: '2099-01-01' })
    const { key: _, ...shown } = answer.json
    assert.deepEqual(shown, {
      id,
      public_id: key.slice(3, 15),
      name: 'backend',
      account_id: account,
      person_id: null,
      allowed_models: ['default'],
      status: 'valid',
      created_at: shown['created_at'],
      expires_at: '2099-01-01T00:00:00.000Z',
      revoked_at: null,
      replaced_by: null,
      last_used_at: null,
      requests_per_minute: null,
      tokens_per_minute: null,
      daily_budget: null,
      monthly_budget: null,
      charged_today: null,
      charged_this_month: null,
      held: null,
    })
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    const details = { name: 'backend', account, models: 'default', expires: '2099-01-01T00:00:00.000Z' }
    const row = { action: 'key_created', outcome: 'allowed', person: paula.id, noun: 'key', about: id, details }
    assert.deepEqual(await recorded(answer), [row])

    assert.equal((await call(key)).status, 200)
    assert.equal((await call(key, 'a/slow:1')).error['code'], 'model_not_allowed')

    const list = await paula.get(keysOf(account))
    const used = await listed(id)
    // The time of the use is written in the background.
    assert.deepEqual(used, { ...shown, last_used_at: at(used, 'last_used_at') })
    assert.deepEqual(
      [list.json['models'], list.json['base_url']],
      [
        [
          { name: 'fast', alias_of: null },
          { name: 'default', alias_of: 'fast' },
          { name: 'a/slow:1', alias_of: null },
        ],
        firm.service.baseUrl,
      ],
    )
    const secret = key.slice(16)
    const audit = JSON.stringify(await firm.service.database.rows('select a::text from audit a'))
    for (const text of [list.text, (await paula.get('/accounts')).text, (await paula.get('/models')).text, audit]) {
      assert.ok(text.length > 2 && !text.includes(secret))
    }
    assert.ok(!firm.service.logText().includes(secret))
  })

  test('is created once; a repeated request cannot show it again, and says so', async () => {
    const headers = { 'idempotency-key': randomUUIDv7() }
    const other = await newAccount()
    const body = { name: 'once' }
    const answers = await Promise.all(Array.from({ length: 6 }, () => paula.send('POST', keysOf(other), body, headers)))
    assert.deepEqual(
      answers
        .map(({ status }) => `${status}`)
        .toSorted()
        .join(' '),
      '201 409 409 409 409 409',
    )
    const late = await paula.send('POST', keysOf(other), body, headers)
    assertRefused(late, 'conflict')
    assert.match(String(late.error['reason']), /shown only once/)
    const { keys } = (await paula.get(keysOf(other))).json
    assert.ok(Array.isArray(keys) && keys.length === 1)
  })

  test('is refused with the field at fault', async () => {
    const wrong: [object, string, string][] = [
      [{}, 'missing_field', 'name'],
      [{ name: '' }, 'invalid_field', 'name'],
      [{ name: 'x', secret: 'y' }, 'unknown_field', 'secret'],
      [{ name: 'x', allowed_models: [] }, 'invalid_field', 'allowed_models'],
      [{ name: 'x', allowed_models: ['fst'] }, 'invalid_field', 'allowed_models'],
      [{ name: 'x', allowed_models: 'fast' }, 'invalid_field', 'allowed_models'],
      [{ name: 'x', expires_at: 'soon' }, 'invalid_field', 'expires_at'],
      [{ name: 'x', expires_at: '2026-02-30' }, 'invalid_field', 'expires_at'],
      [{ name: 'x', expires_at: '2020-01-01' }, 'invalid_field', 'expires_at'],
    ]
    const before = (await paula.get(keysOf(account))).json
    for (const [body, code, field] of wrong) {
      assertRefused(await paula.send('POST', keysOf(account), body), code, field)
    }
    const { keys } = (await paula.get(keysOf(account))).json
    assert.deepEqual(keys, before['keys'])
  })
})

describe('rotation', () => {
  test('has an overlap of a day by default, and of none at 0', async () => {
    const [slow, fast] = [await create(), await create()]
    const began = Date.now()
    await paula.send('POST', `/keys/${slow.id}/rotate`, {})
    const { expires_at: ends } = await listed(slow.id)
    assertBetween(ends, began + 86_400_000, Date.now() + 86_400_000)
    const { json } = await paula.send('POST', `/keys/${fast.id}/rotate`, { overlap_seconds: 0 })
    await untilRefused(fast.key, 'expired_key')
    assert.equal((await call(String(json['key']))).status, 200)
  })

  test('is refused with the field at fault', async () => {
    const { id, key } = await create()
    for (const seconds of [-1, 1.5, 31_536_001, '60']) {
      const answer = await paula.send('POST', `/keys/${id}/rotate`, { overlap_seconds: seconds })
      assertRefused(answer, 'invalid_field', 'overlap_seconds')
    }
    assertRefused(await paula.send('POST', `/keys/${id}/rotate`, { overlap: '1h' }), 'unknown_field', 'overlap')
    const pasted = await paula.send('POST', `/keys/${key}/rotate`, {})
    assertRefused(pasted, 'not_found')
    assert.ok(!pasted.text.includes(key.slice(16)))
  })
})

test('a consultant can neither rotate nor revoke a key, known or not', async () => {
  const { id, key } = await create()
  for (const target of [id, '01990000-0000-7000-8000-000000000000']) {
    assertRefused(await anna.send('POST', `/keys/${target}/rotate`, {}), 'forbidden')
    const revoking = await anna.send('POST', `/keys/${target}/revoke`)
    assertRefused(revoking, 'forbidden')
    const row = { action: 'access_denied', outcome: 'refused', person: anna.id, noun: 'key', about: null }
    assert.deepEqual(await recorded(revoking), [{ ...row, details: { action: 'remove' } }])
  }
  assert.equal((await call(key)).status, 200)
})
