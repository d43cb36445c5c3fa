import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import type { Answer } from '../support/answer.ts'
import { openFirm, type Member } from '../support/firm.ts'
import { at, valuesOf } from '../support/json.ts'
import { until } from '../support/until.ts'
import { eventsOf } from '../support/recorded.ts'

const { firm, anna, ben, paula } = openFirm()

/** A response without the parts that differ from request to request. */
function bytes({ status, headers, text }: Answer): object {
  const id = headers.get('request-id') ?? ''
  const kept = [...headers].filter(([name]) => name !== 'date' && name !== 'request-id')
  return { status, headers: Object.fromEntries(kept), text: text.replaceAll(id, 'ID') }
}

const kinds = [
  { plural: 'notes', noun: 'note', fresh: { date: '2026-03-12', text: 'hidden-marker' }, change: { text: 'changed' } },
  { plural: 'disputes', noun: 'dispute', fresh: { invoice: 'hidden-marker', amount: '5' }, change: { amount: '6' } },
  { plural: 'letters', noun: 'letter', fresh: { subject: 'hidden-marker' }, change: { body: 'changed' } },
] as const

async function made(by: Member, address: string, body: object): Promise<string> {
  const { status, json, text } = await by.send('POST', address, body)
  assert.equal(status, 201, text)
  return String(json['id'])
}

describe('a client that a consultant may not see', () => {
  const malformed = [
    'x',
    '123',
    '%00',
    '%zz',
    '%E0%A4%A',
    "' or 1=1 --",
    'a'.repeat(300),
    '..%2f..%2fetc',
    'undefined',
    '%F0%9F%98%80',
  ]

  test('B77: gets the identical 403, whether its id is unknown, malformed, deleted or foreign', async () => {
    const foreign = await firm.client(ben)
    const deleted = await firm.client(anna)
    assert.equal((await paula.send('DELETE', `/clients/${deleted}`)).status, 204)
    const upper = (await firm.client(anna)).toUpperCase()
    const ids = [foreign, deleted, upper, randomUUIDv7(), crypto.randomUUID(), `${foreign}0`, ...malformed]
    const rest = ['', '/notes', `/letters/${randomUUIDv7()}`, '/activity', '/revisions']
    for (const below of rest) {
      const replies = await Promise.all(ids.map((id) => anna.get(`/clients/${id}${below}`)))
      const [first, ...others] = replies.map(bytes)
      assert.equal(replies[0]?.status, 403)
      for (const [index, other] of others.entries()) assert.deepEqual(other, first, `${ids[index + 1]}${below}`)
    }
    const changes = await Promise.all(
      ids.map((id) => anna.send('PATCH', `/clients/${id}`, { name: 'x' }, { 'if-match': '"1"' })),
    )
    const [change, ...others] = changes.map(bytes)
    assert.equal(changes[0]?.status, 403)
    for (const other of others) assert.deepEqual(other, change)
    const drafts = await Promise.all(
      ids.map((id) => anna.send('POST', `/clients/${id}/drafts`, { instructions: 'Write.', notes: ['x'] })),
    )
    const [draft, ...more] = drafts.map(bytes)
    assert.equal(drafts[0]?.status, 403)
    for (const other of more) assert.deepEqual(other, draft)
  })

  test('B77: is refused in the same time', async () => {
    const ids = { foreign: await firm.client(ben), unknown: randomUUIDv7(), malformed: 'x' }
    const measure = async () => {
      const times: Record<string, number[]> = { foreign: [], unknown: [], malformed: [] }
      for (let round = 0; round < 60; round += 1) {
        for (const [kind, id] of Object.entries(ids)) {
          const start = performance.now()
          await anna.get(`/clients/${id}`)
          times[kind]?.push(performance.now() - start)
        }
      }
      return Object.values(times).map((all) => all.toSorted((a, b) => a - b)[30] ?? 0)
    }
    // Other load slows down one kind, then another; a real difference would show in the same kind every time.
    await until(async () => {
      const medians = await measure()
      return Math.max(...medians) < Math.min(...medians) * 1.5
    })
  })

  test('B77: is 404 for a partner', async () => {
    const deleted = await firm.client(anna)
    await paula.send('DELETE', `/clients/${deleted}`)
    for (const id of [deleted, randomUUIDv7(), ...malformed]) {
      const { status, error } = await paula.get(`/clients/${id}`)
      assert.deepEqual([status, error['code']], [404, 'not_found'], id)
    }
  })
})

