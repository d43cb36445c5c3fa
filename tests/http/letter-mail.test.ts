import assert from 'node:assert/strict'
import { createHash, randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { byService, personActor } from '../../src/access/actor.ts'
import { readLetterMailFile } from '../../src/clients/letters/mail/store.ts'
import { verifyRecords } from '../../src/clients/verify.ts'
import type { Database } from '../../src/platform/database/database.ts'
import { assertRefused, ok } from '../support/answer.ts'
import { openFirm, type Member } from '../support/firm.ts'
import { fixture } from '../support/fixture.ts'
import { at, listAt, objectAt } from '../support/json.ts'
import { startMailServer } from '../support/mail-server.ts'
import { eventsOf } from '../support/recorded.ts'
import { asSuperuser } from '../support/superuser.ts'
import { whileTampered } from '../support/tamper.ts'
import { until } from '../support/until.ts'
import { verifyAtEnd } from '../support/verified.ts'

const mail = fixture(() => startMailServer())
const { firm, anna, ben, paula } = openFirm(() => ({
  mail: mail.url,
  firm: { name: 'Berg & Partner', address: ['1 High Street'], email: 'office@berg.example', locale: 'en-GB' },
}))
verifyAtEnd(() => firm.service.database)

const any = { 'if-match': '*' }
const key = () => ({ 'idempotency-key': randomUUIDv7() })
const mailsTo = (address: string) => mail.mails.filter(({ to }) => to.includes(address))
const mailsOf = async (letter: string, by: Member = anna) => listAt((await by.get(`${letter}/mails`)).json, 'mails')
const statesOf = async (letter: string) => (await mailsOf(letter)).map((each) => at(each, 'state'))

let made = 0

/** A client of Anna's with an address, a contact with another one, and an approved letter. */
async function approved(subject = 'Our offer') {
  made += 1
  const client = `/clients/${await firm.client(anna, `Mill ${made}`)}`
  const own = `mill${made}@example.com`
  ok(await anna.send('PATCH', client, { email: own, address: '4 Mill Lane' }, any))
  const { contact, email } = await addContact(client, { name: 'Maria Lopes', email: `maria${made}@example.com` })
  const body = { subject, body: 'Dear Maria,\n\nhere it is.', status: 'approved' }
  const letter = `${client}/letters/${String(ok(await anna.send('POST', `${client}/letters`, body), 201).json['id'])}`
  return { client, letter, own, to: { contact, email } }
}

async function addContact(client: string, person: { readonly name: string; readonly email: string }) {
  const { json } = ok(await anna.send('POST', `${client}/contacts`, person), 201)
  return { contact: String(json['id']), email: person.email }
}

const send = (letter: string, body: object, headers: object = {}, by: Member = anna) =>
  by.send('POST', `${letter}/send`, body, { ...any, ...headers })

/** Asserts that nothing was sent: no mail is kept, and the letter is not marked as sent. */
async function assertNotSent(letter: string): Promise<void> {
  assert.deepEqual(await mailsOf(letter, paula), [])
  assert.notEqual((await paula.get(letter)).json['status'], 'sent')
}

/** Waits until every mail of the tests before has ended. */
const untilIdle = () =>
  until(() =>
    asSuperuser(firm.service.database, async (tx) => {
      const open = await tx.rows(`select from letter_mail_end where state in ('waiting', 'queued')`)
      return open.length === 0
    }),
  )

describe('sending a letter', () => {
  test('mails the PDF to the client and to contacts, marks it as sent, and keeps what was sent', async () => {
    const { letter, own, to, client } = await approved()
    await anna.send('POST', `${client}/contacts`, { name: 'Without an address' })
    const proposed = ok(await anna.get(`${letter}/mail`)).json
    assert.deepEqual(proposed, {
      recipients: [
        { contact: null, name: `Mill ${made}`, job_title: null, email: own },
        { contact: to.contact, name: 'Maria Lopes', job_title: null, email: to.email },
      ],
      subject: 'Our offer',
      message: 'Hello,\n\nPlease find our letter “Our offer” attached.\n\nKind regards,\nBerg & Partner',
      file: 'Our offer.pdf',
      mails: 0,
      version: 1,
    })
    const message = 'Dear Maria,\n\nsee <b>below</b>.'
    const body = { to: [to, { contact: null, email: own }], message, mails: 0 }
    const answer = ok(await send(letter, body, { 'if-match': '"1"' }), 201)
    await until(async () => (await statesOf(letter)).every((state) => state === 'sent'))

    const [[toMaria], [toMill]] = [mailsTo(to.email), mailsTo(own)]
    assert.ok(toMaria && toMill)
    assert.deepEqual(
      [toMaria.to, toMaria.subject, toMaria.replyTo],
      [[to.email], 'Our offer', 'office@berg.example'],
      'nobody sees the other address',
    )
    assert.equal(toMaria.text.trim(), `${message}\n\n-- \nBerg & Partner`)
    assert.match(toMaria.html, /see &lt;b&gt;below&lt;\/b&gt;\./)
    const [file] = toMaria.files
    assert.deepEqual([file?.name, file?.type], ['Our offer.pdf', 'application/pdf'])
    assert.deepEqual(toMill.files[0]?.content, file?.content)
    const digest = createHash('sha256')
      .update(file?.content ?? '')
      .digest('hex')
    const kept = await mailsOf(letter)
    assert.deepEqual(
      new Map(kept.map((each) => [at(each, 'to'), [at(each, 'contact'), at(each, 'name'), at(each, 'message')]])),
      new Map<unknown, unknown[]>([
        [own, [null, `Mill ${made}`, message]],
        [to.email, [to.contact, 'Maria Lopes', message]],
      ]),
    )
    assert.deepEqual(new Set(kept.map((each) => at(each, 'file_digest'))), new Set([digest]))
    assert.deepEqual(at(kept[0], 'by'), { id: anna.id, name: 'Anna' })
    const shown = (await anna.get(letter)).json
    assert.deepEqual([shown['status'], shown['version'], at(shown, 'approved_by', 'name')], ['sent', 2, 'Anna'])
    const events = await eventsOf(answer, firm.service.database, `action, details ->> 'recipients' as recipients`)
    assert.deepEqual(events, [
      { action: 'letter_sent', recipients: null },
      { action: 'letter_mailed', recipients: '2' },
    ])
    assert.doesNotMatch(firm.service.logText(), new RegExp(to.email))

    const pdf = `${letter}/mails/${String(at(kept[0], 'id'))}/pdf`
    const read = await fetch(firm.service.url + pdf, { headers: { cookie: paula.cookie } })
    assert.deepEqual(Buffer.from(await read.arrayBuffer()), file?.content)
    assert.match(read.headers.get('content-disposition') ?? '', /^attachment; filename="Our offer\.pdf"/)
    assert.equal((await ben.get(pdf)).status, 403)
    assert.equal((await ben.get(`${letter}/mails`)).status, 403)
    assert.equal((await paula.get(`${letter}/mails/${randomUUIDv7()}/pdf`)).status, 404)
  })

  test('again sends the same file, whatever has changed since, and makes a new entry', async () => {
    const { client, letter, to } = await approved()
    ok(await send(letter, { to: [to] }), 201)
    ok(await anna.send('PATCH', client, { name: 'Renamed', address: 'Elsewhere' }, any))
    ok(await send(letter, { to: [to], subject: 'Once more' }, {}, paula), 201)
    await until(() => mailsTo(to.email).length === 2)
    const [first, second] = mailsTo(to.email)
    assert.deepEqual(
      (await mailsOf(letter)).map((each) => [at(each, 'subject'), at(each, 'by', 'name')]),
      [
        ['Our offer', 'Anna'],
        ['Once more', 'Paula'],
      ],
    )
    assert.deepEqual(first?.files[0]?.content, second?.files[0]?.content)
  })

  test('happens once for repeated requests, and a key is for one mail', async () => {
    const { letter, to, own } = await approved()
    const headers = key()
    const answers = await Promise.all([1, 2, 3, 4].map(() => send(letter, { to: [to] }, headers)))
    for (const each of answers) ok(each, 201)
    assertRefused(await send(letter, { to: [to], subject: 'Another' }, headers), 'conflict')
    assertRefused(await send(letter, { to: [{ contact: null, email: own }] }, headers), 'conflict')
    await until(async () => (await statesOf(letter)).includes('sent'))
    assert.equal((await mailsOf(letter)).length, 1)
    assert.equal(mailsTo(to.email).length, 1)
  })

  test('in two tabs happens once: the second learns that the letter has changed, or that there are mails', async () => {
    const { letter, to } = await approved()
    const seen = { to: [to], mails: 0 }
    const answers = await Promise.all([1, 2].map(() => send(letter, seen, { ...key(), 'if-match': '"1"' })))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201, 412]))
    const stale = answers.find(({ status }) => status === 412)
    assert.deepEqual([stale?.error['code'], at(stale?.json, 'current', 'status')], ['stale_version', 'sent'])
    assertRefused(await send(letter, seen, { ...key(), 'if-match': '"2"' }), 'conflict')
    assert.equal((await mailsOf(letter)).length, 1)
  })

  test('goes to nobody whose address is not on the record at that moment', async () => {
    const { client, letter, to, own } = await approved()
    const other = await approved()
    const gone = await addContact(client, { name: 'Gone', email: 'gone@example.com' })
    const moved = await addContact(client, { name: 'Moved', email: 'old@example.com' })
    ok(await anna.get(`${letter}/mail`))
    ok(await anna.send('DELETE', `${client}/contacts/${gone.contact}`), 204)
    ok(await anna.send('PATCH', `${client}/contacts/${moved.contact}`, { email: 'new@example.com' }, any))
    for (const [what, list] of [
      ['a contact that was archived', [to, gone]],
      ['a contact whose address has changed', [to, moved]],
      ['a contact of another client', [other.to]],
      ['an address that the client does not have', [{ contact: null, email: 'thief@evil.example' }]],
      ['the address of someone else', [{ contact: to.contact, email: own }]],
      ['an unknown contact', [{ contact: randomUUIDv7(), email: to.email }]],
      ['what is no id', [{ contact: 'x', email: to.email }]],
      ['an address twice', [to, to]],
      ['nobody', []],
    ] as const) {
      const answer = await send(letter, { to: list })
      assert.deepEqual([answer.status, at(answer.json, 'error', 'field')], [400, 'to'], what + answer.text)
    }
    await assertNotSent(letter)
    assert.deepEqual(
      mail.mails.filter(({ to: [address] }) => /gone|old|thief/.test(address ?? '')),
      [],
    )
  })

  test('names the field that is wrong', async () => {
    const { client, letter, to } = await approved()
    const spelt = to.email.replace('maria', 'Maria')
    ok(await anna.send('PATCH', client, { email: spelt }, any))
    assertRefused(await send(letter, { to: [to, { contact: null, email: spelt }] }), 'invalid_field', 'to')
    for (const [field, body] of [
      ['subject', { to: [to], subject: '' }],
      ['subject', { to: [to], subject: 'a\nb' }],
      ['message', { to: [to], message: '' }],
      ['message', { to: [to], message: 'x'.repeat(5001) }],
    ] as const) {
      assertRefused(await send(letter, body), 'invalid_field', field)
    }
    assert.equal((await anna.send('POST', `${letter}/send`, { to: [to] })).status, 428, 'the version is required')
    await assertNotSent(letter)
  })

  test('is refused for a draft, an archived letter, an archived client and a letter that no PDF can show', async () => {
    const { client, letter, to } = await approved()
    const unprintable = ok(
      await anna.send('POST', `${client}/letters`, { subject: 'Old', body: '𒀀', status: 'approved' }),
      201,
    )
    assertRefused(await send(`${client}/letters/${String(unprintable.json['id'])}`, { to: [to] }), 'conflict')
    ok(await anna.send('PATCH', letter, { status: 'draft' }, any))
    assertRefused(await send(letter, { to: [to] }), 'conflict')
    assertRefused(await anna.get(`${letter}/mail`), 'conflict')
    ok(await anna.send('PATCH', letter, { status: 'approved' }, any))
    ok(await anna.send('DELETE', letter), 204)
    assertRefused(await send(letter, { to: [to] }), 'conflict')
    ok(await anna.send('POST', `${letter}/restore`))
    ok(await anna.send('PATCH', client, { status: 'archived' }, any))
    assertRefused(await send(letter, { to: [to] }), 'conflict')
    await assertNotSent(letter)
    assert.deepEqual(mailsTo(to.email), [])
  })

  test('is refused once the client is handed over, or the person disabled', async () => {
    const { client, letter, to } = await approved()
    ok(await anna.get(`${letter}/mail`))
    ok(await paula.send('PATCH', client, { consultant_id: ben.id }, any))
    assert.equal((await send(letter, { to: [to] })).status, 403)
    const leaving = await firm.join('Leaving', 'partner')
    ok(await leaving.get(`${letter}/mail`))
    await firm.service.people.setStatus(leaving.id, 'disabled', byService)
    assert.equal((await send(letter, { to: [to] }, {}, leaving)).status, 401)
    await assertNotSent(letter)
    ok(await send(letter, { to: [to] }, {}, ben), 201)
  })

  test('has no file any more once its client is deleted', async () => {
    const { client, letter, to } = await approved()
    ok(await send(letter, { to: [to] }), 201)
    const { database } = firm.service
    const [mailed] = await mailsOf(letter)
    const id = String(at(mailed, 'id'))
    assert.ok(await readLetterMailFile(database, id))
    ok(await paula.send('DELETE', client, undefined, any), 204)
    assert.equal(await readLetterMailFile(database, id), undefined)
  })

  test('shows a mail that the mail server refuses, which can be sent again to a corrected address', async () => {
    const { client, letter, to } = await approved()
    await untilIdle()
    mail.behave({ recipient: 550 })
    ok(await send(letter, { to: [to] }), 201)
    await until(async () => (await statesOf(letter)).includes('given_up'))
    assert.deepEqual(mailsTo(to.email), [])
    const email = `right-${to.email}`
    ok(await anna.send('PATCH', `${client}/contacts/${to.contact}`, { email }, any))
    ok(await send(letter, { to: [{ ...to, email }], mails: 1 }), 201)
    await until(async () => (await statesOf(letter)).at(-1) === 'sent')
    assert.deepEqual(await statesOf(letter), ['given_up', 'sent'])
  })
})

