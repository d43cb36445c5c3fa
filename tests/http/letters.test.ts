import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomUUIDv7 } from 'node:crypto'
import { Client } from 'pg'
import { Value } from 'typebox/value'
import { portalAddress } from '../../src/access/portal/login.ts'
import { verifyAll } from '../../src/commands/verification.ts'
import * as schema from '../../src/clients/schema.ts'
import { openDatabase } from '../../src/platform/database/database.ts'
import type { Answer } from '../support/answer.ts'
import { createTestDatabase } from '../support/database.ts'
import { startFirm, type Member } from '../support/firm.ts'
import { at } from '../support/json.ts'
import { log } from '../support/tills.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { assertVerified } from '../support/verified.ts'
import { ok } from '../support/answer.ts'

const home = fixture(() => createTestDatabase())
const firm = fixture(() => startFirm({ databaseUrl: home.url }))
const anna = fixture(() => firm.join('Anna Berg', 'consultant'))
const paula = fixture(() => firm.join('Paula', 'partner'))
let client: string
setUp(async () => {
  client = await firm.client(anna, 'Öberg & Sons')
  ok(await anna.send('PATCH', `/clients/${client}`, { address: '1 Mill Lane\nLondon' }, { 'if-match': '*' }))
})

/** Creates a letter of Anna's client. Returns its path. */
async function letter(fields: object = {}): Promise<string> {
  const { status, json, text } = await anna.send('POST', `/clients/${client}/letters`, {
    subject: 'Offer',
    body: 'Dear Anna',
    ...fields,
  })
  assert.equal(status, 201, text)
  return `/clients/${client}/letters/${String(json['id'])}`
}

const change = (path: string, body: object, by = anna): Promise<Answer> =>
  by.send('PATCH', path, body, { 'if-match': '*' })

async function changed(path: string, body: object, by = anna): Promise<Answer['json']> {
  const { status, json, text } = await change(path, body, by)
  assert.equal(status, 200, text)
  assert.equal(Value.Errors(schema.letter, json)[0], undefined, text)
  return json
}

const state = ({ status, approved_at, approved_by, sent_at }: Answer['json']) => [
  status,
  approved_at !== null,
  at(approved_by, 'name'),
  sent_at !== null,
]

describe('a letter', () => {
  test('is approved, taken back, approved again and sent, each with its audit event', async () => {
    const path = await letter()
    assert.deepEqual(state((await anna.get(path)).json), ['draft', false, undefined, false])
    assert.deepEqual(state(await changed(path, { status: 'approved' }, paula)), ['approved', true, 'Paula', false])
    assert.deepEqual(state(await changed(path, { status: 'draft' })), ['draft', false, undefined, false])
    assert.deepEqual(state(await changed(path, { status: 'approved' })), ['approved', true, 'Anna Berg', false])
    const sent = await changed(path, { status: 'sent' }, paula)
    assert.deepEqual(state(sent), ['sent', true, 'Anna Berg', true])
    const { json } = await anna.get(`/clients/${client}/activity`)
    const actions = (Array.isArray(json['activity']) ? json['activity'] : [])
      .slice(0, 5)
      .map((each) => at(each, 'action'))
    assert.deepEqual(actions, ['letter_sent', 'letter_approved', 'letter_changed', 'letter_approved', 'letter_created'])
  })

  test('that is approved becomes a draft again when its text changes, not when nothing does', async () => {
    const path = await letter({ status: 'approved' })
    assert.deepEqual(state(await changed(path, { subject: 'Offer', status: 'approved' })), [
      'approved',
      true,
      'Anna Berg',
      false,
    ])
    for (const text of [{ body: 'Dear Anne' }, { subject: 'Other offer' }]) {
      const approved = await letter({ status: 'approved' })
      assert.deepEqual(state(await changed(approved, text)), ['draft', false, undefined, false])
    }
  })

  test('that is sent as a draft, or with a changed text, is approved by its sender', async () => {
    const draft = await letter()
    assert.deepEqual(state(await changed(draft, { status: 'sent' }, paula)), ['sent', true, 'Paula', true])
    const approved = await letter({ status: 'approved' })
    const sent = await changed(approved, { body: 'Dear Anne', status: 'sent' }, paula)
    assert.deepEqual(state(sent), ['sent', true, 'Paula', true])
  })
})

