import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertBetween } from '../support/clock.ts'
import { byService } from '../../src/access/actor.ts'
import type { NewAccount } from '../../src/accounts/accounts.ts'
import { formatKey } from '../../src/accounts/keys/key-format.ts'
import { formatMoney, parseMoney } from '../../src/billing/prices/money.ts'
import type { Answer } from '../support/answer.ts'
import { openFirm, startFirm, type Member } from '../support/firm.ts'
import { createGate } from '../support/gate.ts'
import { listAt, objectAt, type Json, valuesOf } from '../support/json.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { asSuperuser } from '../support/superuser.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'
import { openWire } from '../support/wire.ts'
import { ok } from '../support/answer.ts'

// Calls that people who are signed in make from the documentation, as a scratch key of their own.

let account: string
const seen: Answer[] = []

const vendor = fixture(() => startVendor())
const options = () => ({ models: [upstreamModel(vendor.url)], tryIt: { account: 'Trying' } })
const { firm, anna, paula } = openFirm(options)
const other = fixture(() => startService({ ...options(), databaseUrl: firm.service.databaseUrl }))
setUp(async () => void (account = await payer()))
beforeEach(() => vendor.set({}))

/** The status and the body, without the id of the request. */
const plain = ({ status, text, headers }: Answer) => [status, text.replaceAll(headers.get('request-id') ?? '', 'ID')]

/** Makes a new account the one that pays. */
async function payer(settings: Partial<NewAccount> = {}): Promise<string> {
  const { accounts } = firm.service
  const known = (await accounts.list()).find(({ name }) => name === 'Trying')
  if (known) await accounts.change(known.id, { name: `Before ${known.id}` }, byService, () => undefined)
  return (await firm.service.customer({ name: 'Trying', own: true, ...settings })).accountId
}

const body = { model: 'fast', input: 'Hello', max_output_tokens: 100 }

async function tried(member: Member, content: unknown = body, headers: Readonly<Record<string, string>> = {}) {
  const answer = await member.send('POST', '/try/v1/generate', content, headers)
  seen.push(answer)
  return answer
}

const tagged = (project: string) => tried(anna, { ...body, metadata: { project } })

const codeOf = ({ status, error }: Answer) => [status, error['code']]
const keysOf = async (id = account): Promise<readonly Json[]> =>
  listAt((await paula.get(`/accounts/${id}/keys`)).json, 'keys').map((key) => objectAt(key))
const keyOf = async ({ id }: Member) => (await keysOf()).find((key) => key['person_id'] === id)
const chargesOf = async (id = account) => (await firm.service.books(id)).rows
const auditOf = (where: string, values: unknown[] = []) =>
  firm.service.database.rows<{ action: string; outcome: string; person: string; about: string; details: unknown }>(
    `select action, outcome, person_id as person, noun_id as about, details from audit where ${where} order by id`,
    values,
  )

