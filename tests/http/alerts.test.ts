import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { after, test } from 'node:test'
import { assertRefused, type Answer, ok } from '../support/answer.ts'
import { openFirm, startFirm } from '../support/firm.ts'
import { at, objectAt } from '../support/json.ts'
import { serve } from '../support/server.ts'
import { until } from '../support/until.ts'
import { eventsOf } from '../support/recorded.ts'

const { firm, anna, paula } = openFirm(() => ({ alerts: { allowed_networks: ['127.0.0.1'] } }))

const received: string[] = []
const receiver = await serve((request, reply) => {
  received.push(String(request.headers['tollgate-signature']))
  request.resume()
  reply.writeHead(503).end()
})
after(() => receiver.close())
const webhook = `${receiver.url}/hook?token=vvv`

async function account(): Promise<string> {
  const { accountId } = await firm.service.customer()
  return `/accounts/${accountId}`
}

const recorded = (answer: Answer) =>
  eventsOf(answer, firm.service.database, 'action, outcome, person_id as person, details')

test('an alert is created, tested, listed with its attempts, and removed', async () => {
  const path = await account()
  const made = ok(await paula.send('POST', `${path}/alerts`, { shares: [80, 50, 80], webhook }), 201)
  const { alert_id: alert, secret, ...rest } = made.json
  assert.match(String(secret), /^[\w-]{43}$/)
  assert.deepEqual(rest, { shares: [50, 80], batches: false, email: null, webhook, created_at: rest['created_at'] })
  const { host } = new URL(webhook)
  assert.deepEqual(await recorded(made), [
    { action: 'account_alert_created', outcome: 'allowed', person: paula.id, details: { host, shares: '50, 80' } },
  ])

  const list = await paula.get(`${path}/alerts`)
  assert.deepEqual(list.json, { alerts: [{ alert_id: alert, ...rest }] })
  assert.deepEqual(await recorded(list), [
    { action: 'account_alerts_listed', outcome: 'allowed', person: paula.id, details: null },
  ])

  const terms = { shares: [90, 40, 90], batches: true }
  const changed = await paula.send('PATCH', `${path}/alerts/${String(alert)}`, terms)
  assert.deepEqual([changed.status, changed.json], [200, { alert_id: alert, ...rest, shares: [40, 90], batches: true }])
  assert.deepEqual((await paula.get(`${path}/alerts`)).json, { alerts: [changed.json] })
  assert.deepEqual(await recorded(changed), [
    {
      action: 'account_alert_changed',
      outcome: 'allowed',
      person: paula.id,
      details: { host, from: '50, 80', to: '40, 90, batches' },
    },
  ])

  const tested = await paula.send('POST', `${path}/alerts/${String(alert)}/test`)
  assert.equal(tested.status, 204)
  await until(async () => (await paula.get(`${path}/alerts/attempts`)).text.includes('"503"'))
  const attempts = await paula.get(`${path}/alerts/attempts`)
  const { outcome, error, share, webhook: to } = objectAt(attempts.json, 'attempts', '0')
  assert.deepEqual({ outcome, error, share, to }, { outcome: 'failed', error: '503', share: null, to: webhook })
  assert.match(received[0] ?? '', /^t=\d+,v1=[0-9a-f]{64}$/)
  for (const { text } of [list, attempts]) assert.ok(!text.includes(String(secret)))

  const removed = await paula.send('DELETE', `${path}/alerts/${String(alert)}`)
  assert.equal(removed.status, 204)
  assert.deepEqual((await paula.get(`${path}/alerts`)).json, { alerts: [] })
  assertRefused(await paula.send('DELETE', `${path}/alerts/${String(alert)}`), 'not_found')
  assertRefused(await paula.send('POST', `${path}/alerts/${String(alert)}/test`), 'not_found')
  assertRefused(await paula.send('PATCH', `${path}/alerts/${String(alert)}`, { shares: [80] }), 'not_found')
  assert.ok(!firm.service.logText().includes('vvv'))
})