describe('B97: a sent letter', () => {
  const refusals: readonly (readonly [body: object, field: string])[] = [
    [{ status: 'draft' }, 'status'],
    [{ status: 'approved' }, 'status'],
    [{ body: 'Dear Anne' }, 'body'],
    [{ subject: 'Another', body: 'Dear Anna', status: 'sent' }, 'subject'],
  ]

  test('is not changed by the API, which names the field', async () => {
    const path = await letter({ status: 'sent' })
    const was = await anna.get(path)
    for (const by of [anna, paula]) {
      for (const [body, field] of refusals) {
        const { status, error } = await change(path, body, by)
        assert.deepEqual([status, error['code'], error['field']], [409, 'conflict', field])
        assert.match(String(error['reason']), /has been sent.*new version/)
      }
    }
    assert.equal((await change(path, { subject: 'Offer', status: 'sent' })).status, 200)
    assert.deepEqual((await anna.get(path)).json, was.json)
    assert.equal((await anna.send('DELETE', path)).status, 204)
  })

  test("is not changed by SQL of the portal's login, of the owner or of a superuser", async () => {
    const path = await letter({ status: 'sent' })
    const id = path.split('/').at(-1) ?? ''
    const was = (await anna.get(path)).json
    const changes = [
      `subject = 'x'`,
      `body = 'x'`,
      `status = 'draft'`,
      `version = 9`,
      `updated_at = now()`,
      `updated_by = null`,
      `archived_at = now(), body = 'x'`,
    ]
    for (const person of [anna, paula]) {
      for (const set of changes) {
        await assert.rejects(asPerson(person, `update letter set ${set} where id = '${id}'`), { code: 'TG004' }, set)
      }
      for (const set of [`sent_at = null`, `approved_by = null`, `recipient = 'x'`, `author = 'x'`, `client_id = id`]) {
        await assert.rejects(asPerson(person, `update letter set ${set} where id = '${id}'`), { code: '42501' }, set)
      }
      await assert.rejects(asPerson(person, `delete from letter where id = '${id}'`), { code: '42501' })
    }
    await assert.rejects(run(home.url, 'truncate letter cascade'), { code: '42501' })
    const asOwner = await run(home.url, `update letter set body = 'x' where id = '${id}'`)
    assert.equal(asOwner.rowCount, 0)
    for (const set of [...changes, `sent_at = null`, `recipient = 'x'`, `generated = true`]) {
      await assert.rejects(
        run(home.superuserUrl, `update letter set ${set} where id = '${id}'`),
        { code: 'TG004' },
        set,
      )
    }
    await assert.rejects(run(home.superuserUrl, `delete from letter where id = '${id}'`), { code: 'TG004' })
    assert.deepEqual((await anna.get(path)).json, was)
  })

  test('keeps the names and the address that it was sent with', async () => {
    const other = await firm.client(anna, 'Before')
    const made = await anna.send('POST', `/clients/${other}/letters`, { subject: 'Offer' })
    const path = `/clients/${other}/letters/${String(made.json['id'])}`
    await change(`/clients/${other}`, { address: ' 1 Mill Lane \r\n\n London ' })
    await changed(path, { status: 'sent' }, paula)
    await change(`/clients/${other}`, { name: 'After', address: null })
    const { rows } = await run(home.superuserUrl, `select recipient, author from letter where client_id = '${other}'`)
    assert.deepEqual(rows, [{ recipient: 'Before\n1 Mill Lane\nLondon', author: 'Anna Berg' }])
  })

  test('has new versions: drafts with its text, made once for each key', async () => {
    const path = await letter({ status: 'sent', subject: 'Final', body: 'Dear Anna' })
    const key = { 'idempotency-key': randomUUIDv7() }
    const made = ok(await anna.send('POST', `${path}/versions`, undefined, key), 201)
    assert.equal(Value.Errors(schema.letter, made.json)[0], undefined, made.text)
    const { id, subject, body, status, previous_id: previous, version } = made.json
    assert.deepEqual([subject, body, status, version], ['Final', 'Dear Anna', 'draft', 1])
    assert.equal(previous, path.split('/').at(-1))
    assert.equal(made.headers.get('location'), `/clients/${client}/letters/${String(id)}`)
    assert.equal((await anna.send('POST', `${path}/versions`, undefined, key)).json['id'], id)
    await changed(`/clients/${client}/letters/${String(id)}`, { body: 'Dear Anne' })
    assert.deepEqual(at((await anna.get(path)).json, 'body'), 'Dear Anna')
    const { rows } = await run(
      home.superuserUrl,
      `select action from audit where noun_id = '${String(id)}' order by id`,
    )
    assert.deepEqual(
      rows.map((row: unknown) => at(row, 'action')),
      ['letter_version_created', 'letter_read', 'letter_changed'],
    )
    assert.equal((await anna.send('DELETE', path, undefined, { 'if-match': '*' })).status, 204)
    assert.equal((await anna.send('POST', `${path}/versions`)).status, 409)
  })
})

test("a version is made only from a letter of the same client, even by SQL of the portal's login", async () => {
  const path = await letter()
  const id = path.split('/').at(-1) ?? ''
  const other = await firm.client(anna)
  assert.equal((await anna.send('POST', `/clients/${other}/letters/${id}/versions`)).status, 403)
  const insert = `insert into letter (id, client_id, subject, previous_id) values (gen_random_uuid(), '${other}', 'x', '${id}')`
  await assert.rejects(asPerson(anna, insert), { code: 'TG003' })
  assert.equal((await anna.get(`/clients/${other}`)).json['letters']?.toString(), '')
})

test('the records with letters and addresses pass verification', async () => {
  const database = openDatabase(home.url, { log })
  const checks = await verifyAll(database, { full: true, longestRequest: 10 ** 9 })
  await database.close()
  assertVerified(checks)
})

test('an address of more than eight lines is refused', async () => {
  const { status, error } = await change(`/clients/${client}`, { address: 'x\n'.repeat(9) })
  assert.deepEqual([status, error['code'], error['field']], [400, 'invalid_field', 'address'])
  assert.equal((await anna.get(`/clients/${client}`)).json['address'], '1 Mill Lane\nLondon')
})

async function run(url: string, sql: string) {
  const connection = new Client(url)
  await connection.connect()
  try {
    return await connection.query(sql)
  } finally {
    await connection.end()
  }
}

/** Runs SQL as an attacker who has the portal's login would. */
async function asPerson({ id, role }: Member, sql: string): Promise<void> {
  const context = `select set_config('role', portal_role('${role}'), true), set_config('tollgate.person', '${id}', true)`
  await run(await portalAddress(home.url), `begin; ${context}; ${sql}; commit`)
}