/** Runs a statement with the portal's login, as a person. */
const as = (who: Member, text: string, values: readonly (string | undefined)[] = []) =>
  firm.service.records.access.as({ actor: personActor(who) }, [{ name: text, text, values }])

describe('the database', () => {
  test('keeps mails and files from every statement of the portal, and lets only those see them who see the client', async () => {
    const { letter, to } = await approved()
    ok(await send(letter, { to: [to] }), 201)
    const id = letter.split('/').at(-1)
    for (const table of ['letter_mail', 'letter_file']) {
      assert.deepEqual(await as(anna, `select from ${table} where letter_id = $1`, [id]), [[{}]])
      assert.deepEqual(await as(ben, `select from ${table} where letter_id = $1`, [id]), [[]])
      for (const change of [`delete from ${table}`, `update ${table} set client_id = client_id`]) {
        await assert.rejects(as(paula, change), { code: '42501' }, change)
        await assert.rejects(
          asSuperuser(firm.service.database, (tx) => tx.rows(change)),
          /neither changed/,
          change,
        )
      }
    }
  })

  test('keeps no mail to an address that is not on the record, nor with a letter that is not sent', async () => {
    const { client, letter, to } = await approved()
    const insert = `insert into letter_mail (id, client_id, letter_id, sending_id, contact_id, recipient, subject, message)
      values ($1, $2, $3, $1, $4, $5, 's', 'm')`
    const [clientId, letterId] = [client, letter].map((path) => path.split('/').at(-1))
    const values = (email: string) => [randomUUIDv7(), clientId, letterId, to.contact, email]
    await assert.rejects(as(anna, insert, values(to.email)), { code: 'TG003' })
    ok(await send(letter, { to: [to] }), 201)
    await assert.rejects(as(anna, insert, values('thief@evil.example')), { code: 'TG009' })
    await assert.rejects(as(ben, insert, values(to.email)))
    assert.equal((await mailsOf(letter)).length, 1)
  })
})

