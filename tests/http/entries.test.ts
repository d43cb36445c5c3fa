import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Value } from 'typebox/value'
import { verifyAll } from '../../src/commands/verification.ts'
import * as schema from '../../src/clients/schema.ts'
import type { Answer } from '../support/answer.ts'
import { startFirm, type Member } from '../support/firm.ts'
import { at, listAt } from '../support/json.ts'

const taxes = [{ id: 'standard', category: 'S', rate: '19' }]
const firm = await startFirm({ currency: 'EUR', invoicing: { hourly_rate: '100', tax: taxes } })
const [anna, ben] = [await firm.join('Anna', 'consultant'), await firm.join('Ben', 'consultant')]
const paula = await firm.join('Paula', 'partner')
const plain = await startFirm({ currency: 'JPY' })
after(() => Promise.all([firm.close(), plain.close()]))

const work = { date: '2026-03-12', minutes: 20, text: 'Advice on the lease' }
const train = { date: '2026-03-13', amount: '34.50', text: 'Train' }

function ok(answer: Answer, status = 200): Answer {
  assert.equal(answer.status, status, answer.text)
  return answer
}

async function enter(by: Member, client: string, body: object, plural = 'time_entries'): Promise<Answer> {
  return ok(await by.send('POST', `/clients/${client}/${plural}`, body), 201)
}

const assertRefused = (answer: Answer, code: string, field?: string) =>
  assert.deepEqual([answer.error['code'], answer.error['field']], [code, field], answer.text)

describe('time entries', () => {
  test('have the rate of the configuration or their own, and an amount that is rounded once', async () => {
    const client = await firm.client(anna)
    const usual = await enter(anna, client, work)
    assert.equal(Value.Errors(schema.timeEntry, usual.json)[0], undefined, usual.text)
    // 20 minutes are no decimal number of hours.
    assert.deepEqual([usual.json['rate'], usual.json['amount'], usual.json['billable']], ['100.00', '33.33', true])
    assert.equal(at(usual.json, 'created_by', 'name'), 'Anna')
    const own = await enter(anna, client, { ...work, rate: '0.000001', minutes: 1440 })
    assert.deepEqual([own.json['rate'], own.json['amount']], ['0.000001', '0.00'])
    // 6 minutes at 0.05 are half a cent, which is rounded to the even one; 18 are one and a half.
    for (const [minutes, amount] of [
      [6, '0.00'],
      [18, '0.02'],
    ]) {
      assert.equal((await enter(anna, client, { ...work, minutes, rate: '0.05' })).json['amount'], amount)
    }
  })

  test('need a rate if the configuration has none, and follow its currency', async () => {
    const member = await plain.join('Anna', 'consultant')
    const client = await plain.client(member)
    assertRefused(await member.send('POST', `/clients/${client}/time_entries`, work), 'missing_field', 'rate')
    const { json } = await enter(member, client, { ...work, rate: '9000.5' })
    assert.deepEqual([json['rate'], json['amount'], json['currency']], ['9000.5', '3000', 'JPY'])
  })

  test('refuse what no day and no price has', async () => {
    const client = await firm.client(anna)
    for (const [field, value] of [
      ['minutes', 0],
      ['minutes', 1441],
      ['minutes', 1.5],
      ['date', '2026-02-30'],
      ['rate', '-1'],
      ['rate', '1.0000001'],
      ['rate', '1000000001'],
      ['rate', 'much'],
      ['text', ''],
      ['text', 'x'.repeat(281)],
    ] as const) {
      const answer = await anna.send('POST', `/clients/${client}/time_entries`, { ...work, [field]: value })
      assertRefused(answer, 'invalid_field', field)
    }
  })

  test('are changed, archived and restored with their revisions', async () => {
    const client = await firm.client(anna)
    const made = await enter(anna, client, work)
    const path = made.headers.get('location') ?? ''
    const changed = ok(await anna.send('PATCH', path, { minutes: 30, billable: false }, { 'if-match': '"1"' }))
    assert.deepEqual([changed.json['amount'], changed.json['billable']], ['50.00', false])
    assertRefused(await anna.send('PATCH', path, { minutes: 40 }, { 'if-match': '"1"' }), 'stale_version')
    ok(await anna.send('DELETE', path), 204)
    assert.deepEqual(ok(await anna.get(`/clients/${client}/time_entries`)).json['time_entries'], [])
    ok(await paula.send('POST', `${path}/restore`))
    const { json } = ok(await anna.get(`${path}/revisions`))
    assert.deepEqual(
      listAt(json, 'revisions').map((each) => [at(each, 'data', 'minutes'), at(each, 'data', 'rate')]),
      [
        [30, '100.00'],
        [30, '100.00'],
        [30, '100.00'],
        [20, '100.00'],
      ],
    )
    assert.deepEqual(
      (await verifyAll(firm.service.database)).filter(({ ok: isRight }) => !isRight),
      [],
    )
  })

  test('are listed page by page, the latest day first', async () => {
    const client = await firm.client(anna)
    const days = ['2026-03-11', '2026-03-13', '2026-03-12', '2026-03-12', '2025-12-31']
    for (const [index, date] of days.entries()) await enter(anna, client, { ...work, date, text: `Work ${index}` })
    const seen: unknown[] = []
    let cursor = ''
    for (let page = 0; page < 3; page++) {
      const { json } = ok(await anna.get(`/clients/${client}/time_entries?limit=2${cursor}`))
      assert.equal(Value.Errors(schema.timeEntryList, json)[0], undefined)
      seen.push(...listAt(json, 'time_entries').map((each) => at(each, 'text')))
      cursor = `&cursor=${String(json['next'])}`
      assert.equal(json['next'] === null, page === 2)
    }
    assert.deepEqual(seen, ['Work 1', 'Work 3', 'Work 2', 'Work 0', 'Work 4'])
    assertRefused(await anna.get(`/clients/${client}/time_entries?cursor=x`), 'invalid_field', 'cursor')
  })
})

