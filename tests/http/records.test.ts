import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { auditList } from '../../src/access/schema.ts'
import * as schema from '../../src/clients/schema.ts'
import type { Answer } from '../support/answer.ts'
import { startFirm, type Member } from '../support/firm.ts'
import { at, listAt, objectAt, type Json, valuesOf } from '../support/json.ts'
import { fixture } from '../support/fixture.ts'
import { eventsOf } from '../support/recorded.ts'

const firm = fixture(() => startFirm())
const anna = fixture(() => firm.join('Anna Berg', 'consultant'))
const paula = fixture(() => firm.join('Paula', 'partner'))

/** Checks that the body matches the schema that the pages rely on; returns the status. */
function shaped({ status, json, text }: Answer, shape: TSchema): number {
  const [fault] = Value.Errors(shape, json)
  assert.equal(fault, undefined, `${JSON.stringify(fault)} in ${text}`)
  return status
}

async function noteOf(client: string, text = 'first'): Promise<string> {
  const { json } = await anna.send('POST', `/clients/${client}/notes`, { date: '2026-03-12', text })
  return `/clients/${client}/notes/${String(json['id'])}`
}

describe('a client', () => {
  test('is created, read, listed and changed as the schema describes', async () => {
    const billing = { vat_number: 'SE556677889901', billing_country: 'SE', buyer_reference: 'Dept. 7', days_to_pay: 10 }
    const typed = { ...billing, vat_number: ' se556677889901', billing_country: 'se' }
    const fresh = { name: '  Öberg & Sons ', reference: 'Ö-1', email: 'mail@oberg.example', ...typed }
    const made = await anna.send('POST', '/clients', fresh)
    assert.equal(shaped(made, schema.clientRecord), 201)
    const id = String(made.json['id'])
    assert.equal(made.headers.get('location'), `/clients/${id}`)
    assert.equal(made.headers.get('etag'), '"1"')
    assert.deepEqual(
      [made.json['name'], made.json['reference'], made.json['status'], at(made.json, 'consultant', 'name')],
      ['Öberg & Sons', 'Ö-1', 'active', 'Anna Berg'],
    )
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)

    const billed = ({ json }: Answer) => Object.fromEntries(Object.keys(billing).map((name) => [name, json[name]]))
    assert.deepEqual(billed(made), billing)
    const removed = { email: null, days_to_pay: null }
    const change = await anna.send('PATCH', `/clients/${id}`, removed, { 'if-match': '"1"' })
    assert.equal(shaped(change, schema.clientRecord), 200)
    assert.deepEqual([change.headers.get('etag'), change.json['email'], change.json['reference']], ['"2"', null, 'Ö-1'])
    assert.deepEqual(billed(change), { ...billing, days_to_pay: null })

    const read = await anna.get(`/clients/${id}`)
    assert.equal(shaped(read, schema.clientRecord), 200)
    assert.deepEqual([read.json, read.headers.get('etag')], [change.json, '"2"'])
    assert.equal(read.headers.get('cache-control'), 'no-store')
    assert.equal(read.headers.get('vary'), 'Accept')
    assert.equal(shaped(await anna.get('/clients'), schema.clientList), 200)
    assert.equal(shaped(await anna.get(`/clients/${id}/revisions`), schema.revisionList), 200)
    assert.equal(shaped(await anna.get(`/clients/${id}/activity`), schema.activityList), 200)
    assert.equal(shaped(await anna.get('/search?q=oberg'), schema.searchResults), 200)
  })

  test('is described correctly in the OpenAPI document', async () => {
    const { json } = await firm.ask('GET', '/openapi.json')
    const operation = objectAt(json, 'paths', '/clients/{client}', 'get')
    const shape = objectAt(operation, 'responses', '200', 'content', 'application/json', 'schema')
    const { json: record } = await anna.get(`/clients/${await firm.client(anna)}`)
    assert.deepEqual(Object.keys(objectAt(shape, 'properties')).toSorted(), Object.keys(record).toSorted())
    assert.deepEqual(operation['security'], [{ session: [] }])
    const statuses = Object.keys(objectAt(operation, 'responses'))
    for (const status of ['401', '403', '404', '503']) assert.ok(statuses.includes(status), status)
  })

  test('is refused with the invalid field named, and nothing is written', async () => {
    const total = (await anna.get('/clients')).json['total']
    const bad = [
      [{}, 'missing_field', 'name'],
      [{ name: ' ' }, 'invalid_field', 'name'],
      [{ name: 'x'.repeat(201) }, 'invalid_field', 'name'],
      [{ name: 'a\0b' }, 'invalid_field', 'name'],
      [{ name: '\ud800' }, 'invalid_field', 'name'],
      [{ name: 1 }, 'invalid_field', 'name'],
      [{ name: 'x', email: 'nobody' }, 'invalid_field', 'email'],
      [{ name: 'x', reference: '' }, 'invalid_field', 'reference'],
      [{ name: 'x', vat_number: '556677889901' }, 'invalid_field', 'vat_number'],
      [{ name: 'x', billing_country: 'XX' }, 'invalid_field', 'billing_country'],
      [{ name: 'x', order_number: 'a\nb' }, 'invalid_field', 'order_number'],
      [{ name: 'x', days_to_pay: 366 }, 'invalid_field', 'days_to_pay'],
      [{ name: 'x', colour: 'red' }, 'unknown_field', 'colour'],
      [{ nmae: 'x' }, 'unknown_field', 'nmae'],
    ] as const
    for (const [body, code, field] of bad) {
      const { status, error } = await anna.send('POST', '/clients', body)
      assert.deepEqual([status, error['code'], error['field']], [400, code, field])
    }
    for (const [body, code] of [
      ['[]', 'malformed_json'],
      ['', 'malformed_json'],
      ['{"name":', 'malformed_json'],
    ] as const) {
      const { status, error } = await anna.send('POST', '/clients', body)
      assert.deepEqual([status, error['code']], [400, code], body)
    }
    assert.equal((await anna.get('/clients')).json['total'], total)
  })

  test('refuses changes to its record while it is archived', async () => {
    const id = await firm.client(anna, 'Sleeper')
    const note = await noteOf(id)
    const archive = await anna.send('PATCH', `/clients/${id}`, { status: 'archived' }, { 'if-match': '"1"' })
    assert.equal(archive.status, 200)
    for (const change of [
      await anna.send('PATCH', `/clients/${id}`, { name: 'x' }, { 'if-match': '"2"' }),
      await anna.send('POST', `/clients/${id}/notes`, { date: '2026-01-01', text: 'x' }),
      await anna.send('PATCH', note, { text: 'x' }, { 'if-match': '"1"' }),
      await anna.send('DELETE', note),
    ]) {
      assert.deepEqual([change.status, change.error['code']], [409, 'conflict'])
    }
    assert.equal((await anna.get('/clients?q=sleeper')).json['total'], 0)
    assert.equal((await anna.get('/clients?q=sleeper&status=archived')).json['total'], 1)
    assert.equal((await anna.send('PATCH', `/clients/${id}`, { status: 'active' }, { 'if-match': '"2"' })).status, 200)
    assert.equal((await anna.send('PATCH', note, { text: 'x' }, { 'if-match': '"1"' })).status, 200)
  })
})

