import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { Value } from 'typebox/value'
import { byService } from '../../src/access/actor.ts'
import { createAudit } from '../../src/access/audit/audit.ts'
import { startReviewNotices } from '../../src/clients/letters/review/notices.ts'
import { letterReviewList } from '../../src/clients/letters/review/schema.ts'
import type { MailMessage } from '../../src/mail/mailer.ts'
import type { Queryable } from '../../src/platform/database/database.ts'
import { assertRefused, ok } from '../support/answer.ts'
import { openFirm, type Member } from '../support/firm.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { at, listAt, valuesOf } from '../support/json.ts'
import { announced } from '../support/tamper.ts'
import { log } from '../support/tills.ts'
import { until } from '../support/until.ts'

/** Without a mail server, so that the service itself mails nothing. */
const { firm, anna, ben, paula } = openFirm(() => ({ letters: { approval: 'not-writer' } }))
const audit = fixture(() => createAudit({ database: firm.service.database }))
let client: string
setUp(async () => {
  await firm.service.database.rows('create table queued_mail (mail jsonb)')
  client = await firm.client(anna, 'Harbour Lane Bakery')
})

/** A new draft of Anna's. Returns its path. */
async function draft(): Promise<string> {
  const letter = await anna.send('POST', `/clients/${client}/letters`, { subject: 'Our offer', body: 'Dear Maria' })
  return `/clients/${client}/letters/${String(ok(letter, 201).json['id'])}`
}

const any = { 'if-match': '*' }

describe('letters.approval: not-writer', () => {
  test('lets nobody approve what they wrote, by no request, and names the field', async () => {
    const letter = await draft()
    for (const status of ['approved', 'sent']) {
      for (const refused of [
        await anna.send('PATCH', letter, { status }, any),
        await anna.send('POST', `/clients/${client}/letters`, { subject: 'Other', status }),
        await paula.send('PATCH', letter, { body: 'Dear Mary', status }, any),
      ]) {
        assert.equal(refused.status, 403)
        assertRefused(refused, 'forbidden', 'status')
        assert.match(String(refused.error['reason']), /ask someone else to review it/)
      }
    }
    const to = [{ contact: null, email: 'maria@example.com' }]
    assert.equal((await anna.send('POST', `${letter}/send`, { to }, any)).status, 409)
    const { status, version } = ok(await anna.get(letter)).json
    assert.deepEqual([status, version], ['draft', 1])
    const { json } = await paula.get(`/audit?action=access_denied&client=${client}`)
    assert.deepEqual(
      [at(json, 'audit', 0, 'details', 'tried'), at(json, 'audit', 0, 'outcome')],
      ['letter_sent', 'refused'],
    )

    const approved = ok(await paula.send('PATCH', letter, { status: 'approved' }, any)).json
    assert.equal(at(approved, 'approved_by', 'name'), 'Paula')
    assert.equal(ok(await anna.send('PATCH', letter, { status: 'sent' }, any)).json['status'], 'sent')
  })

  test('holds in the database too, where an instance that started later may have left another rule', async () => {
    const path = `/clients/${client}/letters`
    const letter = `${path}/${String(ok(await paula.send('POST', path, { subject: 'Our offer' }), 201).json['id'])}`
    await firm.service.database.rows(announced('update letter_approval set rule = $1'), ['partners'])
    const refused = await anna.send('PATCH', letter, { status: 'approved' }, any)
    await firm.service.database.rows(announced('update letter_approval set rule = $1'), ['not-writer'])
    assert.equal(refused.status, 403)
    assertRefused(refused, 'forbidden', 'status')
    ok(await anna.send('PATCH', letter, { status: 'approved' }, any))
  })
})

interface Letter {
  readonly path: string
  readonly client: string
}

/** A draft of Anna's on a client of its own, so that the overview shows nothing else of it. */
async function newDraft(): Promise<Letter> {
  const of = await firm.client(anna, 'Quibblewick Bakery')
  const letter = await anna.send('POST', `/clients/${of}/letters`, { subject: 'Secret offer', body: 'Dear Maria' })
  return { path: `/clients/${of}/letters/${String(ok(letter, 201).json['id'])}`, client: of }
}

const ask = (by: Member, { path }: Letter, reviewer: Member, headers: object = { 'if-match': '"1"' }) =>
  by.send(
    'POST',
    `${path}/reviews`,
    { reviewer: reviewer.id, message: 'Is the quibblewick fee right?' },
    { ...headers },
  )

async function asked(by: Member, letter: Letter, reviewer: Member): Promise<string> {
  return String(at(ok(await ask(by, letter, reviewer), 201).json, 'reviews', 0, 'id'))
}

const reviewsOf = async ({ path }: Letter, by = paula) => listAt(ok(await by.get(`${path}/reviews`)).json, 'reviews')

/** The subjects' clients on the overview of a person. */
async function overviewOf(by: Member, { client: of }: Letter) {
  const { json } = ok(await by.get('/'))
  return ['letters_to_review', 'letters_returned'].map(
    (name) => listAt(json, name, 'items').filter((each) => at(each, 'client', 'id') === of).length,
  )
}

