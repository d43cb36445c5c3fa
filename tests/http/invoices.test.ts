import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import { assertRefused, ok, type Answer } from '../support/answer.ts'
import { startService, upstreamModel, type ServiceOptions } from '../support/service.ts'
import { openFirm, startFirm, sessionAt } from '../support/firm.ts'
import { issueEarlier } from '../support/issue-earlier.ts'
import { at, listAt, objectAt, type Json, valuesOf } from '../support/json.ts'
import { addPastUsage } from '../support/past-usage.ts'
import { announced } from '../support/tamper.ts'
import { until } from '../support/until.ts'
import { waitingForLocks } from '../support/waiting-for-locks.ts'
import { billing, fee, pathOf, tagOf } from '../support/billing.ts'
import { fixture } from '../support/fixture.ts'
import { verifyAtEnd } from '../support/verified.ts'
import { eventsOf } from '../support/recorded.ts'

const { firm, anna, paula } = openFirm(() => ({
  currency: 'EUR',
  firm: { name: 'Berg & Partner', address: ['1 High Street', 'Bristol'], locale: 'en-GB' },
  invoicing: {
    due_days: 14,
    tax_number: 'GB123',
    bank: { iban: 'DE89 3704 0044 0532 0130 00' },
    tax: [
      { id: 'standard', category: 'S', rate: '19' },
      { id: 'reduced', category: 'S', rate: '7' },
      { id: 'exempt', category: 'E', reason: 'Exempt under article 132' },
      { id: 'outside', category: 'O', reason: 'Not subject to tax' },
    ],
  },
}))
const petra = fixture(() => firm.join('Petra', 'partner'))
const database = () => firm.service.database
verifyAtEnd(database)
const { attempt, bill, read, change, issue, discard, credit, pay: recordPayment } = billing(paula)
/** A day on which an issued invoice may have been paid: today, in UTC as for the firm. */
const day = () => new Date().toISOString().slice(0, 10)
const nextYear = () => new Date().getUTCFullYear() + 1

/** What an invoice states of a buyer with a name only. */
const nothingElse = { address: null, tax_number: null, reference: null, order_number: null }

const draft = async (body: object = {}) => bill({ client: await firm.client(anna, 'Harbour Lane Bakery'), ...body })

/** `issueEarlier` issues only those to accounts. */
const accountDraft = async () => bill({ account: (await firm.service.customer()).accountId })

const issued = async (body: object = {}) => issue(await draft(body))

const billMarch = async (id: string) => ok(await create({ account: id, month: '2026-03' }), 201)
const create = (body: object) => paula.send('POST', '/invoices', body)
const sendKeyed = (address: string, body: object, key: string) =>
  paula.send('POST', address, body, { 'idempotency-key': key })
const pick = (json: Json, ...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, json[name]]))
const recorded = (answer: Answer) => eventsOf(answer, database(), 'action, outcome, person_id, client_id, details')
const useCurrency = (currency: string) =>
  database().rows(announced('update books_currency set currency = $1'), [currency])

/** A line for tokens of the model `ruled`. */
const tokens = (name: string, count: string, price: string) => [`ruled: ${name}`, count, 'million_tokens', price]

/** Sends requests about an issued invoice, of which none is done before another one has begun. */
async function atOnce({ json }: Answer, send: () => Promise<Answer>[]): Promise<Answer[]> {
  const { sent } = await database().transaction(async (tx) => {
    await tx.rows('select from invoice where id = $1 for no key update', [json['id']])
    const all = Promise.all(send())
    await until(async () => (await waitingForLocks(database())) > 1)
    return { sent: all }
  })
  return sent
}

/** Another instance on the same database, and Paula's session there. */
async function startBeside(options: Partial<ServiceOptions>) {
  const models = [upstreamModel('http://127.0.0.1:9/v1')]
  const { url, close } = await startService({ models, databaseUrl: firm.service.databaseUrl, ...options })
  return { session: sessionAt(url, paula.cookie), [Symbol.asyncDispose]: close }
}

/** One in another currency, which the books have until it is closed. */
async function startIn(currency: string) {
  await useCurrency(currency)
  const other = await startBeside({ currency, firm: { name: 'Firm' } })
  return {
    ...other,
    async [Symbol.asyncDispose]() {
      await other[Symbol.asyncDispose]()
      await useCurrency('EUR')
    },
  }
}