describe('items of a record', () => {
  for (const { plural, fresh, change } of kinds) {
    test(`B79: ${plural} of one client cannot be reached under another client`, async () => {
      const [mine, foreign] = [await firm.client(anna), await firm.client(ben)]
      const own = await made(anna, `/clients/${mine}/${plural}`, fresh)
      const others = await made(ben, `/clients/${foreign}/${plural}`, fresh)
      const alsoMine = await firm.client(anna)
      const wrong = [
        `${mine}/${plural}/${others}`,
        `${foreign}/${plural}/${others}`,
        `${foreign}/${plural}/${own}`,
        `${alsoMine}/${plural}/${own}`,
      ]
      for (const address of wrong) {
        for (const reply of [
          await anna.get(`/clients/${address}`),
          await anna.get(`/clients/${address}/revisions`),
          await anna.send('PATCH', `/clients/${address}`, change, { 'if-match': '*' }),
          await anna.send('DELETE', `/clients/${address}`),
        ]) {
          assert.equal(reply.status, 403, address)
          assert.ok(!reply.text.includes('hidden-marker'))
        }
      }
      assert.equal((await anna.send('POST', `/clients/${foreign}/${plural}`, fresh)).status, 403)
      assert.equal((await anna.get(`/clients/${foreign}/${plural}`)).status, 403)
      for (const [member, client, id] of [
        [anna, mine, own],
        [ben, foreign, others],
      ] as const) {
        assert.equal((await member.get(`/clients/${client}/${plural}/${id}`)).json['version'], 1)
      }
    })
  }

  test('an archived note disappears from the record, but it and its revisions can be read', async () => {
    const client = await firm.client(anna)
    const id = await made(anna, `/clients/${client}/notes`, { date: '2026-03-12', text: 'first' })
    assert.equal(
      (await anna.send('DELETE', `/clients/${client}/notes/${id}`, undefined, { 'if-match': '"1"' })).status,
      204,
    )
    assert.equal((await ben.get(`/clients/${client}/notes/${id}`)).status, 403)
    assert.deepEqual((await anna.get(`/clients/${client}`)).json['notes'], [])
    const { json } = await anna.get(`/clients/${client}/notes/${id}/revisions`)
    assert.deepEqual([at(json, 'revisions', 0, 'archived'), at(json, 'revisions', 1, 'data', 'text')], [true, 'first'])
    assert.equal(typeof (await paula.get(`/clients/${client}/notes/${id}`)).json['archived_at'], 'string')
  })
})

describe('fields that assign a record', () => {
  test('B81: get a consultant 403, and nothing is written', async () => {
    const client = await firm.client(anna)
    for (const field of ['owner', 'owner_id', 'consultant_id', 'consultant', 'role', 'client_id']) {
      const body = { name: 'Taken', [field]: ben.id }
      assert.equal((await anna.send('POST', '/clients', body)).status, 403, field)
      const change = await anna.send('PATCH', `/clients/${client}`, body, { 'if-match': '*' })
      assert.deepEqual([change.status, change.error['code'], change.error['field']], [403, 'forbidden', field])
      const note = { date: '2026-03-12', text: 'x', [field]: ben.id }
      assert.equal((await anna.send('POST', `/clients/${client}/notes`, note)).status, 403, field)
    }
    const { json } = await anna.get(`/clients/${client}`)
    assert.deepEqual(
      [json['name'], json['version'], json['notes'], at(json, 'consultant', 'id')],
      ['Client', 1, [], anna.id],
    )
    assert.equal((await ben.get('/clients?q=taken')).json['total'], 0)
  })

  test('an unknown field is refused by name, also for a partner', async () => {
    const client = await firm.client(anna)
    for (const field of ['id', 'version', 'created_at', 'deleted_at', 'cost', 'generated', '__proto__x']) {
      const reply = await paula.send('PATCH', `/clients/${client}`, { [field]: 1 }, { 'if-match': '*' })
      assert.deepEqual([reply.status, reply.error['code']], [400, 'unknown_field'], field)
    }
    const letter = await anna.send('POST', `/clients/${client}/letters`, { subject: 's', cost: '0', generated: true })
    assert.deepEqual([letter.status, letter.error['code']], [400, 'unknown_field'])
  })

  test('a partner can assign only to an existing person who may sign in', async () => {
    const client = await firm.client(anna)
    const gone = await firm.join('Gone', 'consultant')
    await firm.service.people.setStatus(gone.id, 'disabled', byService)
    for (const consultant_id of [gone.id, randomUUIDv7(), client]) {
      const reply = await paula.send('PATCH', `/clients/${client}`, { consultant_id }, { 'if-match': '*' })
      assert.deepEqual([reply.status, reply.error['field']], [400, 'consultant_id'])
    }
    assert.equal((await anna.get(`/clients/${client}`)).json['version'], 1)
  })
})

/** Whether somebody gets the client, how often it is in their list, and how much of it they find. */
async function sees(member: Member, client: string): Promise<unknown[]> {
  const list = await member.get('/clients?q=wanderer')
  const { json } = await member.get('/search?q=wanderer')
  const found = Array.isArray(json['results']) ? json['results'].length : undefined
  return [(await member.get(`/clients/${client}`)).status, list.json['total'], found]
}