test('an alert of another account is not found', async () => {
  const [path, other] = [await account(), await account()]
  const { json } = await paula.send('POST', `${path}/alerts`, { shares: [80], webhook })
  assertRefused(await paula.send('DELETE', `${other}/alerts/${String(json['alert_id'])}`), 'not_found')
  assertRefused(await paula.send('POST', `${other}/alerts/${String(json['alert_id'])}/test`), 'not_found')
  const shares = { shares: [10] }
  assertRefused(await paula.send('PATCH', `${other}/alerts/${String(json['alert_id'])}`, shares), 'not_found')
  assert.deepEqual(at((await paula.get(`${path}/alerts`)).json, 'alerts', 0, 'shares'), [80])
  assert.equal([(await paula.get(`${path}/alerts`)).json['alerts']].flat().length, 1)
})

test('addresses inside the network and other bad values are refused', async () => {
  const path = await account()
  const post = (body: object) => paula.send('POST', `${path}/alerts`, { shares: [80], ...body })
  for (const bad of [
    'http://example.com/',
    'https://10.0.0.1/',
    'https://127.0.0.2/',
    'http://127.0.0.2/',
    'https://169.254.169.254/latest',
    'https://[::ffff:10.0.0.1]/',
    'https://[::1]/',
    'https://2130706434/',
    'https://anna:secret@example.com/',
    'https://:secret@example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'hooks',
  ]) {
    assertRefused(await post({ webhook: bad }), 'invalid_field', 'webhook')
  }
  assertRefused(await post({}), 'invalid_field', 'email')
  assertRefused(await post({ webhook, email: 'anna@example.com' }), 'invalid_field', 'email')
  assertRefused(await post({ email: 'anna' }), 'invalid_field', 'email')
  // Without a mail server.
  assertRefused(await post({ email: 'anna@example.com' }), 'invalid_field', 'email')
  assertRefused(await post({ webhook, shares: [] }), 'invalid_field', 'shares')
  assertRefused(await post({ webhook, shares: [101] }), 'invalid_field', 'shares[0]')
  assertRefused(await post({ webhook, secret: 'mine' }), 'unknown_field', 'secret')
  const { json } = await post({ webhook })
  const change = (body: object) => paula.send('PATCH', `${path}/alerts/${String(json['alert_id'])}`, body)
  assertRefused(await change({ shares: [] }), 'invalid_field', 'shares')
  assertRefused(await change({ shares: [0] }), 'invalid_field', 'shares[0]')
  assertRefused(await change({}), 'missing_field', 'shares')
  assertRefused(await change({ shares: [80], webhook }), 'unknown_field', 'webhook')
  assert.equal((await paula.send('DELETE', `${path}/alerts/${String(json['alert_id'])}`)).status, 204)
  assert.deepEqual((await paula.get(`${path}/alerts`)).json, { alerts: [] })

  const onlyBatches = await post({ webhook, shares: [], batches: true })
  assert.equal(onlyBatches.status, 201)
  const rule = `${path}/alerts/${String(onlyBatches.json['alert_id'])}`
  assertRefused(await paula.send('PATCH', rule, { shares: [], batches: false }), 'invalid_field', 'shares')
  assert.deepEqual((await paula.send('PATCH', rule, { shares: [] })).json['batches'], true)
})

test('without allowed networks, the own host is refused', async () => {
  await using strict = await startFirm()
  const partner = await strict.join('Paula', 'partner')
  const { accountId } = await strict.service.customer()
  for (const bad of [webhook, 'http://localhost/', 'https://localhost/']) {
    const answer = await partner.send('POST', `/accounts/${accountId}/alerts`, { shares: [80], webhook: bad })
    assertRefused(answer, 'invalid_field', 'webhook')
  }
})

