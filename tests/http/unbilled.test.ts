import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { draws } from '../support/draws.ts'
import { eraseClient } from '../../src/client-data/store.ts'
import { verifyAll } from '../../src/commands/verification.ts'
import { ok, type Answer } from '../support/answer.ts'
import { openFirm, sessionAt, startFirm, type Member } from '../support/firm.ts'
import { at, listAt, objectAt, type Json } from '../support/json.ts'
import { makeDue } from '../support/erasable.ts'
import { addPastUsage } from '../support/past-usage.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { announced } from '../support/tamper.ts'
import { billing, pathOf } from '../support/billing.ts'
import { assertVerified, verifyAtEnd } from '../support/verified.ts'

const { firm, anna, paula } = openFirm(() => ({
  currency: 'EUR',
  firm: { name: 'Berg & Partner', locale: 'en-GB' },
  invoicing: {
    hourly_rate: '100',
    markup_percent: '12.5',
    tax: [
      { id: 'standard', category: 'S', rate: '19' },
      { id: 'reduced', category: 'S', rate: '7' },
      { id: 'outside', category: 'O', reason: 'Not subject to tax' },
    ],
  },
}))

verifyAtEnd(() => firm.service.database)
const { read, change, issue, discard, credit } = billing(paula)
const any = { 'if-match': '*' }

const post = async (by: Member, address: string, body: object) => ok(await by.send('POST', address, body), 201)
const enterTime = (client: string, body: object = {}) =>
  post(anna, `/clients/${client}/time_entries`, { date: '2026-03-12', minutes: 20, text: 'Advice', ...body })
const enterExpense = (client: string, body: object = {}) =>
  post(anna, `/clients/${client}/expenses`, { date: '2026-03-13', amount: '34.50', text: 'Train', ...body })
const draft = (client: string, body: object = {}) =>
  paula.send('POST', '/invoices', { client, unbilled_until: '2026-06-30', ...body })
const drafted = async (client: string, body: object = {}) => ok(await draft(client, body), 201)

const typed = (tax: string) => ({ text: 'Fee', quantity: '1', unit: 'piece', unit_price: '5', tax })

const verify = async () => assertVerified(await verifyAll(firm.service.database))

/** The row of a client or an account in the list; undefined if nothing is unbilled. */
async function unbilled(id: string, query = 'until=2026-06-30'): Promise<Json | undefined> {
  for (let cursor = ''; ;) {
    const { json } = ok(await paula.get(`/invoices/unbilled?${query}${cursor}`))
    const index = listAt(json, 'unbilled').findIndex((each) => at(each, 'payer', 'id') === id)
    if (index >= 0) return objectAt(json, 'unbilled', index)
    const next = json['next']
    if (typeof next !== 'string') return undefined
    cursor = `&cursor=${next}`
  }
}

const linesOf = ({ json }: Answer, ...names: readonly string[]) =>
  listAt(json, 'lines').map((line) => names.map((name) => at(line, name)))