describe('a call that a person tries', () => {
  test('is charged to the account, to the person, and as the answer says', async () => {
    const stranger = await firm.service.customer()
    const answer = ok(await tried(anna, body, { authorization: `Bearer ${stranger.key}`, 'x-api-key': stranger.key }))
    assert.equal(answer.json['output_text'], 'Hello there.')
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    const key = await keyOf(anna)
    assert.deepEqual([key?.['name'], key?.['status']], ['Scratch key of Anna', 'valid'])
    const [row, ...others] = await chargesOf()
    assert.ok(row)
    assert.deepEqual(others, [])
    assert.deepEqual(
      [row.requestId, row.keyId, row.personId, row.clientId],
      [answer.headers.get('request-id'), key?.['id'], null, null],
    )
    const tokens = objectAt(answer.json, 'usage')
    const cost = BigInt(Number(tokens['input_tokens'])) * 150_000n + BigInt(Number(tokens['output_tokens'])) * 600_000n
    assert.deepEqual([row.cost, answer.headers.get('x-cost')], [cost, formatMoney(cost)])
    assert.deepEqual(await chargesOf(stranger.accountId), [], 'the key of another account is ignored')

    assert.equal((await tried(paula)).status, 200)
    const usage = await paula.get(`/usage?by=key&account=${account}`)
    const rows = listAt(usage.json, 'rows').map((each) => [objectAt(each, 'key')['name'], objectAt(each)['requests']])
    assert.deepEqual(new Set(rows.map(String)), new Set(['Scratch key of Anna,1', 'Scratch key of Paula,1']))
  })

  test('counts in the budgets of tags', async () => {
    const budget = { name: 'Apollo', amount: '0', period: 'total', tag: { name: 'project', value: 'Apollo' } }
    const { json } = ok(await paula.send('POST', `/accounts/${account}/budgets`, budget), 201)
    await until(async () => (await tagged('Apollo')).status === 402)
    ok(await tagged('Zeus'))
    ok(await paula.send('DELETE', `/accounts/${account}/budgets/${String(json['id'])}`), 204)
  })

  test('can be any call of the API, with its own format of errors', async () => {
    const message = { role: 'user', content: 'Hello' }
    for (const [address, content] of [
      ['chat/completions', { model: 'fast', messages: [message] }],
      ['responses', { model: 'fast', input: 'Hello' }],
      ['messages', { model: 'fast', max_tokens: 100, messages: [message] }],
    ] as const) {
      const count = (await chargesOf()).length
      const answer = ok(await anna.send('POST', `/try/v1/${address}`, content))
      assert.match(answer.text, /Hello there\./)
      assert.equal((await chargesOf()).length, count + 1, address)
      const fault = await anna.send('POST', `/try/v1/${address}`, { ...content, model: 'unknown' })
      const viaKey = await firm.service.call(`/v1/${address}`, (await firm.service.customer()).key, {
        ...content,
        model: 'unknown',
      })
      assert.deepEqual(plain(fault), plain(viaKey))
    }
    for (const address of ['count_tokens', 'messages/count_tokens']) {
      const content = address === 'count_tokens' ? body : { model: 'fast', messages: [message] }
      assert.equal(typeof (await anna.send('POST', `/try/v1/${address}`, content)).json['input_tokens'], 'number')
    }
    assert.equal(objectAt((await anna.get('/try/v1/models')).json, 'data', 0)['id'], 'fast')
    assert.equal((await anna.get('/try/v1/models/fast')).json['id'], 'fast')
    assert.ok(
      !JSON.stringify((await anna.get('/openapi.json')).json).includes('/try'),
      'the document has each call once',
    )
  })

  test('shows the figures of the account to partners only, and is in the audit log', async () => {
    for (const what of ['usage', 'account']) {
      const shown = ok(await paula.get(`/try/v1/${what}`))
      const [read] = await auditOf('request_id = $1', [shown.headers.get('request-id')])
      assert.deepEqual([read?.action, read?.outcome, read?.person], [`${what}_read`, 'allowed', paula.id])
      const refused = await anna.get(`/try/v1/${what}`)
      assert.deepEqual(codeOf(refused), [403, 'forbidden'])
      const [denied] = await auditOf('request_id = $1', [refused.headers.get('request-id')])
      assert.deepEqual([denied?.outcome, denied?.person], ['refused', anna.id])
    }
    const { json } = await paula.get('/try/v1/account')
    assert.equal(json['id'], account)
  })

  test('cannot name a client, although the account is the own of the firm', async () => {
    const client = await firm.client(anna)
    const count = (await chargesOf()).length
    for (const address of ['generate', 'count_tokens']) {
      const content = { ...body, metadata: { client_id: client } }
      const answer = await anna.send('POST', `/try/v1/${address}`, content)
      assert.deepEqual([...codeOf(answer), answer.error['field']], [400, 'invalid_field', 'metadata.client_id'])
    }
    assert.equal((await chargesOf()).length, count)
  })

  test('finds no stored reply of its account, nor whether there is one', async () => {
    const program = { accountId: account, name: 'program', allowedModels: null, expiresAt: null }
    const { key } = await firm.service.keys.create(program, byService)
    const stored = { 'idempotency-key': 'stored' }
    assert.equal((await firm.service.call('/v1/generate', key, body, stored)).status, 200)
    const count = (await chargesOf()).length
    const answers = [await tried(anna, body, stored), await tried(anna, body, { 'idempotency-key': 'unknown' })]
    for (const answer of answers) {
      assert.deepEqual([...codeOf(answer), answer.error['field']], [400, 'invalid_field', 'Idempotency-Key'])
    }
    assert.deepEqual(plain(answers[0] ?? assert.fail()), plain(answers[1] ?? assert.fail()))
    assert.equal((await chargesOf()).length, count)
  })

  test('shows refusals of the till as they are', async () => {
    account = await payer({ credit: 1n })
    assert.deepEqual(codeOf(await tried(anna)), [402, 'insufficient_credit'])
    account = await payer({ requestsPerMinute: 1 })
    assert.equal((await tried(anna)).status, 200)
    const answer = await tried(anna)
    assert.deepEqual(codeOf(answer), [429, 'rate_limit_exceeded'])
    assert.deepEqual(objectAt(answer.error, 'limit')['name'], 'requests_per_minute')
    assert.equal((await chargesOf()).length, 1)
    account = await payer()
  })

  test('that streams is charged for what was generated when the browser stops it', async () => {
    const gate = createGate()
    vendor.set({ tokens: ['one', ' two', ' three', ' four'], gate: gate.pass })
    gate.open(2)
    const stop = new AbortController()
    const response = await fetch(`${firm.service.url}/try/v1/generate`, {
      method: 'POST',
      headers: { cookie: anna.cookie, 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ ...body, stream: true }),
      signal: stop.signal,
    })
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
    let text = ''
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    while (!text.includes(' two')) text += (await reader?.read())?.value ?? ''
    const { abandoned } = vendor
    stop.abort()
    await until(() => vendor.abandoned > abandoned)
    const id = String(response.headers.get('request-id'))
    await until(async () => (await chargesOf()).some(({ requestId }) => requestId === id))
    const row = (await chargesOf()).find(({ requestId }) => requestId === id)
    assert.deepEqual([row?.stopReason, row?.outputTokens, row?.keyId], ['cancelled', 2, (await keyOf(anna))?.['id']])
    const { holds, held } = await firm.service.books(account)
    assert.deepEqual([holds, held], [0, 0n])
    gate.open()
  })
})

