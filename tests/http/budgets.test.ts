import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { assertBetween } from '../support/clock.ts'
import { assertRefused, ok } from '../support/answer.ts'
import { openFirm } from '../support/firm.ts'
import { fixture } from '../support/fixture.ts'
import { at, listAt, objectAt, valuesOf, type Json } from '../support/json.ts'
import { upstreamModel } from '../support/service.ts'
import { announced } from '../support/tamper.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'

const vendor = fixture(() => startVendor())
const { firm, anna, paula } = openFirm(() => ({
  models: [upstreamModel(vendor.url)],
  firm: { time_zone: 'Europe/Berlin' },
}))

/** An account with these keys, and the addresses of its budgets. */
async function team(...names: string[]) {
  const account = String((await paula.send('POST', '/accounts', { name: randomUUIDv7(), credit: '10' })).json['id'])
  const keys = await Promise.all(
    names.map(async (name) => {
      const { json } = ok(await paula.send('POST', `/accounts/${account}/keys`, { name }), 201)
      return { id: String(json['id']), key: String(json['key']) }
    }),
  )
  const address = `/accounts/${account}/budgets`
  const create = async (body: object) => {
    const { json } = ok(
      await paula.send('POST', address, { name: randomUUIDv7(), amount: '5', period: 'day', ...body }),
      201,
    )
    return { json, at: `${address}/${String(json['id'])}` }
  }
  const events = () =>
    firm.service.database.rows<{ action: string; details: Json; person_id: string }>(
      `select action, details, person_id from audit where noun_id = $1 and action ~ 'budget_' order by id`,
      [account],
    )
  return { account, keys, ids: keys.map(({ id }) => id), address, create, events }
}

const call = (key: string, body: object = {}) =>
  firm.service.call('/v1/generate', key, { model: 'fast', input: 'Hello', max_output_tokens: 100, ...body })

const listed = async (address: string) => {
  return listAt(ok(await paula.get(address)).json, 'budgets').map((each) => objectAt(each))
}