describe('time and expenses', () => {
  test('of the last day itself are listed and billed', async () => {
    const client = await firm.client(anna)
    for (const date of ['2026-06-30', '2026-07-01']) {
      await enterTime(client, { date })
      await enterExpense(client, { date })
    }
    assert.equal((await unbilled(client))?.['items'], 2)
    const made = await drafted(client)
    assert.deepEqual(linesOf(made, 'source', 'text'), [
      ['time', '30 June 2026, Anna: Advice'],
      ['expense', '30 June 2026: Train'],
    ])
  })

  test('are billed with one line each, exact and rounded once', async () => {
    const client = await firm.client(anna)
    await enterTime(client)
    await enterTime(client, { date: '2026-03-11', minutes: 90, rate: '0.0001', text: 'Telephone' })
    await enterExpense(client, { tax: 'reduced' })
    await enterTime(client, { billable: false })
    await enterTime(client, { date: '2026-07-01' })
    assert.deepEqual(await unbilled(client), {
      payer: { kind: 'client', id: client, name: 'Client', archived: false, deleted: false },
      items: 3,
      amount: '67.83',
      oldest: '2026-03-11',
      month: null,
    })
    const fee = { text: 'Flat fee', quantity: '1', unit: 'piece', unit_price: '5' }
    const made = await drafted(client, { lines: [fee] })
    assert.deepEqual(linesOf(made, 'source', 'text', 'quantity', 'unit', 'unit_price', 'exact', 'net', 'rounding'), [
      ['time', '11 March 2026, Anna: Telephone', '90', 'minute', '0.0001', '0.00015', '0.00', '-0.00015'],
      ['time', '12 March 2026, Anna: Advice', '20', 'minute', '100', '33.333333333333', '33.33', '-0.003333333333'],
      ['expense', '13 March 2026: Train', '1', 'piece', '34.5', '34.50', '34.50', '0.00'],
      ['fee', 'Flat fee', '1', 'piece', '5', '5.00', '5.00', '0.00'],
    ])
    assert.equal(at(made.json, 'lines', 2, 'tax', 'rate'), '7')
    assert.deepEqual(made.json['supply'], { from: '2026-03-11', to: '2026-03-13', is_stated: false })
    assert.equal(await unbilled(client), undefined)
    const again = await draft(client)
    assert.deepEqual([again.status, again.error['field']], [409, 'unbilled_until'], again.text)
    // Other typed lines leave what was proposed.
    const changed = await change(made, { lines: [] })
    assert.equal(listAt(changed.json, 'lines').length, 3)
  })

  test('keep the longest text whole, also one of emoji', async () => {
    const client = await firm.client(anna)
    const text = `x${'🙂'.repeat(279)}`
    await enterTime(client, { text })
    const made = await drafted(client)
    assert.deepEqual(linesOf(made, 'text'), [[`12 March 2026, Anna: ${text}`]])
  })

  test('are frozen while an invoice bills them, without telling consultants why', async () => {
    const client = await firm.client(anna)
    const entry = (await enterTime(client)).headers.get('location') ?? ''
    const made = await drafted(client)
    for (const refused of [
      await anna.send('PATCH', entry, { minutes: 30 }, any),
      await anna.send('DELETE', entry, undefined, any),
    ]) {
      assert.equal(refused.status, 409)
      assert.ok(!/invoice|bill/i.test(refused.text), refused.text)
    }
    const refused = await paula.send('PATCH', entry, { billable: false }, any)
    assert.deepEqual([refused.status, /An invoice bills the entry/.test(refused.text)], [409, true])
    await assert.rejects(
      firm.service.database.transaction(async (tx) => {
        await tx.rows(`update billed_entry set entry_id = gen_random_uuid()`)
      }),
      { code: '42501' },
    )
    const shown = ok(await anna.get(entry))
    assert.ok(!/invoice|billed/.test(shown.text), shown.text)
    await discard(made)
    ok(await anna.send('PATCH', entry, { minutes: 30 }, any))
    assert.equal((await unbilled(client))?.['amount'], '50.00')
  })

  test('are free again after a full credit, and not after a part', async () => {
    const client = await firm.client(anna)
    await enterTime(client)
    await enterExpense(client)
    const issued = await issue(await drafted(client))
    // Two parts of a line that are rounded together.
    await issue(await credit(issued, { lines: [{ position: 1, quantity: '7.123456' }] }))
    assert.equal(await unbilled(client), undefined)
    await verify()
    await issue(await credit(issued))
    assert.equal((await read(issued))['status'], 'credited')
    assert.equal((await unbilled(client))?.['items'], 2)
    await verify()
    assert.equal(listAt((await drafted(client)).json, 'lines').length, 2)
  })

  test('are refused for an account, and with a day that is none', async () => {
    const client = await firm.client(anna)
    await enterTime(client)
    const { accountId: account } = await firm.service.customer()
    for (const body of [
      { client, unbilled_until: 'soon' },
      { account, unbilled_until: '2026-03-31' },
    ]) {
      const answer = await paula.send('POST', '/invoices', body)
      assert.deepEqual([answer.status, answer.error['field']], [400, 'unbilled_until'], answer.text)
    }
    assert.equal((await unbilled(client))?.['items'], 1)
  })

  test('with a tax that the configuration lost are named, and what to do about them', async () => {
    const client = await firm.client(anna)
    const expense = (await enterExpense(client, { tax: 'reduced', text: 'Train to "Leeds"' })).headers.get('location')
    await using changed = await startService({
      models: [upstreamModel('http://127.0.0.1:9/v1')],
      databaseUrl: firm.service.databaseUrl,
      firm: { name: 'Firm', locale: 'en-GB' },
      currency: 'EUR',
      invoicing: { tax: [{ id: 'standard', category: 'S', rate: '19' }] },
    })
    const there = sessionAt(changed.url, paula.cookie)
    const refused = await there.send('POST', '/invoices', { client, unbilled_until: '2026-06-30' })
    assert.deepEqual([refused.status, refused.error['field']], [400, 'unbilled_until'])
    assert.equal(
      refused.error['reason'],
      String.raw`The expense of 13 March 2026, "Train to \"Leeds\"", has the tax "reduced", which is no longer configured: change its tax on the client’s record.`,
    )
    assert.equal((await unbilled(client))?.['items'], 1)
    ok(await there.send('PATCH', expense ?? '', { tax: 'standard' }, any))
    await billing(there).bill({ client, lines: [], unbilled_until: '2026-06-30' })
  })

  test('outside the scope of tax are on a draft of their own, after the others', async () => {
    const client = await firm.client(anna)
    await enterTime(client)
    await enterExpense(client, { tax: 'outside', text: 'Court fee' })
    const first = await drafted(client)
    assert.deepEqual(linesOf(first, 'text'), [['12 March 2026, Anna: Advice']])
    assert.deepEqual([(await unbilled(client))?.['items'], (await unbilled(client))?.['amount']], [1, '34.50'])
    const second = await drafted(client)
    assert.deepEqual(linesOf(second, 'text'), [['13 March 2026: Court fee']])
    assert.deepEqual([second.json['tax'], second.json['gross']], ['0.00', '34.50'])
    assert.equal(await unbilled(client), undefined)
  })

  test('are billed with typed lines only if their taxes allow it', async () => {
    const client = await firm.client(anna)
    await enterTime(client)
    await enterExpense(client, { tax: 'outside', text: 'Court fee' })
    const refused = await draft(client, { lines: [typed('standard'), typed('outside')] })
    assert.deepEqual([refused.status, refused.error['field']], [400, 'lines'], refused.text)
    const outside = await drafted(client, { lines: [typed('outside')] })
    assert.deepEqual(linesOf(outside, 'source'), [['expense'], ['fee']])
    const taxed = await drafted(client, { lines: [typed('reduced')] })
    assert.deepEqual(linesOf(taxed, 'source'), [['time'], ['fee']])
  })

  test('are on one draft when a request is repeated', async () => {
    const client = await firm.client(anna)
    await enterTime(client)
    const headers = { 'idempotency-key': '0199d0c2-61aa-7d11-9b72-4f0e8c25a7d3' }
    const body = { client, unbilled_until: '2026-06-30' }
    const made = ok(await paula.send('POST', '/invoices', body, headers), 201)
    const again = ok(await paula.send('POST', '/invoices', body, headers), 201)
    assert.equal(again.json['id'], made.json['id'])
    assert.equal(listAt(again.json, 'lines').length, 1)
    // Entries that were added since do not make it another request, and are not billed by it.
    await enterTime(client, { date: '2026-03-20' })
    assert.deepEqual(ok(await paula.send('POST', '/invoices', body, headers), 201).json, made.json)
    for (const other of [{ unbilled_until: '2026-03-11' }, { unbilled_until: undefined }, { note: 'Other' }]) {
      const refused = await paula.send('POST', '/invoices', { ...body, ...other }, headers)
      assert.deepEqual([refused.status, refused.error['code']], [409, 'conflict'], refused.text)
    }
    assert.equal((await unbilled(client))?.['items'], 1)
    const changed = await change(made, { note: 'Other' })
    assert.deepEqual(ok(await paula.send('POST', '/invoices', body, headers), 201).json, changed.json)
  })

  test('with others outside the scope of tax are on one draft when a request is repeated', async () => {
    const client = await firm.client(anna)
    await enterTime(client)
    await enterExpense(client, { tax: 'outside' })
    const headers = { 'idempotency-key': '0199d0c2-61aa-7d11-9b72-4f0e8c25a7d9' }
    const body = { client, unbilled_until: '2026-06-30' }
    const made = ok(await paula.send('POST', '/invoices', body, headers), 201)
    assert.deepEqual(ok(await paula.send('POST', '/invoices', body, headers), 201).json, made.json)
    assert.equal((await unbilled(client))?.['items'], 1)
  })
})