describe('nobody else can try a call:', () => {
  test('visitors, with or without a key', async () => {
    const { calls } = vendor
    const { key } = await firm.service.customer()
    for (const headers of [{}, { authorization: `Bearer ${key}` }, { cookie: 'session=invented' }]) {
      const answer = await firm.ask('POST', '/try/v1/generate', {
        body,
        headers: { ...headers, 'sec-fetch-site': 'same-origin' },
      })
      assert.deepEqual(codeOf(answer), [401, 'not_signed_in'])
    }
    assert.equal(vendor.calls, calls)
    assert.deepEqual((await firm.ask('GET', '/try')).json, { person: null, fault: null })
  })

  test('pages of other sites', async () => {
    const { calls } = vendor
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      {},
    ]) {
      const answer = await firm.ask('POST', '/try/v1/generate', { body, headers: { cookie: anna.cookie, ...headers } })
      assert.deepEqual(codeOf(answer), [403, 'cross_site_request'], JSON.stringify(headers))
      assert.ok([...answer.headers.keys()].every((name) => !name.startsWith('access-control')))
    }
    assert.equal(vendor.calls, calls)
  })

  test('a page that was rendered for another person', async () => {
    const answer = await tried(anna, body, { 'tollgate-person': paula.id })
    assert.deepEqual(codeOf(answer), [401, 'not_signed_in'])
  })

  test('a person who is disabled, or signs out, from the next call on and on every instance', async () => {
    for (const leave of [
      (who: Member) => firm.service.people.setStatus(who.id, 'disabled', byService),
      (who: Member) => who.send('POST', '/signout'),
    ]) {
      const ben = await firm.join('Ben', 'consultant')
      assert.equal((await tried(ben)).status, 200)
      await leave(ben)
      const { calls } = vendor
      assert.deepEqual(codeOf(await tried(ben)), [401, 'not_signed_in'])
      assert.deepEqual(codeOf(await elsewhere(ben)), [401, 'not_signed_in'])
      assert.equal(vendor.calls, calls)
    }
  })

  test('a person who signs out, or whose key is revoked, while the body arrives', async () => {
    for (const leave of [
      (who: Member) => who.send('POST', '/signout'),
      async (who: Member) => paula.send('POST', `/keys/${String((await keyOf(who))?.['id'])}/revoke`),
    ]) {
      const cleo = await firm.join('Cleo', 'consultant')
      assert.equal((await tried(cleo)).status, 200)
      const { calls } = vendor
      const text = JSON.stringify(body)
      const wire = await openWire(firm.service.port)
      wire.send(
        `POST /try/v1/generate HTTP/1.1\r\nhost: localhost\r\ncookie: ${cleo.cookie}\r\nsec-fetch-site: same-origin\r\n` +
          `content-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text.slice(0, 1)}`,
      )
      await until(() => firm.service.app.requestsInFlight() > 0)
      await sleep(100)
      await leave(cleo)
      wire.send(text.slice(1))
      assert.equal((await wire.answer()).status, 401)
      wire.cut()
      assert.equal(vendor.calls, calls)
    }
  })
})

