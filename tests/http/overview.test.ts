import assert from 'node:assert/strict'
import { describe, mock, test } from 'node:test'
import { Value } from 'typebox/value'
import { byService, personActor } from '../../src/access/actor.ts'
import { formatMoney } from '../../src/billing/prices/money.ts'
import { readChanges } from '../../src/overview/store.ts'
import { overviewPage } from '../../src/overview/schema.ts'
import { lastWorkingDay } from '../../src/overview/working-day.ts'
import { issueEarlier } from '../support/issue-earlier.ts'
import { openFirm, type Member } from '../support/firm.ts'
import { at, objectAt, type Json } from '../support/json.ts'
import { fixture } from '../support/fixture.ts'
import { upstreamModel } from '../support/service.ts'
import { startVendor } from '../support/vendor.ts'
import { eventsOf } from '../support/recorded.ts'

const vendor = fixture(() => startVendor())
const { firm, anna, ben, paula } = openFirm(() => ({
  models: [upstreamModel(vendor.url)],
  firm: { time_zone: 'Pacific/Auckland' },
}))

async function overviewOf(member: Member): Promise<Json> {
  const { status, json, text } = await member.get('/')
  assert.equal(status, 200, text)
  assert.deepEqual([...Value.Errors(overviewPage, json)], [])
  return json
}

async function make(member: Member, address: string, body: object): Promise<string> {
  const { status, json, text } = await member.send('POST', address, body)
  assert.equal(status, 201, text)
  return String(json['id'])
}

async function change(member: Member, address: string, body: object): Promise<void> {
  const { status, text } = await member.send('PATCH', address, body, {
    'if-match': String((await member.get(address)).headers.get('etag')),
  })
  assert.equal(status, 200, text)
}

function list(json: Json, ...path: (string | number)[]): Json[] {
  const found = at(json, ...path)
  assert.ok(Array.isArray(found), path.join('.'))
  return Array.from({ length: found.length }, (_, index) => objectAt(found, index))
}

const valuesOf = (rows: readonly Json[], ...names: string[]) => rows.map((row) => names.map((name) => row[name]))
const changesOf = (json: Json, client: string) => {
  const changed = list(json, 'changes', 'clients').find((each) => at(each, 'client', 'id') === client)
  return changed && list(changed, 'items')
}

const workingDay = () => lastWorkingDay(Date.now(), 'Pacific/Auckland').day

describe('the overview of a new firm', () => {
  test('says that there are no clients, and has empty lists', async () => {
    const empty = { items: [], total: 0, total_is_exact: true }
    const earlier = workingDay()
    const { since, tasks, ...rest } = await overviewOf(anna)
    assert.ok(since === earlier || since === workingDay(), String(since))
    assert.deepEqual(at(tasks, 'items'), [])
    assert.deepEqual(rest, {
      currency: 'USD',
      has_clients: false,
      changes: { clients: [], more: false },
      open_disputes: { ...empty, amount: '0.00' },
      letters_to_review: empty,
      letters_returned: empty,
      letters_to_approve: empty,
      letters_to_send: empty,
    })
  })

  test('is a page at the same address; a visitor has to sign in, and returns to it', async () => {
    const [page, json] = await Promise.all([paula.get('/', { accept: 'text/html' }), paula.get('/')])
    assert.deepEqual([page.status, json.status], [200, 200])
    assert.match(String(page.headers.get('content-type')), /^text\/html/)
    assert.equal((await firm.ask('GET', '/')).status, 401)
    const visitor = await firm.ask('GET', '/', { headers: { accept: 'text/html' } })
    assert.deepEqual([visitor.status, visitor.headers.get('location')], [303, '/signin?return_to=%2F'])
  })
})

