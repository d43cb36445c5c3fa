import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Value } from 'typebox/value'
import { verifyAll } from '../../src/commands/verification.ts'
import * as schema from '../../src/clients/schema.ts'
import { assertRefused, ok, type Answer } from '../support/answer.ts'
import { fixture } from '../support/fixture.ts'
import { openFirm, startFirm, type Member } from '../support/firm.ts'
import { at, listAt, objectAt } from '../support/json.ts'
import { asSuperuser } from '../support/superuser.ts'
import { assertVerified } from '../support/verified.ts'

const taxes = [{ id: 'standard', category: 'S', rate: '19' }]
// Today in the first zone is always a later day than in the second.
const [east, west] = ['Pacific/Kiritimati', 'Etc/GMT+12']
const invoicing = { hourly_rate: '100', tax: taxes }
const { firm, anna, ben, paula } = openFirm(() => ({ currency: 'EUR', invoicing, firm: { time_zone: west } }))
const plain = fixture(() => startFirm({ currency: 'JPY', firm: { time_zone: east } }))

const work = { date: '2026-03-12', minutes: 20, text: 'Advice on the lease' }
const train = { date: '2026-03-13', amount: '34.50', text: 'Train' }

async function enter(by: Member, client: string, body: object, plural = 'time_entries'): Promise<Answer> {
  return ok(await by.send('POST', `/clients/${client}/${plural}`, body), 201)
}

