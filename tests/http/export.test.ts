import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { strFromU8, unzipSync } from 'fflate'
import { extractText, getDocumentProxy } from 'unpdf'
import { personActor } from '../../src/access/actor.ts'
import { fillClient, marker } from '../support/erasable.ts'
import { startFirm, type Member } from '../support/firm.ts'
import { at, parseObject, valuesOf } from '../support/json.ts'
import { startMailServer } from '../support/mail-server.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { upstreamModel } from '../support/service.ts'
import { tamper } from '../support/tamper.ts'
import { startVendor } from '../support/vendor.ts'

let anna: Member
let ben: Member
let paula: Member
let client: string
const vendor = fixture(() => startVendor())
const mail = fixture(() => startMailServer())
const firm = fixture(() =>
  startFirm({
    models: [upstreamModel(vendor.url)],
    drafting: { account: 'Portal', model: 'fast' },
    mail: mail.url,
    firm: { name: 'Berg & Partner' },
  }),
)
setUp(async () => {
  await firm.service.customer({ name: 'Portal', own: true })
  anna = await firm.join('Anna', 'consultant')
  ben = await firm.join('Ben', 'consultant')
  paula = await firm.join('Paula', 'partner')
  client = await fillClient(anna)
})

const ask = (by: Member, of = client, accept = 'application/zip') =>
  fetch(`${firm.service.url}/clients/${of}/export`, { headers: { cookie: by.cookie, accept } })

/** The files of an export, by name. */
async function filesFor(by: Member, of = client): Promise<Record<string, Uint8Array>> {
  const response = await ask(by, of)
  assert.equal(response.status, 200)
  return unzipSync(new Uint8Array(await response.arrayBuffer()))
}

const textIn = (files: Record<string, Uint8Array>, name: string) => strFromU8(files[name] ?? new Uint8Array())
const jsonIn = (files: Record<string, Uint8Array>, name: string): unknown => JSON.parse(textIn(files, name))
/** The values of one field of the objects in a list. */
const column = (list: unknown, ...path: (string | number)[]) =>
  Array.isArray(list) ? list.map((each) => at(each, ...path)) : []
const exportsOf = async (of: string) =>
  firm.service.database.rows(
    `select outcome, action, person_id from audit where client_id = $1 and (action = 'client_exported' or details ->> 'tried' = 'client_exported')
     order by id`,
    [of],
  )