describe('changes', () => {
  test('are grouped by client and item: what was done, in order, and by whom', async () => {
    const client = await firm.client(anna, 'Grouped')
    const note = await make(anna, `/clients/${client}/notes`, { date: '2026-03-12', text: 'First' })
    const letter = await make(anna, `/clients/${client}/letters`, { subject: 'About the fee' })
    await change(anna, `/clients/${client}/notes/${note}`, { text: 'Second' })
    await change(paula, `/clients/${client}/letters/${letter}`, { status: 'approved' })
    await anna.get(`/clients/${client}/notes/${note}`)
    const json = await overviewOf(anna)
    const items = changesOf(json, client) ?? []
    assert.deepEqual(valuesOf(items, 'noun', 'id', 'title', 'actions'), [
      ['letter', letter, 'About the fee', ['letter_created', 'letter_approved']],
      ['note', note, '2026-03-12', ['note_created', 'note_changed']],
      ['client', client, null, ['client_created']],
    ])
    const [by] = valuesOf(items, 'by')
    assert.deepEqual(by, [
      [
        { id: paula.id, name: 'Paula' },
        { id: anna.id, name: 'Anna' },
      ],
    ])
    assert.deepEqual(list(json, 'changes', 'clients').at(0)?.['client'], {
      id: client,
      name: 'Grouped',
      consultant: { id: anna.id, name: 'Anna' },
    })
  })

  test('are those since a time, of archived clients too, but not of deleted ones', async () => {
    const [client, deleted] = [await firm.client(anna, 'Archived'), await firm.client(anna, 'Deleted')]
    assert.equal((await paula.send('DELETE', `/clients/${deleted}`)).status, 204)
    const [between] = await firm.service.database.rows<{ now: Date }>('select clock_timestamp() as now')
    await change(anna, `/clients/${client}`, { status: 'archived' })
    const since = async (time: Date) => {
      const { access } = firm.service.records
      const [rows] = await access.as({ actor: personActor(anna) }, [
        readChanges({ of: 'consultant', id: anna.id }, time),
      ])
      return rows.map(({ client: { name }, status, events }) => [name, status, events?.map(({ action }) => action)])
    }
    assert.ok(between)
    assert.deepEqual(await since(between.now), [['Archived', 'archived', ['client_archived']]])
    assert.deepEqual(await since(new Date(Date.now() + 60_000)), [])
    await change(anna, `/clients/${client}`, { status: 'active' })
    assert.deepEqual(await since(between.now), [['Archived', 'active', ['client_unarchived', 'client_archived']]])
    await change(anna, `/clients/${client}`, { status: 'archived' })
    const names = list(await overviewOf(paula), 'changes', 'clients').map((each) => at(each, 'client', 'name'))
    assert.ok(names.includes('Archived') && !names.includes('Deleted'), names.join())
  })

  test('of a client with many are the last, and more are announced', async () => {
    const client = await firm.client(anna, 'Busy')
    for (let note = 1; note <= 7; note++) {
      await make(anna, `/clients/${client}/notes`, { date: `2026-03-0${note}`, text: 'Short' })
    }
    const [busy] = list(await overviewOf(anna), 'changes', 'clients')
    assert.deepEqual([at(busy, 'client', 'name'), busy?.['more']], ['Busy', true])
    assert.deepEqual(
      list(busy ?? {}, 'items').map(({ title }) => title),
      [7, 6, 5, 4, 3, 2].map((day) => `2026-03-0${day}`),
    )
  })

  test('of many clients are those of the last, and more are announced', async () => {
    const mei = await firm.join('Mei', 'consultant')
    for (let client = 1; client <= 16; client++) await firm.client(mei, `Client ${client}`)
    const { changes } = await overviewOf(mei)
    const clients = list({ changes }, 'changes', 'clients')
    assert.deepEqual([clients.length, at(clients[0], 'client', 'name'), at(changes, 'more')], [15, 'Client 16', true])
  })
})

