import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byService, personActor } from '../../src/access/actor.ts'
import type { PreparedStatement } from '../../src/platform/database/pipeline.ts'
import { startFirm } from '../support/firm.ts'
import { at } from '../support/json.ts'
import { fixture } from '../support/fixture.ts'

const firm = fixture(() => startFirm())
const partner = fixture(() => firm.join('Partner', 'partner'))

test('a list goes on past names in which one character sorts as eighteen', async () => {
  const names = ['\u{fdfa}'.repeat(200), '\u{20000}'.repeat(200), `0${'\u{fdfa}'.repeat(199)}`, 'Last']
  for (const name of names) {
    assert.equal((await partner.send('POST', '/clients', { name, consultant_id: partner.id })).status, 201)
  }
  const seen: string[] = []
  for (let next: unknown = ''; next !== null;) {
    const page = await partner.get(
      `/clients?limit=1${next === '' ? '' : `&cursor=${JSON.stringify(next).slice(1, -1)}`}`,
    )
    assert.equal(page.status, 200, page.text.slice(0, 300))
    seen.push(String(at(page.json, 'clients', 0, 'name')))
    next = page.json['next']
  }
  assert.deepEqual(new Set(seen), new Set(names))
  assert.equal(seen.length, names.length)
})

test('a date that PostgreSQL does not know is refused, naming the field', async () => {
  const id = await firm.client(partner)
  for (const date of ['0000-01-01', '2026-02-30', '10000-01-01']) {
    const refusal = await partner.send('POST', `/clients/${id}/notes`, { date, text: 'x' })
    assert.deepEqual([refusal.status, refusal.error['field']], [400, 'date'], refusal.text)
  }
  assert.equal((await partner.send('POST', `/clients/${id}/notes`, { date: '0001-01-01', text: 'x' })).status, 201)
})

test('invisible and bidirectional control characters are refused in single-line fields, naming field and character', async () => {
  const id = await firm.client(partner)
  const bodies = [
    ['/clients', (text: string) => ({ name: text }), 'name'],
    ['/clients', (text: string) => ({ name: 'A', reference: text }), 'reference'],
    [
      `/clients/${id}/notes`,
      (text: string) => ({ date: '2026-03-12', text: 'x', participants: ['A', text] }),
      'participants[1]',
    ],
    [`/clients/${id}/disputes`, (text: string) => ({ invoice: text, amount: '1.00' }), 'invoice'],
    [`/clients/${id}/letters`, (text: string) => ({ subject: text }), 'subject'],
  ] as const
  const texts = [
    ['a\nb', /a line break/],
    ['a\tb', /a tab/],
    ['\u202e evil', /U\+202E/],
    ['\u2066a', /U\+2066/],
    ['\u200b', /U\+200B/],
    ['\u00a0', /blank/],
  ] as const
  for (const [address, body, field] of bodies) {
    for (const [text, said] of texts) {
      const refusal = await partner.send('POST', address, body(text))
      assert.deepEqual([refusal.status, refusal.error['field']], [400, field], refusal.text)
      assert.match(String(refusal.error['reason']), said)
    }
  }
  const long = { date: '2026-03-12', text: 'lines\n\tof a note\u2066' }
  assert.equal((await partner.send('POST', `/clients/${id}/notes`, long)).status, 201)
  const joined = { name: 'شرکت می\u200cخواهم 👩\u200d🔧' }
  assert.equal((await partner.send('POST', '/clients', joined)).status, 201)
  await assert.rejects(
    firm.service.people.create({ name: 'a\u202eb', email: 'turned@firm.example', role: 'consultant' }, byService),
    { code: 'invalid_field', details: { field: 'name' }, message: /U\+202E/ },
  )
})

