import assert from 'node:assert/strict'
import { createHash, randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { strFromU8, unzipSync } from 'fflate'
import { assertRefused, ok, type Answer } from '../support/answer.ts'
import { openFirm, type Member } from '../support/firm.ts'
import { issueEarlier } from '../support/issue-earlier.ts'
import { at, listAt, objectAt } from '../support/json.ts'
import { startMailServer } from '../support/mail-server.ts'
import { asSuperuser } from '../support/superuser.ts'
import { announced, sealAll } from '../support/tamper.ts'
import { until } from '../support/until.ts'
import { fixture } from '../support/fixture.ts'
import { eventsOf } from '../support/recorded.ts'
import { billing, pathOf } from '../support/billing.ts'
import { verifyAtEnd } from '../support/verified.ts'

const mail = fixture(() => startMailServer())
const { firm, anna, paula } = openFirm(() => ({
  currency: 'EUR',
  mail: mail.url,
  firm: { name: 'Berg & Partner', address: ['1 High Street'], email: 'office@berg.example', locale: 'en-GB' },
  invoicing: { due_days: 14, reminders: [7, 21], tax: [{ id: 'standard', category: 'S', rate: '19' }] },
}))
const petra = fixture(() => firm.join('Petra', 'partner'))

const { bill, change, issue, credit } = billing(paula)
verifyAtEnd(() => firm.service.database)
const key = () => ({ 'idempotency-key': randomUUIDv7() })
const subjectOf = async (invoice: Answer) => (await paula.get(`${pathOf(invoice)}/mail`)).json['subject']
const mailsTo = (address: string) => mail.mails.filter(({ to }) => to.includes(address))
const sentOf = async (invoice: string) => listAt((await paula.get(invoice)).json, 'sent')

async function draft(email: string | null): Promise<string> {
  const client = await firm.client(anna, 'Harbour Lane Bakery')
  if (email !== null) ok(await paula.send('PATCH', `/clients/${client}`, { email }, { 'if-match': '"1"' }))
  return pathOf(await bill({ client }))
}

async function issued(email: string | null): Promise<string> {
  const invoice = await draft(email)
  ok(await paula.send('POST', `${invoice}/issue`, undefined, { 'if-match': '"1"' }))
  return invoice
}

const today = () => Temporal.Now.plainDateISO('UTC').toString()

/** To an account, issued so long ago that it has been overdue for so many days. */
async function overdue(email: string, days: number): Promise<string> {
  const { accountId: account } = await firm.service.customer()
  await firm.service.database.rows(announced('update account set billing_email = $2 where id = $1'), [account, email])
  const invoice = pathOf(await bill({ account }))
  await issueEarlier(firm.service.database, invoice.slice('/invoices/'.length), days)
  return invoice
}

test('an invoice, its mail and its credit note are in the language that the client had when it was drafted', async () => {
  const client = `/clients/${await firm.client(anna, 'Quai Fils')}`
  const set = (body: object) => anna.send('PATCH', client, body, { 'if-match': '*' })
  assertRefused(await set({ billing_language: 'es' }), 'invalid_field', 'billing_language')
  ok(await set({ email: 'quai@example.com', billing_city: 'Lund', billing_country: 'SE', billing_language: 'fr' }))
  const made = await bill({ client: client.split('/').at(-1) })
  assert.equal(at(made.json, 'buyer', 'address'), 'Lund\nSuède')
  ok(await set({ billing_language: 'de' }))
  await issue(await change(made, { note: 'Merci.' }))
  assert.match(String(await subjectOf(made)), /^Facture INV-/)
  const note = await issue(await credit(made))
  assert.match(String(await subjectOf(note)), /^Avoir /)
})

describe('sending an invoice', () => {
  test('mails the PDF to the client, with the words of the firm, and keeps what was sent', async () => {
    const invoice = await issued('bakery@example.com')
    const { json: proposed } = ok(await paula.get(`${invoice}/mail`))
    assert.deepEqual([proposed['kind'], proposed['to']], ['invoice', 'bakery@example.com'])
    const { number } = (await paula.get(invoice)).json
    assert.equal(proposed['subject'], `Invoice ${String(number)} – Berg & Partner`)
    assert.match(String(proposed['message']), /for 119\.00\sEUR\.\n\nPlease pay it by \d+ \w+ \d{4}, /)

    const answer = ok(await paula.send('POST', `${invoice}/send`, { cc: 'copy@example.com' }), 201)
    const sent = await waitForState(invoice, 'sent')
    const [received] = mailsTo('bakery@example.com')
    assert.ok(received)
    assert.deepEqual(received.to, ['bakery@example.com', 'copy@example.com'])
    assert.deepEqual([received.subject, received.replyTo], [proposed['subject'], 'office@berg.example'])
    assert.equal(received.text.trim(), `${String(proposed['message'])}\n\n-- \nBerg & Partner`)
    assert.doesNotMatch(received.text + received.html, /localhost|127\.0\.0\.1/)
    const [file] = received.files
    assert.deepEqual([received.files.length, file?.name, file?.type], [1, `${String(number)}.pdf`, 'application/pdf'])
    assert.match(String(file?.content.subarray(0, 5)), /^%PDF-/)
    const digest = createHash('sha256')
      .update(file?.content ?? '')
      .digest('hex')
    const { id, at: time, ...rest } = objectAt(sent)
    assert.deepEqual(rest, {
      kind: 'invoice',
      state: 'sent',
      to: 'bakery@example.com',
      cc: 'copy@example.com',
      subject: proposed['subject'],
      message: proposed['message'],
      file_digest: digest,
      by: { id: paula.id, name: 'Paula' },
    })
    assert.deepEqual(await eventsOf(answer, firm.service.database, 'action, client_id, details'), [
      { action: 'invoice_sent', client_id: null, details: { mail: id } },
    ])
    assert.ok(String(time).endsWith('Z'))
    assert.doesNotMatch(firm.service.logText(), /bakery@example/)
    await assert.rejects(
      firm.service.database.rows('update invoice_mail set subject = $1', ['x']),
      /neither changed|permission/,
    )
    await assert.rejects(firm.service.database.rows('delete from invoice_file'), /neither changed|permission/)
  })

  test('keeps the file, which partners read as it was sent, whatever the service would write today', async () => {
    const [invoice, other] = [await issued('file@example.com'), await issued('other@example.com')]
    ok(await paula.send('POST', `${invoice}/send`, {}), 201)
    ok(await paula.send('POST', `${other}/send`, {}), 201)
    const sent = objectAt(await waitForState(invoice, 'sent'))
    const [attached] = mailsTo('file@example.com')[0]?.files ?? []
    assert.ok(attached)
    // As if an earlier version of the service had written it.
    const [id = ''] = invoice.split('/').slice(-1)
    const older = Buffer.concat([attached.content, Buffer.from('% older\n')])
    const address = `${invoice}/mails/${String(sent['id'])}/pdf`
    const read = (by: Member, path = address) => fetch(firm.service.url + path, { headers: { cookie: by.cookie } })
    const response = await read(petra)
    assert.equal(response.status, 200)
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), attached.content)
    assert.equal(response.headers.get('content-type'), 'application/pdf')
    assert.equal(response.headers.get('cache-control'), 'no-store')
    const { number } = (await paula.get(invoice)).json
    assert.match(
      response.headers.get('content-disposition') ?? '',
      new RegExp(`^attachment; filename="${String(number)}.pdf"`),
    )
    // A seal of what the service finds meanwhile would contradict the proof below.
    await sealAll(firm.service.database)
    await asSuperuser(firm.service.database, async (tx) => {
      await tx.rows('set local session_replication_role = replica')
      await tx.rows('update invoice_file set content = $2, digest = sha256($2) where invoice_id = $1', [id, older])
      await tx.rows('update invoice_mail set digest = sha256($2) where invoice_id = $1', [id, older])
    })
    assert.deepEqual(Buffer.from(await (await read(paula)).arrayBuffer()), older)
    const client = String(objectAt((await paula.get(invoice)).json, 'payer')['id'])
    const zip = await read(paula, `/clients/${client}/export`)
    const files = unzipSync(new Uint8Array(await zip.arrayBuffer()))
    assert.deepEqual(Buffer.from(files[`invoices/${String(number)}.pdf`] ?? []), older)
    assert.match(strFromU8(files['invoices.json'] ?? new Uint8Array()), /Attached is our invoice/)

    assert.equal((await read(anna)).status, 403)
    assert.equal((await fetch(firm.service.url + address)).status, 401)
    for (const path of [
      address.replace(invoice, other),
      address.replace(String(sent['id']), randomUUIDv7()),
      address.replace(String(sent['id']), 'unknown'),
    ]) {
      assert.equal((await paula.get(path)).status, 404, path)
    }
    const events = await firm.service.database.rows(
      `select outcome, person_id, details from audit where action = 'invoice_exported' and noun_id = $1 order by id`,
      [id],
    )
    const details = { format: 'pdf', mail: sent['id'] }
    assert.deepEqual(events.slice(0, 2), [
      { outcome: 'allowed', person_id: petra.id, details },
      { outcome: 'allowed', person_id: paula.id, details },
    ])
    // Undone for the proof below.
    await asSuperuser(firm.service.database, async (tx) => {
      await tx.rows('set local session_replication_role = replica')
      const { content } = attached
      await tx.rows('update invoice_file set content = $2, digest = sha256($2) where invoice_id = $1', [id, content])
      await tx.rows('update invoice_mail set digest = sha256($2) where invoice_id = $1', [id, content])
    })
  })

  test('takes the words of the partner, and the same file again', async () => {
    const invoice = await issued(null)
    assertRefused(await paula.send('POST', `${invoice}/send`, {}), 'invalid_field', 'to')
    assertRefused(await paula.send('POST', `${invoice}/send`, { to: 'nobody' }), 'invalid_field', 'to')
    assertRefused(
      await paula.send('POST', `${invoice}/send`, { to: 'a@b.example', cc: 'a@b@c' }),
      'invalid_field',
      'cc',
    )
    assert.deepEqual(await sentOf(invoice), [])
    const words = { subject: 'Our invoice', message: 'Dear Jo,\n\nsee <b>attached</b>.\nBye' }
    ok(await paula.send('POST', `${invoice}/send`, { to: 'jo@example.com', ...words }), 201)
    await waitForState(invoice, 'sent')
    ok(await petra.send('POST', `${invoice}/send`, {}), 201)
    await until(() => mailsTo('jo@example.com').length === 2)
    const [first, second] = mailsTo('jo@example.com')
    assert.deepEqual([first?.subject, second?.subject === words.subject], ['Our invoice', false])
    assert.match(first?.html ?? '', /see &lt;b&gt;attached&lt;\/b&gt;\.\nBye/)
    assert.deepEqual(first?.files[0]?.content, second?.files[0]?.content)
  })

  test('happens once for repeated requests, and a key is for one mail', async () => {
    const invoice = await issued('once@example.com')
    const headers = key()
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => paula.send('POST', `${invoice}/send`, { subject: 'Once' }, headers)),
    )
    for (const each of answers) ok(each, 201)
    assertRefused(await paula.send('POST', `${invoice}/send`, { subject: 'Twice' }, headers), 'conflict')
    await waitForState(invoice, 'sent')
    assert.equal((await sentOf(invoice)).length, 1)
    assert.equal(mailsTo('once@example.com').length, 1)
  })

  test('happens once if an address is not written as it is kept', async () => {
    const invoice = await issued('bakery@example.com')
    const [headers, words] = [key(), { to: ' Jose\u0301@example.com', cc: 'kopie@example.com ' }]
    for (const body of [words, words, { to: words.to }])
      ok(await paula.send('POST', `${invoice}/send`, body, headers), 201)
    for (const another of [{ to: 'jose@example.com' }, { cc: 'other@example.com' }, { message: 'Another' }]) {
      assertRefused(await paula.send('POST', `${invoice}/send`, { ...words, ...another }, headers), 'conflict')
    }
    await waitForState(invoice, 'sent')
    assert.equal((await sentOf(invoice)).length, 1)
  })

  test('names the field of an address that is none', async () => {
    const invoice = await issued(null)
    const missing = await paula.send('POST', `${invoice}/send`, { to: '' })
    assertRefused(missing, 'invalid_field', 'to')
    assert.match(missing.text, /The payer has no email address: give one\./)
    const empty = await paula.send('POST', `${invoice}/send`, { to: 'a@example.com', cc: '' })
    assertRefused(empty, 'invalid_field', 'cc')
    assert.match(empty.text, /The field cc must be an email address/)
  })

  test('asks for what is open', async () => {
    const invoice = await issued('part@example.com')
    ok(await paula.send('POST', `${invoice}/payments`, { date: today(), amount: '19' }), 201)
    const { json: proposed } = ok(await paula.get(`${invoice}/mail`))
    assert.match(
      String(proposed['message']),
      /for 119\.00\sEUR\.\n\nOf this, 100\.00\sEUR is still open\. Please pay that amount/,
    )
    ok(await paula.send('POST', `${invoice}/payments`, { date: today(), amount: '100' }), 201)
    const { json: settled } = ok(await paula.get(`${invoice}/mail`))
    assert.match(String(settled['message']), /It has been settled in full\./)
  })

  test('is refused for drafts, void drafts and consultants', async () => {
    const invoice = await draft('draft@example.com')
    assertRefused(await paula.send('POST', `${invoice}/send`, {}), 'conflict')
    assertRefused(await paula.get(`${invoice}/mail`), 'conflict')
    ok(await paula.send('POST', `${invoice}/void`, undefined, { 'if-match': '"1"' }))
    assertRefused(await paula.send('POST', `${invoice}/send`, {}), 'conflict')
    assertRefused(await anna.send('POST', `${await issued('a@example.com')}/send`, {}), 'forbidden')
    assert.deepEqual(
      await firm.service.database.rows(
        `select from invoice_mail where recipient in ('draft@example.com', 'a@example.com')`,
      ),
      [],
    )
  })

  test('shows a mail that the mail server refuses', async () => {
    const invoice = await issued('refused@example.com')
    mail.behave({ recipient: 550 })
    ok(await paula.send('POST', `${invoice}/send`, {}), 201)
    await waitForState(invoice, 'given_up')
    assert.equal(mailsTo('refused@example.com').length, 0)
  })
})

