import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import type { Answer } from '../support/answer.ts'
import { startFirm, type Member } from '../support/firm.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { at, objectAt, valuesOf, type Json } from '../support/json.ts'
import { upstreamModel, type Customer } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'

const call = { model: 'fast', input: 'Hello', max_output_tokens: 100 }

let paula: Member
let granted: Customer
let foreign: Customer

const vendor = fixture(() => startVendor())
const firm = fixture(() => startFirm({ models: [upstreamModel(vendor.url)] }))
setUp(async () => {
  const { service } = firm
  paula = await firm.join('Paula', 'partner')
  const client = await firm.client(paula)
  granted = await service.customer({ name: 'Granted', own: true, credit: 10n ** 13n })
  foreign = await service.customer({ name: 'Foreign' })
  await service.keys.setLimits(granted.keyId, { dailyBudget: 10n ** 13n }, byService)
  for (const { key } of [granted, foreign]) {
    assert.equal((await service.call('/v1/generate', key, call)).status, 200)
    assert.equal((await service.call('/v1/generate', key, { ...call, max_output_tokens: 0 })).status, 400)
  }
  const metadata = { client_id: client, project: 'secret-tag' }
  assert.equal((await service.call('/v1/generate', granted.key, { ...call, metadata })).status, 200)
  for (const budget of [
    { name: 'Project', tag: { name: 'project', value: 'secret-tag' } },
    { name: 'Team', keys: [granted.keyId] },
  ]) {
    const body = { ...budget, amount: '10', period: 'day' }
    const { status } = await paula.send('POST', `/accounts/${granted.accountId}/budgets`, body)
    assert.equal(status, 201)
  }
  const billing = { name: 'secret-payer', email: 'secret@example.com' }
  await service.accounts.setBilling(granted.accountId, billing, byService)
  await service.keys.scratch({ person: paula, accountId: granted.accountId }, { actor: { kind: 'person', ...paula } })
  await until(async () => (await service.database.rows('select from refused_request')).length === 2)
})

const grant = ({ id }: Member, account: string) => paula.send('POST', `/people/${id}/accounts`, { account })
const revoke = ({ id }: Member, account: string) => paula.send('DELETE', `/people/${id}/accounts/${account}`)

async function newDeveloper(): Promise<Member> {
  const dora = await firm.join('Dora', 'developer')
  assert.equal((await grant(dora, granted.accountId)).status, 200)
  return dora
}

const rowsOf = (json: Json, name: string): Json[] => {
  const list = json[name]
  return Array.isArray(list) ? list.map((_, place) => objectAt(json, name, place)) : []
}
const below = ['', '/keys', '/budgets', '/usage', '/requests', '/batches']