describe('an invoice to a client', () => {
  test('is drafted, changed, issued and paid', async () => {
    const made = await draft({ note: 'Thank you.' })
    assert.equal(made.headers.get('location'), pathOf(made))
    assert.equal(made.headers.get('etag'), '"1"')
    assert.deepEqual(
      pick(made.json, 'status', 'number', 'seller', 'net', 'tax', 'gross', 'open', 'currency', 'version'),
      {
        status: 'draft',
        number: null,
        seller: null,
        net: '100.00',
        tax: '19.00',
        gross: '119.00',
        open: '0.00',
        currency: 'EUR',
        version: 1,
      },
    )

    const lines = [
      { text: 'Advice', quantity: '3.5', unit: 'hour', unit_price: '180' },
      { text: 'Book', quantity: '1', unit: 'piece', unit_price: '12.345678', tax: 'reduced' },
    ]
    const changed = await change(made, { lines, buyer: { tax_number: 'DE 1' } })
    assert.deepEqual(pick(changed.json, 'net', 'tax', 'gross', 'rounding', 'note'), {
      net: '642.35',
      tax: '120.56',
      gross: '762.91',
      rounding: '0.004322',
      note: 'Thank you.',
    })
    assert.deepEqual(changed.json['taxes'], [
      { category: 'S', rate: '19', reason: null, net: '630.00', tax: '119.70' },
      { category: 'S', rate: '7', reason: null, net: '12.35', tax: '0.86' },
    ])

    const earliest = day()
    const done = await issue(changed)
    const issuedOn = String(done.json['issued_on'])
    assert.ok(issuedOn >= earliest && issuedOn <= day(), issuedOn)
    const due = new Date(Date.parse(issuedOn) + 14 * 86_400_000).toISOString().slice(0, 10)
    assert.deepEqual(pick(done.json, 'status', 'number', 'due_on', 'open', 'version', 'buyer'), {
      status: 'open',
      number: `INV-${issuedOn.slice(0, 4)}-0001`,
      due_on: due,
      open: '762.91',
      version: 3,
      buyer: { ...nothingElse, name: 'Harbour Lane Bakery', tax_number: 'DE 1' },
    })
    assert.deepEqual(done.json['seller'], {
      name: 'Berg & Partner',
      address: ['1 High Street', 'Bristol'],
      email: null,
      phone: null,
      website: null,
      tax_number: 'GB123',
      bank: { name: 'Berg & Partner', iban: 'DE89370400440532013000', bic: null },
      country: 'GB',
    })

    const part = await recordPayment(made, { date: day(), amount: '62.91' })
    assert.deepEqual(pick(part.json, 'status', 'paid', 'open'), {
      status: 'partly_paid',
      paid: '62.91',
      open: '700.00',
    })
    const all = await recordPayment(made, { date: day(), amount: '700', reference: 'INV 1' })
    assert.deepEqual(pick(all.json, 'status', 'open'), { status: 'paid', open: '0.00' })
    assert.deepEqual(await read(made), all.json)
  })

  test('states the days of its supply, or that of its issue, and so does its credit note', async () => {
    const typed = await draft()
    assert.equal(typed.json['supply'], null)
    assert.match(typed.text, /states no day of supply/)
    const plain = (await issue(typed)).json
    const { issued_on: today } = plain
    assert.deepEqual(plain['supply'], { from: today, to: today, is_stated: true })
    const days = { from: '2026-02-01', to: '2026-02-27' }
    const stated = await issued({ supply: days })
    assert.deepEqual(stated.json['supply'], { ...days, is_stated: true })
    const note = await credit(stated)
    assert.deepEqual(note.json['supply'], { ...days, is_stated: false })
    const credited = await issue(note)
    assert.deepEqual(credited.json['supply'], { ...days, is_stated: true })
    const changed = await draft({ supply: days })
    const refused = await paula.send(
      'PATCH',
      pathOf(changed),
      { supply: { ...days, to: '2026-01-31' } },
      tagOf(changed),
    )
    assertRefused(refused, 'invalid_field', 'supply.to')
    assert.equal((await change(changed, { supply: null })).json['supply'], null)
  })

  test('B87: leaves audit events that name no client, so that its consultant sees none of them', async () => {
    const done = await issued()
    assert.deepEqual(await recorded(done), [
      {
        action: 'invoice_issued',
        outcome: 'allowed',
        person_id: paula.id,
        client_id: null,
        details: { number: done.json['number'] },
      },
    ])
    const made = await draft()
    assert.equal(at(await recorded(made), 0, 'action'), 'invoice_created')
    const gone = await discard(made)
    assert.equal(at(await recorded(gone), 0, 'action'), 'invoice_voided')
    const client = objectAt(done.json, 'payer')['id']
    for (const address of [`/clients/${String(client)}`, `/clients/${String(client)}/activity`]) {
      const seen = ok(await anna.get(address))
      // The digits alone may be part of an id.
      assert.doesNotMatch(seen.text, /"119(\.\d+)?"|invoice/)
    }
  })

  test('can have flat fees, which are credited and in its files like other lines', async () => {
    const flat = { text: 'Incorporation', quantity: '3', unit: 'lump_sum', unit_price: '333.333333' }
    const made = await draft({ lines: [flat] })
    assert.deepEqual(
      pick(objectAt(made.json, 'lines', 0), 'source', 'unit', 'quantity', 'unit_price', 'exact', 'net'),
      {
        source: 'fee',
        unit: 'lump_sum',
        quantity: '3',
        unit_price: '333.333333',
        exact: '999.999999',
        net: '1000.00',
      },
    )
    const done = await issue(made)
    const xml = await paula.get(`${pathOf(done)}/xml`)
    assert.match(xml.text, /<ram:ChargeAmount>333\.333333<\/ram:ChargeAmount>/)
    assert.match(xml.text, /<ram:BilledQuantity unitCode="LS">3<\/ram:BilledQuantity>/)
    const part = { lines: [{ position: 1, quantity: '1' }] }
    const note = await credit(done, part)
    assert.equal(note.json['net'], '333.33')
    await issue(note)
    const byMinute = { client: 'x', lines: [{ ...flat, unit: 'minute' }] }
    assertRefused(await create(byMinute), 'invalid_field', 'lines[0].unit')
  })

  test('keeps the names and the address of its issue', async () => {
    const made = await draft()
    const client = `/clients/${String(objectAt(made.json, 'payer')['id'])}`
    ok(await anna.send('PATCH', client, { address: '4 Harbour Lane' }, { 'if-match': '*' }))
    const done = await issue(made)
    ok(await anna.send('PATCH', client, { name: 'Other', address: 'Elsewhere' }, { 'if-match': '*' }))
    const later = await read(made)
    assert.deepEqual(later, done.json)
    assert.deepEqual(later['buyer'], { ...nothingElse, name: 'Harbour Lane Bakery', address: '4 Harbour Lane' })
  })

  test('copies the billing details of its client, whose later changes reach no draft and no invoice', async () => {
    const client = await firm.client(anna, 'Quay & Sons')
    const details = {
      vat_number: 'se556677889901',
      billing_street: 'Storgatan 1',
      billing_postcode: '111 22',
      billing_city: 'Stockholm',
      billing_country: 'SE',
      buyer_reference: 'Dept. 7',
      order_number: 'PO-1',
      days_to_pay: 10,
    }
    const edit = async (body: object) => ok(await anna.send('PATCH', `/clients/${client}`, body, { 'if-match': '*' }))
    await edit(details)
    const made = await bill({ client })
    const copied = {
      name: 'Quay & Sons',
      address: 'Storgatan 1\n111 22 Stockholm\nSweden',
      tax_number: 'SE556677889901',
      reference: 'Dept. 7',
      order_number: 'PO-1',
    }
    assert.deepEqual(pick(made.json, 'buyer', 'days_to_pay'), { buyer: copied, days_to_pay: 10 })
    const start = ok(await paula.get(`/invoices/new?client=${client}`)).json
    assert.deepEqual(pick(start, 'buyer', 'days_to_pay', 'due_days'), { buyer: copied, days_to_pay: 10, due_days: 14 })

    await edit({ vat_number: null, billing_city: 'Lund', order_number: 'PO-2', days_to_pay: 20 })
    const bought = { ...copied, address: 'Storgatan 1\n111 22 Lund\nSweden', tax_number: null, order_number: 'PO-2' }
    const other = await bill({ client, buyer: { reference: null, order_number: 'PO-3' } })
    assert.deepEqual(other.json['buyer'], { ...bought, reference: null, order_number: 'PO-3' })
    const written = await paula.send('PATCH', pathOf(other), { buyer: { address: 'PO box 1' } }, tagOf(other))
    assert.equal(at(ok(written).json, 'buyer', 'address'), 'PO box 1')
    const followed = await paula.send('PATCH', pathOf(written), { buyer: { address: null } }, tagOf(written))
    assert.equal(at(ok(followed).json, 'buyer', 'address'), bought.address)
    assert.deepEqual(await read(made), made.json)

    const changed = await change(made, { note: 'Thank you.' })
    const done = await issue(changed)
    const due = Temporal.PlainDate.from(String(done.json['issued_on'])).add({ days: 10 })
    assert.deepEqual(pick(done.json, 'buyer', 'due_on'), { buyer: copied, due_on: due.toString() })
    const { text: xml } = await paula.get(`${pathOf(done)}/xml`)
    assert.match(xml, /<ram:PostcodeCode>111 22<\/ram:PostcodeCode>\s*<ram:LineOne>Storgatan 1</)
    const note = await credit(done)
    assert.deepEqual(pick(note.json, 'buyer', 'days_to_pay'), { buyer: copied, days_to_pay: null })
    const credited = await issue(note)
    assert.deepEqual(pick(credited.json, 'buyer', 'due_on'), { buyer: copied, due_on: done.json['issued_on'] })
  })

  test('B104: is changed by nobody once it is issued', async () => {
    const done = await issued()
    assertRefused(await paula.send('PATCH', pathOf(done), { note: 'Other' }, { 'if-match': '*' }), 'conflict')
    assertRefused(await paula.send('POST', `${pathOf(done)}/issue`, undefined, { 'if-match': '*' }), 'conflict')
    assertRefused(await paula.send('POST', `${pathOf(done)}/void`, undefined, { 'if-match': '*' }), 'conflict')
    assert.deepEqual(await read(done), done.json)
  })

  test('is not issued while its client is archived, but credited', async () => {
    const [made, done] = [await draft(), await issued()]
    for (const { json } of [made, done]) {
      const client = `/clients/${String(objectAt(json, 'payer')['id'])}`
      ok(await anna.send('PATCH', client, { status: 'archived' }, { 'if-match': '*' }))
    }
    const refused = await attempt(made, 'issue')
    assertRefused(refused, 'conflict')
    assert.match(String(refused.error['reason']), /archived/)
    assert.equal((await read(made))['status'], 'draft')
    const client = objectAt(made.json, 'payer')['id']
    assertRefused(await create({ client, lines: [fee] }), 'conflict')
    await issue(await credit(done))
  })

  test('is credited even after its client was deleted, and addressed as before', async () => {
    const done = await issued()
    ok(
      await paula.send('DELETE', `/clients/${String(objectAt(done.json, 'payer')['id'])}`, undefined, {
        'if-match': '*',
      }),
      204,
    )
    const credited = await issue(await credit(done))
    assert.deepEqual(at(credited.json, 'buyer', 'name'), at(done.json, 'buyer', 'name'))
    assert.equal((await read(done))['status'], 'credited')
  })
})