test('an erased client has nothing to bill, and what was billed stays on its invoice', async () => {
  const client = await firm.client(anna)
  await enterTime(client, { text: 'Billed' })
  const issued = await issue(await drafted(client))
  await enterTime(client, { text: 'Drafted' })
  const second = await drafted(client)
  await enterTime(client, { text: 'Open' })
  ok(await paula.send('POST', `/clients/${client}/erasure`, { reason: 'Ended.' }), 201)
  await makeDue(firm.service.database, client)
  assert.equal(await eraseClient(firm.service.database, client, '0 days'), 'erased')
  assert.deepEqual(
    await firm.service.database.rows(
      `select (select count(*) from unbilled where client_id = $1) as listed,
         (select count(*) from billed_entry where invoice_id = $2) as billed,
         (select count(*) from billed_entry where invoice_id = $3) as drafted`,
      [client, issued.json['id'], second.json['id']],
    ),
    [{ listed: 0n, billed: 1n, drafted: 0n }],
  )
  assert.deepEqual(linesOf(ok(await paula.get(pathOf(issued))), 'text'), [['12 March 2026, Anna: Billed']])
})

test('what is left out of a draft is unbilled again, and the rest stays as it is', async () => {
  const client = await firm.client(anna)
  const { json: first } = await enterTime(client)
  const { json: second } = await enterExpense(client)
  const advice = { text: 'Fee', quantity: '1', unit: 'piece', unit_price: '5' }
  const made = await drafted(client, { lines: [advice] })
  const edit = async (body: object) => ok(await paula.send('PATCH', pathOf(made), body, any))
  const changed = await edit({ left_out: [first['id'], '2026-03', client] })
  assert.deepEqual(linesOf(changed, 'position', 'entry', 'net'), [
    [1, second['id'], '34.50'],
    [2, null, '5.00'],
  ])
  assert.equal(changed.json['net'], '39.50')
  assert.deepEqual(
    [at((await unbilled(client)) ?? {}, 'items'), at((await unbilled(client)) ?? {}, 'amount')],
    [1, '33.33'],
  )
  const done = await issue(await edit({ lines: [], left_out: [] }))
  assert.deepEqual(linesOf(done, 'entry'), [[second['id']]])
  assert.deepEqual(linesOf(await drafted(client), 'entry'), [[first['id']]])
  const refused = await paula.send('PATCH', pathOf(made), { left_out: [second['id']] }, any)
  assert.deepEqual([refused.status, refused.error['code']], [409, 'conflict'])
})