describe('assigning', () => {
  test('B82: takes effect on the next request on every route, and can be undone', async () => {
    const client = await firm.client(anna, 'Wanderer')
    await made(anna, `/clients/${client}/notes`, { date: '2026-03-12', text: 'Wanderer was here' })
    assert.deepEqual(await sees(anna, client), [200, 1, 2])
    for (const [to, from] of [
      [ben, anna],
      [anna, ben],
      [ben, anna],
    ] as const) {
      const given = await paula.send('PATCH', `/clients/${client}`, { consultant_id: to.id }, { 'if-match': '*' })
      assert.equal(given.status, 200)
      assert.deepEqual(await sees(to, client), [200, 1, 2])
      assert.deepEqual(await sees(from, client), [403, 0, 0])
    }
  })

  test('B32: a change of role takes effect on the next request', async () => {
    const client = await firm.client(anna)
    const person = await firm.join('Riser', 'partner')
    assert.equal((await person.get(`/clients/${client}`)).status, 200)
    await firm.service.people.setRole(person.id, 'consultant', byService)
    assert.equal((await person.get(`/clients/${client}`)).status, 401)
    const cookie = await firm.service.signIn(person)
    assert.equal((await firm.ask('GET', `/clients/${client}`, { headers: { cookie } })).status, 403)
  })
})

describe('a reference that is already in use', () => {
  test('B86: is 409 for the same consultant, and discloses no client of another', async () => {
    const foreign = await ben.send('POST', '/clients', { name: 'Hidden', reference: 'R-1' })
    assert.equal(foreign.status, 201)
    const mine = await anna.send('POST', '/clients', { name: 'Mine', reference: 'r-1' })
    assert.equal(mine.status, 201)
    const again = await anna.send('POST', '/clients', { name: 'Again', reference: 'R-1' })
    assert.deepEqual([again.status, again.error['code'], again.error['field']], [409, 'conflict', 'reference'])
    assert.ok(
      !again.text.includes('Hidden') && !again.text.includes('Mine') && !again.text.includes(String(mine.json['id'])),
    )
  })

  test('leaves a refused change in the audit log', async () => {
    const reference = 'R-2'
    await anna.send('POST', '/clients', { name: 'First', reference })
    const address = `/clients/${await firm.client(anna)}`
    const replies = [
      ['client_created', await anna.send('POST', '/clients', { name: 'Again', reference })],
      ['client_changed', await anna.send('PATCH', address, { reference }, { 'if-match': '*' })],
    ] as const
    for (const [action, reply] of replies) {
      const rows = await eventsOf(reply, firm.service.database, 'action, outcome, person_id')
      assert.deepEqual([reply.status, rows], [409, [{ action, outcome: 'refused', person_id: anna.id }]])
    }
  })

  test('B86: ids are generated by the server; one sent by the caller is refused', async () => {
    const client = await firm.client(ben)
    assert.equal((await anna.send('POST', '/clients', { name: 'x', id: client })).status, 400)
  })
})

describe('with row-level security switched off on purpose', () => {
  const tables = ['client', 'note', 'dispute', 'letter', 'revision', 'audit']
  const secure = async (how: 'enable' | 'disable') => {
    for (const table of tables) await firm.service.database.rows(`alter table ${table} ${how} row level security`)
  }

  test('the checks in the code alone still keep foreign records out of reach', async () => {
    const [mine, foreign] = [await firm.client(anna, 'Doubly mine'), await firm.client(ben, 'Doubly foreign')]
    const notes = { mine: '', foreign: '' }
    for (const [whose, member, client] of [
      ['mine', anna, mine],
      ['foreign', ben, foreign],
    ] as const) {
      notes[whose] = await made(member, `/clients/${client}/notes`, { date: '2026-03-12', text: 'doubly' })
    }
    await secure('disable')
    try {
      const [list, found] = [await anna.get('/clients?q=doubly'), await anna.get('/search?q=doubly')]
      assert.equal(list.json['total'], 1)
      assert.ok(!list.text.includes('foreign') && !found.text.includes('foreign'))
      assert.ok(Array.isArray(found.json['results']) && found.json['results'].length === 2)
      assert.equal((await anna.get(`/clients/${mine}/notes/${notes.mine}`)).status, 200)
      const below = [
        '',
        '/notes',
        `/notes/${notes.foreign}`,
        `/notes/${notes.foreign}/revisions`,
        '/activity',
        '/revisions',
      ]
      for (const rest of below) assert.equal((await anna.get(`/clients/${foreign}${rest}`)).status, 403, rest)
      const always = { 'if-match': '*' }
      const changes = [
        await anna.send('PATCH', `/clients/${foreign}`, { name: 'x' }, always),
        await anna.send('PATCH', `/clients/${foreign}/notes/${notes.foreign}`, { text: 'x' }, always),
        await anna.send('DELETE', `/clients/${foreign}/notes/${notes.foreign}`),
        await anna.send('POST', `/clients/${foreign}/notes`, { date: '2026-03-12', text: 'x' }),
      ]
      assert.deepEqual(valuesOf(changes, 'status'), [403, 403, 403, 403])
    } finally {
      await secure('enable')
    }
    assert.equal((await ben.get(`/clients/${foreign}`)).json['version'], 1)
    assert.equal((await ben.get(`/clients/${foreign}/notes/${notes.foreign}`)).json['version'], 1)
  })
})