describe('an invoice for a month of an account', () => {
  const prices = [400_000n, 1_600_000n] as const
  const usage = [
    { day: '2026-03-01', model: 'fast', input: 1_234_567, output: 89_012, prices },
    { day: '2026-03-31', model: 'fast', input: 1, output: 0, prices },
    { day: '2026-03-31', model: 'slow', input: 3, output: 7, prices: [1n, 2n] as const },
    { day: '2026-04-01', model: 'fast', input: 500, output: 500, prices },
  ]

  async function account() {
    const customer = await firm.service.customer()
    await addPastUsage(database(), customer, usage)
    return customer.accountId
  }

  test('A20: has a line for each model, direction and price, and sums to its ledger', async () => {
    const id = await account()
    const made = await billMarch(id)
    const lines = listAt(made.json, 'lines').map((line) =>
      pick(objectAt(line), 'text', 'quantity', 'unit_price', 'exact', 'net'),
    )
    assert.deepEqual(lines, [
      { text: 'fast: input tokens', quantity: '1.234568', unit_price: '0.4', exact: '0.4938272', net: '0.49' },
      { text: 'fast: output tokens', quantity: '0.089012', unit_price: '1.6', exact: '0.1424192', net: '0.14' },
      {
        text: 'slow: input tokens',
        quantity: '0.000003',
        unit_price: '0.000001',
        exact: '0.000000000003',
        net: '0.00',
      },
      {
        text: 'slow: output tokens',
        quantity: '0.000007',
        unit_price: '0.000002',
        exact: '0.000000000014',
        net: '0.00',
      },
    ])
    assert.deepEqual(pick(made.json, 'net', 'rounding', 'month'), {
      net: '0.63',
      rounding: '-0.006246400017',
      month: '2026-03',
    })
    const [sums] = await database().rows(
      `select (select sum(cost) from ledger where account_id = $1 and at < '2026-04-01') as ledger,
         (select sum(exact) from invoice_line where invoice_id = $2) as lines,
         (select net from invoice where id = $2) as net`,
      [id, made.json['id']],
    )
    assert.deepEqual(sums, { ledger: 636_246_400_017n, lines: 636_246_400_017n, net: 630_000_000_000n })
  })

  test('has a line for each price if the price changed', async () => {
    const customer = await firm.service.customer()
    const months = [
      { day: '2026-03-05', model: 'fast', input: 10, output: 20, prices: [3n, 5n] as const },
      { day: '2026-03-06', model: 'fast', input: 30, output: 40, prices: [7n, 11n] as const },
    ]
    await addPastUsage(database(), customer, months)
    const made = await billMarch(customer.accountId)
    assert.deepEqual(
      listAt(made.json, 'lines').map((line) => [at(line, 'quantity'), at(line, 'unit_price')]),
      [
        ['0.00001', '0.000003'],
        ['0.00002', '0.000005'],
        ['0.00003', '0.000007'],
        ['0.00004', '0.000011'],
      ],
    )
  })

  test('A20: has lines for cached input and cache writes, at their prices or as input, and sums to its ledger', async () => {
    await database().rows(
      announced(`insert into price (model, valid_from, input, output, cached_input, cache_write, source)
       values ('kept', '2025-01-01', 3, 5, 1, 4, 'command'), ('plain', '2025-01-01', 3, 5, null, null, 'command')`),
    )
    const customer = await firm.service.customer()
    const common = { day: '2026-03-05', input: 10, output: 20, prices: [3n, 5n] as const }
    await addPastUsage(database(), customer, [
      { ...common, model: 'kept', cached: [30, 1n], cacheWrite: [40, 4n] },
      { ...common, model: 'plain', cached: [30, null], cacheWrite: [40, null] },
      // The price changed in the month.
      { ...common, model: 'changed', cached: [50, 2n] },
      { ...common, model: 'changed', cached: [60, null], cacheWrite: [70, 6n] },
      { ...common, model: 'whole', input: 0, output: 0, cached: [80, 1n] },
    ])
    const made = await billMarch(customer.accountId)
    const lines = listAt(made.json, 'lines').map((line) => [
      at(line, 'text'),
      Number(at(line, 'quantity')) * 1e6,
      Number(at(line, 'unit_price')) * 1e6,
    ])
    const changed = lines.filter(([text]) => String(text).startsWith('changed'))
    const others = lines.filter(([text]) => !String(text).startsWith('changed'))
    assert.deepEqual(others, [
      ['kept: input tokens', 10, 3],
      ['kept: cached input tokens', 30, 1],
      ['kept: cache write tokens', 40, 4],
      ['kept: output tokens', 20, 5],
      ['plain: input tokens', 10, 3],
      ['plain: cached input tokens', 30, 3],
      ['plain: cache write tokens', 40, 3],
      ['plain: output tokens', 20, 5],
      ['whole: cached input tokens', 80, 1],
    ])
    assert.equal(changed.length, 5)
    for (const line of [
      ['changed: cached input tokens', 50, 2],
      ['changed: cached input tokens', 60, 3],
      ['changed: cache write tokens', 70, 6],
    ]) {
      assert.ok(
        changed.some((each) => each.join() === line.join()),
        line.join(),
      )
    }
    const [sums] = await database().rows<{ ledger: bigint; lines: bigint }>(
      `select (select sum(cost) from ledger where account_id = $1) as ledger,
         (select sum(exact) from invoice_line where invoice_id = $2) as lines`,
      [customer.accountId, made.json['id']],
    )
    assert.ok(sums && sums.ledger > 0n)
    assert.equal(sums.lines, sums.ledger)
  })

  test('has a line for each price of a model with rules, also for images, searches and longer cache writes', async () => {
    const rules = {
      cache_write_1h: '0.000008',
      service_tiers: { flex: { factor: '0.5' }, priority: { factor: '1.5' } },
      image: '0.000000007',
      tools: { web_search: '0.01' },
    }
    const [set] = await database().rows<{ number: bigint }>(
      announced(`insert into price (model, valid_from, input, output, cache_write, source, rules)
       values ('ruled', '2025-01-01', 4, 8, 6, 'command', $1) returning number`),
      [JSON.stringify(rules)],
    )
    const price = Number(set?.number)
    const customer = await firm.service.customer()
    const common = { day: '2026-03-05', model: 'ruled', input: 10, output: 20 }
    const uses = { image: [2, 7000], web_search: [3, 10_000_000_000] }
    await addPastUsage(database(), customer, [
      // Together, these two cost what the standard price would make of them.
      { ...common, prices: [2n, 4n], cacheWrite: [0, 3n], terms: { price, tier: 'flex', cost: '0' } },
      { ...common, prices: [6n, 12n], cacheWrite: [0, 9n], terms: { price, tier: 'priority', cost: '0' } },
      {
        ...common,
        prices: [4n, 8n],
        cacheWrite: [40, 6n],
        terms: { price, cache_write_1h: [25, 2], uses, cost: '30000014050' },
      },
      { ...common, prices: [4n, 8n], cacheWrite: [0, 6n], terms: { price, uses: { image: [1, 7000] }, cost: '7000' } },
    ])
    const made = await billMarch(customer.accountId)
    const lines = listAt(made.json, 'lines')
    const shown = lines.map((line) => ['text', 'quantity', 'unit', 'unit_price'].map((name) => at(line, name)))
    const expected = [
      tokens('input tokens', '0.00001', '0.000002'),
      tokens('output tokens', '0.00002', '0.000004'),
      tokens('input tokens', '0.00001', '0.000006'),
      tokens('output tokens', '0.00002', '0.000012'),
      tokens('input tokens', '0.00002', '0.000004'),
      tokens('output tokens', '0.00004', '0.000008'),
      tokens('cache write tokens', '0.000015', '0.000006'),
      tokens('cache write tokens, kept for an hour', '0.000025', '0.000008'),
      ['ruled: images', '0.003', 'thousand_uses', '0.000007'],
      ['ruled: web searches', '0.003', 'thousand_uses', '10'],
    ]
    assert.deepEqual(shown.map(String).toSorted(), expected.map(String).toSorted())
    const exact = await database().rows<{ same: boolean }>(
      `select (select sum(cost) from ledger where account_id = $1) = (select sum(exact) from invoice_line where invoice_id = $2) as same`,
      [customer.accountId, made.json['id']],
    )
    assert.deepEqual(exact, [{ same: true }])
  })

  test('keeps its usage when typed lines are added and replaced', async () => {
    const made = await billMarch(await account())
    const more = await change(made, { lines: [fee] })
    assert.deepEqual(valuesOf(listAt(more.json, 'lines'), 'source'), ['usage', 'usage', 'usage', 'usage', 'fee'])
    const fewer = await change(more, { lines: [] })
    assert.deepEqual(fewer.json['lines'], made.json['lines'])
  })

  test('is addressed to the billing details of the account as they are at its issue, and its credit note too', async () => {
    const id = await account()
    const setDetails = async (body: object) =>
      ok(await paula.send('PATCH', `/accounts/${id}`, body, { 'if-match': '*' }))
    const made = await billMarch(id)
    const { name } = objectAt(made.json, 'buyer')
    assert.deepEqual(made.json['buyer'], { ...nothingElse, name })
    await setDetails({
      billing_name: 'Acme Ltd',
      billing_address: '7 Quay Street\nBristol',
      billing_tax_number: 'GB 123',
    })
    const billed = { ...nothingElse, name: 'Acme Ltd', address: '7 Quay Street\nBristol', tax_number: 'GB 123' }
    assert.deepEqual((await read(made))['buyer'], billed)
    const own = { address: '1 High Street' }
    const changed = await change(made, { buyer: own })
    assert.deepEqual(changed.json['buyer'], { ...billed, ...own })
    const done = await issue(changed)
    await setDetails({ billing_name: 'Other Ltd', billing_address: null, billing_tax_number: 'GB 456' })
    assert.deepEqual((await read(made))['buyer'], { ...billed, ...own })
    const note = await credit(done)
    const credited = await issue(note)
    assert.deepEqual(credited.json['buyer'], { ...billed, ...own })
    assert.equal(credited.json['due_on'], credited.json['issued_on'])
  })

  test('has a credit note without an address if it has none, whatever the account has since', async () => {
    const id = await account()
    const made = await billMarch(id)
    const done = await issue(made)
    const details = { billing_address: '7 Quay Street', billing_tax_number: 'GB 123' }
    ok(await paula.send('PATCH', `/accounts/${id}`, details, { 'if-match': '*' }))
    const note = await credit(done)
    const credited = await issue(note)
    assert.deepEqual(credited.json['buyer'], done.json['buyer'])
  })

  test('is made once, until it is void or credited in full', async () => {
    const id = await account()
    const first = await billMarch(id)
    const again = await create({ account: id, month: '2026-03' })
    assertRefused(again, 'conflict', 'month')
    await discard(first)

    const second = await billMarch(id)
    const done = await issue(second)
    assertRefused(await create({ account: id, month: '2026-03' }), 'conflict', 'month')
    const note = await credit(done)
    assertRefused(await create({ account: id, month: '2026-03' }), 'conflict', 'month')
    await issue(note)
    await billMarch(id)
  })

  test('is refused while the month is not over, and for an unknown account', async () => {
    const id = await account()
    const notOver = [day().slice(0, 7), `${nextYear()}-01`]
    for (const month of [...notOver, '2026-13', '2026-00', '26-01', 'March']) {
      assertRefused(await create({ account: id, month }), 'invalid_field', 'month')
    }
    for (const other of ['01990000-0000-7000-8000-000000000000', 'unknown']) {
      assertRefused(await create({ account: other, month: '2026-03' }), 'invalid_field', 'account')
    }
    const client = await firm.client(anna)
    assertRefused(await create({ client, month: '2026-03' }), 'invalid_field', 'month')
    assertRefused(await create({ client, account: id }), 'invalid_field', 'client')
    assertRefused(await create({}), 'invalid_field', 'client')
  })

  test('of a closed account is still issued', async () => {
    const id = await account()
    await firm.service.accounts.close(id, byService)
    const made = await billMarch(id)
    await issue(made)
  })
})