test('what a deleted client has is listed, and billed once it is restored', async () => {
  const client = await firm.client(anna)
  await enterTime(client)
  ok(await paula.send('DELETE', `/clients/${client}`, undefined, any), 204)
  assert.deepEqual(objectAt((await unbilled(client)) ?? {}, 'payer'), {
    kind: 'client',
    id: client,
    name: 'Client',
    archived: false,
    deleted: true,
  })
  const refused = await draft(client)
  assert.deepEqual([refused.status, refused.error['code']], [400, 'invalid_field'])
  ok(await paula.send('POST', `/clients/${client}/restore`, undefined, any))
  assert.deepEqual(linesOf(await drafted(client), 'net'), [['33.33']])
})

describe('months', () => {
  test('of accounts and of letters are listed once they are over, with the mark-up on letters', async () => {
    const client = await firm.client(anna)
    const own = await firm.service.customer({ own: true })
    const customer = await firm.service.customer()
    const day = { model: 'fast', input: 1_000_003, output: 7, prices: [3n, 5n] as [bigint, bigint] }
    const thisMonth = new Date().toISOString().slice(0, 10)
    await addPastUsage(firm.service.database, own, [
      { ...day, day: '2026-03-05', client },
      { ...day, day: '2026-03-06', client },
      { ...day, day: '2026-05-31', client },
      { ...day, day: thisMonth, client },
    ])
    await addPastUsage(firm.service.database, customer, [
      { ...day, day: '2026-03-05' },
      { ...day, day: '2026-04-05' },
    ])
    await firm.service.database.rows(
      `update account set month = date_trunc('month', $2::date), month_charged = 3000044 where id = $1`,
      [own.accountId, thisMonth],
    )
    // As when the month ended.
    await firm.service.database.rows(announced('delete from closed_month'))
    assert.equal(await unbilled(own.accountId), undefined)
    const refused = await paula.send('POST', '/invoices', { account: own.accountId, month: '2026-03' })
    assert.deepEqual([refused.status, refused.error['field']], [400, 'account'])
    const row = await unbilled(customer.accountId, 'until=2026-04-29')
    assert.deepEqual([row?.['items'], row?.['amount'], row?.['month']], [1, '0.000003000044', '2026-03'])
    assert.deepEqual((await unbilled(client))?.['items'], 2)
    const made = await drafted(client)
    // 6000088 × 1.125 and 3000044 × 1.125 in 10⁻¹², the second rounded half to even.
    assert.deepEqual(linesOf(made, 'source', 'text', 'month', 'unit', 'unit_price', 'exact', 'net'), [
      ['letters', 'Drafting of letters, March 2026', '2026-03', 'lump_sum', '0.000006750099', '0.000006750099', '0.00'],
      ['letters', 'Drafting of letters, May 2026', '2026-05', 'lump_sum', '0.00000337505', '0.00000337505', '0.00'],
    ])
    assert.deepEqual(made.json['supply'], { from: '2026-03-01', to: '2026-05-31', is_stated: false })
    assert.equal(await unbilled(client), undefined)
    const march = ok(await paula.send('POST', '/invoices', { account: customer.accountId, month: '2026-03' }), 201)
    assert.equal((await unbilled(customer.accountId))?.['month'], '2026-04')
    const whole = await paula.send('PATCH', pathOf(march), { left_out: ['', '2026-03', customer.accountId] }, any)
    assert.deepEqual(linesOf(ok(whole), 'text'), linesOf(march, 'text'), 'a month of an account is billed whole')
    await verify()
    for (const each of [made, whole]) await discard(each)
    assert.equal((await unbilled(customer.accountId))?.['items'], 2)
    assert.equal((await unbilled(client))?.['items'], 2)
    const again = await drafted(client)
    const may = ok(await paula.send('PATCH', pathOf(again), { left_out: ['2026-03'] }, any))
    assert.deepEqual(linesOf(may, 'month'), [['2026-05']])
    assert.equal((await unbilled(client))?.['oldest'], '2026-03-31')
  })

  test('are read from the list, not from the ledger or the roll-ups', async () => {
    const plan = await firm.service.database.rows<{ 'QUERY PLAN': string }>(
      `explain select count(*) from unbilled u left join account a on a.id = u.account_id`,
    )
    assert.ok(!/ledger|usage_day/.test(JSON.stringify(plan)))
    const [closed] = await firm.service.database.rows<{ months: bigint }>('select count(*) as months from closed_month')
    assert.ok((closed?.months ?? 0n) > 0n)
  })
})