const elsewhere = async ({ cookie }: Member) =>
  other.call('/try/v1/generate', undefined, body, { cookie, 'sec-fetch-site': 'same-origin' })

describe('a scratch key', () => {
  test('is created once, however many calls come first, and recorded with its person', async () => {
    const dora = await firm.join('Dora', 'consultant')
    const answers = await Promise.all([
      ...Array.from({ length: 6 }, () => tried(dora)),
      ...Array.from({ length: 6 }, () => elsewhere(dora)),
    ])
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    const own = (await keysOf()).filter((key) => key['person_id'] === dora.id)
    assert.equal(own.length, 1)
    const ids = answers.map(({ headers }) => headers.get('request-id'))
    const charged = (await chargesOf()).filter(({ requestId }) => ids.includes(requestId))
    assert.deepEqual([charged.length, new Set(charged.map(({ keyId }) => keyId))], [12, new Set([own[0]?.['id']])])
    const created = await auditOf(`action = 'key_created' and noun_id = $1`, [own[0]?.['id']])
    assert.deepEqual(valuesOf(created, 'person'), [dora.id])
  })

  test('that is revoked is refused at once on every instance, and replaced a day later', async () => {
    const emma = await firm.join('Emma', 'consultant')
    assert.deepEqual([(await tried(emma)).status, (await elsewhere(emma)).status], [200, 200])
    const first = String((await keyOf(emma))?.['id'])
    assert.equal((await paula.send('POST', `/keys/${first}/revoke`)).status, 204)
    const { calls } = vendor
    for (const answer of [await elsewhere(emma), await tried(emma)]) {
      assert.deepEqual(codeOf(answer), [401, 'revoked_key'])
      assert.match(String(answer.error['reason']), /^Your scratch key was revoked\. You can get a new one from \d{4}-/)
    }
    assert.equal(vendor.calls, calls)
    await moveTimes(first, 'revoked_at', '-23 hours -59 minutes')
    assert.deepEqual(codeOf(await tried(emma)), [401, 'revoked_key'])
    await moveTimes(first, 'revoked_at', '-2 minutes')
    assert.equal((await tried(emma)).status, 200)
    const own = (await keysOf()).filter((key) => key['person_id'] === emma.id)
    assert.deepEqual(
      own.map(({ id, status }) => [id === first, status]),
      [
        [true, 'revoked'],
        [false, 'valid'],
      ],
    )
  })

  test('gets no limits and no successor', async () => {
    const gwen = await firm.join('Gwen', 'consultant')
    await tried(gwen)
    const key = String((await keyOf(gwen))?.['id'])
    for (const answer of [
      await paula.send('PATCH', `/keys/${key}`, { daily_budget: '5' }),
      await paula.send('POST', `/keys/${key}/rotate`, {}),
    ]) {
      assert.deepEqual(codeOf(answer), [409, 'conflict'], answer.text)
      assert.match(String(answer.error['reason']), /^This is a scratch key/)
    }
    assert.deepEqual(await auditOf(`noun_id = $1 and action <> 'key_created'`, [key]), [])
    assert.equal((await tried(gwen)).status, 200)
  })

  test('expires a day after its last use, and is renewed by the next', async () => {
    const fay = await firm.join('Fay', 'consultant')
    const day = 86_400_000
    const began = Date.now()
    const assertLasts = async () => assertBetween((await keyOf(fay))?.['expires_at'], began + day, Date.now() + day)
    await tried(fay)
    await assertLasts()
    const { id } = (await keyOf(fay)) ?? {}
    await moveTimes(String(id), 'expires_at', '-25 hours')
    assert.equal((await keyOf(fay))?.['status'], 'expired')
    assert.equal((await tried(fay)).status, 200)
    const key = await keyOf(fay)
    assert.deepEqual([key?.['id'], key?.['status']], [id, 'valid'])
    await assertLasts()
  })

  test('has no text: it cannot be rotated, and nobody can send it', async () => {
    await tried(anna)
    const key = await keyOf(anna)
    const rotated = await paula.send('POST', `/keys/${String(key?.['id'])}/rotate`, {})
    assert.deepEqual(codeOf(rotated), [409, 'conflict'])
    const guessed = formatKey({ publicId: String(key?.['public_id']), secret: '0'.repeat(43) })
    assert.deepEqual(codeOf(await firm.service.call('/v1/generate', guessed, body)), [401, 'invalid_key'])
    assert.equal(vendor.last.headers.authorization, undefined)
  })

  test('reaches neither a response nor the log', async () => {
    const rows = await asSuperuser(firm.service.database, (tx) =>
      tx.rows<{ publicId: string; hash: string }>(
        `select public_id as "publicId", encode(secret_hash, 'hex') as hash from api_key where person_id is not null`,
      ),
    )
    assert.ok(rows.length > 5 && seen.length > 20)
    const sent = seen.map(({ headers, text }) => JSON.stringify([...headers]) + text).join('\n')
    const logged = firm.service.logText() + other.logText()
    for (const text of [sent, logged]) {
      assert.doesNotMatch(text, /tg_[0-9A-Za-z]{12}_/)
      for (const { publicId, hash } of rows) assert.ok(!text.includes(publicId) && !text.includes(hash))
    }
  })
})