describe('bad input', () => {
  test('negative, absurd and malformed amounts are refused', async () => {
    const client = await firm.client(anna)
    const refused = async (line: object, field: string) =>
      assertRefused(await create({ client, lines: [{ ...fee, ...line }] }), 'invalid_field', `lines[0].${field}`)
    for (const quantity of ['0', '-1', '1000000001', '0.0000001', '1e3', '1,5', 'NaN', '']) {
      await refused({ quantity }, 'quantity')
    }
    for (const price of ['-0.01', '1000000000001', '0.0000001', '١', ' 1']) {
      await refused({ unit_price: price }, 'unit_price')
    }
    await refused({ tax: 'standart' }, 'tax')
    await refused({ unit: 'mile' }, 'unit')
    await refused({ text: '' }, 'text')
    assertRefused(await create({ client, lines: [{ ...fee, rate: '200' }] }), 'unknown_field', 'lines[0].rate')
    assertRefused(await create({ client, lines: [fee, { ...fee, tax: 'outside' }] }), 'invalid_field', 'lines')
    const list = ok(await paula.get(`/invoices?client=${client}`))
    assert.deepEqual(list.json, { invoices: [], next: null })
  })

  test('lines outside the scope of tax are not added to others', async () => {
    const made = await draft()
    const body = { lines: [fee, { ...fee, tax: 'outside' }] }
    assertRefused(await paula.send('PATCH', pathOf(made), body, tagOf(made)), 'invalid_field', 'lines')
    assert.deepEqual(await read(made), made.json)
  })

  test('the largest amounts stay exact', async () => {
    const made = await draft({ lines: [{ ...fee, quantity: '1000000000', unit_price: '999999999999.999999' }] })
    assert.equal(made.json['net'], '999999999999999999000.00')
    assert.equal(made.json['gross'], '1189999999999999998810.00')
  })

  test('a draft without lines is not issued', async () => {
    const made = await draft({ lines: [] })
    assertRefused(await attempt(made, 'issue'), 'conflict')
  })

  test('a change needs the version that it is based on', async () => {
    const made = await draft()
    for (const verb of ['issue', 'void']) {
      assertRefused(await paula.send('POST', `${pathOf(made)}/${verb}`), 'precondition_required')
    }
    assertRefused(await paula.send('PATCH', pathOf(made), { note: 'a' }), 'precondition_required')
    await change(made, { note: 'a' })
    const stale = await petra.send('PATCH', pathOf(made), { note: 'b' }, tagOf(made))
    assert.equal(stale.status, 412)
    assert.deepEqual(pick(objectAt(stale.json, 'current'), 'note', 'version'), { note: 'a', version: 2 })
  })

  test('two partners who issue the same draft: one does, the other gets a conflict', async () => {
    const made = await draft()
    const answers = await Promise.all(
      [paula, petra, paula, petra].map((partner) =>
        partner.send('POST', `${pathOf(made)}/issue`, undefined, tagOf(made)),
      ),
    )
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
    assert.equal(statuses[0], 200)
    assert.ok(
      statuses.slice(1).every((status) => status === 409 || status === 412),
      String(statuses),
    )
  })

  test('a payment is at most what is open, and is taken back once', async () => {
    const done = await issued()
    const pay = (body: object) => attempt(done, 'payments', { date: day(), ...body })
    for (const amount of ['119.01', '-0.01', '0', '1.001', 'all', '999999999999999999999999']) {
      assertRefused(await pay({ amount }), 'invalid_field', 'amount')
    }
    const reasonFor = async (amount: string) => (await pay({ amount })).error['reason']
    assert.equal(await reasonFor('119.01'), 'The field amount must be at most what is open: 119.00.')
    assert.equal(await reasonFor('1.001'), 'The field amount must have at most 2 decimals.')
    for (const amount of ['-0.01', '-120']) {
      assert.equal(
        await reasonFor(amount),
        'The field amount must not be negative: nothing was overpaid, and 119.00 is open.',
      )
    }
    assertRefused(await pay({}), 'invalid_field', 'amount')
    const paid = ok(await pay({ amount: '119' }), 201)
    for (const amount of ['0.01', '-0.01']) {
      assertRefused(await pay({ amount }), 'invalid_field', 'amount')
      assert.equal(
        await reasonFor(amount),
        'The field amount cannot be recorded: nothing is open, and nothing was overpaid.',
      )
    }
    const reverses = at(paid.json, 'payments', 0, 'id')
    const back = ok(await pay({ reverses }), 201)
    assert.deepEqual(pick(back.json, 'status', 'paid', 'open'), { status: 'open', paid: '0.00', open: '119.00' })
    assertRefused(await pay({ reverses }), 'conflict')
    assertRefused(await pay({ reverses: at(back.json, 'payments', 1, 'id') }), 'invalid_field', 'reverses')
    assertRefused(await pay({ reverses: 'unknown' }), 'invalid_field', 'reverses')
    const made = await draft()
    assertRefused(await attempt(made, 'payments', { date: day(), amount: '1' }), 'conflict')
  })

  test('a payment is dated from the day of issue to today, and reversed no earlier than it was made', async () => {
    const made = await accountDraft()
    await issueEarlier(database(), String(made.json['id']), 5)
    const before = (days: number) => Temporal.PlainDate.from(day()).subtract({ days }).toString()
    const pay = (date: string, body: object = { amount: '1' }) => attempt(made, 'payments', { date, ...body })
    const wrong = ['2026-02-30', 'today', `${day()}T00:00Z`, '1999-12-31', before(7), before(-2), `${nextYear()}-01-01`]
    for (const date of wrong) assertRefused(await pay(date), 'invalid_field', 'date')
    const { json } = await paula.get(pathOf(made))
    assert.deepEqual(json['payments'], [])
    assert.equal(
      (await pay('1999-12-31')).error['reason'],
      `The field date must be a day from ${String(json['issued_on'])}, the day of issue, to today, ${day()} (time zone UTC).`,
    )
    const first = ok(await pay(String(json['issued_on'])), 201)
    const paid = ok(await pay(before(2)), 201)
    const reverses = at(paid.json, 'payments', 1, 'id')
    assertRefused(await pay(String(json['issued_on']), { reverses }), 'invalid_field', 'date')
    assertRefused(await pay(before(-2), { reverses }), 'invalid_field', 'date')
    ok(await pay(String(json['issued_on']), { reverses: at(first.json, 'payments', 0, 'id') }), 201)
    const back = ok(await pay(day(), { reverses }), 201)
    assert.deepEqual(pick(back.json, 'paid', 'open'), { paid: '0.00', open: '119.00' })
  })

  test('ten payments of the whole amount at the same time: one is recorded', async () => {
    const done = await issued()
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => attempt(done, 'payments', { date: day(), amount: '119' })),
    )
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [201, 400, 400, 400, 400, 400, 400, 400, 400, 400],
    )
  })

  test('a payment that is sent ten times at once with one key is recorded once, and answered ten times', async () => {
    const done = await issued()
    const key = { 'idempotency-key': '0199d0c2-61aa-7d11-9b72-4f0e8c25a7d4' }
    const amount = String(done.json['gross'])
    const pay = () => paula.send('POST', `${pathOf(done)}/payments`, { date: day(), amount }, key)
    const sent = await atOnce(done, () => Array.from({ length: 10 }, pay))
    assert.deepEqual(new Set(valuesOf(sent, 'status')), new Set([201]))
    assert.equal((await read(done))['paid'], amount)
  })

  test('a key of another payment is refused, whatever is different', async () => {
    const done = await accountDraft()
    await issueEarlier(database(), String(done.json['id']), 5)
    const [today, yesterday] = [0, 1].map((days) => Temporal.Now.plainDateISO('UTC').subtract({ days }).toString())
    const pay = (key: string, body: object) => sendKeyed(`${pathOf(done)}/payments`, { date: today, ...body }, key)
    const half = { amount: '50', method: 'cash', reference: 'A' }
    ok(await pay('0199d0c2-61aa-7d11-9b72-4f0e8c25a7d5', half), 201)
    const paid = ok(await pay('0199d0c2-61aa-7d11-9b72-4f0e8c25a7d6', half), 201)
    const others = [{ amount: '49' }, { method: 'card' }, { reference: 'B' }, { reference: undefined }]
    for (const other of [...others, { date: yesterday }]) {
      assertRefused(await pay('0199d0c2-61aa-7d11-9b72-4f0e8c25a7d6', { ...half, ...other }), 'conflict')
    }
    const [first, second] = [0, 1].map((index) => at(paid.json, 'payments', index, 'id'))
    ok(await pay('0199d0c2-61aa-7d11-9b72-4f0e8c25a7d7', { reverses: first }), 201)
    assertRefused(await pay('0199d0c2-61aa-7d11-9b72-4f0e8c25a7d7', { reverses: second }), 'conflict')
    ok(await pay('0199d0c2-61aa-7d11-9b72-4f0e8c25a7d7', { reverses: first }), 201)
    assert.equal((await read(done))['paid'], '50.00')
  })

  test('a draft in a currency that the firm no longer uses is neither changed nor issued, but invoices are credited', async () => {
    const [made, done] = [await draft(), await issued()]
    await using changed = await startIn('CHF')
    const there = billing(changed.session)
    for (const refused of [
      await changed.session.send('PATCH', pathOf(made), { lines: [{ ...fee, unit_price: '90' }] }, tagOf(made)),
      await there.attempt(made, 'issue'),
    ]) {
      assertRefused(refused, 'conflict')
      assert.match(refused.text, /The draft is in \w{3}, which the firm no longer uses/)
    }
    assert.deepEqual(await read(made), made.json)
    await there.issue(await credit(done))
  })
})