for (const [currency, decimals] of [
  ['JPY', 0],
  ['EUR', 2],
  ['KWD', 3],
] as const) {
  test(`the listed amount is the net amount of the draft, in ${currency}`, async () => {
    await using other = await startFirm({ currency, firm: { name: 'Firm' }, invoicing: { markup_percent: '12.5' } })
    const [consultant, partner] = [await other.join('Anna', 'consultant'), await other.join('Paula', 'partner')]
    const own = await other.service.customer({ own: true })
    const client = await other.client(consultant)
    const enter = async (kind: string, body: object) =>
      ok(await consultant.send('POST', `/clients/${client}/${kind}`, { date: '2026-03-12', text: 'x', ...body }), 201)
    // The last two are halves of a minor unit, which are rounded to even.
    for (const [minutes, rate] of [
      [7, '99.99'],
      [20, '100'],
      [41, '123.456789'],
      [1, '0.000001'],
      [30, decimals === 0 ? '1' : '0.01'],
      [90, decimals === 0 ? '1' : '0.01'],
    ] as const) {
      await enter('time_entries', { minutes, rate })
    }
    await enter('expenses', { amount: decimals === 0 ? '35' : '34.55' })
    const prices = [1_234_567n, 5n] as const
    await addPastUsage(other.service.database, own, [
      { day: '2026-03-05', client, model: 'fast', input: 1_000_003, output: 7, prices },
      { day: '2026-04-05', client, model: 'fast', input: 2_000_001, output: 3, prices },
    ])
    const listed = ok(await partner.get('/invoices/unbilled?until=2026-06-30')).json
    const made = ok(await partner.send('POST', '/invoices', { client, unbilled_until: '2026-06-30' }), 201)
    assert.equal(listAt(made.json, 'lines').length, 9)
    assert.deepEqual(
      [at(listed, 'unbilled', 0, 'items'), at(listed, 'unbilled', 0, 'amount'), listed['amount']],
      [9, made.json['net'], made.json['net']],
    )
    assert.notEqual(made.json['rounding'], (0).toFixed(decimals), 'nothing was rounded')
    assertVerified(await verifyAll(other.service.database))
  })
}