describe('of an account that they are granted, a developer reads', () => {
  test('the money, the keys with budgets, the usage with the month, and the requests with reasons', async () => {
    const dora = await newDeveloper()
    const home = await dora.get('/', { accept: 'text/html' })
    assert.deepEqual([home.status, home.headers.get('location')], [303, '/accounts'])
    const list = await dora.get('/accounts')
    assert.deepEqual(valuesOf(rowsOf(list.json, 'accounts'), 'name'), ['Granted'])
    const address = `/accounts/${granted.accountId}`
    const account = await dora.get(address)
    const [asPartner] = [await paula.get(address)]
    assert.equal(account.json['charged'], asPartner.json['charged'])
    const [key, ...more] = rowsOf((await dora.get(`${address}/keys`)).json, 'keys')
    assert.deepEqual([key?.['daily_budget'], key?.['charged_today'], more], ['10', account.json['charged'], []])
    const [project, team] = rowsOf((await dora.get(`${address}/budgets`)).json, 'budgets')
    assert.deepEqual([project?.['tag'], team?.['keys']], [{ name: 'project', value: null }, [granted.keyId]])
    assert.deepEqual([team?.['charged'], team?.['limit']], [account.json['charged'], '10'])
    assert.notEqual(project?.['charged'], '0')

    const { json } = await dora.get(`${address}/usage?by=day,key`)
    assert.deepEqual(json, (await paula.get(`${address}/usage?by=day,key`)).json)
    assert.deepEqual(
      [at(json, 'total', 'cost'), at(json, 'total', 'refused'), at(json, 'month', 'charged')],
      [account.json['charged'], 1, account.json['charged']],
    )
    assert.deepEqual(
      [at(json, 'rows', 0, 'key', 'id'), at(json, 'refusals', 0, 'code')],
      [granted.keyId, 'invalid_field'],
    )
    assert.deepEqual((await dora.get(`${address}/usage?by=tag`)).error['field'], 'by')

    const { json: page } = await dora.get(`${address}/requests`)
    const requests = rowsOf(page, 'requests')
    assert.deepEqual([requests.length, page['next']], [3, null])
    const refused = requests.find(({ outcome }) => outcome === 'refused')
    assert.equal(at(refused, 'call', 'field'), 'max_output_tokens')
    const { json: one } = await dora.get(`${address}/requests/${String(refused?.['request_id'])}`)
    assert.deepEqual(one, refused)
    assert.equal((await dora.get(`${address}/requests?outcome=charged&key=${granted.keyId}&limit=1`)).status, 200)
    const some = await dora.get(`${address}/requests?cursor=${String(requests[0]?.['request_id'])}`)
    assert.deepEqual(rowsOf(some.json, 'requests'), requests.slice(1))
  })

  test('nothing of who pays, of clients and people, and of tags', async () => {
    const dora = await newDeveloper()
    for (const part of below) {
      const reply = await dora.get(`/accounts/${granted.accountId}${part}`)
      assert.equal(reply.status, 200, part)
      assert.doesNotMatch(reply.text, /secret-|secret@|Paula|client/, part)
      assert.equal(reply.headers.get('etag'), null)
    }
  })

  test('with a row of the audit log for each read', async () => {
    const dora = await newDeveloper()
    for (const part of below) await dora.get(`/accounts/${granted.accountId}${part}`)
    const rows = await firm.service.database.rows<{ action: string; noun_id: string }>(
      `select action, noun_id from audit where person_id = $1 and outcome = 'allowed' and noun = 'account' and noun_id is not null order by id`,
      [dora.id],
    )
    assert.deepEqual(valuesOf(rows, 'action'), [
      'account_read',
      'account_keys_listed',
      'account_budgets_listed',
      'usage_read',
      'requests_read',
      'account_batches_listed',
    ])
    assert.deepEqual(new Set(valuesOf(rows, 'noun_id')), new Set([granted.accountId]))
  })
})

describe('a developer is refused', () => {
  test('any other account, whether it exists or not, in the same words, and each refusal is recorded', async () => {
    const dora = await newDeveloper()
    const texts = new Set<string>()
    for (const account of [foreign.accountId, randomUUIDv7(), 'malformed']) {
      for (const part of [...below, `/requests/${randomUUIDv7()}`]) {
        const reply = await dora.get(`/accounts/${account}${part}`)
        const id = reply.headers.get('request-id')
        assert.equal(reply.status, 403)
        texts.add(reply.text.replace(id ?? '', ''))
        const rows = await firm.service.database.rows('select from audit where request_id = $1', [id])
        assert.equal(rows.length, 1)
      }
    }
    assert.equal(texts.size, 1)
  })

  test('requests of another account under the address of theirs', async () => {
    const dora = await newDeveloper()
    const { rows } = await firm.service.books(foreign.accountId)
    const reply = await dora.get(`/accounts/${granted.accountId}/requests/${rows[0]?.requestId}`)
    assert.equal(reply.status, 404)
    const { json } = await dora.get(`/accounts/${granted.accountId}/requests?account=${foreign.accountId}`)
    assert.equal(at(json, 'error', 'code'), 'unknown_field')
  })

  test('every change of their account and its keys', async () => {
    const dora = await newDeveloper()
    const account = `/accounts/${granted.accountId}`
    const before = await firm.service.keys.list(granted.accountId)
    for (const [method, address, body] of [
      ['POST', `${account}/keys`, { name: 'mine' }],
      ['POST', `/keys/${granted.keyId}/rotate`, {}],
      ['POST', `/keys/${granted.keyId}/revoke`, undefined],
      ['PATCH', `/keys/${granted.keyId}`, { daily_budget: null }],
      ['PATCH', account, { monthly_limit: '1' }],
      ['POST', `${account}/close`, undefined],
      ['POST', `${account}/credit`, { amount: '1' }],
      ['POST', `${account}/batches/batch_${'0'.repeat(32)}/cancel`, undefined],
      ['GET', `${account}/credit`, undefined],
      ['GET', `${account}/alerts`, undefined],
      ['POST', `/people/${dora.id}/accounts`, { account: foreign.accountId }],
    ] as const) {
      const reply = await (method === 'GET' ? dora.get(address) : dora.send(method, address, body, { 'if-match': '*' }))
      assert.equal(reply.status, 403, address)
    }
    assert.deepEqual(await firm.service.keys.list(granted.accountId), before)
  })
})