describe('the budgets of an account', () => {
  test('are created, listed, changed, raised and removed, each with an event', async () => {
    const { account, ids, address, create, events } = await team('one', 'two')
    const [one = '', two = ''] = ids
    const { json, at: mine } = await create({ name: 'Team', amount: '50.00', period: 'week', keys: [one] })
    const { id, created_at: created, renews_at: renews, ...shown } = json
    assert.deepEqual(shown, {
      account_id: account,
      name: 'Team',
      keys: [one],
      tag: null,
      period: 'week',
      time_zone: 'Europe/Berlin',
      hard: true,
      amount: '50',
      raised_by: null,
      raised_until: null,
      limit: '50',
      charged: '0',
      held: '0',
      remaining: '50',
    })
    assertBetween(created, Date.now() - 60_000)
    assert.ok(Date.parse(String(renews)) > Date.now())
    const tag = { name: 'project', value: 'Apollo' }
    const other = await create({ name: 'apollo', period: 'total', time_zone: 'UTC', hard: false, tag })
    assert.deepEqual([other.json['tag'], other.json['keys'], other.json['renews_at']], [tag, null, null])
    assert.deepEqual(valuesOf(await listed(address), 'name'), ['apollo', 'Team'], 'by name')
    assert.deepEqual(at((await paula.get(address)).json, 'time_zones'), ['Europe/Berlin', 'UTC'])

    const changed = ok(await paula.send('PATCH', mine, { amount: '60', keys: [one, two], hard: false })).json
    assert.deepEqual([changed['limit'], changed['hard'], changed['keys']], ['60', false, [one, two].toSorted()])
    ok(await paula.send('PATCH', mine, { name: 'Team', amount: '60.0' }))
    const raised = ok(await paula.send('POST', `${mine}/raise`, { by: '20' })).json
    assert.deepEqual([raised['limit'], raised['amount'], raised['raised_by']], ['80', '60', '20'])
    assert.equal(raised['raised_until'], renews, 'to the end of the period')
    const later = ok(await paula.send('POST', `${mine}/raise`, { by: '1', until: '2099-01-01' })).json
    assert.deepEqual([later['limit'], later['raised_until']], ['61', '2099-01-01T00:00:00.000Z'])
    assert.equal(ok(await paula.send('POST', `${mine}/raise`, { by: '0' })).json['raised_by'], null)
    ok(await paula.send('DELETE', mine), 204)
    assert.deepEqual(valuesOf(await listed(address), 'name'), ['apollo'])
    assert.equal((await paula.send('DELETE', mine)).status, 404)

    const budget = { budget: id, name: 'Team' }
    const renewal = String(renews)
    assert.deepEqual(
      (await events()).filter(({ details }) => details['budget'] === id),
      [
        {
          action: 'account_budget_created',
          details: { ...budget, amount: '50', hard: 'true', keys: one, period: 'week', time_zone: 'Europe/Berlin' },
        },
        {
          action: 'account_budget_changed',
          details: {
            ...budget,
            amount: '50 → 60',
            hard: 'true → false',
            keys: `${one} → ${[one, two].toSorted().join(' ')}`,
          },
        },
        { action: 'account_budget_raised', details: { ...budget, by: '20', until: renewal } },
        { action: 'account_budget_raised', details: { ...budget, by: '1', until: '2099-01-01T00:00:00.000Z' } },
        { action: 'account_budget_raised', details: { ...budget, by: '0' } },
        { action: 'account_budget_removed', details: budget },
      ].map((event) => ({ ...event, person_id: paula.id })),
    )
    const [first] = (await events()).filter(({ details }) => details['tag'] !== undefined)
    assert.equal(first?.details['tag'], 'project', 'the value may have a text of a customer')
  })

  test('are created once by repeated requests', async () => {
    const { ids, address, events } = await team('one')
    const body = { name: 'Once', amount: '5', period: 'day', keys: ids }
    const headers = { 'idempotency-key': randomUUIDv7() }
    const first = ok(await paula.send('POST', address, body, headers), 201)
    const second = ok(await paula.send('POST', address, body, headers), 201)
    assert.equal(first.json['id'], second.json['id'])
    assert.equal((await listed(address)).length, 1)
    assert.equal((await events()).length, 1)
  })

  test('are refused with the field at fault, and nothing is half done', async () => {
    const { account, ids, address, create, events } = await team('valid', 'revoked', 'expired')
    const [valid = '', revoked = '', expired = ''] = ids
    const foreign = await team('foreign')
    const tag = { name: 'project', value: 'Apollo' }
    const { at: total } = await create({ name: 'Total', period: 'total', tag })
    const { at: ofKeys } = await create({ name: 'Keys', keys: [revoked] })
    ok(await paula.send('POST', `/keys/${revoked}/revoke`), 204)
    await firm.service.database.rows(announced('update api_key set expires_at = now() where id = $1'), [expired])
    const scratch = randomUUIDv7()
    await firm.service.database.rows(
      announced(
        `insert into api_key (id, public_id, secret_hash, account_id, name, person_id) values ($1::text::uuid, $1::text, sha256(''), $2, 'mine', $3)`,
      ),
      [scratch, account, anna.id],
    )
    const before = [await listed(address), await events()]
    const good = { name: 'New', amount: '5', period: 'month', keys: [valid] }
    const untagged = { ...good, keys: undefined }
    for (const [body, field, reason] of [
      [{ ...good, keys: [valid, revoked] }, 'keys[1]', /"revoked" is revoked/],
      [{ ...good, keys: [expired] }, 'keys[0]', /"expired" is expired/],
      [{ ...good, keys: [valid, foreign.ids[0]] }, 'keys[1]', /no key with the id/],
      [{ ...good, keys: [randomUUIDv7()] }, 'keys[0]', /no key with the id/],
      [{ ...good, keys: [scratch] }, 'keys[0]', /is a scratch key/],
      [{ ...good, keys: ['backend'] }, 'keys[0]', /UUID/],
      [{ ...good, keys: [] }, 'keys', /at least one key/],
      [untagged, 'keys', /either the keys that share the budget, or a tag/],
      [{ ...good, tag }, 'keys', /either the keys that share the budget, or a tag/],
      [{ ...untagged, tag: { name: 'client_id', value: 'x' } }, 'tag.name', /is no tag/],
      [{ ...untagged, tag: { name: 'project' } }, 'tag.value', /./],
      [{ ...untagged, tag: { name: 'project', value: 'x'.repeat(129) } }, 'tag.value', /128/],
      [{ ...good, period: 'year' }, 'period', /day/],
      [{ ...good, time_zone: 'Europe/Paris' }, 'time_zone', /UTC or Europe\/Berlin/],
      [{ ...good, amount: '-1' }, 'amount', /from 0/],
      [{ ...good, amount: '1'.repeat(38) }, 'amount', /at most 24 digits/],
      [{ ...good, amount: 'much' }, 'amount', /amount/],
      [{ ...good, name: ' ' }, 'name', /name/],
      [{ ...good, soft: true }, 'soft', /./],
    ] as const) {
      const answer = await paula.send('POST', address, body)
      assert.equal(answer.status, 400, answer.text)
      assert.deepEqual([answer.error['field'], reason.test(String(answer.error['reason']))], [field, true], answer.text)
    }
    for (const [method, where, body, field, reason] of [
      ['PATCH', ofKeys, { keys: [revoked, expired] }, 'keys[1]', /"expired" is expired/],
      ['PATCH', ofKeys, { amount: '9', keys: [] }, 'keys', /at least one key/],
      ['PATCH', ofKeys, { period: 'month' }, 'period', /./],
      ['PATCH', total, { keys: [valid] }, 'keys', /is of a tag/],
      ['POST', `${total}/raise`, { by: '1' }, 'until', /never renewed/],
      ['POST', `${ofKeys}/raise`, { by: '1', until: '2020-01-01' }, 'until', /in the future/],
      ['POST', `${ofKeys}/raise`, { by: '1', until: 'soon' }, 'until', /2030-01-31/],
      ['POST', `${ofKeys}/raise`, { by: '-1' }, 'by', /from 0/],
    ] as const) {
      const answer = await paula.send(method, where, body)
      assert.equal(answer.status, 400, answer.text)
      assert.deepEqual([answer.error['field'], reason.test(String(answer.error['reason']))], [field, true], answer.text)
    }
    assertRefused(await paula.send('POST', address, { ...good, name: 'TOTAL' }), 'conflict', 'name')
    assertRefused(await paula.send('PATCH', ofKeys, { name: 'total', amount: '9' }), 'conflict', 'name')
    for (const method of ['PATCH', 'DELETE']) {
      const elsewhere = ofKeys.replace(account, foreign.account)
      assert.equal((await paula.send(method, elsewhere, method === 'PATCH' ? { amount: '1' } : undefined)).status, 404)
    }
    assert.deepEqual([await listed(address), await events()], before)
    assert.deepEqual(
      ok(await paula.send('PATCH', ofKeys, { keys: [revoked, valid] })).json['keys'],
      [revoked, valid].toSorted(),
      'a key that has ended since may stay',
    )
    ok(await paula.send('POST', `/accounts/${account}/close`))
    assertRefused(await paula.send('POST', address, good), 'conflict')
  })
})