describe('an edit', () => {
  test('without If-Match is 428, with a malformed one 400, and nothing changes', async () => {
    const id = await firm.client(anna)
    const note = await noteOf(id)
    for (const address of [`/clients/${id}`, note]) {
      const body = address === note ? { text: 'x' } : { name: 'x' }
      assert.equal((await anna.send('PATCH', address, body)).status, 428)
      for (const tag of ['1', 'x', '"x"', '"-1"', '"01"', '""', ',', '"1" "2"', '"99999999999"']) {
        const { status, error } = await anna.send('PATCH', address, body, { 'if-match': tag })
        assert.deepEqual([status, error['field']], [400, 'If-Match'], tag)
      }
      assert.equal((await anna.get(address)).json['version'], 1)
    }
  })

  test('based on an older version is 412 with the current version, and changes nothing', async () => {
    const id = await firm.client(anna, 'First')
    const note = await noteOf(id, 'first')
    const edits = [
      [`/clients/${id}`, { name: 'Second' }, { name: 'Third' }],
      [note, { text: 'second' }, { text: 'third' }],
    ] as const
    for (const [address, quick, late] of edits) {
      assert.equal((await paula.send('PATCH', address, quick, { 'if-match': '"1"' })).status, 200)
      const now = await anna.get(address)
      for (const tag of ['"1"', 'W/"1"', '"7"']) {
        const refused = await anna.send('PATCH', address, late, { 'if-match': tag })
        assert.deepEqual([refused.status, refused.error['code']], [412, 'stale_version'])
        assert.deepEqual(refused.json['current'], now.json)
      }
      assert.deepEqual((await anna.get(address)).json, now.json)
      for (const [tag, version] of [
        ['"2"', 3],
        ['W/"3"', 4],
        ['"1", , "4",', 5],
        ['*', 6],
      ] as const) {
        const done = await anna.send('PATCH', address, version % 2 ? late : quick, { 'if-match': tag })
        assert.deepEqual([done.status, done.json['version']], [200, version], tag)
      }
    }
  })

  test('cannot delete based on an older version', async () => {
    const id = await firm.client(anna, 'Kept')
    const note = await noteOf(id, 'kept')
    for (const [address, change] of [
      [note, { text: 'newer' }],
      [`/clients/${id}`, { name: 'Newer' }],
    ] as const) {
      await anna.send('PATCH', address, change, { 'if-match': '"1"' })
      const now = await paula.get(address)
      for (const tag of ['"1"', '"3"', 'W/"1"']) {
        const refused = await paula.send('DELETE', address, undefined, { 'if-match': tag })
        assert.deepEqual([refused.status, refused.error['code']], [412, 'stale_version'], `${address} ${tag}`)
        assert.deepEqual(refused.json['current'], now.json)
        const left = await paula.get(address)
        assert.deepEqual([left.status, left.json], [200, now.json], `${address} ${tag}`)
      }
      assert.equal((await paula.send('DELETE', address, undefined, { 'if-match': '"2"' })).status, 204)
      const gone = await paula.get(address)
      assert.equal(gone.status === 404 || typeof gone.json['archived_at'] === 'string', true, address)
    }
  })

  test('without a difference creates no version, revision or audit entry', async () => {
    const client = await firm.client(anna, 'As it is')
    const record = `/clients/${client}`
    const letter = { subject: 'Dear', body: 'Text' }
    const { json: made } = await anna.send('POST', `${record}/letters`, letter)
    const dispute = { invoice: 'A-1', amount: '10.00' }
    const { json: opened } = await anna.send('POST', `${record}/disputes`, dispute)
    const note = await noteOf(client)
    const same: [string, object][] = [
      [record, {}],
      [record, { name: ' As it is ', email: null, status: 'active' }],
      [note, {}],
      [note, { date: '2026-03-12', participants: [], text: 'first' }],
      [`${record}/letters/${String(made['id'])}`, letter],
      [`${record}/disputes/${String(opened['id'])}`, { ...dispute, amount: '10' }],
    ]
    const { json: unchanged } = await anna.get(record)
    for (const [address, body] of same) {
      const now = await anna.get(address)
      for (const tag of ['"1"', '*']) {
        const reply = await anna.send('PATCH', address, body, { 'if-match': tag })
        assert.deepEqual([reply.status, reply.headers.get('etag'), reply.json], [200, '"1"', now.json], address)
      }
      const late = await anna.send('PATCH', address, body, { 'if-match': '"7"' })
      assert.deepEqual([late.status, late.error['code']], [412, 'stale_version'], address)
      const { json } = await anna.get(`${address}/revisions`)
      assert.deepEqual(at(json, 'revisions', 1), undefined, address)
    }
    assert.deepEqual((await anna.get(record)).json, unchanged)
    const changes = await firm.service.database.rows(
      `select from audit where client_id = $1 and action ~ '_changed$' and outcome = 'allowed'`,
      [client],
    )
    assert.equal(changes.length, 0)
    assert.equal((await anna.send('PATCH', note, { text: 'second' }, { 'if-match': '"1"' })).json['version'], 2)
  })

  test('of an archived client is refused even without a difference', async () => {
    const client = await firm.client(anna)
    const note = await noteOf(client)
    await anna.send('PATCH', `/clients/${client}`, { status: 'archived' }, { 'if-match': '"1"' })
    for (const [address, tag] of [
      [`/clients/${client}`, '"2"'],
      [note, '"1"'],
    ] as const) {
      assert.equal((await anna.send('PATCH', address, {}, { 'if-match': tag })).status, 409, address)
    }
    const again = await anna.send('PATCH', `/clients/${client}`, { status: 'archived' }, { 'if-match': '"2"' })
    assert.deepEqual([again.status, again.json['version']], [200, 2])
  })

  test('succeeds once when 20 on the same version arrive at the same time', async () => {
    const note = await noteOf(await firm.client(anna))
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => anna.send('PATCH', note, { text: `edit ${n}` }, { 'if-match': '"1"' })),
    )
    const done = replies.filter(({ status }) => status === 200)
    assert.equal(done.length, 1)
    assert.ok(replies.every(({ status }) => status === 200 || status === 412))
    const { json } = await anna.get(`${note}/revisions`)
    assert.deepEqual(
      [at(json, 'revisions', 0, 'version'), at(json, 'revisions', 0, 'data', 'text')],
      [2, done[0]?.json['text']],
    )
  })

  test('is written once when 20 identical ones with If-Match * arrive at the same time', async () => {
    const client = await firm.client(anna)
    for (const [address, body] of [
      [`/clients/${client}`, { name: 'The same' }],
      [await noteOf(client), { text: 'the same' }],
    ] as const) {
      const same = Array.from({ length: 20 }, () => anna.send('PATCH', address, body, { 'if-match': '*' }))
      for (const reply of await Promise.all(same)) assert.deepEqual([reply.status, reply.json['version']], [200, 2])
    }
  })

  test('creates a revision with its fields and its author', async () => {
    const id = await firm.client(anna)
    const { json: dispute } = await anna.send('POST', `/clients/${id}/disputes`, {
      invoice: 'INV-7',
      amount: '99999999999999999999.123456789012',
      position: 'They say it was a fixed fee.',
    })
    const address = `/clients/${id}/disputes/${String(dispute['id'])}`
    assert.equal(dispute['amount'], '99999999999999999999.123456789012')
    await paula.send('PATCH', address, { amount: '12.5', status: 'settled' }, { 'if-match': '"1"' })
    const { json } = await anna.get(`${address}/revisions`)
    assert.deepEqual(objectAt(json, 'revisions', 0, 'data'), {
      invoice: 'INV-7',
      amount: '12.50',
      currency: 'USD',
      position: 'They say it was a fixed fee.',
      due: null,
      status: 'settled',
    })
    assert.equal(at(json, 'revisions', 0, 'by', 'name'), 'Paula')
    assert.equal(at(json, 'revisions', 1, 'data', 'amount'), '99999999999999999999.123456789012')
    assert.equal(at(json, 'revisions', 1, 'by', 'name'), 'Anna Berg')
  })
})

