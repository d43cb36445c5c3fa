import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import { assertRefused, type Answer, ok } from '../support/answer.ts'
import { fixture } from '../support/fixture.ts'
import { openFirm, type Member } from '../support/firm.ts'
import { objectAt } from '../support/json.ts'
import { eventsOf } from '../support/recorded.ts'

const { firm, anna, paula } = openFirm()
const paul = fixture(() => firm.join('Paul', 'partner'))

const unknown = '01990000-0000-7000-8000-000000000000'
let made = 0
const freshName = () => `Account ${(made += 1)}`
const once = () => ({ 'idempotency-key': randomUUIDv7() })

async function create(body: object = {}): Promise<{ id: string; etag: string; at: string }> {
  const { status, json, headers, text } = await paula.send('POST', '/accounts', { name: freshName(), ...body })
  assert.equal(status, 201, text)
  const id = String(json['id'])
  return { id, etag: headers.get('etag') ?? '', at: `/accounts/${id}` }
}

/** What the audit log says of a request, without reads. */
const recorded = (answer: Answer) =>
  eventsOf(
    answer,
    firm.service.database,
    'action, outcome, actor, person_id as person, noun, noun_id as about, details',
  )

const by = (person: Member, action: string, about: string | null, details: object | null = null) => ({
  action,
  outcome: 'allowed',
  actor: 'person',
  person: person.id,
  noun: 'account',
  about,
  details,
})

describe('an account', () => {
  test('is created prepaid with the configured limits, and shown in full', async () => {
    const name = freshName()
    const answer = await paula.send('POST', '/accounts', { name, credit: '25.00' })
    const { id, created_at, version } = answer.json
    const expected = {
      id,
      name,
      status: 'open',
      own: false,
      requests_per_minute: 60,
      tokens_per_minute: 100_000,
      monthly_limit: null,
      credit_left: '25',
      held: '0',
      credited: '25',
      charged: '0',
      month_charged: '0',
      currency: 'USD',
      billing_name: null,
      billing_address: null,
      billing_tax_number: null,
      billing_email: null,
      created_at,
      closed_at: null,
      last_used_at: null,
      version,
    }
    assert.deepEqual([answer.status, answer.json], [201, expected])
    assert.equal(answer.headers.get('location'), `/accounts/${String(id)}`)
    assert.equal(answer.headers.get('etag'), `"${String(version)}"`)
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    const details = { name, credit: '25', requests_per_minute: '60', tokens_per_minute: '100000' }
    assert.deepEqual(await recorded(answer), [by(paula, 'account_created', String(id), details)])

    const read = await paula.get(`/accounts/${String(id)}`)
    assert.deepEqual(read.json, expected)
    assert.equal(read.headers.get('etag'), answer.headers.get('etag'))
    assert.deepEqual(await recorded(read), [by(paula, 'account_read', String(id))])

    const list = await paula.get('/accounts')
    const { accounts } = list.json
    assert.ok(Array.isArray(accounts))
    assert.deepEqual(
      accounts.filter((each) => objectAt(each)['id'] === id),
      [expected],
    )
    assert.deepEqual(list.json['defaults'], { requests_per_minute: 60, tokens_per_minute: 100_000 })
    assert.deepEqual(await recorded(list), [by(paula, 'accounts_listed', null)])
  })

  test('is created once, however often the request is repeated, even concurrently', async () => {
    const [body, key] = [{ name: freshName(), credit: '1' }, once()]
    const answers = await Promise.all(Array.from({ length: 8 }, () => paula.send('POST', '/accounts', body, key)))
    assert.equal(
      new Set(answers.map(({ status, text }) => `${status} ${text}`)).size,
      1,
      answers.map(({ text }) => text).join(),
    )
    const rows = await firm.service.database.rows('select credited from account where name = $1', [body.name])
    assert.deepEqual(rows, [{ credited: 10n ** 12n }])
    assertRefused(await paula.send('POST', '/accounts', body, once()), 'conflict', 'name')
    assertRefused(await paul.send('POST', '/accounts', body, key), 'conflict', 'name')
    assertRefused(
      await paula.send('POST', '/accounts', body, { 'idempotency-key': 'again' }),
      'invalid_field',
      'Idempotency-Key',
    )
  })

  test('is refused with the field at fault', async () => {
    const name = 'Never made'
    const wrong: [object | string, string, string | undefined][] = [
      [{}, 'missing_field', 'name'],
      [{ name: '' }, 'invalid_field', 'name'],
      [{ name: ' ' }, 'invalid_field', 'name'],
      [{ name: 'x'.repeat(201) }, 'invalid_field', 'name'],
      [{ name, owner: 'me' }, 'unknown_field', 'owner'],
      [{ name, credit: 25 }, 'invalid_field', 'credit'],
      [{ name, credit: '1e3' }, 'invalid_field', 'credit'],
      [{ name, credit: '-1' }, 'invalid_field', 'credit'],
      [{ name, credit: '0.0000000000001' }, 'invalid_field', 'credit'],
      [{ name, credit: '9'.repeat(25) }, 'invalid_field', 'credit'],
      [{ name, credit: '1', monthly_limit: '1' }, 'invalid_field', 'credit'],
      [{ name, monthly_limit: '-1' }, 'invalid_field', 'monthly_limit'],
      [{ name, requests_per_minute: 0 }, 'invalid_field', 'requests_per_minute'],
      [{ name, requests_per_minute: 1.5 }, 'invalid_field', 'requests_per_minute'],
      [{ name, tokens_per_minute: 2 ** 31 }, 'invalid_field', 'tokens_per_minute'],
      [{ name, tokens_per_minute: '5' }, 'invalid_field', 'tokens_per_minute'],
      ['[]', 'malformed_json', undefined],
      ['{', 'malformed_json', undefined],
    ]
    for (const [body, code, field] of wrong) {
      assertRefused(await paula.send('POST', '/accounts', body), code, field)
    }
    const rows = await firm.service.database.rows('select from account where name = $1', [name])
    assert.equal(rows.length, 0)
  })

  test('that does not exist is not found, whatever the id looks like', async () => {
    for (const id of [unknown, 'x', '%27', unknown.toUpperCase()]) {
      for (const path of ['', '/credit', '/keys']) {
        assertRefused(await paula.get(`/accounts/${id}${path}`), 'not_found')
      }
      assertRefused(await paula.send('POST', `/accounts/${id}/close`), 'not_found')
    }
  })
})