const queued = () => firm.service.database.rows<{ mail: MailMessage }>('select mail from queued_mail')

/** Queues as the mailer does: what is sent in a transaction that does not commit was never there. */
async function send(tx: Queryable, mail: MailMessage): Promise<void> {
  await tx.rows('insert into queued_mail (mail) values ($1)', [JSON.stringify(mail)])
}

/** Lets the mails about reviews be queued. Returns those about a letter. */
async function mailed({ path }: Letter): Promise<readonly MailMessage[]> {
  const { database } = firm.service
  await database.rows('delete from queued_mail')
  const instances = [1, 2].map(() => startReviewNotices({ database, audit, mailer: { send }, log, pause: 5 }))
  const left = () =>
    database.transaction(async (tx) => {
      await tx.rows(`select set_config('tollgate.proof', 'on', true)`)
      return tx.rows('select from letter_review_notice')
    })
  await until(async () => (await left()).length === 0)
  await Promise.all(instances.map((each) => each.stop()))
  return (await queued()).map(({ mail }) => mail).filter(({ values }) => at(values, 'path') === path)
}

describe('a review of a letter', () => {
  test('is asked for, returned and asked for again, on the overview of each person, with a mail that says nothing of the client', async () => {
    const letter = await newDraft()
    assert.deepEqual(
      [await overviewOf(anna, letter), await overviewOf(paula, letter)],
      [
        [0, 0],
        [0, 0],
      ],
    )
    const id = await asked(anna, letter, paula)
    assert.deepEqual(
      [await overviewOf(anna, letter), await overviewOf(paula, letter)],
      [
        [0, 0],
        [1, 0],
      ],
    )
    const values = { by: 'Anna', path: letter.path }
    const rest = { onlyFor: 'record_reader', template: 'letter_review' }
    assert.deepEqual(await mailed(letter), [{ to: paula.email, ...rest, values: { ...values, kind: 'asked' } }])

    const answer = await paula.send(
      'POST',
      `${letter.path}/reviews/${id}/return`,
      { reason: 'Last year’s' },
      { 'if-match': '"1"' },
    )
    assert.equal(Value.Errors(letterReviewList, ok(answer).json)[0], undefined, answer.text)
    assert.deepEqual(
      [
        at(answer.json, 'reviews', 0, 'status'),
        at(answer.json, 'reviews', 0, 'reason'),
        at(answer.json, 'reviews', 0, 'ended_by', 'name'),
      ],
      ['returned', 'Last year’s', 'Paula'],
    )
    assert.deepEqual(
      [await overviewOf(anna, letter), await overviewOf(paula, letter)],
      [
        [0, 1],
        [0, 0],
      ],
    )
    assert.deepEqual(await mailed(letter), [
      { to: anna.email, ...rest, values: { kind: 'returned', by: 'Paula', path: letter.path } },
    ])

    ok(await anna.send('PATCH', letter.path, { body: 'Dear Mary' }, any))
    assert.deepEqual(await overviewOf(anna, letter), [0, 1])
    ok(await ask(anna, letter, paula, any), 201)
    assert.deepEqual(
      [await overviewOf(anna, letter), await overviewOf(paula, letter)],
      [
        [0, 0],
        [1, 0],
      ],
    )
    ok(await paula.send('PATCH', letter.path, { status: 'approved' }, { 'if-match': '"2"' }))
    assert.deepEqual(
      [await overviewOf(anna, letter), await overviewOf(paula, letter)],
      [
        [0, 0],
        [0, 0],
      ],
    )
    assert.deepEqual(
      (await mailed(letter)).map(({ to, template, values: told }) => [to, template, at(told, 'kind')]),
      // What was asked for is over.
      [[anna.email, 'letter_review', 'approved']],
    )
    const { json } = await anna.get(`/clients/${letter.client}/activity`)
    assert.deepEqual(valuesOf(listAt(json, 'activity'), 'action').slice(0, 5), [
      'letter_approved',
      'letter_review_asked',
      'letter_changed',
      'letter_review_returned',
      'letter_review_asked',
    ])
  })

  test('is of the text that was read: a change since refuses to ask, to return and to approve', async () => {
    const letter = await newDraft()
    const id = await asked(anna, letter, paula)
    ok(await anna.send('PATCH', letter.path, { body: 'Dear Mary' }, any))
    const old = { 'if-match': '"1"' }
    for (const late of [
      await ask(paula, letter, anna, old),
      await paula.send('POST', `${letter.path}/reviews/${id}/return`, { reason: 'No.' }, old),
      await paula.send('PATCH', letter.path, { status: 'approved' }, old),
    ]) {
      assert.deepEqual([late.status, at(late.json, 'current', 'body')], [412, 'Dear Mary'], late.text)
    }
    assert.deepEqual(valuesOf(await reviewsOf(letter), 'status'), ['open'])
    assert.equal((await ask(anna, letter, paula, {})).status, 428)
  })

  test('names whom one can ask, and who may approve, and refuses others', async () => {
    const letter = await newDraft()
    const before = ok(await anna.get(`${letter.path}/reviews`)).json
    assert.equal(before['may_approve'], false)
    assert.deepEqual(before['reviewers'], [{ id: paula.id, name: 'Paula', may_approve: true }])
    const own = ok(await paula.get(`${letter.path}/reviews`)).json
    assert.deepEqual(
      [own['may_approve'], own['reviewers']],
      [true, [{ id: anna.id, name: 'Anna', may_approve: false }]],
    )
    for (const reviewer of [anna, ben]) assertRefused(await ask(anna, letter, reviewer), 'invalid_field', 'reviewer')
    // Ben was asked nothing, and sees nothing.
    assert.equal((await ben.get(`${letter.path}/reviews`)).status, 403)
    assert.deepEqual(await reviewsOf(letter), [])
    ok(await ask(anna, letter, paula), 201)
    assertRefused(await ask(anna, letter, paula), 'conflict')
  })

  test('is returned by the reviewer alone, and withdrawn by anyone, once; a repeated request asks once', async () => {
    const letter = await newDraft()
    const key = { 'if-match': '"1"', 'idempotency-key': randomUUIDv7() }
    ok(await ask(anna, letter, paula, key), 201)
    ok(await ask(anna, letter, paula, key), 201)
    const [review] = await reviewsOf(letter)
    const path = `${letter.path}/reviews/${String(at(review, 'id'))}`
    assert.equal((await anna.send('POST', `${path}/return`, { reason: 'Mine' }, any)).status, 403)
    assert.equal((await anna.send('DELETE', path)).status, 204)
    assertRefused(await paula.send('POST', `${path}/return`, { reason: 'Late' }, any), 'conflict')
    assertRefused(await anna.send('DELETE', path), 'conflict')
    // The mail that was still to come is not sent.
    assert.deepEqual(await mailed(letter), [])
    assert.deepEqual(valuesOf(await reviewsOf(letter), 'status'), ['withdrawn'])

    // A colleague is not sent mail again and again.
    const mails: number[] = []
    for (const _ of [2, 3, 4]) {
      const next = await asked(anna, letter, paula)
      mails.push((await mailed(letter)).length)
      ok(await anna.send('DELETE', `${letter.path}/reviews/${next}`), 204)
    }
    assert.deepEqual(mails, [1, 0, 0])
  })

  test('gives no access, and goes back to whoever works on the record once its reviewer cannot read it', async () => {
    const [leaving, staying] = [await firm.join('Lea', 'consultant'), await firm.join('Sam', 'consultant')]
    const of = await firm.client(leaving)
    const path = `/clients/${of}/letters`
    const letter = {
      client: of,
      path: `${path}/${String(ok(await paula.send('POST', path, { subject: 'S' }), 201).json['id'])}`,
    }
    await asked(paula, letter, leaving)
    assert.deepEqual(await overviewOf(leaving, letter), [1, 0])
    ok(await paula.send('POST', '/clients/handover', { clients: [{ id: of, version: 1 }], to: staying.id }))
    assert.deepEqual(
      [await overviewOf(leaving, letter), await overviewOf(paula, letter)],
      [
        [0, 0],
        [0, 1],
      ],
    )
    assert.equal((await leaving.get(letter.path)).status, 403)
    assert.deepEqual(valuesOf(await reviewsOf(letter), 'status'), ['lapsed'])
    assert.deepEqual(await mailed(letter), [])

    // A partner who asked and left: it is for the consultant.
    const partner = await firm.join('Pia', 'partner')
    const other = await newDraft()
    await asked(partner, other, anna)
    await firm.service.people.setStatus(partner.id, 'disabled', byService)
    const [review] = await reviewsOf(other)
    ok(await anna.send('POST', `${other.path}/reviews/${String(at(review, 'id'))}/return`, { reason: 'No.' }, any))
    assert.deepEqual(await overviewOf(anna, other), [0, 1])
    // Nobody who was disabled gets a mail.
    assert.deepEqual(await mailed(other), [])
  })

  test('is hidden while its letter or its client is archived', async () => {
    const letter = await newDraft()
    const id = await asked(anna, letter, paula)
    ok(await anna.send('DELETE', letter.path), 204)
    assert.deepEqual(await overviewOf(paula, letter), [0, 0])
    assertRefused(await paula.send('POST', `${letter.path}/reviews/${id}/return`, { reason: 'No.' }, any), 'conflict')
    assertRefused(await ask(anna, letter, paula, any), 'conflict')
    ok(await anna.send('POST', `${letter.path}/restore`))
    assert.deepEqual(await overviewOf(paula, letter), [1, 0])
    ok(await anna.send('PATCH', `/clients/${letter.client}`, { status: 'archived' }, any))
    assert.deepEqual(await overviewOf(paula, letter), [0, 0])
    assert.deepEqual(await mailed(letter), [])
  })
})