describe('revisions', () => {
  test('of a client and of its items are listed completely, page by page', async () => {
    const client = await firm.client(anna)
    const note = await noteOf(client)
    for (const [address, edit] of [
      [`/clients/${client}`, (n: number) => ({ name: `Name ${n}` })],
      [note, (n: number) => ({ text: `text ${n}` })],
    ] as const) {
      for (let n = 2; n <= 7; n++) await anna.send('PATCH', address, edit(n), { 'if-match': `"${n - 1}"` })
      const versions: unknown[] = []
      for (let cursor: unknown = undefined; cursor !== null;) {
        const turned: string = typeof cursor === 'string' ? `&cursor=${cursor}` : ''
        const page: Answer = await anna.get(`${address}/revisions?limit=3${turned}`)
        assert.equal(shaped(page, schema.revisionList), 200)
        const { revisions } = page.json
        assert.ok(Array.isArray(revisions) && revisions.length > 0)
        versions.push(...revisions.map((revision: unknown) => at(revision, 'version')))
        cursor = page.json['next']
      }
      assert.deepEqual(versions, [7, 6, 5, 4, 3, 2, 1])
      assert.equal((await anna.get(`${address}/revisions?limit=7`)).json['next'], null)
    }
  })

  test('of unknown items are refused, also with a cursor', async () => {
    const [client, other] = [await firm.client(anna), await firm.client(anna)]
    const note = (await noteOf(other)).split('/').at(-1)
    const cursor = Buffer.from(JSON.stringify(['2', client])).toString('base64url')
    assert.equal((await anna.get(`/clients/${client}/notes/${note}/revisions?cursor=${cursor}`)).status, 403)
    for (const key of ['1', '0', '-1', 'x', '9999999999']) {
      const invented = Buffer.from(JSON.stringify([key, client])).toString('base64url')
      const { status, error } = await anna.get(`/clients/${client}/revisions?cursor=${invented}`)
      assert.deepEqual([status, error['field']], [400, 'cursor'], key)
    }
  })
})