describe('the settings of an account', () => {
  test('change, with what changed in the audit log', async () => {
    const { id, at, etag } = await create()
    const name = freshName()
    const body = { name, requests_per_minute: 5, monthly_limit: '0.000000000001' }
    const changed = ok(await paula.send('PATCH', at, body, { 'if-match': etag }))
    const { name: newName, requests_per_minute, tokens_per_minute, monthly_limit } = changed.json
    assert.deepEqual(
      [newName, requests_per_minute, tokens_per_minute, monthly_limit],
      [name, 5, 100_000, body.monthly_limit],
    )
    assert.notEqual(changed.headers.get('etag'), etag)
    const [renamed, limited, ...rest] = await recorded(changed)
    assert.deepEqual([objectAt(renamed)['action'], objectAt(renamed)['about'], rest], ['account_renamed', id, []])
    assert.match(String(objectAt(renamed, 'details')['name']), / → /)
    assert.deepEqual(
      limited,
      by(paula, 'account_limits_changed', id, {
        requests_per_minute: '60 → 5',
        monthly_limit: 'none → 0.000000000001',
      }),
    )
    const huge = await paula.send('PATCH', at, { monthly_limit: '99999999999999' }, { 'if-match': '*' })
    assert.deepEqual([huge.json['monthly_limit'], huge.json['credit_left']], ['99999999999999', '99999999999999'])
  })

  test('can mark it as the firm’s own, and remove the mark', async () => {
    const { id, at } = await create({ own: true })
    assert.equal((await paula.get(at)).json['own'], true)
    const { etag } = Object.fromEntries((await paula.get(at)).headers)
    const answer = await paula.send('PATCH', at, { own: false }, { 'if-match': etag ?? '' })
    assert.equal(answer.json['own'], false, answer.text)
    assert.deepEqual(await recorded(answer), [by(paula, 'account_own_changed', id, { own: 'true → false' })])
    assertRefused(await paul.send('PATCH', at, { own: true }, { 'if-match': etag ?? '' }), 'stale_version')
  })

  test('say whom its invoices are addressed to, without texts in the audit log', async () => {
    const { id, at, etag } = await create()
    const billing = {
      billing_name: ' Acme Ltd ',
      billing_address: '7 Quay Street \r\n\r\nBristol',
      billing_tax_number: 'GB 123',
      billing_email: ' billing@acme.example ',
    }
    const changed = await paula.send('PATCH', at, billing, { 'if-match': etag })
    const details = (await paula.get(at)).json
    assert.deepEqual(
      Object.keys(billing).map((name) => details[name]),
      ['Acme Ltd', '7 Quay Street\nBristol', 'GB 123', 'billing@acme.example'],
      changed.text,
    )
    assert.deepEqual(await recorded(changed), [
      by(paula, 'account_billing_changed', id, {
        fields: 'billing_name, billing_address, billing_tax_number, billing_email',
      }),
    ])
    const later = { 'if-match': changed.headers.get('etag') ?? '' }
    assert.notEqual(later['if-match'], etag)
    const emptied = await paula.send('PATCH', at, { billing_name: null, billing_tax_number: 'GB 123' }, later)
    assert.deepEqual(
      [emptied.json['billing_name'], emptied.json['billing_tax_number'], emptied.json['billing_email']],
      [null, 'GB 123', 'billing@acme.example'],
    )
    assert.deepEqual(await recorded(emptied), [by(paula, 'account_billing_changed', id, { fields: 'billing_name' })])
    const wrong: [object, string][] = [
      [{ billing_email: 'nobody' }, 'billing_email'],
      [{ billing_address: Array.from({ length: 9 }, () => 'Bristol').join('\n') }, 'billing_address'],
      [{ billing_name: 'x'.repeat(201) }, 'billing_name'],
      [{ billing_tax_number: 'a\nb' }, 'billing_tax_number'],
    ]
    for (const [body, field] of wrong) {
      assertRefused(
        await paula.send('PATCH', at, { ...body, name: freshName() }, { 'if-match': '*' }),
        'invalid_field',
        field,
      )
    }
    assert.deepEqual((await paula.get(at)).json, emptied.json)
  })

  test('are not overwritten by an edit that is based on older ones', async () => {
    const { at, etag } = await create()
    const first = await paula.send('PATCH', at, { requests_per_minute: 7 }, { 'if-match': etag })
    const second = await paul.send('PATCH', at, { requests_per_minute: 8 }, { 'if-match': etag })
    assertRefused(second, 'stale_version')
    assert.deepEqual([second.status, second.json['current']], [412, first.json])
    assert.deepEqual(await recorded(second), [])
    assert.equal((await paula.get(at)).json['requests_per_minute'], 7)
    const weak = await paul.send(
      'PATCH',
      at,
      { requests_per_minute: 8 },
      { 'if-match': `W/${first.headers.get('etag')}` },
    )
    assert.equal(weak.status, 200)
    assertRefused(await paula.send('PATCH', at, { tokens_per_minute: 1 }), 'precondition_required')
    for (const tag of ['7', '""', '"x"', ',']) {
      assertRefused(await paula.send('PATCH', at, {}, { 'if-match': tag }), 'invalid_field', 'If-Match')
    }
  })

  test('change once when two partners send at the same time', async () => {
    const { at, etag } = await create()
    const answers = await Promise.all(
      [paula, paul, paula, paul].map((partner, n) =>
        partner.send('PATCH', at, { requests_per_minute: 100 + n }, { 'if-match': etag }),
      ),
    )
    assert.deepEqual(answers.map(({ status }) => `${status}`).toSorted(), ['200', '412', '412', '412'])
    const winner = answers.find(({ status }) => status === 200)
    assert.equal((await paula.get(at)).json['requests_per_minute'], winner?.json['requests_per_minute'])
  })

  test('stay valid for an edit while money is spent', async () => {
    const { at, etag } = await create({ credit: '1' })
    await paula.send('POST', `${at}/credit`, { amount: '1' })
    assert.equal((await paula.send('PATCH', at, { name: freshName() }, { 'if-match': etag })).status, 200)
  })

  test('are refused with the field at fault', async () => {
    const { at } = await create({ credit: '2' })
    const other = freshName()
    await create({ name: other })
    const wrong: [object, string, string][] = [
      [{ name: ` ${other.toUpperCase()} ` }, 'conflict', 'name'],
      [{ name: 'a\nb' }, 'invalid_field', 'name'],
      [{ monthly_limit: '5' }, 'invalid_field', 'monthly_limit'],
      [{ monthly_limit: null }, 'invalid_field', 'monthly_limit'],
      [{ requests_per_minute: -1 }, 'invalid_field', 'requests_per_minute'],
      [{ status: 'closed' }, 'unknown_field', 'status'],
      [{ credited: '5' }, 'unknown_field', 'credited'],
    ]
    const before = await paula.get(at)
    for (const [body, code, field] of wrong) {
      assertRefused(await paula.send('PATCH', at, body, { 'if-match': '*' }), code, field)
    }
    assert.deepEqual((await paula.get(at)).json, before.json)
  })
})