const countInvoices = async (): Promise<unknown> => (await database().rows('select count(*) from invoice'))[0]

function assertOther(answer: Answer, noun: string): void {
  assert.deepEqual([answer.status, answer.error['code']], [409, 'conflict'], answer.text)
  assert.equal(answer.error['reason'], `This Idempotency-Key was used for another ${noun}. Nothing was created.`)
}

describe('an Idempotency-Key', () => {
  test('of another draft is refused, whatever is different', async () => {
    const [client, otherClient] = [await firm.client(anna), await firm.client(anna)]
    const { accountId: account } = await firm.service.customer()
    const key = randomUUIDv7()
    const asked = { client, lines: [fee], note: 'A', buyer: { name: 'B', address: 'C', tax_number: 'D' } }
    const made = ok(await sendKeyed('/invoices', asked, key), 201)
    const before = await countInvoices()
    const others = [
      { client: otherClient },
      { client: undefined, account },
      { lines: [{ ...fee, unit_price: '99' }] },
      { lines: [{ ...fee, text: 'Other' }] },
      { lines: [{ ...fee, quantity: '2' }] },
      { lines: [{ ...fee, unit: 'day' }] },
      { lines: [{ ...fee, tax: 'reduced' }] },
      { lines: [fee, fee] },
      { lines: [] },
      { note: 'B' },
      { note: undefined },
      { buyer: undefined },
      { buyer: { ...asked.buyer, address: null } },
    ]
    for (const other of others) assertOther(await sendKeyed('/invoices', { ...asked, ...other }, key), 'draft')
    assert.deepEqual(await countInvoices(), before)
    assert.deepEqual(ok(await sendKeyed('/invoices', asked, key), 201).json, made.json)
    const same = { ...asked, lines: [{ ...fee, quantity: '1.00', tax: 'standard' }] }
    assert.deepEqual(ok(await sendKeyed('/invoices', same, key), 201).json, made.json)
    await issue(made)
    assert.equal(ok(await sendKeyed('/invoices', asked, key), 201).json['status'], 'open')
    assertOther(await sendKeyed('/invoices', { ...asked, note: 'B' }, key), 'draft')
  })

  test('finds its draft, even if that was changed or issued since', async () => {
    const [client, otherClient] = [await firm.client(anna), await firm.client(anna)]
    const key = randomUUIDv7()
    const made = ok(await sendKeyed('/invoices', { client, lines: [fee] }, key), 201)
    const changed = await change(made, { lines: [], note: 'Other' })
    assert.deepEqual(ok(await sendKeyed('/invoices', { client, lines: [fee] }, key), 201).json, changed.json)
    assertOther(await sendKeyed('/invoices', { client: otherClient, lines: [fee] }, key), 'draft')
    const plain = randomUUIDv7()
    const first = ok(await sendKeyed('/invoices', { client, lines: [fee] }, plain), 201)
    ok(await anna.send('PATCH', `/clients/${client}`, { address: '4 Harbour Lane' }, { 'if-match': '*' }))
    await issue(first)
    assert.equal(ok(await sendKeyed('/invoices', { client, lines: [fee] }, plain), 201).json['id'], first.json['id'])
  })

  test('of another month or of no month is refused', async () => {
    const customer = await firm.service.customer()
    const usage = { model: 'fast', input: 5, output: 5, prices: [1n, 2n] as const }
    await addPastUsage(database(), customer, [
      { ...usage, day: '2026-03-31' },
      { ...usage, day: '2026-04-30' },
    ])
    const account = customer.accountId
    const key = randomUUIDv7()
    const made = ok(await sendKeyed('/invoices', { account, month: '2026-03' }, key), 201)
    assertOther(await sendKeyed('/invoices', { account, month: '2026-04' }, key), 'draft')
    assertOther(await sendKeyed('/invoices', { account }, key), 'draft')
    assert.equal(ok(await sendKeyed('/invoices', { account, month: '2026-03' }, key), 201).json['id'], made.json['id'])
    const [billed] = await database().rows('select count(*) from billed_month where account_id = $1', [account])
    assert.deepEqual(billed, { count: 1n })
  })

  test('of another credit note is refused, whatever is different', async () => {
    const done = await issued({ lines: [{ ...fee, quantity: '3' }, fee] })
    const creditOnce = (body: object, key: string) => sendKeyed(`${pathOf(done)}/credit`, body, key)
    const [all, part] = [randomUUIDv7(), randomUUIDv7()]
    const whole = ok(await creditOnce({}, all), 201)
    const partBody = { lines: [{ position: 1, quantity: '0.1' }], note: 'Less.' }
    const some = ok(await creditOnce(partBody, part), 201)
    const before = await countInvoices()
    for (const other of [
      { lines: [{ position: 1, quantity: '0.1' }] },
      { lines: [{ position: 1 }] },
      {
        lines: [
          { position: 1, quantity: '3' },
          { position: 2, quantity: '0.5' },
        ],
      },
      { lines: [{ position: 3 }] },
      { note: 'Other' },
    ]) {
      assertOther(await creditOnce(other, all), 'credit note')
    }
    for (const other of [
      {},
      { ...partBody, lines: undefined },
      { ...partBody, lines: [{ position: 1, quantity: '0.2' }] },
      { ...partBody, lines: [{ position: 1, quantity: 'x' }] },
      { ...partBody, lines: [{ position: 1 }] },
      { ...partBody, lines: [{ position: 2, quantity: '0.1' }] },
      { ...partBody, lines: [...partBody.lines, { position: 2 }] },
      { lines: partBody.lines },
    ]) {
      assertOther(await creditOnce(other, part), 'credit note')
    }
    assert.deepEqual(await countInvoices(), before)
    assert.deepEqual(ok(await creditOnce({}, all), 201).json, whole.json)
    assert.deepEqual(ok(await creditOnce(partBody, part), 201).json, some.json)
    // The rest is less than it was when the first request asked for it.
    await issue(some)
    assert.equal(ok(await creditOnce({}, all), 201).json['id'], whole.json['id'])
    const [rest, key] = [{ lines: [{ position: 1 }] }, randomUUIDv7()]
    const last = await issue(ok(await creditOnce(rest, key), 201))
    assert.equal(ok(await creditOnce(rest, key), 201).json['id'], last.json['id'])
    assertOther(await creditOnce({}, key), 'credit note')
  })
})