describe('a reminder', () => {
  test('is only of an overdue invoice, with what is open, and the list shows it', async () => {
    const current = await issued('current@example.com')
    assertRefused(await paula.send('POST', `${current}/remind`, {}), 'conflict')
    const invoice = await overdue('late@example.com', 2)
    ok(await paula.send('POST', `${invoice}/payments`, { date: today(), amount: '19' }), 201)
    const { json: proposed } = ok(await paula.get(`${invoice}/mail?kind=reminder`))
    assert.match(String(proposed['message']), /was due on .* and 100\.00\sEUR of it is still open/)
    ok(await paula.send('POST', `${invoice}/remind`, {}), 201)
    const sent = await waitForState(invoice, 'sent')
    const [received] = mailsTo('late@example.com')
    assert.match(received?.subject ?? '', /^Reminder: invoice OLD-\d+ – Berg & Partner$/)
    assert.equal(received?.files.length, 1)
    const listed = listAt((await paula.get('/invoices?status=overdue')).json, 'invoices')
    const found = listed.find((each) => `/invoices/${String(at(each, 'id'))}` === invoice)
    assert.equal(at(found, 'reminded_at'), at(sent, 'at'))
  })

  test('is refused for an invoice that is paid or credited', async () => {
    const paid = await overdue('paid@example.com', 2)
    ok(await paula.send('POST', `${paid}/payments`, { date: today(), amount: '119' }), 201)
    assertRefused(await paula.send('POST', `${paid}/remind`, {}), 'conflict')
    const credited = await overdue('credited@example.com', 2)
    const note = ok(await paula.send('POST', `${credited}/credit`, {}), 201)
    ok(await paula.send('POST', `${pathOf(note)}/issue`, undefined, { 'if-match': '"1"' }))
    assertRefused(await paula.send('POST', `${credited}/remind`, {}), 'conflict')
    assert.deepEqual([...(await sentOf(paid)), ...(await sentOf(credited))], [])
  })
})