describe('credit', () => {
  test('is exact from the smallest amount to the largest', async () => {
    const { id, at } = await create()
    for (const amount of ['0.000000000001', '99999999999999', '-99999999999999', '0.1', '0.2']) {
      assert.equal((await paula.send('POST', `${at}/credit`, { amount })).status, 201)
    }
    const { json } = await paula.get(at)
    assert.deepEqual([json['credit_left'], json['credited']], ['0.300000000001', '0.300000000001'])
    const { json: list } = await paula.get(`${at}/credit`)
    const { entries } = list
    assert.ok(Array.isArray(entries))
    const amounts = entries.map((each) => String(objectAt(each)['amount']))
    assert.deepEqual(amounts, ['0.2', '0.1', '-99999999999999', '99999999999999', '0.000000000001'])
    assert.equal(list['next'], null)
    const [row] = await firm.service.database.rows('select credited from account where id = $1', [id])
    assert.deepEqual(row, { credited: 300_000_000_001n })
  })

  test('is listed in pages, with notes, and each change is in the audit log', async () => {
    const { id, at } = await create()
    const answer = await paula.send('POST', `${at}/credit`, { amount: '5', note: 'Invoice 7' })
    const [entry] = await firm.service.database.rows<{ id: string }>(
      'select id from credit_entry where account_id = $1',
      [id],
    )
    const details = { amount: '5', entry: entry?.id ?? '' }
    assert.deepEqual(await recorded(answer), [by(paula, 'account_credited', id, details)])
    for (let n = 0; n < 99; n++) await firm.service.accounts.addCredit(id, 1n, byService)
    const { json: whole } = await paula.get(`${at}/credit`)
    assert.ok(Array.isArray(whole['entries']))
    assert.deepEqual([whole['entries'].length, whole['next']], [100, null])
    await firm.service.accounts.addCredit(id, 1n, byService)
    const first = await paula.get(`${at}/credit`)
    assert.deepEqual(await recorded(first), [by(paula, 'account_credit_listed', id)])
    const rest = await paula.get(`${at}/credit?before=${String(first.json['next'])}`)
    const { entries } = rest.json
    assert.ok(Array.isArray(first.json['entries']) && Array.isArray(entries))
    assert.equal(first.json['entries'].length, 100)
    assert.deepEqual(
      entries.map((each) => [objectAt(each)['id'], objectAt(each)['amount'], objectAt(each)['note']]),
      [[entry?.id, '5', 'Invoice 7']],
    )
    assertRefused(await paula.get(`${at}/credit?before=x`), 'invalid_field', 'before')
    assertRefused(await paula.get(`${at}/credit?after=1`), 'unknown_field', 'after')
  })

  test('is added once, however often the request is repeated, even concurrently', async () => {
    const { id, at } = await create()
    const [body, key] = [{ amount: '5', note: 'once' }, once()]
    const answers = await Promise.all(Array.from({ length: 8 }, () => paula.send('POST', `${at}/credit`, body, key)))
    assert.deepEqual(
      new Set(answers.map(({ status, json }) => `${status} ${String(json['credited'])}`)),
      new Set(['201 5']),
    )
    const rows = await firm.service.database.rows('select amount from credit_entry where account_id = $1', [id])
    assert.deepEqual(rows, [{ amount: 5n * 10n ** 12n }])
    const other = await paula.send('POST', `${at}/credit`, { amount: '50', note: 'once' }, key)
    assertRefused(other, 'idempotency_mismatch')
    assert.equal(other.status, 422)
    const third = await create()
    assert.equal((await paula.send('POST', `${third.at}/credit`, body, key)).json['credited'], '5')
    assert.equal((await paula.get(at)).json['credited'], '5')
  })

  test('is refused with the field at fault', async () => {
    const { at } = await create()
    const monthly = await create({ monthly_limit: '10' })
    const wrong: [string, object, string, string][] = [
      [at, {}, 'missing_field', 'amount'],
      [at, { amount: '0' }, 'invalid_field', 'amount'],
      [at, { amount: '1,000' }, 'invalid_field', 'amount'],
      [at, { amount: '١' }, 'invalid_field', 'amount'],
      [at, { amount: 5 }, 'invalid_field', 'amount'],
      [at, { amount: '9'.repeat(24), note: 'x'.repeat(1001) }, 'invalid_field', 'note'],
      [at, { amount: '5', note: '\0' }, 'invalid_field', 'note'],
      [at, { amount: '5', reason: 'x' }, 'unknown_field', 'reason'],
      [monthly.at, { amount: '5' }, 'invalid_field', 'amount'],
    ]
    for (const [account, body, code, field] of wrong) {
      assertRefused(await paula.send('POST', `${account}/credit`, body), code, field)
    }
  })
})