test('the list is sorted and paged, and a file has all of it', async () => {
  const clients = []
  for (let index = 0; index < 52; index++) {
    const client = await firm.client(anna, `Paged ${String(index).padStart(2, '0')}`)
    await enterTime(client, { date: '2025-01-15', minutes: 60 + (index % 3), text: 'x' })
    clients.push(client)
  }
  const until = 'until=2025-01-31'
  const first = ok(await paula.get(`/invoices/unbilled?${until}&sort=name`)).json
  assert.deepEqual([first['payers'], first['items'], first['amount']], [52, 52, '5285.00'])
  const second = ok(await paula.get(`/invoices/unbilled?${until}&sort=name&cursor=${String(first['next'])}`)).json
  const names = [...listAt(first, 'unbilled'), ...listAt(second, 'unbilled')].map((row) =>
    String(at(row, 'payer', 'name')),
  )
  assert.deepEqual(
    names,
    clients.map((_, index) => `Paged ${String(index).padStart(2, '0')}`),
  )
  assert.deepEqual([names.length, second['next']], [52, null])
  const largest = ok(await paula.get(`/invoices/unbilled?${until}&sort=amount`)).json
  assert.equal(at(largest, 'unbilled', 0, 'amount'), '103.33')
  const file = ok(await paula.get(`/invoices/unbilled.csv?${until}&sort=name`)).text.split('\r\n')
  assert.equal(file.length, 54)
  assert.equal(file[1], `Paged 00,${String(clients[0])},,1,2025-01-15,100.00,EUR`)
  assert.equal((await paula.get('/invoices/unbilled?cursor=x')).error['field'], 'cursor')
})

test('nothing is billed twice or lost while entries and drafts are made at once', async () => {
  const client = await firm.client(anna)
  const entries: string[] = []
  for (let index = 0; index < 12; index++) entries.push((await enterTime(client)).headers.get('location') ?? '')
  const answers = await Promise.all([
    ...Array.from({ length: 6 }, () => draft(client)),
    ...entries.map((entry, index) => anna.send('PATCH', entry, { minutes: 30 + index }, any)),
    ...Array.from({ length: 6 }, () => enterTime(client)),
  ])
  for (const { status, text } of answers) assert.ok([200, 201, 409].includes(status), text)
  assert.ok(answers.slice(0, 6).some(({ status }) => status === 201))
  await draft(client)
  const { json } = ok(await paula.get(`/invoices?client=${client}`))
  const drafts = await Promise.all(
    listAt(json, 'invoices').map(async (each) => ok(await paula.get(`/invoices/${String(at(each, 'id'))}`))),
  )
  const billed = drafts.flatMap((each) => listAt(each.json, 'lines')).map((line) => String(at(line, 'entry')))
  assert.deepEqual([billed.length, new Set(billed).size], [18, 18])
  const { json: listed } = ok(await anna.get(`/clients/${client}/time_entries`))
  assert.deepEqual(new Set(billed), new Set(listAt(listed, 'time_entries').map((each) => at(each, 'id'))))
  assert.equal(await unbilled(client), undefined)
})

/** An entry as the test expects it. `on` is the index of the invoice that bills it. */
interface Expected {
  readonly path: string
  minutes: number
  billable: boolean
  archived: boolean
  on: number | undefined
}

const step = fc.oneof(
  fc.record({ do: fc.constantFrom('enter' as const), minutes: fc.integer({ min: 1, max: 1440 }) }),
  fc.record({
    do: fc.constantFrom('change' as const, 'switch' as const, 'archive' as const, 'restore' as const),
    which: fc.nat(9),
  }),
  fc.record({ do: fc.constantFrom('draft' as const) }),
  fc.record({
    do: fc.constantFrom('void' as const, 'issue' as const, 'credit' as const, 'part' as const),
    which: fc.nat(4),
  }),
)