describe('expenses', () => {
  test('have an amount above zero and a tax of the configuration', async () => {
    const client = await firm.client(anna)
    const { json } = await enter(anna, client, { ...train, tax: 'standard' }, 'expenses')
    assert.equal(Value.Errors(schema.expense, json)[0], undefined)
    assert.deepEqual([json['amount'], json['tax']], ['34.50', 'standard'])
    assert.equal((await enter(anna, client, train, 'expenses')).json['tax'], null)
    for (const [field, value] of [
      ['amount', '0'],
      ['amount', '-1'],
      ['amount', '0.0000001'],
      ['amount', '1000000000001'],
      ['tax', 'standrad'],
    ] as const) {
      const answer = await anna.send('POST', `/clients/${client}/expenses`, { ...train, [field]: value })
      assertRefused(answer, 'invalid_field', field)
    }
  })
})

test('only those who may see the client see and enter them, and the record itself has none', async () => {
  const client = await firm.client(anna)
  const entry = (await enter(anna, client, work)).headers.get('location') ?? ''
  const list = `/clients/${client}/time_entries`
  for (const answer of [
    await ben.get(list),
    await ben.get(entry),
    await ben.send('POST', list, work),
    await ben.send('PATCH', entry, { minutes: 1 }, { 'if-match': '"1"' }),
    await ben.send('DELETE', entry),
  ]) {
    assert.equal(answer.status, 403, answer.text)
  }
  assert.equal(at(ok(await paula.get(list)).json, 'time_entries', 0, 'minutes'), 20)
  assert.ok(!ok(await anna.get(`/clients/${client}`)).text.includes('Advice'))
})

test('an archived client gets no more of them', async () => {
  const client = await firm.client(anna)
  ok(await anna.send('PATCH', `/clients/${client}`, { status: 'archived' }, { 'if-match': '"1"' }))
  assertRefused(await anna.send('POST', `/clients/${client}/time_entries`, work), 'conflict')
  assertRefused(await anna.send('POST', `/clients/${client}/expenses`, train), 'conflict')
})