describe('what is waiting', () => {
  test('is the sum of open disputes of active clients, the oldest first', async () => {
    const sole = await firm.join('Sole', 'consultant')
    const [client, archived] = [await firm.client(sole, 'Disputing'), await firm.client(sole, 'Archived')]
    const dispute = (of: string, invoice: string, amount: string, status = 'open') =>
      make(sole, `/clients/${of}/disputes`, { invoice, amount, status })
    const first = await dispute(client, 'I-1', '0.1')
    await dispute(client, 'I-2', '99999999999999.999999999999')
    await dispute(client, 'I-3', '1', 'settled')
    await dispute(archived, 'I-4', '2')
    const removed = await dispute(client, 'I-5', '4')
    await change(sole, `/clients/${archived}`, { status: 'archived' })
    assert.equal((await sole.send('DELETE', `/clients/${client}/disputes/${removed}`)).status, 204)
    const { open_disputes: disputes } = await overviewOf(sole)
    assert.deepEqual(
      [at(disputes, 'total'), at(disputes, 'total_is_exact'), at(disputes, 'amount')],
      [2, true, '100000000000000.099999999999'],
    )
    const items = list({ disputes }, 'disputes', 'items')
    assert.deepEqual(valuesOf(items, 'invoice', 'amount'), [
      ['I-1', '0.10'],
      ['I-2', '99999999999999.999999999999'],
    ])
    await change(sole, `/clients/${client}/disputes/${first}`, { status: 'withdrawn' })
    assert.equal(at(await overviewOf(sole), 'open_disputes', 'total'), 1)
  })

  test('is a dispute with the day by which it has to be answered, which its revisions have too', async () => {
    const sole = await firm.join('Hurried', 'consultant')
    const disputes = `/clients/${await firm.client(sole)}/disputes`
    const late = await make(sole, disputes, { invoice: 'late', amount: '1', due: '2027-01-31' })
    const shown = async () => valuesOf(list(await overviewOf(sole), 'open_disputes', 'items'), 'invoice', 'due')
    assert.deepEqual(await shown(), [['late', '2027-01-31']])
    await change(sole, `${disputes}/${late}`, { due: null })
    assert.deepEqual(await shown(), [['late', null]])
    const { json } = await sole.get(`${disputes}/${late}/revisions`)
    assert.deepEqual(
      list(json, 'revisions').map((revision) => at(revision, 'data', 'due')),
      [null, '2027-01-31'],
    )
    for (const due of ['2026-02-30', '0000-01-01', '12 March', '2026-03-12T00:00', 7]) {
      const { status, error } = await sole.send('POST', disputes, { invoice: 'wrong', amount: '1', due })
      assert.deepEqual([status, error['code'], error['field']], [400, 'invalid_field', 'due'], String(due))
    }
  })

  test('is a letter to approve, then to send, then none', async () => {
    const sole = await firm.join('Writing', 'consultant')
    const client = await firm.client(sole)
    const letter = await make(sole, `/clients/${client}/letters`, { subject: 'First' })
    const last = await make(sole, `/clients/${client}/letters`, { subject: 'Second' })
    const waiting = async () => {
      const json = await overviewOf(sole)
      const subjects = (name: string) => list(json, name, 'items').map(({ subject }) => subject)
      return [subjects('letters_to_approve'), subjects('letters_to_send')]
    }
    assert.deepEqual(await waiting(), [['Second', 'First'], []])
    await change(sole, `/clients/${client}/letters/${letter}`, { status: 'approved' })
    assert.deepEqual(await waiting(), [['Second'], ['First']])
    await change(sole, `/clients/${client}/letters/${letter}`, { status: 'sent' })
    assert.equal((await sole.send('DELETE', `/clients/${client}/letters/${last}`)).status, 204)
    assert.deepEqual(await waiting(), [[], []])
  })
})

describe('a consultant', () => {
  test('sees nothing of clients that are not theirs, and the partner sees both', async () => {
    const client = await firm.client(ben, 'secret-marker')
    await make(ben, `/clients/${client}/disputes`, { invoice: 'secret-marker', amount: '71.71' })
    await make(ben, `/clients/${client}/letters`, { subject: 'secret-marker' })
    const hidden = await anna.get('/')
    assert.doesNotMatch(hidden.text, /secret-marker|71\.71/)
    for (const member of [ben, paula]) {
      const json = await overviewOf(member)
      assert.equal(changesOf(json, client)?.length, 3)
      assert.ok(list(json, 'open_disputes', 'items').some(({ invoice }) => invoice === 'secret-marker'))
      assert.ok(list(json, 'letters_to_approve', 'items').some(({ subject }) => subject === 'secret-marker'))
    }
    const given = { basis: null, body: { consultant_id: anna.id } }
    await firm.service.records.clients.change({ actor: personActor(paula) }, client, given)
    assert.doesNotMatch((await ben.get('/')).text, /secret-marker|71\.71/)
    const [assigned] = changesOf(await overviewOf(anna), client) ?? []
    assert.deepEqual([assigned?.['noun'], at(assigned, 'actions')], ['client', ['client_created', 'client_assigned']])
  })

  test('gets no figures of accounts, under any name', async () => {
    const { accounts } = firm.service
    const limits = { requestsPerMinute: 60, tokensPerMinute: 1000 }
    await accounts.create({ name: 'hidden-account', own: true, credit: 5n * 10n ** 12n, ...limits }, byService)
    const { text, json } = await anna.get('/')
    assert.deepEqual(Object.keys(json).toSorted(), [
      'changes',
      'currency',
      'has_clients',
      'letters_returned',
      'letters_to_approve',
      'letters_to_review',
      'letters_to_send',
      'open_disputes',
      'since',
      'tasks',
    ])
    assert.doesNotMatch(text, /hidden-account|credit|"cost"|used_percent/)
    const page = await anna.get('/', { accept: 'text/html' })
    assert.doesNotMatch(page.text, /hidden-account|credit_left|used_percent/)
  })
})

