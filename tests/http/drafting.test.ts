import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { byService, personActor } from '../../src/access/actor.ts'
import type { Answer } from '../support/answer.ts'
import { startFirm, type Firm, type Member } from '../support/firm.ts'
import { at, objectAt, parseObject } from '../support/json.ts'
import { upstreamModel } from '../support/service.ts'
import { asSuperuser } from '../support/superuser.ts'
import { until } from '../support/until.ts'
import { startVendor, type Vendor } from '../support/vendor.ts'

let vendor: Vendor
let firm: Firm
let anna: Member
let ben: Member
let paula: Member
let account: string
before(async () => {
  vendor = await startVendor()
  firm = await startFirm({ models: [upstreamModel(vendor.url)], drafting: { account: 'Portal', model: 'fast' } })
  ;({ accountId: account } = await firm.service.customer({ name: 'Portal', own: true }))
  anna = await firm.join('Anna', 'consultant')
  ben = await firm.join('Ben', 'consultant')
  paula = await firm.join('Paula', 'partner')
})
after(async () => {
  await firm.close()
  await vendor.close()
})

/** A client of Anna with a note. */
async function record(text = 'We agreed on a fee.') {
  const client = await firm.client(anna)
  const note = await anna.send('POST', `/clients/${client}/notes`, {
    date: '2026-03-12',
    participants: ['Anna Berg'],
    text,
  })
  assert.equal(note.status, 201, note.text)
  return { client, note: String(note.json['id']), drafts: `/clients/${client}/drafts` }
}

const eventsOf = ({ text }: Answer) =>
  text
    .split('\n\n')
    .filter((each) => each.startsWith('event: '))
    .map((each) => {
      const [name = '', data = ''] = each.split('\ndata: ')
      return { name: name.slice(7), data: parseObject(data) }
    })
const stream = { accept: 'text/event-stream' }

/** The objects of a list in a reply. */
const listAt = (json: unknown, name: string) => {
  const list = at(json, name)
  return Array.isArray(list) ? list.map((_, index) => objectAt(list, index)) : []
}
const isRunning = ({ status }: Readonly<Record<string, unknown>>) => status === 'running'
/** What a refusal says, without the id of its request. */
const withoutIds = ({ status, text, headers }: Answer) =>
  `${status} ${text.replaceAll(headers.get('request-id') ?? '', 'ID')}`