describe('a credit note', () => {
  test('corrects an invoice in part, and never by more than it is for', async () => {
    const done = await issued({ lines: [{ ...fee, quantity: '3' }] })
    const hour = { lines: [{ position: 1, quantity: '1' }] }
    const note = await credit(done, { ...hour, note: 'One hour less.' })
    assert.deepEqual(pick(note.json, 'kind', 'status', 'gross', 'credits'), {
      kind: 'credit_note',
      status: 'draft',
      gross: '119.00',
      credits: pick(done.json, 'id', 'number'),
    })
    assert.equal((await read(done))['open'], '357.00')
    const credited = await issue(note)
    assert.match(String(credited.json['number']), /^CN-\d{4}-\d{4}$/)
    const later = await read(done)
    assert.deepEqual(pick(later, 'status', 'paid', 'credited', 'open'), {
      status: 'open',
      paid: '0.00',
      credited: '119.00',
      open: '238.00',
    })
    assert.deepEqual(later['credit_notes'], [pick(credited.json, 'id', 'number')])

    assert.equal(at(later, 'lines', 0, 'quantity_left'), '2')
    const tooMuch = await attempt(done, 'credit', { lines: [{ position: 1, quantity: '2.000001' }] })
    assertRefused(tooMuch, 'invalid_field', 'lines[0].quantity')
    const [rest, rival] = [await credit(done), await credit(done, hour)]
    assert.deepEqual([rest.json['net'], at(rest.json, 'lines', 0, 'quantity')], ['200.00', '2'])
    await issue(await credit(done))
    assertRefused(await attempt(rest, 'issue'), 'conflict')
    assert.deepEqual(pick(await read(done), 'status', 'open'), { status: 'credited', open: '0.00' })
    assertRefused(await attempt(rival, 'issue'), 'conflict')
    assertRefused(await attempt(done, 'credit', {}), 'conflict')
    assertRefused(await attempt(done, 'credit', { lines: [{ position: 1 }] }), 'invalid_field', 'lines[0].quantity')
    assert.equal((await read(rival))['status'], 'draft')
  })

  test('for a part after others is rounded with them, so that all parts sum to the invoice', async () => {
    const lines = [
      { ...fee, quantity: '3', unit_price: '0.335' },
      { ...fee, quantity: '3', unit_price: '0.335', tax: 'reduced' },
    ]
    const done = await issued({ lines })
    assert.deepEqual(pick(done.json, 'net', 'tax'), { net: '2.00', tax: '0.26' })
    const thirds = [1, 2].map((position) => ({ position, quantity: '1' }))
    const creditThirds = () => credit(done, { lines: thirds })
    const [first, early] = [await creditThirds(), await creditThirds()]
    await issue(first)
    const refused = await attempt(early, 'issue')
    assertRefused(refused, 'conflict')
    assert.match(String(refused.error['reason']), /credited after/)
    const second = await creditThirds()
    const noted = await change(second, { note: 'Again.' })
    assert.deepEqual(pick(noted.json, 'net', 'tax', 'taxes'), pick(second.json, 'net', 'tax', 'taxes'))
    await issue(noted)
    const last = await creditThirds()
    await issue(last)
    const parts = [first, second, last].map(({ json }) => [json['net'], json['tax']])
    // Each by itself would be 0.68 and 0.08, which is 2.04 and 0.24 in all.
    assert.deepEqual(parts, [
      ['0.68', '0.08'],
      ['0.66', '0.10'],
      ['0.66', '0.08'],
    ])
    assert.deepEqual(pick(await read(done), 'status', 'credited', 'open'), {
      status: 'credited',
      credited: '2.26',
      open: '0.00',
    })
  })

  test('is refused if another one, issued at the same moment, leaves nothing to credit', async () => {
    const done = await issued()
    const notes = [await credit(done), await credit(done)]
    const sent = await atOnce(done, () => notes.map((note) => attempt(note, 'issue')))
    assert.deepEqual(new Set(valuesOf(sent, 'status')), new Set([200, 409]))
    assert.deepEqual(pick(await read(done), 'status', 'open'), { status: 'credited', open: '0.00' })
  })

  test('of a paid invoice leaves money to return, and not more', async () => {
    const done = await issued()
    const pay = (amount: string) => attempt(done, 'payments', { date: day(), amount })
    ok(await pay('119'), 201)
    const credited = await issue(await credit(done))
    assert.equal(credited.json['open'], '0.00')
    assert.equal((await read(done))['open'], '-119.00')
    const reasons = [
      ['-119.01', 'must return at most what was overpaid: 119.00.'],
      ['1', 'must be negative, for a return: nothing is open, and 119.00 was overpaid.'],
    ] as const
    for (const [amount, reason] of reasons) {
      const refused = await pay(amount)
      assertRefused(refused, 'invalid_field', 'amount')
      assert.equal(refused.error['reason'], `The field amount ${reason}`)
    }
    ok(await pay('-119'), 201)
    assertRefused(await pay('-0.01'), 'invalid_field', 'amount')
    assertRefused(await attempt(credited, 'payments', { date: day(), amount: '1' }), 'conflict')
  })

  test('needs an issued invoice and lines that this has', async () => {
    const made = await draft()
    assertRefused(await attempt(made, 'credit', {}), 'conflict')
    const done = await issued()
    const creditLines = (lines: readonly object[]) => attempt(done, 'credit', { lines })
    assertRefused(await creditLines([{ position: 2 }]), 'invalid_field', 'lines[0].position')
    assertRefused(await creditLines([{ position: 1, quantity: '1.1' }]), 'invalid_field', 'lines[0].quantity')
    assertRefused(await creditLines([{ position: 1, quantity: '-1' }]), 'invalid_field', 'lines[0].quantity')
    assertRefused(await creditLines([{ position: 1 }, { position: 1 }]), 'invalid_field', 'lines')
    const note = ok(await creditLines([{ position: 1 }]), 201)
    assertRefused(await paula.send('PATCH', pathOf(note), { lines: [fee] }, tagOf(note)), 'invalid_field', 'lines')
    assertRefused(await attempt(note, 'credit', {}), 'conflict')
  })
})