/** Moves a time of a key, as if the clock had run. */
async function moveTimes(id: string, column: 'revoked_at' | 'expires_at', by: string): Promise<void> {
  await asSuperuser(firm.service.database, (tx) =>
    tx.rows(`update api_key set ${column} = ${column} + $2::interval where id = $1`, [id, by]),
  )
}

describe('the account that pays', () => {
  test('must exist, be the own of the firm and be open', async () => {
    const { accounts } = firm.service
    const faults: string[] = []
    const note = async () => {
      for (const person of [anna, paula]) {
        const answer = await tried(person)
        assert.deepEqual(codeOf(answer), [409, 'conflict'])
        assert.equal((await person.get('/try')).json['fault'], answer.error['reason'])
        if (person === paula) faults.push(String(answer.error['reason']))
        else assert.match(String(answer.error['reason']), /Ask a partner/)
      }
    }
    await accounts.change(account, { name: 'Elsewhere' }, byService, () => undefined)
    await note()
    account = await payer({ own: false })
    await note()
    account = await payer()
    await accounts.close(account, byService)
    await note()
    account = await payer()
    const expected = [
      /does not exist\. Create it: \.\/tollgate account create --own/,
      /not the firm's own/,
      /is closed/,
    ]
    expected.forEach((pattern, index) => assert.match(faults[index] ?? '', pattern))
    const { id, name, role } = anna
    assert.deepEqual((await anna.get('/try')).json, { person: { id, name, role }, fault: null })
  })

  test('is asked for if none is configured', async () => {
    await using bare = await startFirm()
    const person = await bare.join('Guy', 'partner')
    const answer = await person.send('POST', '/try/v1/generate', body)
    assert.deepEqual(codeOf(answer), [409, 'conflict'])
    assert.equal(answer.error['reason'], 'Trying calls is not set up: add the group "try_it" to the configuration.')
  })

  test('is charged what all answers say, to the last digit', async () => {
    account = await payer()
    const answers = await Promise.all(Array.from({ length: 5 }, () => tried(anna)))
    const said = answers.reduce((sum, { headers }) => sum + parseMoney(headers.get('x-cost') ?? ''), 0n)
    const { charged, rows } = await firm.service.books(account)
    assert.deepEqual([charged, rows.length], [said, 5])
  })
})