describe('notes, disputes and letters', () => {
  test('match the schema', async () => {
    const id = await firm.client(anna)
    const fresh = [
      ['notes', { date: '2026-02-28', participants: ['Anna', 'Åse'], text: '' }, schema.note, schema.noteList],
      ['disputes', { invoice: 'I', amount: '0' }, schema.dispute, schema.disputeList],
      ['letters', { subject: 'S', body: 'B', status: 'approved' }, schema.letter, schema.letterList],
    ] as const
    for (const [plural, body, one, list] of fresh) {
      const made = await anna.send('POST', `/clients/${id}/${plural}`, body)
      assert.equal(shaped(made, one), 201)
      assert.equal(made.headers.get('location'), `/clients/${id}/${plural}/${String(made.json['id'])}`)
      assert.equal(shaped(await anna.get(made.headers.get('location') ?? ''), one), 200)
      assert.equal(shaped(await anna.get(`/clients/${id}/${plural}`), list), 200)
    }
    const record = await anna.get(`/clients/${id}`)
    assert.equal(shaped(record, schema.clientRecord), 200)
    assert.deepEqual(at(record.json, 'notes', 0, 'participants'), ['Anna', 'Åse'])
  })

  test('refuse invalid dates, amounts and statuses, and texts that are too long', async () => {
    const id = await firm.client(anna)
    const bad = [
      ['notes', { date: '2026-02-30', text: '' }, 'date'],
      ['notes', { date: 'yesterday', text: '' }, 'date'],
      ['notes', { date: '2026-01-01', text: 'x'.repeat(200_001) }, 'text'],
      ['notes', { date: '2026-01-01', text: 'a\0' }, 'text'],
      ['notes', { date: '2026-01-01', text: '', participants: [''] }, 'participants[0]'],
      ['disputes', { invoice: 'I', amount: '-1' }, 'amount'],
      ['disputes', { invoice: 'I', amount: '1e3' }, 'amount'],
      ['disputes', { invoice: 'I', amount: 12 }, 'amount'],
      ['disputes', { invoice: 'I', amount: '1.1234567890123' }, 'amount'],
      ['disputes', { invoice: 'I', amount: '1', status: 'won' }, 'status'],
      ['letters', { subject: 'S', status: 'lost' }, 'status'],
    ] as const
    for (const [plural, body, field] of bad) {
      const { status, error } = await anna.send('POST', `/clients/${id}/${plural}`, body)
      assert.deepEqual([status, error['code'], error['field']], [400, 'invalid_field', field])
    }
    const { json } = await anna.get(`/clients/${id}`)
    assert.deepEqual([json['notes'], json['disputes'], json['letters']], [[], [], []])
  })

  test('a note of 10 MB is 413, and the next request is served', async () => {
    const id = await firm.client(anna)
    const { status, error } = await anna.send('POST', `/clients/${id}/notes`, {
      date: '2026-01-01',
      text: 'x'.repeat(10 * 1024 * 1024),
    })
    assert.deepEqual([status, error['code']], [413, 'request_too_large'])
    assert.deepEqual((await anna.get(`/clients/${id}`)).json['notes'], [])
  })
})