describe('time entries', () => {
  test('have the rate of the configuration or their own, and an amount that is rounded once', async () => {
    const client = await firm.client(anna)
    const usual = await enter(anna, client, work)
    assert.equal(Value.Errors(schema.timeEntry, usual.json)[0], undefined, usual.text)
    // 20 minutes are no decimal number of hours.
    assert.deepEqual([usual.json['rate'], usual.json['amount'], usual.json['billable']], ['100.00', '33.33', true])
    assert.equal(at(usual.json, 'created_by', 'name'), 'Anna')
    const listed = ok(await anna.get(`/clients/${client}/time_entries`)).json
    assert.equal(listed['default_rate'], '100.00')
    const expenses = ok(await anna.get(`/clients/${client}/expenses`)).json
    assert.ok(!('default_rate' in expenses))
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
    const reasonFor = async (person: Member) => {
      const refused = await person.send('POST', `/clients/${client}/time_entries`, work)
      assertRefused(refused, 'missing_field', 'rate')
      return String(refused.error['reason'])
    }
    assert.match(await reasonFor(member), /^The field rate is missing, .*ask a partner/)
    assert.match(await reasonFor(await plain.join('Paula', 'partner')), /invoicing\.hourly_rate/)
    assert.equal(ok(await member.get(`/clients/${client}/time_entries`)).json['default_rate'], null)
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
    const again = await anna.send('DELETE', path)
    assertRefused(again, 'conflict')
    assert.equal(again.error['reason'], 'The time entry was archived: restore it first.')
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
    assertVerified(await verifyAll(firm.service.database))
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

const inEast = () => Temporal.Now.plainDateISO(east)

describe('the day of an entry', () => {
  const kinds = [
    ['time_entries', work],
    ['expenses', train],
  ] as const

  test('is at most today in the time zone of the firm, and no typing error', async () => {
    const client = await firm.client(anna)
    for (const [plural, entry] of kinds) {
      const made = (await enter(anna, client, entry, plural)).headers.get('location') ?? ''
      for (const date of [inEast().toString(), '2099-01-01', '9999-12-31', '0026-03-12', '1899-12-31']) {
        assertRefused(
          await anna.send('POST', `/clients/${client}/${plural}`, { ...entry, date }),
          'invalid_field',
          'date',
        )
        const changed = await anna.send('PATCH', made, { date }, { 'if-match': '*' })
        assertRefused(changed, 'invalid_field', 'date')
        assert.match(
          String(changed.error['reason']),
          /^The field date must be a day from 1900-01-01 to today, \d{4}-\d\d-\d\d \(time zone Etc\/GMT\+12\)\.$/,
        )
      }
      assert.equal((await anna.get(made)).json['date'], entry.date)
      assert.equal(listAt((await anna.get(`/clients/${client}/${plural}`)).json, plural).length, 1)
      await enter(anna, client, { ...entry, date: Temporal.Now.plainDateISO(west).toString() }, plural)
    }
  })

  test('is today where the day has begun already', async () => {
    const member = await plain.join('Ben', 'consultant')
    const client = await plain.client(member)
    for (const [plural, entry] of kinds) {
      const body = { ...entry, ...(plural === 'time_entries' && { rate: '9000' }) }
      await enter(member, client, { ...body, date: inEast().toString() }, plural)
      const date = inEast().add({ days: 2 }).toString()
      assertRefused(
        await member.send('POST', `/clients/${client}/${plural}`, { ...body, date }),
        'invalid_field',
        'date',
      )
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

describe('the totals of a list', () => {
  test('are those of all entries on all pages, without archived ones, and sum the amounts as they are shown', async () => {
    const client = await firm.client(anna)
    const empty = ok(await anna.get(`/clients/${client}/time_entries`))
    assert.deepEqual(empty.json['totals'], { entries: 0, minutes: 0, billable: '0.00', currency: 'EUR' })
    // 6 and 18 minutes at 0.05 are half a cent and one and a half: 0.00 and 0.02. Their sum in one is 0.02 too; ten of each are not.
    for (let index = 0; index < 10; index++) {
      for (const minutes of [6, 18]) await enter(anna, client, { ...work, minutes, rate: '0.05' })
    }
    await enter(anna, client, { ...work, minutes: 20, rate: '1000000000' })
    await enter(anna, client, { ...work, minutes: 7, billable: false })
    const gone = await enter(anna, client, { ...work, minutes: 600 })
    ok(await anna.send('DELETE', gone.headers.get('location') ?? ''), 204)

    const totals = { entries: 22, minutes: 267, billable: '333333333.53', currency: 'EUR' }
    const first = ok(await anna.get(`/clients/${client}/time_entries?limit=3`)).json
    assert.equal(Value.Errors(schema.timeEntryList, first)[0], undefined)
    assert.deepEqual(first['totals'], totals)
    const second = await paula.get(`/clients/${client}/time_entries?limit=3&cursor=${String(first['next'])}`)
    assert.deepEqual(ok(second).json['totals'], totals)
    const archived = ok(await anna.get(`/clients/${client}/time_entries?archived=true`)).json
    assert.deepEqual([listAt(archived, 'time_entries').length, archived['totals']], [1, undefined])
  })

  test('of expenses are exact, and follow the currency', async () => {
    const client = await firm.client(anna)
    for (const amount of ['999999999999.999999', '0.000001', '34.50']) {
      await enter(anna, client, { ...train, amount }, 'expenses')
    }
    await enter(anna, client, { ...train, amount: '9', billable: false }, 'expenses')
    const { json } = ok(await anna.get(`/clients/${client}/expenses?limit=1`))
    assert.equal(Value.Errors(schema.expenseList, json)[0], undefined)
    assert.deepEqual(json['totals'], { entries: 4, billable: '1000000000034.50', currency: 'EUR' })

    const member = await plain.join('Bea', 'consultant')
    const abroad = await plain.client(member)
    // 5 000.17 and 10 000.33 yen, rounded once each.
    for (const minutes of [30, 60]) await enter(member, abroad, { ...work, minutes, rate: '10000.34' })
    const { json: yen } = ok(await member.get(`/clients/${abroad}/time_entries`))
    assert.deepEqual(yen['totals'], { entries: 2, minutes: 90, billable: '15000', currency: 'JPY' })
  })
})

test('a record holds 10 000 time entries besides those that are billed', async () => {
  const client = await firm.client(anna)
  const list = `/clients/${client}/time_entries`
  const archived = (await enter(anna, client, work)).headers.get('location') ?? ''
  ok(await anna.send('DELETE', archived), 204)
  await enter(anna, client, work)
  await asSuperuser(firm.service.database, async (tx) => {
    // Without the triggers, which would take a minute. So only the entry above can be billed.
    await tx.rows(`set local session_replication_role = replica`)
    await tx.rows(
      `insert into time_entry (id, client_id, date, minutes, rate, text, created_by, updated_by)
       select gen_random_uuid(), $1, '2026-03-12', 1, 0, 'Work', $2, $2 from generate_series(1, 9999)`,
      [client, anna.id],
    )
  })
  const full = await anna.send('POST', list, work)
  assertRefused(full, 'conflict')
  assert.match(String(full.error['reason']), /it can hold 10 000 time entries besides those that are closed/)
  assertRefused(await anna.send('POST', `${archived}/restore`), 'conflict')
  await enter(anna, client, train, 'expenses')
  assert.equal(at(ok(await anna.get(list)).json, 'totals', 'entries'), 10_000)

  ok(await paula.send('POST', '/invoices', { client, unbilled_until: '2026-12-31' }), 201)
  await enter(anna, client, work)
  assertRefused(await paula.send('POST', list, work), 'conflict')
  assertRefused(await anna.send('POST', `${archived}/restore`), 'conflict')
  assert.equal(objectAt(ok(await paula.get(list)).json, 'totals')['entries'], 10_001)
})
