import assert from 'node:assert/strict'
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import { openFirm } from '../support/firm.ts'

const { firm, anna, ben, paula } = openFirm()

const items = [
  { plural: 'notes', body: { date: '2026-03-12', text: 'said' }, change: { text: 'other' } },
  { plural: 'disputes', body: { invoice: 'I', amount: '5' }, change: { position: 'other' } },
  { plural: 'letters', body: { subject: 'S' }, change: { body: 'other' } },
  {
    plural: 'time_entries',
    body: { date: '2026-03-12', minutes: 20, rate: '100', text: 'T' },
    change: { minutes: 30 },
  },
  { plural: 'expenses', body: { date: '2026-03-12', amount: '5', text: 'E' }, change: { amount: '6' } },
]

/** How often the audit log records this creation. */
async function timesMade(id: unknown): Promise<unknown> {
  const rows = await firm.service.database.rows(
    `select from audit where noun_id = $1 and action like '%\\_created' and outcome = 'allowed'`,
    [id],
  )
  return rows.length
}

for (const { plural, body, change } of items) {
  describe(`${plural} with an Idempotency-Key`, () => {
    test('are created once, however many requests repeat it, also concurrently', async () => {
      const list = `/clients/${await firm.client(anna)}/${plural}`
      const key = { 'idempotency-key': randomUUIDv7() }
      const answers = await Promise.all(Array.from({ length: 8 }, () => anna.send('POST', list, body, key)))
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
      const [first] = answers
      const id = first?.json['id']
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
      assert.equal(first?.headers.get('location'), `${list}/${String(id)}`)
      const { json } = await anna.get(list)
      assert.deepEqual(json[plural], [first?.json])
      assert.equal(await timesMade(id), 1)
    })

    test('are returned in their current state, even if a colleague has changed or archived them or the client since', async () => {
      const client = await firm.client(anna)
      const list = `/clients/${client}/${plural}`
      const key = { 'idempotency-key': randomUUIDv7() }
      const { json: made } = await anna.send('POST', list, body, key)
      const place = `${list}/${String(made['id'])}`
      const { json: edited } = await paula.send('PATCH', place, change, { 'if-match': '*' })
      const again = await anna.send('POST', list, { ...body, ...change }, key)
      assert.deepEqual([again.json, again.headers.get('etag')], [edited, '"2"'])
      assert.equal((await paula.send('DELETE', place)).status, 204)
      const archived = await anna.send('POST', list, body, key)
      assert.equal(archived.status, 201, archived.text)
      const { updated_at, archived_at } = archived.json
      assert.ok(typeof archived_at === 'string')
      const changed = { updated_at, archived_at, updated_by: { id: paula.id, name: 'Paula' }, version: 3 }
      assert.deepEqual(archived.json, { ...edited, ...changed })
      assert.deepEqual((await anna.get(place)).json, archived.json)
      assert.deepEqual((await anna.get(list)).json[plural], [])
      assert.equal(await timesMade(made['id']), 1)
      await paula.send('PATCH', `/clients/${client}`, { status: 'archived' }, { 'if-match': '*' })
      assert.equal((await anna.send('POST', list, body, key)).status, 201)

      const given = { status: 'active', consultant_id: ben.id }
      await paula.send('PATCH', `/clients/${client}`, given, { 'if-match': '*' })
      assert.equal((await anna.send('POST', list, body, key)).status, 403, 'it is no longer hers to see')
    })

    test('with another person, client or key are created separately', async () => {
      const [mine, other] = [await firm.client(anna), await firm.client(anna)]
      const key = { 'idempotency-key': randomUUIDv7() }
      const answers = [
        await anna.send('POST', `/clients/${mine}/${plural}`, body, key),
        await anna.send('POST', `/clients/${other}/${plural}`, body, key),
        await paula.send('POST', `/clients/${mine}/${plural}`, body, key),
        await anna.send('POST', `/clients/${mine}/${plural}`, body, { 'idempotency-key': randomUUIDv7() }),
        await anna.send('POST', `/clients/${mine}/${plural}`, body),
      ]
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
      assert.equal(new Set(answers.map(({ json }) => json['id'])).size, answers.length)
      const refused = await ben.send('POST', `/clients/${mine}/${plural}`, body, key)
      assert.equal(refused.status, 403)
    })
  })
}

test('letters and their versions are created once, whichever of their indexes a concurrent request meets first', async () => {
  const list = `/clients/${await firm.client(anna)}/letters`
  const first = await anna.send('POST', list, { subject: 'S' })
  const versions = `${list}/${String(first.json['id'])}/versions`
  for (let n = 0; n < 150; n++) {
    const key = { 'idempotency-key': randomUUIDv7() }
    const send = () =>
      n % 2 === 0 ? anna.send('POST', list, { subject: 'S' }, key) : anna.send('POST', versions, undefined, key)
    const answers = await Promise.all(Array.from({ length: 8 }, send))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
    assert.equal(new Set(answers.map(({ json }) => json['id'])).size, 1)
  }
})

test('a client is created once, although the retry repeats its own unique reference', async () => {
  const key = { 'idempotency-key': randomUUIDv7() }
  const body = { name: 'Once', reference: 'R-1' }
  const answers = await Promise.all(Array.from({ length: 4 }, () => anna.send('POST', '/clients', body, key)))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1, answers.map(({ text }) => text).join('\n'))
  const id = answers[0]?.json['id']
  assert.equal(await timesMade(id), 1)
  const { status, error } = await anna.send('POST', '/clients', body, { 'idempotency-key': randomUUIDv7() })
  assert.deepEqual([status, error['field']], [409, 'reference'])

  const taken = await paula.send('DELETE', `/clients/${String(id)}`)
  assert.equal(taken.status, 204)
  assert.equal((await anna.send('POST', '/clients', body, key)).status, 403)
})

test('a retry returns the client to the partner who created it for a consultant who has left since', async () => {
  const carl = await firm.join('Carl', 'consultant')
  const key = { 'idempotency-key': randomUUIDv7() }
  const body = { name: 'For Carl', consultant_id: carl.id }
  const made = await paula.send('POST', '/clients', body, key)
  await firm.service.people.setStatus(carl.id, 'disabled', byService)
  const again = await paula.send('POST', '/clients', body, key)
  assert.deepEqual([again.status, again.text], [201, made.text])
  const { status, error } = await paula.send('POST', '/clients', body, { 'idempotency-key': randomUUIDv7() })
  assert.deepEqual([status, error['field']], [400, 'consultant_id'])
})

test('concurrent requests create a client with a reference once, and none gets a conflict', async () => {
  for (let n = 0; n < 60; n++) {
    const key = { 'idempotency-key': randomUUIDv7() }
    const body = { name: 'At once', reference: `AT-${n}` }
    const answers = await Promise.all(Array.from({ length: 6 }, () => anna.send('POST', '/clients', body, key)))
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1, answers.map(({ text }) => text).join('\n'))
  }
})

test('a key that is not a UUIDv7 is refused by name, and nothing is created', async () => {
  const list = `/clients/${await firm.client(anna)}/notes`
  for (const key of ['x', randomUUID(), randomUUIDv7().toUpperCase(), ' ', '0'.repeat(300)]) {
    const { status, error } = await anna.send(
      'POST',
      list,
      { date: '2026-03-12', text: 'said' },
      { 'idempotency-key': key },
    )
    assert.deepEqual([status, error['field']], [400, 'Idempotency-Key'], key)
  }
  assert.deepEqual((await anna.get(list)).json['notes'], [])
})