describe('lists', () => {
  test('return each client once across pages, in every order, while clients are created', async () => {
    const member = await firm.join('Lister', 'consultant')
    const names = ['Ähre', 'ahre', 'Zeta', 'zeta', 'Beta', 'Ähre', 'Ålesund', '  ', '1st']
    for (const [n, name] of names.entries()) {
      const reply = await member.send('POST', '/clients', {
        name: `${name.trim()} x`,
        ...(n % 2 && { reference: `R${n}` }),
      })
      assert.equal(reply.status, 201)
    }
    const sorts = ['name', '-name', 'reference', '-reference', 'changed_at', '-changed_at']
    // Every client has a word that begins with x.
    for (const list of sorts.flatMap((sort) => [`sort=${sort}`, `sort=${sort}&q=x`])) {
      const seen: unknown[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const page: Answer = await member.get(`/clients?limit=2&${list}${cursor && `&cursor=${cursor}`}`)
        assert.equal(page.json['total'], names.length, list)
        const { clients, next } = page.json
        assert.ok(Array.isArray(clients))
        seen.push(...clients.map((client: unknown) => at(client, 'id')))
        cursor = typeof next === 'string' ? next : null
      }
      assert.equal(seen.length, names.length, list)
      assert.equal(new Set(seen).size, names.length, list)
    }
    const sorted = (await member.get('/clients')).json['clients']
    assert.ok(Array.isArray(sorted))
    assert.deepEqual(
      sorted.map((client: unknown) =>
        String(at(client, 'name')).slice(0, 4).trim().toLowerCase().normalize('NFKD').slice(0, 1),
      ),
      ['1', 'a', 'a', 'a', 'a', 'b', 'x', 'z', 'z'],
    )
  })

  test('count the disputes of a client that are open', async () => {
    const member = await firm.join('Counter', 'consultant')
    const disputes = `/clients/${await firm.client(member)}/disputes`
    const dispute = { invoice: 'R-1', amount: '1', position: 'none' }
    await member.send('POST', disputes, { ...dispute, status: 'settled' })
    await member.send('POST', disputes, dispute)
    const { json } = await member.send('POST', disputes, dispute)
    await member.send('DELETE', `${disputes}/${String(json['id'])}`, undefined, { 'if-match': '*' })
    assert.equal(at((await member.get('/clients')).json, 'clients', 0, 'open_disputes'), 1)
  })

  test('find word prefixes in names, references and addresses, with or without accents', async () => {
    const member = await firm.join('Finder', 'consultant')
    const body = { name: 'Lindqvist & Ömer Ltd', reference: 'ACME-2024/17', email: 'post.box@lindqvist.example' }
    await member.send('POST', '/clients', body)
    const finds = [
      'l',
      'lind',
      'LINDQ',
      'omer',
      'ömer',
      'lind om',
      'ltd lind',
      'acme',
      'acme-2024',
      '2024/17',
      '17',
      'post.box',
      'post.box@lindqvist.example',
      'exampl',
      '&lind',
    ]
    for (const q of finds) assert.equal((await member.get(`/clients?q=${encodeURIComponent(q)}`)).json['total'], 1, q)
    for (const q of ['lind x', '%', '&&', ':*', "'", '2025', '\\', '!lind | acm', '_']) {
      const expected = q === '!lind | acm' ? 1 : 0
      const { status, json } = await member.get(`/clients?q=${encodeURIComponent(q)}`)
      assert.deepEqual([status, json['total']], [200, expected], q)
    }
    assert.equal((await member.get('/clients?q=')).json['total'], 1)
  })

  test('refuse unknown parameters and values by name', async () => {
    const bad = [
      'colour=red',
      'sort=size',
      'limit=0',
      'limit=x',
      'limit=1000',
      'cursor=xyz',
      'status=gone',
      'q=a&q=b',
      `q=${'x'.repeat(201)}`,
    ]
    for (const query of bad) {
      const { status, error } = await anna.get(`/clients?${query}`)
      assert.equal(status, 400, query)
      assert.equal(error['field'], query.split('=')[0])
    }
    const id = await firm.client(anna)
    for (const list of ['/clients?', '/search?q=a&', '/audit?', `/clients/${id}/activity?`]) {
      const { status, error } = await paula.get(`${list}limit=201`)
      assert.deepEqual([status, error['field']], [400, 'limit'], list)
      assert.equal((await paula.get(`${list}limit=200`)).status, 200, list)
    }
    const cursors = [['a', 'b'], ['a', 1], 1, null, ['\0', 'x'], ['a', "'"]]
    for (const cursor of cursors) {
      const text = Buffer.from(JSON.stringify(cursor)).toString('base64url')
      for (const address of [`/clients?cursor=${text}`, `/clients?sort=changed_at&cursor=${text}`]) {
        assert.equal((await anna.get(address)).status, 400, JSON.stringify(cursor))
      }
    }
  })

  test('B80: an invented cursor does not lead a consultant to foreign clients', async () => {
    const member = await firm.join('Turner', 'consultant')
    const cursor = Buffer.from(JSON.stringify(['', '00000000-0000-7000-8000-000000000000'])).toString('base64url')
    assert.deepEqual((await member.get(`/clients?cursor=${cursor}`)).json['clients'], [])
  })
})

