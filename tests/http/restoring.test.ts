import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Value } from 'typebox/value'
import * as schema from '../../src/clients/schema.ts'
import type { Answer } from '../support/answer.ts'
import { startFirm } from '../support/firm.ts'
import { at } from '../support/json.ts'
import { fixture } from '../support/fixture.ts'
import { ok } from '../support/answer.ts'

const firm = fixture(() => startFirm())
const anna = fixture(() => firm.join('Anna Berg', 'consultant'))
const ben = fixture(() => firm.join('Ben', 'consultant'))
const paula = fixture(() => firm.join('Paula', 'partner'))

const kinds = [
  {
    plural: 'notes',
    fresh: { date: '2026-03-12', text: 'secret-marker' },
    change: { text: 'new' },
    shape: schema.note,
    list: schema.noteList,
  },
  {
    plural: 'disputes',
    fresh: { invoice: 'R-1', amount: '5' },
    change: { amount: '6' },
    shape: schema.dispute,
    list: schema.disputeList,
  },
  {
    plural: 'letters',
    fresh: { subject: 'Offer', body: 'Dear Anna', status: 'sent' },
    change: { body: 'new' },
    shape: schema.letter,
    list: schema.letterList,
  },
] as const

/** Creates an item of a client and archives it. Returns its path. */
async function archived(client: string, kind: (typeof kinds)[number] = kinds[0]): Promise<string> {
  const list = `/clients/${client}/${kind.plural}`
  const { json, text } = await anna.send('POST', list, kind.fresh)
  const path = `${list}/${String(json['id'])}`
  assert.equal((await anna.send('DELETE', path)).status, 204, text)
  return path
}

const restore = (path: string, by = anna, headers = {}): Promise<Answer> =>
  by.send('POST', `${path}/restore`, undefined, headers)