describe('a draft', () => {
  it('B96 becomes a letter with the cost that the ledger says, whole or streamed', async () => {
    const { client, note, drafts } = await record()
    const asked = { instructions: 'Write a letter.', notes: [note], subject: 'Our fee' }
    const { json, status, text } = await anna.send('POST', drafts, asked)
    assert.equal(status, 200, text)
    assert.deepEqual(vendor.last.body, {
      ...objectAt(vendor.last.body),
      messages: [
        { role: 'system', content: 'Write a letter.' },
        { role: 'user', content: 'Meeting on 12 March 2026 with Anna Berg\nWe agreed on a fee.\n\nSigned: Anna.' },
      ],
    })
    const id = String(at(json, 'draft', 'id'))
    const [charged] = await firm.service.database.rows<{ cost: bigint; person_id: string; client_id: string }>(
      'select cost, person_id, client_id, account_id from ledger where request_id = $1',
      [id],
    )
    assert.deepEqual(charged, { cost: 3_600_000n, person_id: anna.id, client_id: client, account_id: account })
    const draft = {
      ...objectAt(json, 'draft'),
      status: 'complete',
      sources: [{ kind: 'note', id: note, version: 1, title: '2026-03-12' }],
      input_tokens: 12,
      output_tokens: 3,
      cost: '0.0000036',
      stop_reason: 'complete',
      letter_id: id,
    }
    assert.deepEqual(json['draft'], draft)
    const letter = { id, subject: 'Our fee', body: 'Hello there.', status: 'draft', generated: true, cost: '0.0000036' }
    assert.deepEqual(json['letter'], { ...objectAt(json, 'letter'), ...letter, drafts: 1 })
    assert.deepEqual((await anna.get(`${drafts}/${id}`)).json, draft)

    const events = eventsOf(await anna.send('POST', drafts, asked, stream))
    assert.deepEqual(
      events.map(({ name }) => name),
      ['started', 'delta', 'delta', 'delta', 'done'],
    )
    assert.deepEqual(events[0]?.data, { id: at(events[4]?.data, 'draft', 'id'), model: 'fast' })
    assert.equal(
      events.flatMap(({ data }) => (typeof data['text'] === 'string' ? [data['text']] : [])).join(''),
      at(events[4]?.data, 'letter', 'body'),
    )
    const costs = (await anna.get(`/clients/${client}/costs`)).json
    assert.deepEqual([costs['total'], costs['not_kept'], costs['by_api']], ['0.0000072', '0', '0'])
  })

  it('B96 reads nothing of another client, whatever ids are sent, and refuses as elsewhere', async () => {
    const other = await record('MARKER of another client')
    const own = await record()
    const bens = await firm.client(ben)
    const note = await ben.send('POST', `/clients/${bens}/notes`, { date: '2026-03-12', text: 'MARKER of Ben' })
    const foreign = [other.note, String(note.json['id']), randomUUIDv7(), 'unknown', own.client]
    const elsewhere = await anna.get(`/clients/${own.client}/notes/${randomUUIDv7()}`)
    const prompts = vendor.calls
    for (const id of foreign) {
      for (const asked of [{ notes: [own.note, id] }, { disputes: [id] }, { notes: [own.note], letter: id }]) {
        const answer = await anna.send('POST', own.drafts, { instructions: 'Repeat every MARKER.', ...asked })
        assert.equal(answer.status, 403, answer.text)
        assert.equal(withoutIds(answer), withoutIds(elsewhere))
      }
    }
    const asked = { instructions: 'Write.', notes: [String(note.json['id'])] }
    assert.equal((await anna.send('POST', `/clients/${bens}/drafts`, asked)).status, 403)
    assert.equal((await paula.send('POST', own.drafts, { ...asked, notes: [other.note] })).status, 404)
    assert.equal(vendor.calls, prompts, 'a prompt was sent')
    assert.deepEqual((await anna.get(own.drafts)).json['drafts'], [])
  })

  it('B96 is refused without sources, with instructions of a megabyte and with hidden characters', async () => {
    const { note, drafts } = await record()
    const refused = async (body: object) => {
      const { status, error } = await anna.send('POST', drafts, body)
      return [status, error['code'], error['field']]
    }
    assert.deepEqual(await refused({ instructions: 'Write.' }), [400, 'missing_field', 'notes'])
    assert.deepEqual(await refused({ instructions: 'x'.repeat(900_000), notes: [note] }), [
      400,
      'invalid_field',
      'instructions',
    ])
    assert.equal((await refused({ instructions: 'x'.repeat(1_100_000), notes: [note] }))[0], 413)
    for (const instructions of ['a\0', '\ud800', '', ' ']) {
      assert.deepEqual(await refused({ instructions, notes: [note] }), [400, 'invalid_field', 'instructions'])
    }
    assert.deepEqual((await anna.get(drafts)).json['drafts'], [])
  })

  it("B96 shows the till's own message when the credit is used up, and leaves a trace that cost nothing", async () => {
    const { client, note, drafts } = await record()
    const { creditLeft } = await firm.service.accounts.show(account)
    await firm.service.accounts.addCredit(account, -creditLeft, byService)
    const answer = await anna.send('POST', drafts, { instructions: 'Write.', notes: [note] }, stream)
    await firm.service.accounts.addCredit(account, creditLeft, byService)
    assert.deepEqual([answer.status, answer.error['code']], [402, 'insufficient_credit'])
    assert.match(String(answer.error['reason']), /credit left does not cover/)
    const [draft] = listAt((await anna.get(drafts)).json, 'drafts')
    assert.deepEqual([draft?.['status'], draft?.['failure'], draft?.['cost']], ['failed', 'insufficient_credit', null])
    assert.deepEqual((await anna.get(`/clients/${client}/letters`)).json['letters'], [])
  })

  it('B96 writes a letter anew only while it is the version that was read', async () => {
    const { client, note, drafts } = await record()
    const asked = { instructions: 'Write.', notes: [note] }
    const first = await anna.send('POST', drafts, asked)
    const letter = String(at(first.json, 'letter', 'id'))
    const again = await anna.send('POST', drafts, { ...asked, letter, subject: 'Anew' })
    assert.deepEqual(
      [at(again.json, 'letter', 'id'), at(again.json, 'letter', 'version'), at(again.json, 'letter', 'drafts')],
      [letter, 2, 2],
    )
    const revisions = listAt((await anna.get(`/clients/${client}/letters/${letter}/revisions`)).json, 'revisions')
    assert.deepEqual(
      revisions.map(({ data }) => data),
      ['Anew', at(first.json, 'letter', 'subject')].map((subject) => {
        return { subject, body: 'Hello there.', status: 'draft', generated: true }
      }),
    )
    const held = Promise.withResolvers<void>()
    vendor.set({ gate: () => held.promise })
    const both = [1, 2].map(() => anna.send('POST', drafts, { ...asked, letter }))
    await until(async () => listAt((await anna.get(drafts)).json, 'drafts').filter(isRunning).length === 2)
    held.resolve()
    const answers = await Promise.all(both)
    vendor.set({})
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    )
    const ids = answers.map(({ json }) => at(json, 'letter', 'id'))
    assert.equal(ids.filter((id) => id === letter).length, 1, 'the second must not overwrite the first')
    assert.equal(listAt((await anna.get(`/clients/${client}/letters`)).json, 'letters').length, 2)
    const { json } = await anna.get(`/clients/${client}/costs`)
    assert.deepEqual([json['total'], json['not_kept']], ['0.0000144', '0'])
    assert.deepEqual(
      listAt(json, 'by_letter')
        .map(({ requests }) => Number(requests))
        .toSorted((one, other) => one - other),
      [1, 3],
    )
  })

  it('B96 keeps nothing on a record that its author may no longer see, and the charge stays', async () => {
    const { client, note, drafts } = await record()
    const held = Promise.withResolvers<void>()
    vendor.set({ gate: () => held.promise })
    const answering = anna.send('POST', drafts, { instructions: 'Write.', notes: [note] }, stream)
    await until(async () => listAt((await anna.get(drafts)).json, 'drafts').some(isRunning))
    const given = { basis: null, body: { consultant_id: ben.id } }
    await firm.service.records.clients.change({ actor: personActor(paula) }, client, given)
    held.resolve()
    const answer = await answering
    vendor.set({})
    const [ending] = eventsOf(answer).slice(-1)
    const code = ending === undefined ? answer.error['code'] : at(ending.data, 'error', 'code')
    assert.equal(code, 'forbidden', answer.text)
    assert.deepEqual((await ben.get(`/clients/${client}/letters`)).json['letters'], [])
    const [draft] = listAt((await ben.get(drafts)).json, 'drafts')
    assert.deepEqual([draft?.['status'], draft?.['failure'], draft?.['letter_id']], ['failed', 'forbidden', null])
    const { json } = await ben.get(`/clients/${client}/costs`)
    assert.equal(json['not_kept'], json['total'])
  })

  it('B96 is kept although the browser goes away', async () => {
    const { client, note, drafts } = await record()
    const held = Promise.withResolvers<void>()
    vendor.set({ gate: () => held.promise })
    const leaving = new AbortController()
    const gone = fetch(firm.service.url + drafts, {
      method: 'POST',
      signal: leaving.signal,
      headers: { cookie: anna.cookie, 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ instructions: 'Write.', notes: [note] }),
    }).catch(() => undefined)
    await until(async () => listAt((await anna.get(drafts)).json, 'drafts').some(isRunning))
    leaving.abort()
    await gone
    held.resolve()
    await until(async () => listAt((await anna.get(`/clients/${client}/letters`)).json, 'letters').length === 1)
    vendor.set({})
  })

  it('B96 completes a charged draft whose instance has stopped, once, as its author', async () => {
    const { client, note, drafts } = await record()
    const { promise: locked, resolve: haveLocked } = Promise.withResolvers<void>()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const locking = asSuperuser(firm.service.database, async (tx) => {
      await tx.rows('select from client where id = $1 for no key update', [client])
      haveLocked()
      await released
    })
    await locked
    // The draft is charged, and its letter waits for the lock until the statement times out.
    const answer = await anna.send('POST', drafts, { instructions: 'Write.', notes: [note] }, stream)
    const [ending] = eventsOf(answer).slice(-1)
    assert.equal(at(ending?.data, 'error', 'code'), 'unavailable', answer.text)
    const [open] = listAt((await anna.get(drafts)).json, 'drafts')
    assert.deepEqual([open?.['status'], open?.['cost'], open?.['letter_id']], ['running', '0.0000036', null])
    release()
    await locking
    const id = String(open?.['id'])
    const read = async () => (await anna.get(`${drafts}/${id}`)).json
    await until(async () => (await read())['status'] !== 'running')
    const { status, letter_id: kept } = await read()
    assert.deepEqual([status, kept], ['complete', id])
    const letters = listAt((await anna.get(`/clients/${client}/letters`)).json, 'letters')
    assert.deepEqual(
      letters.map((letter) => [letter['id'], letter['body'], at(letter, 'created_by', 'id')]),
      [[id, 'Hello there.', anna.id]],
    )
  })

  it('B96 can be stopped', async () => {
    const { note, drafts } = await record()
    const held = Promise.withResolvers<void>()
    vendor.set({ gate: () => held.promise })
    const answering = anna.send('POST', drafts, { instructions: 'Write.', notes: [note] }, stream)
    await until(async () => listAt((await anna.get(drafts)).json, 'drafts').some(isRunning))
    const [draft] = listAt((await anna.get(drafts)).json, 'drafts')
    const stopped = await anna.send('POST', `${drafts}/${String(draft?.['id'])}/stop`)
    assert.equal(stopped.status, 202, stopped.text)
    held.resolve()
    const answer = await answering
    vendor.set({})
    assert.equal(eventsOf(answer).at(-1)?.name, 'done', answer.text)
    assert.equal(listAt((await anna.get(drafts)).json, 'drafts')[0]?.['status'], 'stopped')
  })
})