test('a repeated request gets the same alert with the same secret, however many run at once', async () => {
  const path = await account()
  const body = { shares: [80], webhook }
  const key = { 'idempotency-key': randomUUIDv7() }
  const answers = await Promise.all(Array.from({ length: 4 }, () => paula.send('POST', `${path}/alerts`, body, key)))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  const [made] = answers
  assert.match(String(made?.json['secret']), /^[\w-]{43}$/)
  const { secret: _, ...rest } = made?.json ?? {}
  assert.deepEqual((await paula.get(`${path}/alerts`)).json, { alerts: [rest] })
  // One has created it; the others have received its secret.
  const events = (await Promise.all(answers.map(recorded))).flat().map((event) => at(event, 'action'))
  const shown = 'account_alert_shown'
  assert.equal(events.filter((action) => action === 'account_alert_created').length, 1)
  assert.equal(events.filter((action) => action === shown).length, 3)

  for (const other of [
    { ...body, shares: [70] },
    { ...body, webhook: `${webhook}2` },
  ]) {
    const refused = await paula.send('POST', `${path}/alerts`, other, key)
    assertRefused(refused, 'conflict')
    assert.ok(!refused.text.includes(String(made?.json['secret'])))
  }
  const paul = await firm.join('Paul', 'partner')
  const others = [
    await paul.send('POST', `${path}/alerts`, body, key),
    await paula.send('POST', `${await account()}/alerts`, body, key),
  ]
  for (const { status, json } of others) {
    assert.equal(status, 201)
    assert.notEqual(json['alert_id'], made?.json['alert_id'])
  }
  assert.equal([(await paula.get(`${path}/alerts`)).json['alerts']].flat().length, 2)

  await paula.send('DELETE', `${path}/alerts/${String(made?.json['alert_id'])}`)
  assertRefused(await paula.send('POST', `${path}/alerts`, body, key), 'conflict')
  assert.equal([(await paula.get(`${path}/alerts`)).json['alerts']].flat().length, 1)
})

test('a repeated request gets the same alert, however the id of the account is written', async () => {
  const path = (await account()).replace(/[^/]+$/, (id) => id.toUpperCase())
  const key = { 'idempotency-key': randomUUIDv7() }
  const answers = [
    await paula.send('POST', `${path}/alerts`, { shares: [80], webhook }, key),
    await paula.send('POST', `${path}/alerts`, { shares: [80], webhook }, key),
  ]
  assert.deepEqual(
    answers.map(({ status, text }) => [status, text]),
    Array.from(answers, () => [201, answers[0]?.text]),
  )
})

test('an account has at most 20 alerts', async () => {
  const path = await account()
  const answers = await Promise.all(
    Array.from({ length: 25 }, () => paula.send('POST', `${path}/alerts`, { shares: [80], webhook })),
  )
  assert.equal(answers.filter(({ status }) => status === 201).length, 20)
  for (const answer of answers) if (answer.status !== 201) assertRefused(answer, 'conflict')
})

test('consultants have no access to alerts, and each try is in the audit log', async () => {
  const path = await account()
  const { json } = await paula.send('POST', `${path}/alerts`, { shares: [80], webhook })
  const alert = `${path}/alerts/${String(json['alert_id'])}`
  for (const [method, address, body] of [
    ['GET', `${path}/alerts`],
    ['GET', `${path}/alerts/attempts`],
    ['POST', `${path}/alerts`, { shares: [80], webhook }],
    ['PATCH', alert, { shares: [50] }],
    ['POST', `${alert}/test`],
    ['DELETE', alert],
  ] as const) {
    const answer = await anna.send(method, address, body)
    assertRefused(answer, 'forbidden')
    const [row] = await recorded(answer)
    assert.deepEqual([at(row, 'action'), at(row, 'person')], ['access_denied', anna.id])
  }
  assert.equal([(await paula.get(`${path}/alerts`)).json['alerts']].flat().length, 1)
})
