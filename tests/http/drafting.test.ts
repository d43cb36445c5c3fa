import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Answer } from '../support/answer.ts'
import { startFirm, type Firm, type Member } from '../support/firm.ts'
import { at, objectAt, parseObject } from '../support/json.ts'
import { upstreamModel } from '../support/service.ts'
import { startVendor, type Vendor } from '../support/vendor.ts'

let vendor: Vendor
let firm: Firm
let anna: Member
let account: string
before(async () => {
  vendor = await startVendor()
  firm = await startFirm({ models: [upstreamModel(vendor.url)], drafting: { account: 'Portal', model: 'fast' } })
  ;({ accountId: account } = await firm.service.customer({ name: 'Portal', own: true }))
  anna = await firm.join('Anna', 'consultant')
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
        { role: 'user', content: 'Meeting on 2026-03-12 with Anna Berg\nWe agreed on a fee.' },
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
})