describe('saved instructions', () => {
  it('have one default for each kind, a history, and are changed by partners alone', async () => {
    const body = { kind: 'Letter', name: 'Short', instructions: 'Write a short letter.', is_default: true }
    const made = await paula.send('POST', '/templates', body)
    assert.equal(made.status, 201, made.text)
    const other = await paula.send('POST', '/templates', { ...body, name: 'Long' })
    assert.equal(other.status, 201, other.text)
    const list = listAt((await anna.get('/templates')).json, 'templates')
    assert.deepEqual(
      list.map(({ name, is_default }) => [name, is_default]),
      [
        ['Long', true],
        ['Short', false],
      ],
    )
    const address = `/templates/${String(made.json['id'])}`
    const change = (etag: string) => paula.send('PATCH', address, { instructions: 'Shorter.' }, { 'if-match': etag })
    assert.equal((await change('"1"')).status, 412)
    assert.equal((await change('"2"')).status, 200)
    assert.equal((await paula.send('POST', '/templates', body)).status, 409)
    assert.equal((await anna.send('POST', '/templates', body)).status, 403)
    const { json } = await anna.get(`${address}/revisions`)
    assert.deepEqual(
      listAt(json, 'revisions').map(({ version, data }) => [version, at(data, 'instructions')]),
      [
        [3, 'Shorter.'],
        [2, 'Write a short letter.'],
        [1, 'Write a short letter.'],
      ],
    )
    assert.equal((await paula.send('DELETE', address, undefined, { 'if-match': '"3"' })).status, 204)
    assert.equal(listAt((await anna.get('/templates')).json, 'templates').length, 1)
  })
})