const seen = async (by: Member, dispute: string) => (await by.get(dispute)).json['invoice_id']

test('a dispute and the invoice of the same client that it names show each other, to partners only', async () => {
  const invoice = await issued(null)
  const { number, payer } = (await paula.get(invoice)).json
  const disputing = async (client: string) => {
    const path = `/clients/${client}/disputes`
    const body = { invoice: String(number).toLowerCase(), amount: '30' }
    return `${path}/${String(ok(await anna.send('POST', path, body), 201).json['id'])}`
  }
  const dispute = await disputing(String(at(payer, 'id')))
  const stranger = await disputing(await firm.client(anna, 'Mill'))
  const id = invoice.split('/').at(-1)
  assert.deepEqual(
    [await seen(anna, dispute), await seen(paula, dispute), await seen(paula, stranger)],
    [null, id, null],
  )
  const shown = { id: dispute.split('/').at(-1), amount: '30.00', status: 'open', due: null }
  assert.deepEqual((await paula.get(invoice)).json['disputes'], [shown])
  ok(await anna.send('DELETE', dispute, undefined, { 'if-match': '"1"' }), 204)
  assert.deepEqual((await paula.get(invoice)).json['disputes'], [])
})

/** The last mail about an invoice, once it is in this state. */
async function waitForState(invoice: string, state: string): Promise<unknown> {
  await until(async () => at((await sentOf(invoice)).at(-1), 'state') === state)
  return (await sentOf(invoice)).at(-1)
}