test('a cursor that no page returned is refused, whatever a database would make of it', async () => {
  const id = await firm.client(partner)
  for (const key of ['2026-19-39 29:59:59+00', '2026-02-30 10:00:00+00', '0000-01-01 00:00:00+00', 'now+00']) {
    const cursor = Buffer.from(JSON.stringify([key, id])).toString('base64url')
    const refusal = await partner.get(`/clients?sort=changed_at&cursor=${cursor}`)
    assert.deepEqual([refusal.status, refusal.error['field']], [400, 'cursor'], `${key}: ${refusal.text}`)
  }
  for (const format of ['json', 'csv']) {
    const refusal = await partner.get(`/audit?format=${format}&cursor=9999999999999999999`)
    assert.deepEqual([refusal.status, refusal.error['field']], [400, 'cursor'], refusal.text)
    assert.equal((await partner.get(`/audit?format=${format}&cursor=999999999999999999`)).status, 200)
    for (const from of ['0000-01-01', '2026-02-30']) {
      const wrong = await partner.get(`/audit?format=${format}&from=${from}`)
      assert.deepEqual([wrong.status, wrong.error['field']], [400, 'from'], wrong.text)
    }
  }
})

test('a failure during an audit export is an error status, not a truncated file', async () => {
  const { database } = firm.service
  const [roles] = await database.rows<{ partner: string }>(`select portal_role('partner') as partner`)
  await database.rows(`revoke select on audit from ${roles?.partner}`)
  try {
    const answer = await partner.get('/audit?format=csv')
    assert.deepEqual([answer.status, answer.error['code']], [500, 'internal'], answer.text)
    assert.equal(answer.headers.get('content-disposition'), null)
  } finally {
    await database.rows(`grant select on audit to ${roles?.partner}`)
  }
  assert.equal((await partner.get('/audit?format=csv')).status, 200)
})

test('B32: a partner who is demoted during a download gets neither the rest nor a file that looks complete', async () => {
  const reader = await firm.join('Reader', 'partner')
  // In parts: all at once takes seconds on a slow machine, and a statement may take five.
  for (let part = 0; part < 6; part++) {
    await firm.service.database.rows(
      `insert into audit (action, outcome, actor, details) select 'filler', 'allowed', 'service', jsonb_build_object('n', n, 'x', repeat('x', 400))
       from generate_series(1, 10000) n`,
    )
  }
  const answer = await fetch(`${firm.service.url}/audit?action=filler&format=csv`, {
    headers: { cookie: reader.cookie },
  })
  assert.equal(answer.status, 200)
  const body: AsyncIterable<Uint8Array> | null = answer.body
  assert.ok(body)
  let file = ''
  await assert.rejects(async () => {
    for await (const piece of body) {
      if (file === '') await firm.service.people.setStatus(reader.id, 'disabled', byService)
      file += new TextDecoder().decode(piece)
    }
  })
  assert.match(file, /^id,at,/)
  assert.ok(file.split('\r\n').length < 60_000)
})

test('the database role of partners shows nothing to a person who is no longer a partner', async () => {
  await firm.client(partner)
  const former = await firm.join('Former', 'partner')
  const text = `select (select count(*) from client) + (select count(*) from audit) as "all"`
  const statement: PreparedStatement<{ all: bigint }> = { name: 'reach of a partner', text }
  const reach = async () => {
    const [[row]] = await firm.service.records.access.as({ actor: personActor(former) }, [statement])
    return Number(row?.all)
  }
  assert.ok((await reach()) > 0)
  await firm.service.people.setStatus(former.id, 'disabled', byService)
  assert.equal(await reach(), 0)
})

test('a record refuses items beyond its limit, and the error says what to do', async () => {
  const id = await firm.client(partner)
  const note = { date: '2026-03-12', text: 'x'.repeat(199_000) }
  for (let number = 0; number < 25; number++) {
    assert.equal((await partner.send('POST', `/clients/${id}/notes`, note)).status, 201)
  }
  const refusal = await partner.send('POST', `/clients/${id}/notes`, note)
  assert.deepEqual([refusal.status, refusal.error['code']], [409, 'conflict'], refusal.text)
  assert.match(String(refusal.error['reason']), /Archive some first/)
  const record = await partner.get(`/clients/${id}`)
  assert.deepEqual([typeof at(record.json, 'notes', 24), typeof at(record.json, 'notes', 25)], ['object', 'undefined'])
  const first = String(at(record.json, 'notes', 0, 'id'))
  assert.equal(
    (await partner.send('DELETE', `/clients/${id}/notes/${first}`, undefined, { 'if-match': '*' })).status,
    204,
  )
  assert.equal((await partner.send('POST', `/clients/${id}/notes`, note)).status, 201)
})