const reads = async (who: Member) => (await who.get(`/accounts/${granted.accountId}`)).status

/** The actions on the account of a grant, and their details, since the person was made. */
const grantsIn = async ({ id }: Member) =>
  (
    await firm.service.database.rows<{ text: string }>(
      `select concat_ws(' ', action, outcome, noun_id = $2) as text from audit where details ->> 'person' = $1 order by id`,
      [id, granted.accountId],
    )
  ).map(({ text }) => text)

describe('a grant', () => {
  const [added, removed] = ['account_granted allowed t', 'account_grant_removed allowed t']

  test('is given to developers only, once, and ends with the next request after it is removed', async () => {
    const dora = await newDeveloper()
    const again = await grant(dora, granted.accountId)
    assert.deepEqual(at(again.json, 'accounts', 0), { id: granted.accountId, name: 'Granted' })
    assert.equal(await reads(dora), 200)
    assert.equal((await revoke(dora, granted.accountId)).status, 204)
    assert.equal(await reads(dora), 403)
    assert.deepEqual((await dora.get('/accounts')).json['accounts'], [])
    assert.deepEqual(await grantsIn(dora), [added, removed])
    const refusals: readonly (readonly [Promise<Answer>, number])[] = [
      [revoke(dora, granted.accountId), 404],
      [revoke(dora, 'malformed'), 404],
      [grant(dora, randomUUIDv7()), 404],
      [grant(dora, 'malformed'), 404],
      [grant(await firm.join('Anna', 'consultant'), granted.accountId), 409],
      [grant(paula, granted.accountId), 409],
    ]
    for (const [reply, status] of refusals) assert.equal((await reply).status, status)
  })

  test('ends with the role and with the person, and is kept while they are disabled', async () => {
    const { people } = firm.service
    const dora = await newDeveloper()
    await people.setStatus(dora.id, 'disabled', byService)
    assert.equal(await reads(dora), 401)
    await people.setStatus(dora.id, 'active', byService)
    const back = await firm.service.signIn(dora)
    assert.equal((await firm.ask('GET', `/accounts/${granted.accountId}`, { headers: { cookie: back } })).status, 200)
    await people.setRole(dora.id, 'consultant', byService)
    await people.setRole(dora.id, 'developer', byService)
    const later = await firm.service.signIn(dora)
    assert.deepEqual((await firm.ask('GET', '/accounts', { headers: { cookie: later } })).json['accounts'], [])
    assert.deepEqual(await grantsIn(dora), [added, removed])

    const gone = await newDeveloper()
    assert.equal((await paula.send('DELETE', `/people/${gone.id}`)).status, 204)
    assert.deepEqual(await grantsIn(gone), [added, removed])
    assert.deepEqual(await firm.service.database.rows('select from account_grant where person_id = $1', [gone.id]), [])
  })

  test('of a closed account still shows its past', async () => {
    const dora = await firm.join('Dora', 'developer')
    const { accountId, key } = await firm.service.customer()
    assert.equal((await firm.service.call('/v1/generate', key, call)).status, 200)
    await firm.service.accounts.close(accountId, byService)
    assert.equal((await grant(dora, accountId)).status, 200)
    const { json } = await dora.get(`/accounts/${accountId}/usage`)
    assert.equal(at(json, 'total', 'requests'), 1)
  })
})

test('no client is assigned to a developer', async () => {
  const dora = await firm.join('Dora', 'developer')
  const client = await firm.client(paula)
  const body = { consultant_id: dora.id }
  const assigned = await paula.send('PATCH', `/clients/${client}`, body, { 'if-match': '*' })
  assert.deepEqual([assigned.status, assigned.error['field']], [400, 'consultant_id'])
})