/** Every route below an account. */
const routes = (account: string): [string, string, object?][] => [
  ['GET', account],
  ['PATCH', account, { name: 'Mine' }],
  ['GET', `${account}/credit`],
  ['POST', `${account}/credit`, { amount: '5' }],
  ['POST', `${account}/close`],
  ['GET', `${account}/keys`],
  ['POST', `${account}/keys`, { name: 'mine' }],
]

/** What distinguishes one refusal from another. */
const shape = (answer: Answer | undefined) => [
  answer?.status,
  answer?.text.replaceAll(answer.headers.get('request-id') ?? '', 'ID'),
]

test('a consultant gets the same refusal for what exists and what does not, and it is in the audit log', async () => {
  const { id, at } = await create({ credit: '1' })
  const before = (await paula.get(at)).json
  const others = routes(`/accounts/${unknown}`)
  for (const [n, [method, address, body]] of routes(at).entries()) {
    const [, elsewhere = ''] = others[n] ?? []
    const [known, absent] = await Promise.all(
      [address, elsewhere].map((each) => anna.send(method, each, body, { 'if-match': '*' })),
    )
    assert.deepEqual(shape(known), shape(absent))
    assertRefused(known ?? assert.fail(), 'forbidden')
    const [row, ...rest] = await recorded(known ?? assert.fail())
    const { action, outcome, person } = objectAt(row)
    assert.deepEqual([action, outcome, person, rest], ['access_denied', 'refused', anna.id, []])
  }
  assert.deepEqual((await paula.get(at)).json, before)
  for (const [method, address] of [
    ['GET', '/accounts'],
    ['POST', '/accounts'],
    ['GET', '/models'],
  ] as const) {
    assertRefused(await anna.send(method, address), 'forbidden')
  }
  const stray = await firm.ask('POST', `${at}/credit`, { body: { amount: '1' }, headers: { cookie: paula.cookie } })
  assertRefused(stray, 'cross_site_request')
  assert.equal((await paula.get(at)).json['credited'], '1', id)
})