test('B102: over any history, what is billed and what is not is everything', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 16 }), async (steps) => {
      const client = await firm.client(anna)
      const entries: Expected[] = []
      const invoices: { path: string; state: 'draft' | 'issued' | 'gone' }[] = []
      for (const each of [{ do: 'enter' as const, minutes: 20 }, ...steps, { do: 'draft' as const }]) {
        await play(each, client, { entries, invoices })
        const due = entries.filter(({ billable, archived, on }) => billable && !archived && on === undefined)
        const row = await unbilled(client)
        assert.equal(row?.['items'] ?? 0, due.length, JSON.stringify(steps))
      }
      for (const [index, { path, state }] of invoices.entries()) {
        if (state === 'gone') continue
        const lines = listAt(ok(await paula.get(path)).json, 'lines')
        const expected = entries.filter(({ on }) => on === index)
        assert.deepEqual(
          new Set(lines.map((line) => `${String(at(line, 'entry'))} ${String(at(line, 'quantity'))}`)),
          new Set(expected.map((entry) => `${entry.path.split('/').at(-1)} ${entry.minutes}`)),
        )
      }
    }),
    draws({ test: 6, endure: 60 }),
  )
})

interface Books {
  readonly entries: Expected[]
  readonly invoices: { path: string; state: 'draft' | 'issued' | 'gone' }[]
}
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never

async function play(each: Step, client: string, { entries, invoices }: Books): Promise<void> {
  switch (each.do) {
    case 'enter': {
      const path = (await enterTime(client, { minutes: each.minutes })).headers.get('location') ?? ''
      entries.push({ path, minutes: each.minutes, billable: true, archived: false, on: undefined })
      return
    }
    case 'draft': {
      const due = entries.filter(({ billable, archived, on }) => billable && !archived && on === undefined)
      const made = ok(await draft(client), due.length === 0 ? 409 : 201)
      for (const entry of due) entry.on = invoices.length
      if (due.length > 0) invoices.push({ path: pathOf(made), state: 'draft' })
      return
    }
    case 'void':
    case 'issue':
    case 'credit':
    case 'part':
      return playInvoice(each, { entries, invoices })
    default:
      return playEntry(each, entries)
  }
}

async function playEntry({ do: act, which }: { do: string; which: number }, entries: Expected[]): Promise<void> {
  const entry = entries[which % entries.length]
  if (entry === undefined) return
  const { path, minutes, billable, archived, on } = entry
  const isRestore = act === 'restore'
  if (isRestore !== archived) return
  const isClosed = on !== undefined
  if (act === 'archive') ok(await anna.send('DELETE', path, undefined, any), isClosed ? 409 : 204)
  if (isRestore) ok(await anna.send('POST', `${path}/restore`, undefined, any))
  const edit = act === 'change' ? { minutes: (minutes % 1440) + 1 } : { billable: !billable }
  if (act === 'change' || act === 'switch') ok(await anna.send('PATCH', path, edit, any), isClosed ? 409 : 200)
  if (isClosed) return
  if (act === 'archive' || isRestore) entry.archived = !archived
  else Object.assign(entry, edit)
}

async function playInvoice(
  { do: act, which }: { do: string; which: number },
  { entries, invoices }: Books,
): Promise<void> {
  const index = invoices.length === 0 ? 0 : which % invoices.length
  const invoice = invoices[index]
  if (invoice === undefined) return
  const isDraft = invoice.state === 'draft'
  if (isDraft && act === 'issue') {
    ok(await paula.send('POST', `${invoice.path}/issue`, undefined, any))
    invoice.state = 'issued'
  }
  if (isDraft && act === 'void') {
    ok(await paula.send('POST', `${invoice.path}/void`, undefined, any))
    invoice.state = 'gone'
  }
  if (invoice.state === 'issued' && !isDraft && (act === 'credit' || act === 'part')) {
    const part = { lines: [{ position: 1, quantity: '0.000001' }] }
    const note = await post(paula, `${invoice.path}/credit`, act === 'part' ? part : {})
    await issue(note)
    if (act === 'credit') invoice.state = 'gone'
  }
  if (invoice.state !== 'gone') return
  for (const entry of entries) if (entry.on === index) entry.on = undefined
}