/** The status and the bytes of an answer, but for the request's id. */
const bodyOf = ({ status, text }: Answer) => [status, text.replace(/"request_id":"[^"]*"/, '')]

const idsIn = (found: unknown) => (Array.isArray(found) ? found.map((each) => at(each, 'id')) : [])

async function actionsOn(client: string, nounId: string): Promise<unknown[]> {
  const { json } = await paula.get(`/audit?client=${client}&limit=200`)
  const rows = Array.isArray(json['audit']) ? json['audit'] : []
  return rows
    .filter((row) => at(row, 'noun_id') === nounId)
    .map((row) => [at(row, 'action'), at(row, 'outcome'), at(row, 'actor', 'name')])
}

for (const kind of kinds) {
  const { plural, shape, list } = kind
  const noun = plural.slice(0, -1)
  test(`B98: an archived ${noun} is listed, read and restored, each with its audit row`, async () => {
    const client = await firm.client(anna)
    const path = await archived(client, kind)
    const id = path.split('/').at(-1) ?? ''
    const all = await anna.get(`/clients/${client}/${plural}`)
    assert.deepEqual([idsIn(all.json[plural]), all.json['next']], [[], null])
    const listed = await anna.get(`/clients/${client}/${plural}?archived=true`)
    assert.equal(Value.Errors(list, listed.json)[0], undefined, listed.text)
    assert.deepEqual(idsIn(listed.json[plural]), [id])
    const read = await anna.get(path)
    assert.deepEqual(
      [read.status, read.headers.get('etag'), Value.Errors(shape, read.json)[0]],
      [200, '"2"', undefined],
    )
    assert.equal(typeof read.json['archived_at'], 'string')

    const back = await restore(path, anna, { 'if-match': '"2"' })
    assert.deepEqual([back.status, back.headers.get('etag'), back.json['archived_at']], [200, '"3"', null], back.text)
    const { archived_at: _, version, updated_at: __, ...kept } = back.json
    assert.equal(version, 3)
    for (const [name, value] of Object.entries(kept)) assert.deepEqual(value, read.json[name], name)
    assert.deepEqual(idsIn((await anna.get(`/clients/${client}/${plural}`)).json[plural]), [id])
    assert.deepEqual(idsIn((await anna.get(`/clients/${client}/${plural}?archived=true`)).json[plural]), [])
    const { json } = await anna.get(`${path}/revisions`)
    const states = Array.isArray(json['revisions']) ? json['revisions'].map((each) => at(each, 'archived')) : []
    assert.deepEqual(states, [false, true, false])
    assert.deepEqual(await actionsOn(client, id), [
      ['revisions_read', 'allowed', 'Anna Berg'],
      [`${noun}_restored`, 'allowed', 'Anna Berg'],
      [`${noun}_read`, 'allowed', 'Anna Berg'],
      [`${noun}_archived`, 'allowed', 'Anna Berg'],
      ...(noun === 'letter' ? [['letter_sent', 'allowed', 'Anna Berg']] : []),
      [`${noun}_created`, 'allowed', 'Anna Berg'],
    ])
  })
}

describe('an archived item', () => {
  test('of a foreign client is refused like an unknown one, byte for byte, and stays archived', async () => {
    const client = await firm.client(anna)
    const path = await archived(client)
    const unknown = path.replace(/[^/]+$/, '01990000-0000-7000-8000-000000000000')
    const answers = await Promise.all([
      restore(path, ben),
      restore(unknown, ben),
      restore(unknown, anna),
      ben.get(path),
      ben.get(`/clients/${client}/notes?archived=true`),
    ])
    for (const answer of answers) assert.deepEqual(bodyOf(answer), bodyOf(await ben.get(unknown)))
    assert.equal(answers[0]?.status, 403)
    assert.ok(!answers.some(({ text }) => text.includes('secret-marker')))
    assert.notEqual((await anna.get(path)).json['archived_at'], null)
    assert.equal((await restore(unknown, paula)).status, 404)
  })

  for (const kind of kinds) {
    const noun = kind.plural.slice(0, -1)
    test(`is not changed or archived again, if it is a ${noun}, and the refusal says why`, async () => {
      const client = await firm.client(anna)
      const path = await archived(client, kind)
      const id = path.split('/').at(-1) ?? ''
      for (const person of [anna, paula]) {
        const answers = [
          await person.send('PATCH', path, kind.change, { 'if-match': '*' }),
          await person.send('PATCH', path, kind.change, { 'if-match': '"1"' }),
          await person.send('DELETE', path),
        ]
        for (const { status, error } of answers) {
          const reason = `The ${noun} was archived: restore it first.`
          assert.deepEqual([status, error['code'], error['reason']], [409, 'conflict', reason])
        }
      }
      assert.deepEqual((await actionsOn(client, id)).slice(0, 6), [
        [`${noun}_archived`, 'refused', 'Paula'],
        [`${noun}_changed`, 'refused', 'Paula'],
        [`${noun}_changed`, 'refused', 'Paula'],
        [`${noun}_archived`, 'refused', 'Anna Berg'],
        [`${noun}_changed`, 'refused', 'Anna Berg'],
        [`${noun}_changed`, 'refused', 'Anna Berg'],
      ])
      assert.equal((await anna.get(path)).json['version'], 2)
    })
  }

  test('gets no new version, if it is a letter, and the refusal says why', async () => {
    const client = await firm.client(anna)
    const path = await archived(client, kinds[2])
    const versions = `${path}/versions`
    for (const person of [anna, paula]) {
      const { status, error } = await person.send('POST', versions)
      const reason = 'The letter was archived: restore it first.'
      assert.deepEqual([status, error['code'], error['reason']], [409, 'conflict', reason])
    }
    const unknown = versions.replace(/[^/]+(?=\/versions$)/, '01990000-0000-7000-8000-000000000000')
    const foreign = bodyOf(await ben.send('POST', versions))
    assert.equal(foreign[0], 403)
    for (const person of [anna, ben]) assert.deepEqual(bodyOf(await person.send('POST', unknown)), foreign)
    assert.deepEqual((await anna.get(`/clients/${client}/letters`)).json['letters'], [])
    const key = { 'idempotency-key': '01990000-0000-7000-8000-00000000c0de' }
    assert.equal((await restore(path)).status, 200)
    const made = ok(await anna.send('POST', versions, undefined, key), 201)
    assert.equal((await anna.send('DELETE', path)).status, 204)
    assert.equal((await anna.send('POST', versions, undefined, key)).json['id'], made.json['id'])
  })

  test('of a foreign client is not changed or archived, like an unknown one, byte for byte', async () => {
    const path = await archived(await firm.client(anna))
    const unknown = path.replace(/[^/]+$/, '01990000-0000-7000-8000-000000000000')
    const always = { 'if-match': '*' }
    const refused = bodyOf(await ben.get(unknown))
    for (const [person, url] of [
      [ben, path],
      [ben, unknown],
      [anna, unknown],
    ] as const) {
      assert.deepEqual(bodyOf(await person.send('PATCH', url, { text: 'new' }, always)), refused)
      assert.deepEqual(bodyOf(await person.send('DELETE', url)), refused)
    }
    assert.equal(refused[0], 403)
    assert.equal((await paula.send('DELETE', unknown)).status, 404)
    assert.equal((await anna.get(path)).json['version'], 2)
  })

  test('is restored only from the version that If-Match names, and once', async () => {
    const path = await archived(await firm.client(anna))
    const stale = await restore(path, anna, { 'if-match': '"1"' })
    assert.deepEqual(
      [stale.status, stale.error['code'], at(stale.json, 'current', 'version')],
      [412, 'stale_version', 2],
    )
    assert.equal((await restore(path, anna, { 'if-match': '2' })).status, 400)
    const answers = await Promise.all(Array.from({ length: 10 }, () => restore(path)))
    assert.deepEqual(
      new Set(answers.map(({ status, json }) => `${status} ${String(json['version'])}`)),
      new Set(['200 3']),
    )
    assert.equal((await restore(path, anna, { 'if-match': '"2"' })).status, 412)
    const actions = await actionsOn(path.split('/')[2] ?? '', path.split('/').at(-1) ?? '')
    assert.equal(
      actions.filter((row) => Array.isArray(row) && row[0] === 'note_restored' && row[1] === 'allowed').length,
      1,
    )
  })

  test('is restored and archived by several people at once without a lost step', async () => {
    const path = await archived(await firm.client(anna))
    const deeds = Array.from({ length: 12 }, (_, index) =>
      index % 2 === 0 ? restore(path) : paula.send('DELETE', path),
    )
    for (const { status, text } of await Promise.all(deeds)) assert.ok([200, 204, 409, 412].includes(status), text)
    const { json } = await anna.get(`${path}/revisions`)
    const states = Array.isArray(json['revisions']) ? json['revisions'].map((each) => at(each, 'archived')) : []
    // Every version is the opposite of the one before.
    for (const [index, state] of states.entries()) assert.equal(state, (states.length - index) % 2 === 0)
    assert.equal((await anna.get(path)).json['archived_at'] !== null, states[0])
  })

  test('of an archived client cannot be restored', async () => {
    const client = await firm.client(anna)
    const path = await archived(client)
    await anna.send('PATCH', `/clients/${client}`, { status: 'archived' }, { 'if-match': '*' })
    const { status, error } = await restore(path)
    assert.deepEqual([status, error['code']], [409, 'conflict'])
    assert.equal((await anna.get(path)).json['version'], 2)
  })

  test('does not fit into a full record', async () => {
    const client = await firm.client(anna)
    const path = await archived(client)
    const text = 'x'.repeat(200_000)
    for (let count = 0; count < 25; count += 1) {
      ok(await anna.send('POST', `/clients/${client}/notes`, { date: '2026-03-12', text }), 201)
    }
    const { status, error } = await restore(path)
    assert.deepEqual([status, error['code']], [409, 'conflict'])
    assert.notEqual((await anna.get(path)).json['archived_at'], null)
  })

  test('is listed page by page, the latest archived first; an invented cursor is refused', async () => {
    const client = await firm.client(anna)
    const paths = [await archived(client), await archived(client), await archived(client)]
    const list = `/clients/${client}/notes?archived=true&limit=2`
    const first = (await anna.get(list)).json
    const second = (await anna.get(`${list}&cursor=${String(first['next'])}`)).json
    assert.equal(second['next'], null)
    assert.deepEqual(
      [...idsIn(first['notes']), ...idsIn(second['notes'])],
      paths.map((path) => path.split('/').at(-1)).toReversed(),
    )
    for (const key of ['0000-01-01T00:00:00Z', 'x', '2026-13-01T00:00:00Z']) {
      const cursor = Buffer.from(JSON.stringify([key, client])).toString('base64url')
      const { status, error } = await anna.get(`${list}&cursor=${cursor}`)
      assert.deepEqual([status, error['field']], [400, 'cursor'], key)
    }
  })
})

describe('a deleted client', () => {
  test('B98: is listed and restored by a partner with its record, each with its audit row', async () => {
    const client = await firm.client(anna, 'Zebra & Sons')
    const note = await anna.send('POST', `/clients/${client}/notes`, { date: '2026-03-12', text: 'kept' })
    assert.equal((await paula.send('DELETE', `/clients/${client}`)).status, 204)
    assert.equal((await anna.get(`/clients/${client}`)).status, 403)
    const deleted = await paula.get('/clients?status=deleted&q=zebra')
    assert.deepEqual(idsIn(deleted.json['clients']), [client])
    assert.deepEqual(idsIn((await paula.get('/clients?status=all&q=zebra')).json['clients']), [])

    const back = await paula.send('POST', `/clients/${client}/restore`)
    assert.deepEqual([back.status, back.headers.get('etag')], [200, '"3"'], back.text)
    assert.equal(Value.Errors(schema.clientRecord, back.json)[0], undefined)
    assert.deepEqual(idsIn((await anna.get(`/clients/${client}`)).json['notes']), [note.json['id']])
    assert.deepEqual(idsIn((await paula.get('/clients?status=deleted&q=zebra')).json['clients']), [])
    const again = await paula.send('POST', `/clients/${client}/restore`)
    assert.deepEqual([again.status, again.json['version']], [200, 3])
    assert.deepEqual((await actionsOn(client, client)).slice(0, 5), [
      ['client_read', 'allowed', 'Paula'],
      ['client_read', 'allowed', 'Anna Berg'],
      ['client_restored', 'allowed', 'Paula'],
      ['access_denied', 'refused', 'Anna Berg'],
      ['client_removed', 'allowed', 'Paula'],
    ])
  })

  test('is neither listed nor restored by a consultant', async () => {
    const client = await firm.client(anna)
    await paula.send('DELETE', `/clients/${client}`)
    for (const by of [anna, ben]) {
      assert.equal((await by.get('/clients?status=deleted')).status, 403)
      assert.equal((await by.send('POST', `/clients/${client}/restore`)).status, 403)
    }
    assert.equal((await paula.get(`/clients/${client}`)).status, 404)
  })

  test('cannot be restored while another client of the consultant has its reference', async () => {
    const fresh = { name: 'Client', reference: 'R-7' }
    const client = String((await anna.send('POST', '/clients', fresh)).json['id'])
    await paula.send('DELETE', `/clients/${client}`)
    assert.equal((await anna.send('POST', '/clients', fresh)).status, 201)
    const { status, error } = await paula.send('POST', `/clients/${client}/restore`)
    assert.deepEqual([status, error['code'], error['field']], [409, 'conflict', 'reference'])
    assert.match(String(error['reason']), /Change the reference of the other client first\.$/)
    assert.equal((await paula.get(`/clients/${client}`)).status, 404)
    const again = await anna.send('POST', '/clients', fresh)
    assert.match(String(again.error['reason']), /Choose another\.$/)
  })
})