describe('calls that count in a budget', () => {
  test('say in headers what is left and when it is renewed, and /v1/account lists them', async () => {
    const { keys, ids, create } = await team('one', 'two', 'alone')
    const [one, two, alone] = keys
    assert.ok(one && two && alone)
    await create({ name: 'Team', amount: '5', keys: ids.slice(0, 2) })
    await create({ name: 'Apollo', amount: '3', period: 'total', tag: { name: 'project', value: 'Apollo' } })
    await create({ name: 'Watched', amount: '0', hard: false, keys: ids.slice(0, 1) })
    await until(async () => (await call(one.key)).headers.get('x-budget-limit') === '5')
    const tagged = { metadata: { project: 'Apollo' } }
    const first = ok(await call(two.key, tagged))
    assert.deepEqual([first.headers.get('x-budget-limit'), first.headers.get('x-budget-reset')], ['3', null])
    await until(async () => Number((await call(one.key)).headers.get('x-budget-remaining')) < 5)
    const reset = Number((await call(one.key)).headers.get('x-budget-reset'))
    assert.ok(reset > 0 && reset <= 90_000, String(reset))
    assert.equal((await call(alone.key)).headers.get('x-budget-limit'), null)

    const account = await firm.ask('GET', '/v1/account', { headers: { authorization: `Bearer ${two.key}` } })
    const [apollo, shared, ...more] = listAt(ok(account).json, 'budgets').map((each) => objectAt(each))
    assert.deepEqual(more, [], 'not those of other keys')
    const { spent, remaining, ...rest } = apollo ?? assert.fail()
    assert.deepEqual(rest, {
      name: 'Apollo',
      tag: { name: 'project', value: 'Apollo' },
      period: 'total',
      time_zone: 'Europe/Berlin',
      hard: true,
      limit: '3',
      renews_in_seconds: null,
    })
    assert.equal(Number(spent) + Number(remaining), 3)
    assert.ok(Number(spent) > 0)
    assert.deepEqual([shared?.['name'], shared?.['limit'], shared?.['tag']], ['Team', '5', null])
  })

  test('are refused by its name once it is used up, whichever key or dialect, and only those', async () => {
    const { keys, ids, create } = await team('one', 'two', 'alone')
    const [one, two, alone] = keys
    assert.ok(one && two && alone)
    const { at: address } = await create({ name: 'Team', amount: '0.0000001', keys: ids.slice(0, 2) })
    await create({ name: 'Apollo', amount: '0', tag: { name: 'project', value: 'Apollo' } })
    for (const { key } of [one, two]) {
      await until(async () => (await call(key)).status === 402)
      const { error, headers } = await call(key)
      assert.deepEqual([error['code'], headers.get('x-budget-limit')], ['insufficient_credit', '0.0000001'])
      assert.match(String(error['reason']), /^What is left of the budget "Team" does not cover/)
    }
    const chat = { model: 'fast', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] }
    const asked = (metadata: object) => firm.service.call('/v1/chat/completions', alone.key, { ...chat, metadata })
    const refused = await asked({ project: 'Apollo' })
    assert.equal(refused.status, 402, refused.text)
    assert.match(refused.text, /budget \\"Apollo\\"/)
    assert.equal((await asked({ project: 'Zeus' })).status, 200)
    assert.equal((await call(alone.key)).status, 200)
    ok(await paula.send('DELETE', address), 204)
    await until(async () => (await call(one.key)).status === 200)
  })
})