describe('a partner', () => {
  const unit = 10n ** 12n

  test('sees what is left of own accounts and of those nearly used up, and no others', async () => {
    const { accounts, database } = firm.service
    const limits = { requestsPerMinute: 60, tokensPerMinute: 100_000 }
    const own = await accounts.create({ name: 'Own', own: true, credit: 20n * unit, ...limits }, byService)
    await accounts.create({ name: 'Fresh', credit: 10n * unit, ...limits }, byService)
    await accounts.create({ name: 'Never credited', ...limits }, byService)
    const closed = await accounts.create({ name: 'Closed', own: true, ...limits }, byService)
    await accounts.close(closed.id, byService)
    const near = await firm.service.customer({ name: 'Nearly used up', credit: undefined, monthlyLimit: 1000n })
    await database.rows('update account set held = 900 where id = $1', [near.accountId])
    const shown = list(await overviewOf(paula), 'firm', 'accounts')
    await database.rows('update account set held = 0 where id = $1', [near.accountId])
    assert.deepEqual(
      valuesOf(
        shown.filter(({ name }) => name !== 'hidden-account'),
        'name',
        'own',
        'credit_left',
        'monthly_limit',
        'used_percent',
      ),
      [
        ['Nearly used up', false, '0.0000000001', '0.000000001', 90],
        ['Own', true, '20', null, 0],
      ],
    )
    assert.ok(shown.some(({ id }) => id === own.id))
    const again = list(await overviewOf(paula), 'firm', 'accounts')
    assert.ok(!again.some(({ name }) => name === 'Nearly used up'))
  })

  test('sees what was charged yesterday: the sum of the ledger on that day in UTC', async () => {
    const { service } = firm
    const { key, accountId } = await service.customer({ credit: 10n * unit })
    const none = at(await overviewOf(paula), 'firm', 'yesterday')
    assert.deepEqual([at(none, 'cost'), at(none, 'requests')], ['0', 0])
    for (const input of ['One', 'Two']) {
      const body = { model: 'fast', input, max_output_tokens: 100 }
      assert.equal((await service.call('/v1/generate', key, body)).status, 200)
    }
    const { rows } = await service.books(accountId)
    const day = rows.at(-1)?.at.slice(0, 10) ?? ''
    const charged = rows.filter(({ at: time }) => time.startsWith(day))
    // Tomorrow, the day of these requests is yesterday.
    mock.timers.enable({ apis: ['Date'], now: Date.parse(day) + 86_400_000 })
    try {
      assert.deepEqual(at(await overviewOf(paula), 'firm', 'yesterday'), {
        day,
        cost: formatMoney(charged.reduce((sum, { cost }) => sum + cost, 0n)),
        requests: charged.length,
      })
    } finally {
      mock.timers.reset()
    }
  })
})

test('a partner sees how many invoices are overdue, what is open of them, and when the oldest was due', async () => {
  const overdue = async () => at(await overviewOf(paula), 'firm', 'overdue')
  assert.deepEqual(await overdue(), { invoices: 0, amount: '0.00', oldest: null })
  const { accounts, database } = firm.service
  const limits = { requestsPerMinute: 60, tokensPerMinute: 1000 }
  const { id: account } = await accounts.create({ name: 'Late', ...limits }, byService)
  const due: string[] = []
  const invoice = async (price: string, days: number) => {
    const lines = [{ text: 'Advice', quantity: '1', unit: 'piece', unit_price: price }]
    const id = await make(paula, '/invoices', { account, lines })
    await issueEarlier(database, id, days)
    due.push(String((await paula.get(`/invoices/${id}`)).json['due_on']))
    return id
  }
  const [partly, paid] = [await invoice('10', 40), await invoice('7', 30)]
  await invoice('5.5', 20)
  await make(paula, '/invoices', { account, lines: [{ text: 'Draft', quantity: '1', unit: 'piece', unit_price: '1' }] })
  const date = due[2]
  await make(paula, `/invoices/${partly}/payments`, { date, amount: '4' })
  await make(paula, `/invoices/${paid}/payments`, { date, amount: '7' })
  assert.deepEqual(await overdue(), { invoices: 2, amount: '11.50', oldest: due[0] })
  const { json } = await paula.get('/invoices?status=overdue')
  assert.equal(list(json, 'invoices').length, 2, 'the list behind the figure has the same invoices')
  assert.equal((await overviewOf(anna))['firm'], undefined)
})

test('every read is in the audit log', async () => {
  const events = await eventsOf(await ben.get('/'), firm.service.database, 'action, outcome, person_id')
  assert.deepEqual(events, [{ action: 'overview_read', outcome: 'allowed', person_id: ben.id }])
})