/** The audit events of a client with one of these actions, oldest first. */
const loggedOf = (id: string, ...actions: string[]) =>
  firm.service.database.rows<Json>(
    `select action, outcome, details ->> 'version' as version, details ->> 'fields' as fields from audit
     where client_id = $1 and action = any ($2) order by audit.id`,
    [id, actions],
  )

describe('activity and audit log', () => {
  test('archiving a client and restoring it have audit actions of their own, which name the other changed fields, too', async () => {
    const [id, ben] = [await firm.client(anna, 'Turned'), await firm.join('Ben', 'consultant')]
    const always = { 'if-match': '*' }
    for (const body of [
      { status: 'archived' },
      { status: 'archived' },
      { status: 'active', name: 'Returned' },
      { status: 'active', name: 'Other' },
      { status: 'archived', consultant_id: ben.id },
      { status: 'archived', consultant_id: anna.id },
    ]) {
      assert.equal((await paula.send('PATCH', `/clients/${id}`, body, always)).status, 200)
    }
    const actions = ['client_archived', 'client_unarchived', 'client_assigned', 'client_changed', 'client_restored']
    const allowed = { outcome: 'allowed' }
    assert.deepEqual(await loggedOf(id, ...actions), [
      { ...allowed, action: 'client_archived', version: '2', fields: 'status' },
      { ...allowed, action: 'client_unarchived', version: '3', fields: 'status name' },
      { ...allowed, action: 'client_changed', version: '4', fields: 'status name' },
      { ...allowed, action: 'client_assigned', version: '5', fields: 'status consultant_id' },
      { ...allowed, action: 'client_archived', version: '5', fields: 'status consultant_id' },
      { ...allowed, action: 'client_assigned', version: '6', fields: 'status consultant_id' },
    ])
  })

  test('a letter that is new and sent or approved is found by both actions', async () => {
    const id = await firm.client(anna)
    const list = `/clients/${id}/letters`
    for (const status of ['sent', 'approved', 'draft']) {
      const { status: code, text } = await anna.send('POST', list, { subject: status, body: 'Dear', status })
      assert.equal(code, 201, text)
    }
    const rows = await loggedOf(id, 'letter_created', 'letter_sent', 'letter_approved', 'letter_changed')
    assert.deepEqual(
      rows.map(({ action, version }) => [action, version]),
      ['created', 'sent', 'created', 'approved', 'created'].map((did) => [`letter_${did}`, '1']),
    )
    const { json } = await paula.get(`/audit?client=${id}&action=letter_sent`)
    assert.deepEqual(valuesOf(listAt(json, 'audit'), 'noun'), ['letter'])
  })

  test('the activity of a record shows who changed which fields to which version, and reads on request', async () => {
    const id = await firm.client(anna, 'Active')
    await paula.send('PATCH', `/clients/${id}`, { name: 'More active', email: 'a@b.example' }, { 'if-match': '"1"' })
    const note = await noteOf(id)
    await anna.get(note)
    const { json } = await anna.get(`/clients/${id}/activity`)
    const entries = json['activity']
    assert.ok(Array.isArray(entries))
    assert.deepEqual(
      entries.map((entry: unknown) => [
        at(entry, 'action'),
        at(entry, 'by', 'name'),
        at(entry, 'version'),
        at(entry, 'title'),
      ]),
      [
        ['note_created', 'Anna Berg', 1, '2026-03-12'],
        ['client_changed', 'Paula', 2, null],
        ['client_created', 'Anna Berg', 1, null],
      ],
    )
    assert.deepEqual(at(entries, 1, 'fields'), ['name', 'email'])
    const all = (await anna.get(`/clients/${id}/activity?reads=true`)).json['activity']
    assert.ok(Array.isArray(all) && all.some((entry: unknown) => at(entry, 'action') === 'note_read'))
    const first = await anna.get(`/clients/${id}/activity?limit=2`)
    const second = await anna.get(`/clients/${id}/activity?limit=2&cursor=${String(first.json['next'])}`)
    assert.deepEqual([at(second.json, 'activity', 0, 'action'), second.json['next']], ['client_created', null])
    const rows = await firm.service.database.rows<{ id: bigint }>('select id from audit where client_id = $1', [id])
    const other = await firm.client(anna)
    for (const entry of entries) assert.match(String(at(entry, 'id')), /^[\w-]{22}$/)
    for (const cursor of ['1', String(rows[0]?.id), `${String(first.json['next'])}A`, 'x'.repeat(22)]) {
      const { status, error } = await anna.get(`/clients/${id}/activity?cursor=${cursor}`)
      assert.deepEqual([status, error['field']], [400, 'cursor'], cursor)
    }
    const foreign = await anna.get(`/clients/${other}/activity?cursor=${String(first.json['next'])}`)
    assert.equal(foreign.status, 400)
  })

  test('B87: reads and refusals are in the audit log before the response is sent, without record contents', async () => {
    const id = await firm.client(anna, 'Audited secret')
    const outsider = await firm.join('Outsider', 'consultant')
    const note = await noteOf(id, 'very secret text')
    const missing = '01990000-0000-7000-8000-00000000dead'
    const asked: [Member, string, string, string][] = [
      [anna, `/clients/${id}`, 'client_read', 'allowed'],
      [anna, note, 'note_read', 'allowed'],
      [anna, '/clients?q=audited', 'clients_listed', 'allowed'],
      [anna, '/search?q=audited', 'records_searched', 'allowed'],
      [outsider, `/clients/${id}`, 'access_denied', 'refused'],
      [outsider, note, 'access_denied', 'refused'],
      [outsider, '/audit', 'access_denied', 'refused'],
      // Nothing is denied to a partner.
      [paula, `${note}0`, 'record_not_found', 'refused'],
      [paula, `/clients/${missing}`, 'record_not_found', 'refused'],
      [anna, `/clients/${missing}`, 'access_denied', 'refused'],
    ]
    for (const [member, address, action, outcome] of asked) {
      const columns = 'action, outcome, person_id, address'
      const rows = await eventsOf(await member.get(address), firm.service.database, columns)
      assert.deepEqual(rows, [{ action, outcome, person_id: member.id, address: '127.0.0.1' }], address)
    }
    const everything = await firm.service.database.rows<{ row: string }>('select a::text as row from audit a')
    assert.ok(everything.length > 20)
    for (const { row } of everything) assert.doesNotMatch(row, /secret|audited/i)
  })

  test('B87: a partner can filter, page through and export the audit log; a consultant cannot', async () => {
    const id = await firm.client(anna)
    await firm.join('Watcher', 'consultant').then((watcher) => watcher.get(`/clients/${id}`))
    const { json } = await paula.get(`/audit?client=${id}&outcome=refused`)
    assert.deepEqual(
      [at(json, 'audit', 'length'), at(json, 'audit', 0, 'person', 'name'), at(json, 'audit', 0, 'action')],
      [undefined, 'Watcher', 'access_denied'],
    )
    assert.equal(shaped(await paula.get('/audit?limit=1'), auditList), 200)
    const [one, two] = [await paula.get(`/audit?client=${id}&limit=1`), await paula.get(`/audit?client=${id}`)]
    const next = await paula.get(`/audit?client=${id}&limit=1&cursor=${String(one.json['next'])}`)
    assert.equal(at(next.json, 'audit', 0, 'id'), at(two.json, 'audit', 1, 'id'))
    for (const query of [
      'from=2026-01-01',
      'to=2999-01-01T00:00:00Z',
      `person=${anna.id}`,
      'action=client_created',
      'person=nobody',
    ]) {
      assert.equal((await paula.get(`/audit?${query}`)).status, 200, query)
    }
    assert.equal((await anna.get('/clients/nobody')).status, 403)
    for (const query of ['to=2020-01-01', 'client=nobody', 'person=nobody']) {
      assert.deepEqual((await paula.get(`/audit?${query}`)).json['audit'], [], query)
    }
    for (const query of ['from=yesterday', 'outcome=maybe', 'cursor=x', 'to=2026-13-01']) {
      assert.equal((await paula.get(`/audit?${query}`)).status, 400, query)
    }
    const file = await paula.get(`/audit?client=${id}&format=csv`, { accept: 'text/html' })
    assert.equal(file.headers.get('content-type'), 'text/csv; charset=utf-8')
    assert.match(file.headers.get('content-disposition') ?? '', /attachment; filename="audit.csv"/)
    const lines = file.text.split('\r\n')
    assert.match(lines[0] ?? '', /^id,at,action,outcome,person_id,person_name,client_id/)
    assert.equal(lines.length, 4)
    assert.equal((await anna.get('/audit?format=csv')).status, 403)
  })

  test('a name that looks like a spreadsheet formula is exported as text', async () => {
    const id = await firm.client(anna, '=HYPERLINK("http://evil.example")')
    const { text } = await paula.get(`/audit?client=${id}&format=csv`)
    assert.match(text, /"'=HYPERLINK\(""http/)
  })
})

describe('when the audit log cannot be written', () => {
  test('no record is returned or changed', async () => {
    const id = await firm.client(anna)
    await firm.service.database.rows('alter table audit rename to audit_hidden')
    try {
      for (const address of [`/clients/${id}`, '/clients', '/search?q=x']) {
        const { status, text } = await anna.get(address)
        assert.equal(status, 500, address)
        assert.ok(!text.includes('Client'))
      }
      const change = await anna.send('PATCH', `/clients/${id}`, { name: 'Unseen' }, { 'if-match': '*' })
      assert.equal(change.status, 500)
    } finally {
      await firm.service.database.rows('alter table audit_hidden rename to audit')
    }
    assert.deepEqual(
      [(await anna.get(`/clients/${id}`)).json['name'], (await anna.get('/clients')).status],
      ['Client', 200],
    )
  })
})