/** The names of the checks of records that find a fault. */
const faults = async (database: Database) =>
  (await verifyRecords(database)).flatMap(({ ok: isOk, name }) => (isOk ? [] : [name]))

describe('verify finds', () => {
  const revision = 'every record is its last revision'
  const file = 'every mail with a letter has the file that was sent'
  for (const [what, statement, found] of [
    ['a mail that was removed', 'delete from letter_mail where letter_id = $1', [revision]],
    [
      'a recipient that was changed',
      `update letter_mail set recipient = 'x@y.example' where letter_id = $1`,
      [revision],
    ],
    [
      'a file that was changed',
      `update letter_file set content = '%PDF-', digest = sha256('%PDF-') where letter_id = $1`,
      [file],
    ],
    ['a file that was removed', 'delete from letter_file where letter_id = $1', [file]],
  ] as const) {
    test(what, async () => {
      const { letter, to } = await approved()
      ok(await send(letter, { to: [to] }), 201)
      await until(async () => (await statesOf(letter)).includes('sent'))
      const { database } = firm.service
      assert.deepEqual(await faults(database), [])
      const changed = statement.replace('$1', `'${letter.split('/').at(-1)}'`)
      assert.deepEqual(await whileTampered(database, changed, faults), found)
    })
  }
})

test('the activity of a client says that a letter was mailed', async () => {
  const { client, letter, to } = await approved()
  ok(await send(letter, { to: [to] }), 201)
  const activity = listAt((await anna.get(`${client}/activity`)).json, 'activity').map((each) => objectAt(each))
  assert.deepEqual(
    activity.slice(0, 2).map(({ action, title }) => [action, title]),
    [
      ['letter_mailed', 'Our offer'],
      ['letter_sent', 'Our offer'],
    ],
  )
})