describe('what a new draft can have', () => {
  test('are the taxes, and of its payer the buyer and the months to bill', async () => {
    const customer = await firm.service.customer()
    const prices = [1n, 2n] as const
    await addPastUsage(database(), customer, [
      { day: '2026-02-28', model: 'fast', input: 1_000_000, output: 0, prices },
      { day: '2026-03-31', model: 'fast', input: 5, output: 5, prices },
    ])
    const of = async (query: string) => ok(await paula.get(`/invoices/new${query}`)).json
    const none = await of('')
    assert.deepEqual(pick(none, 'currency', 'decimals', 'payer', 'buyer', 'months'), {
      currency: 'EUR',
      decimals: 2,
      payer: null,
      buyer: null,
      months: [],
    })
    assert.deepEqual(listAt(none, 'taxes')[2], {
      id: 'exempt',
      category: 'E',
      rate: '0',
      reason: 'Exempt under article 132',
    })
    const id = customer.accountId
    const monthsOf = async () => listAt(await of(`?account=${id}`), 'months')
    assert.deepEqual(await monthsOf(), [
      { month: '2026-03', cost: '0.000000000015' },
      { month: '2026-02', cost: '0.000001' },
    ])
    await billMarch(id)
    assert.deepEqual(await monthsOf(), [{ month: '2026-02', cost: '0.000001' }])
    const client = await firm.client(anna, 'Quay & Sons')
    assert.deepEqual(pick(await of(`?client=${client}`), 'payer', 'buyer', 'months'), {
      payer: { kind: 'client', id: client, name: 'Quay & Sons' },
      buyer: { ...nothingElse, name: 'Quay & Sons' },
      months: [],
    })
    assert.equal((await of(`?client=${client}`))['unbilled'], null)
    const entry = { date: '2026-03-12', minutes: 90, rate: '100', text: 'Advice' }
    ok(await anna.send('POST', `/clients/${client}/time_entries`, entry), 201)
    ok(
      await anna.send('POST', `/clients/${client}/expenses`, { date: '2026-03-13', amount: '34.50', text: 'Train' }),
      201,
    )
    const unbilled = objectAt(await of(`?client=${client}`), 'unbilled')
    assert.deepEqual(pick(unbilled, 'items', 'amount'), { items: 2, amount: '184.50' })
    assert.equal((await of(`?account=${id}`))['unbilled'], null)
    const asked = await create({ client, unbilled_until: unbilled['until'] })
    assert.equal(ok(asked, 201).json['net'], '184.50', 'a draft bills what the form says')
    assert.equal((await of(`?client=${client}`))['unbilled'], null)
    for (const [payer, outcome] of [
      [client, 'allowed'],
      ['x', 'refused'],
    ] as const) {
      const [event] = await recorded(await paula.get(`/invoices/new?client=${payer}`))
      assert.deepEqual([event?.['action'], event?.['outcome']], ['invoice_options_read', outcome])
    }
    assertRefused(await paula.get(`/invoices/new?client=${id}`), 'invalid_field', 'client')
    assertRefused(await paula.get('/invoices/new?account=x'), 'invalid_field', 'account')
    assert.equal((await anna.get(`/invoices/new?client=${client}`)).status, 403)
  })
})

describe('the report', () => {
  test('has what each payer owes by how late it is, and the turnover less credit notes', async () => {
    await using other = await startFirm({ currency: 'EUR', firm: { name: 'Firm' }, invoicing: { due_days: 0 } })
    const partner = await other.join('Paula', 'partner')
    const send = async (path: string, body: object | undefined, status: number) =>
      ok(await partner.send('POST', path, body, { 'if-match': '*' }), status).json
    const account = async (name: string) => String((await send('/accounts', { name }, 201))['id'])
    const drafted = async (payer: string, price: string) =>
      String((await send('/invoices', { account: payer, lines: [{ ...fee, unit_price: price }] }, 201))['id'])
    const [quay, berg] = [await account('Quay'), await account('=Berg')]
    const late: [string, string, number][] = [
      [quay, '1', 0],
      [quay, '2', 1],
      [quay, '4', 30],
      [quay, '8', 31],
      [berg, '16', 60],
      [berg, '32', 61],
      [berg, '64', 90],
      [berg, '128', 91],
    ]
    for (const [payer, price, days] of late) {
      await issueEarlier(other.service.database, await drafted(payer, price), days)
    }
    const under = async (status: string) =>
      listAt(ok(await partner.get(`/invoices?status=${status}`)).json, 'invoices').map((each) => at(each, 'gross'))
    assert.deepEqual(await under('open'), ['1.00'], 'what is due today is not overdue')
    assert.equal((await under('overdue')).length, late.length - 1)
    const paid = await drafted(quay, '5')
    await send(`/invoices/${paid}/issue`, undefined, 200)
    await send(`/invoices/${paid}/payments`, { date: day(), amount: '5' }, 201)
    const note = await send(`/invoices/${paid}/credit`, {}, 201)
    await send(`/invoices/${String(note['id'])}/issue`, undefined, 200)
    await send('/invoices', { account: quay, lines: [fee] }, 201)

    const report = ok(await partner.get('/invoices/report')).json
    const [first, second] = listAt(report, 'ageing', 'payers')
    assert.deepEqual(at(first, 'payer', 'name'), '=Berg')
    assert.deepEqual(spans(first), ['0.00', '0.00', '16.00', '96.00', '128.00', '240.00', '0.00'])
    assert.deepEqual(spans(second), ['1.00', '6.00', '8.00', '0.00', '0.00', '15.00', '5.00'])
    assert.deepEqual(spans(at(report, 'ageing', 'total')), [
      '1.00',
      '6.00',
      '24.00',
      '96.00',
      '128.00',
      '255.00',
      '5.00',
    ])
    const months = listAt(report, 'turnover')
    assert.equal(months.length, 24)
    assert.equal(at(months.at(-1), 'month'), day().slice(0, 7))
    const sum = (name: string) => months.reduce((all: number, month) => all + Number(at(month, name)), 0)
    assert.deepEqual([sum('invoiced'), sum('credited'), sum('net')], [260, 5, 255])

    const ageing = ok(await partner.get('/invoices/report.csv?of=ageing'))
    assert.ok(ageing.text.includes(`'=Berg,account,${berg},EUR,0.00,0.00,16.00,96.00,128.00,0.00\r\n`), ageing.text)
    const turnover = ok(await partner.get('/invoices/report.csv?of=turnover'))
    assert.equal(turnover.headers.get('content-disposition'), 'attachment; filename="turnover.csv"')
    assert.equal(turnover.text.split('\r\n').length, 26)
    assert.equal((await anna.get('/invoices/report')).status, 403)
    assert.equal((await anna.get('/invoices/report.csv?of=ageing')).status, 403)
  })
})

test('the report names the currencies of the invoices that it leaves out', async () => {
  await issued()
  assert.deepEqual(ok(await paula.get('/invoices/report')).json['other_currencies'], [])
  await using changed = await startIn('CHF')
  const { json } = await changed.session.get('/invoices/report')
  assert.deepEqual([json['currency'], json['other_currencies']], ['CHF', ['EUR']])
  assert.equal(at(json, 'ageing', 'payer_count'), 0)
})

const spans = (of: unknown) =>
  ['not_due', 'to_30', 'to_60', 'to_90', 'over_90', 'total', 'to_return'].map((name) => objectAt(of)[name])

/** The numbers of the invoices that a search finds. */
async function numbersFound(part: string): Promise<unknown[]> {
  const { json } = ok(await paula.get(`/invoices?number=${encodeURIComponent(part)}`))
  return listAt(json, 'invoices').map((each) => at(each, 'number'))
}