describe('an export', () => {
  test('B99: has everything on the record: archived items, earlier versions, drafts and their costs', async () => {
    const files = await filesFor(paula)
    const whole = jsonIn(files, 'client.json')
    assert.deepEqual([at(whole, 'id'), at(whole, 'name'), at(whole, 'erasure')], [client, `Berta ${marker}`, null])
    assert.deepEqual(column(at(whole, 'revisions'), 'data', 'name'), [`Berta ${marker}`, `Anna ${marker}`])
    const [note] = [jsonIn(files, 'notes.json')].flat()
    assert.deepEqual(column(at(note, 'revisions'), 'data', 'text'), [`second ${marker}`, `first ${marker}`])
    assert.equal(at(note, 'participants', 0), `Carl ${marker}`)
    const disputes = jsonIn(files, 'disputes.json')
    assert.equal(column(disputes, 'archived_at').filter((time) => time === null).length, 1)
    assert.deepEqual(column(disputes, 'amount'), ['12.50', '12.50'])
    const letters = jsonIn(files, 'letters.json')
    assert.deepEqual(column(letters, 'status'), ['draft', 'draft', 'draft', 'sent'])
    const [entry] = [jsonIn(files, 'time.json')].flat()
    const texts = [`longer advice ${marker}`, `advice ${marker}`]
    assert.deepEqual([at(entry, 'amount'), column(at(entry, 'revisions'), 'data', 'text')], ['33.33', texts])
    assert.deepEqual(column(jsonIn(files, 'expenses.json'), 'amount'), ['34.50'])
    const [task] = [jsonIn(files, 'tasks.json')].flat()
    assert.deepEqual(column(at(task, 'revisions'), 'data', 'title'), [`Write to ${marker}`, `Call ${marker}`])
    const [contact] = [jsonIn(files, 'contacts.json')].flat()
    assert.deepEqual(column(at(contact, 'revisions'), 'data', 'job_title'), [`Friend of ${marker}`, null])
    assert.deepEqual(column(jsonIn(files, 'mails.json'), 'message'), [`Hello ${marker}`])
    assert.deepEqual(column(jsonIn(files, 'reviews.json'), 'message'), [`What of ${marker}?`])
    const drafts = jsonIn(files, 'drafts.json')
    assert.deepEqual(
      [column(drafts, 'instructions'), column(drafts, 'cost'), at(drafts, 0, 'sources', 0, 'id')],
      [[`Write to ${marker}.`], [at(jsonIn(files, 'costs.json'), 'total')], at(note, 'id')],
    )
  })

  test('has each letter as a PDF, as a Word file where the fonts lack characters, under harmless names', async () => {
    const files = await filesFor(anna)
    const names = Object.keys(files).filter((name) => name.startsWith('letters/'))
    assert.deepEqual(names, [
      `letters/001 Offer ${marker}.pdf`,
      `letters/002 Offer ${marker}.docx`,
      `letters/003 ${marker}.pdf`,
      `letters/004 Drafted ${marker}.pdf`,
    ])
    const { text } = await extractText(await getDocumentProxy(new Uint8Array(files[names[2] ?? ''] ?? [])), {
      mergePages: true,
    })
    assert.match(text, new RegExp(`Berta ${marker}[^]*Dear ${marker}`))
    const word = unzipSync(files[names[1] ?? ''] ?? new Uint8Array())
    assert.ok(strFromU8(word['word/document.xml'] ?? new Uint8Array()).includes(`Dear ${marker} 𒀀`))
    const readme = textIn(files, 'README.txt')
    assert.ok(readme.includes(`The data of Berta ${marker}`))
    assert.ok(readme.trimEnd().endsWith(names[1] ?? ''), readme)
  })

  test('has all but the bytes of a document that are damaged, and names it', async () => {
    const own = await firm.client(anna)
    const files = [Buffer.from('the first'), randomBytes(600_000), Buffer.from('the last')]
    const names = files.map((_, index) => `documents/00${index + 1} ${index}.bin`)
    for (const [index, bytes] of files.entries()) {
      const { json } = await anna.send('POST', `/clients/${own}/uploads`, bytes)
      await anna.send('POST', `/clients/${own}/documents`, { name: `${index}.bin`, digest: json['digest'] })
    }
    const whole = await filesFor(anna, own)
    assert.doesNotMatch(textIn(whole, 'README.txt'), /damaged/)
    await tamper(firm.service.database, `delete from document_chunk where client_id = '${own}' and start > 0`)
    const left = await filesFor(anna, own)
    assert.deepEqual(Object.keys(left), Object.keys(whole))
    for (const index of [0, 2]) assert.deepEqual(left[names[index] ?? ''], whole[names[index] ?? ''])
    const cut = left[names[1] ?? ''] ?? new Uint8Array()
    assert.ok(cut.length > 0 && cut.length < 600_000 && files[1]?.subarray(0, cut.length).equals(cut))
    const readme = textIn(left, 'README.txt')
    assert.ok(readme.includes('These documents are damaged') && readme.trimEnd().endsWith(`:\r\n${names[1]}`), readme)
  })

  test('has the audit log for partners only, and is in it', async () => {
    const own = await fillClient(anna)
    const [consultants, partners] = [await filesFor(anna, own), await filesFor(paula, own)]
    assert.equal(consultants['audit.csv'], undefined)
    assert.match(textIn(consultants, 'README.txt'), /\r\nTimes are in UTC\.\r\n/)
    assert.ok(!textIn(consultants, 'README.txt').includes('audit.csv'))
    assert.match(
      textIn(partners, 'README.txt'),
      /\r\nTimes in JSON files are in UTC\. Those in audit\.csv are in the time zone/,
    )
    assert.doesNotMatch(textIn(partners, 'README.txt'), /Times are in UTC/)
    const log = textIn(partners, 'audit.csv')
    for (const action of ['client_created', 'note_changed', 'letter_sent', 'letter_drafted', 'client_exported']) {
      assert.ok(log.includes(`,${action},allowed,`), action)
    }
    assert.ok(!log.includes(client), 'an event of another client')
    assert.deepEqual(await exportsOf(own), [
      { outcome: 'allowed', action: 'client_exported', person_id: anna.id },
      { outcome: 'allowed', action: 'client_exported', person_id: paula.id },
    ])
  })

  test('has the invoices for partners only, as data, as files, and in the audit log', async () => {
    const own = await fillClient(anna)
    const invoice = async (to: string) => {
      const lines = [{ text: 'Advice', quantity: '1', unit: 'hour', unit_price: '100' }]
      const { status, text, json } = await paula.send('POST', '/invoices', { client: to, lines })
      assert.equal(status, 201, text)
      return json
    }
    const draft = await invoice(own)
    const { id } = await invoice(own)
    const { json: issued } = await paula.send('POST', `/invoices/${String(id)}/issue`, undefined, { 'if-match': '*' })
    const other = await invoice(await fillClient(anna))
    const files = await filesFor(paula, own)
    assert.deepEqual(column(jsonIn(files, 'invoices.json'), 'id'), [issued['id'], draft['id']])
    assert.deepEqual(column(jsonIn(files, 'invoices.json'), 'lines', 0, 'text'), ['Advice', 'Advice'])
    assert.ok(!textIn(files, 'invoices.json').includes(String(other['id'])), 'an invoice of another client')
    const names = Object.keys(files).filter((name) => name.startsWith('invoices/'))
    assert.deepEqual(names, [`invoices/${String(issued['number'])}.pdf`])
    const { text } = await extractText(await getDocumentProxy(new Uint8Array(files[names[0] ?? ''] ?? [])), {
      mergePages: true,
    })
    assert.match(text, /Advice/)
    assert.ok(textIn(files, 'README.txt').includes('invoices.json'))
    const events = await firm.service.database.rows(
      `select action from audit where noun_id = $1 and person_id = $2 order by id desc limit 2`,
      [issued['id'], paula.id],
    )
    assert.deepEqual(column(events, 'action'), ['invoice_exported', 'invoice_read'])

    const consultants = await filesFor(anna, own)
    assert.deepEqual(
      Object.keys(consultants).filter((name) => name.startsWith('invoices')),
      [],
    )
    assert.ok(!textIn(consultants, 'README.txt').includes('invoices'))
  })

  test('is a download that nobody stores, for a page too', async () => {
    for (const accept of ['application/json', 'text/html']) {
      const { headers, status } = await ask(anna, client, accept)
      assert.deepEqual(
        [status, headers.get('content-type'), headers.get('cache-control'), headers.get('content-disposition')],
        [
          200,
          'application/zip',
          'no-store',
          `attachment; filename="Berta ${marker}.zip"; filename*=UTF-8''Berta%20${marker}.zip`,
        ],
      )
    }
  })

  test('is refused for a foreign client like for an unknown one, and recorded', async () => {
    const unknown = '01990000-0000-7000-8000-000000000000'
    const own = await firm.client(anna)
    const answers = await Promise.all([ask(ben, own), ask(ben, unknown)])
    const texts = await Promise.all(answers.map((answer) => answer.text()))
    const [one, other] = texts.map((text) => at(parseObject(text), 'error', 'reason'))
    assert.deepEqual(valuesOf(answers, 'status'), [403, 403])
    assert.equal(one, other)
    assert.deepEqual(await exportsOf(own), [{ outcome: 'refused', action: 'access_denied', person_id: ben.id }])
    assert.equal((await ask(paula, unknown)).status, 404)
  })

  test('ends with an error if the client is given to another while it is read', async () => {
    const own = await fillClient(anna)
    const { whole } = firm.service.records
    const visit = { actor: personActor(anna) }
    await whole.read(visit, own)
    const given = await paula.send('PATCH', `/clients/${own}`, { consultant_id: ben.id }, { 'if-match': '*' })
    assert.equal(given.status, 200)
    await assert.rejects(async () => {
      for await (const revision of whole.revisions(visit, own, { noun: 'client', id: own }))
        assert.fail(JSON.stringify(revision))
    }, /You do not have access/)
  })

  test('of a record with many revisions has all of them, once', async () => {
    const own = await firm.client(anna)
    const note = await anna.send('POST', `/clients/${own}/notes`, { date: '2026-03-12', text: '1' })
    const path = `/clients/${own}/notes/${String(note.json['id'])}`
    for (let version = 2; version <= 101; version++) {
      assert.equal((await anna.send('PATCH', path, { text: String(version) }, { 'if-match': '*' })).status, 200)
    }
    const texts = column(at(jsonIn(await filesFor(anna, own), 'notes.json'), 0, 'revisions'), 'data', 'text')
    assert.deepEqual(
      texts,
      Array.from({ length: 101 }, (_, index) => String(101 - index)),
    )
  })
})