describe('the list', () => {
  test('has pages and filters', async () => {
    const client = await firm.client(anna)
    const ids: unknown[] = []
    for (let made = 0; made < 52; made++) {
      ids.unshift((await bill({ client })).json['id'])
    }
    const first = ok(await paula.get(`/invoices?client=${client}`))
    const next = String(first.json['next'])
    const second = ok(await paula.get(`/invoices?client=${client}&cursor=${next}`))
    assert.deepEqual(valuesOf([...listAt(first.json, 'invoices'), ...listAt(second.json, 'invoices')], 'id'), ids)
    assert.equal(second.json['next'], null)
    const path = `/invoices/${String(ids[0])}`
    ok(await paula.send('POST', `${path}/issue`, undefined, { 'if-match': '*' }))
    const open = ok(await paula.get(`/invoices?client=${client}&status=open`))
    assert.deepEqual(valuesOf(listAt(open.json, 'invoices'), 'id'), [ids[0]])
    assertRefused(await paula.get('/invoices?status=lost'), 'invalid_field', 'status')
    assertRefused(await paula.get('/invoices?cursor=x'), 'invalid_field', 'cursor')
  })

  test('has each invoice under its status, with the same sums', async () => {
    const client = await firm.client(anna)
    await draft({ client })
    const given = await draft({ client })
    await discard(given)
    for (const amount of ['19', '119']) await recordPayment(await issued({ client }), { date: day(), amount })
    const half = await issued({ client })
    const less = { lines: [{ position: 1, quantity: '0.5' }] }
    await issue(await credit(half, less))
    // Only the second of the next two credit notes counts.
    await credit(await issued({ client }))
    await issue(await credit(await issued({ client })))

    const listed = async (query: string) =>
      listAt(ok(await paula.get(`/invoices?client=${client}${query}`)).json, 'invoices')
    const all = await listed('')
    const count = { draft: 2, void: 1, partly_paid: 1, paid: 1, open: 2, credited: 1, issued: 2, overdue: 0 }
    for (const [status, expected] of Object.entries(count)) {
      const found = await listed(`&status=${status}`)
      assert.equal(found.length, expected, status)
      assert.deepEqual(
        found,
        all.filter((each) => at(each, 'status') === status),
      )
    }
  })

  test('is searched by a part of the number, in any case and with or without its signs', async () => {
    const done = await issued()
    const number = String(done.json['number'])
    assert.deepEqual(await numbersFound(number.toLowerCase()), [number])
    assert.ok((await numbersFound(` ${number.slice(2, -1)} `)).includes(number))
    assert.ok((await numbersFound('')).includes(null), 'drafts have no number, and are not left out')
    for (const none of ['%', '_', 'IN_1', `${number}0`, '\\']) assert.deepEqual(await numbersFound(none), [], none)
  })

  test('is searched by the payer’s name or the number, and shows a consultant nothing of either', async () => {
    const done = await issued()
    const [number, payer] = [String(done.json['number']), objectAt(done.json, 'payer')]
    const client = await firm.client(anna, 'Quillfeather & 100% Sons')
    const drafted = await bill({ client })
    const renamed = { client, lines: [fee], buyer: { name: 'Overmantel Ltd' } }
    const other = ok(await create(renamed), 201)
    const searched = async (q: string) =>
      listAt(ok(await paula.get(`/invoices?q=${q}`)).json, 'invoices').map((each) => at(each, 'id'))
    assert.deepEqual(await searched('quillFEATHER'), [drafted.json['id']])
    assert.deepEqual(await searched('+%26+100%25+s+'), [drafted.json['id']])
    assert.deepEqual(await searched('overmantel'), [other.json['id']])
    assert.deepEqual(await searched(number.toLowerCase()), [done.json['id']])
    assert.ok((await searched(encodeURIComponent(String(payer['name'])))).includes(done.json['id']))
    for (const none of ['quill%25', '_uillfeather', '%25', `${number}0`]) {
      assert.ok(!(await searched(none)).some((id) => id === done.json['id'] || id === other.json['id']), none)
    }
    assert.deepEqual(await searched(`${number}0`), [])

    const named = await firm.client(paula, `Łukasz Ødegård, formerly ${number}`)
    const newer = await bill({ client: named })
    const buyer = { ...renamed, buyer: { name: 'Landstraße Müller' } }
    const stated = ok(await create(buyer), 201)
    for (const [q, found] of [
      ['lukasz', newer],
      ['gaard LUK', newer],
      ['strasse muell', stated],
    ] as const) {
      assert.deepEqual(await searched(q), [found.json['id']], q)
      assert.deepEqual(await searched(`${q}&status=draft`), [found.json['id']], q)
    }
    // The exact number is first, and only on the first page.
    assert.deepEqual(await searched(number), [done.json['id'], newer.json['id']])
    assert.deepEqual(await searched(`${number}&status=draft`), [newer.json['id']])
    assert.deepEqual(await searched(`${number}&cursor=${String(newer.json['id'])}`), [])
    assert.deepEqual(await numbersFound(number.replaceAll('-', '')), [number])

    const [there, missing] = await Promise.all([number, 'INV-9999-9999'].map((q) => anna.get(`/invoices?q=${q}`)))
    assert.deepEqual([there?.status, missing?.status], [403, 403])
    const [ofThere, ofMissing] = [there, missing].map((answer) => ({
      ...objectAt(answer?.json, 'error'),
      request_id: '',
    }))
    assert.deepEqual(ofThere, ofMissing)
    for (const q of [number, 'INV-9999-9999']) {
      const { status, json } = await anna.get(`/search?q=${q}`)
      assert.deepEqual([status, json['results']], [200, []])
    }
  })

  test('is exported for the bookkeeper, with a row for each tax, and negative credit notes', async () => {
    const done = await issued({ lines: [fee, { ...fee, tax: 'exempt' }], buyer: { name: '=Berg, "B"' } })
    const credited = await issue(await credit(done, { lines: [{ position: 2 }] }))
    const [first, last] = [String(done.json['issued_on']), String(credited.json['issued_on'])]
    const file = ok(await paula.get(`/invoices.csv?from=${first}&to=${last}`))
    assert.equal(file.headers.get('content-type'), 'text/csv; charset=utf-8')
    assert.match(file.text, /^number,kind,credits,issued_on,due_on,buyer,/)
    const due = String(done.json['due_on'])
    const [client, number] = [String(objectAt(done.json, 'payer')['id']), String(done.json['number'])]
    const buyer = `"'=Berg, ""B""",,${client},,EUR`
    for (const row of [
      `${number},invoice,,${first},${due},${buyer},E,0,100.00,0.00,100.00`,
      `${number},invoice,,${first},${due},${buyer},S,19,100.00,19.00,119.00`,
      `${String(credited.json['number'])},credit_note,${number},${last},${last},${buyer},E,0,-100.00,0.00,-100.00`,
    ]) {
      assert.ok(file.text.includes(`\r\n${row}\r\n`), `${row} is not in ${file.text}`)
    }
    assert.equal(ok(await paula.get('/invoices.csv?from=2025-01-01&to=2025-12-31')).text.split('\r\n').length, 2)
    assertRefused(await paula.get(`/invoices.csv?from=${day()}`), 'missing_field', 'to')
    for (const to of ['2026-02-30', '2026-01-01']) {
      assertRefused(await paula.get(`/invoices.csv?from=${day()}&to=${to}`), 'invalid_field', 'to')
    }
    assert.equal((await anna.get(`/invoices.csv?from=${day()}&to=${day()}`)).status, 403)
  })

  test('B83: is the same 403 for a consultant as everything below it, whether or not it exists', async () => {
    const done = await issued()
    const unknown = '/invoices/01990000-0000-7000-8000-000000000000'
    const answers = await Promise.all([
      anna.get('/invoices'),
      anna.get(pathOf(done)),
      anna.get(unknown),
      anna.send('POST', '/invoices', { client: 'x' }),
      anna.send('POST', `${pathOf(done)}/payments`, { date: day(), amount: '1' }),
      anna.send('POST', `${unknown}/issue`, undefined, { 'if-match': '*' }),
    ])
    const bodies = answers.map(({ error }) => pick(error, 'code', 'reason', 'field'))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([403]))
    assert.equal(new Set(bodies.map((each) => JSON.stringify(each))).size, 1)
  })
})

for (const [currency, price, net, tooFine] of [
  ['JPY', '1250.5', '1250', '0.5'],
  ['KWD', '1.0005', '1.000', '0.0005'],
] as const) {
  test(`amounts in ${currency} have its decimals`, async () => {
    await using other = await startIn(currency)
    const there = billing(other.session)
    const { accountId: account } = await firm.service.customer()
    const made = await there.bill({ account, lines: [{ ...fee, unit_price: price }] })
    assert.deepEqual(pick(made.json, 'net', 'gross'), { net, gross: net })
    assert.deepEqual(at(made.json, 'taxes', 0, 'category'), 'O')
    const refused = await there.attempt(await there.issue(made), 'payments', { date: day(), amount: tooFine })
    assertRefused(refused, 'invalid_field', 'amount')
  })
}

test('a number that another pattern made is not given again, and the setting to change is named', async () => {
  const named = { currency: 'EUR', firm: { name: 'Firm' } }
  await using first = await startBeside({ ...named, invoicing: { number: 'F{number:2}' } })
  await using second = await startBeside({ ...named, invoicing: { number: 'F0{number}' } })
  const { accountId: account } = await firm.service.customer()
  const [there, then] = [billing(first.session), billing(second.session)]
  assert.equal((await there.issue(await there.bill({ account }))).json['number'], 'F01')
  const next = await then.bill({ account })
  const refused = await then.attempt(next, 'issue')
  assertRefused(refused, 'conflict')
  const reason = 'A number of this form was used before: set invoicing.number to another pattern.'
  assert.equal(refused.error['reason'], reason)
  assert.equal((await read(next))['status'], 'draft')
})

test('without the name of the firm nothing is issued', async () => {
  await using unnamed = await startBeside({ currency: 'EUR' })
  const there = billing(unnamed.session)
  const refused = await there.attempt(await there.bill({ account: (await firm.service.customer()).accountId }), 'issue')
  assertRefused(refused, 'conflict')
  assert.match(String(refused.error['reason']), /firm\.name/)
})
