import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { beforeEach, describe, test } from 'node:test'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'
import { fixture, setUp } from '../../../tests/support/fixture.ts'
import { log } from '../../../tests/support/tills.ts'
import { personActor, type PersonActor } from '../../access/actor.ts'
import { openPortal } from '../../access/portal/portal.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import type { ApprovalRule } from '../../access/policy.ts'
import { keepApprovalRule } from './approval/approvals.ts'

const { own, database } = openOwnDatabase(log)
const portal = fixture(() => openPortal({ databaseUrl: own.url, log }))
let anna: PersonActor
let paula: PersonActor
let peter: PersonActor
let ben: PersonActor
let client: string
setUp(async () => {
  ;[anna, ben, paula, peter] = await Promise.all([
    person('consultant'),
    person('consultant'),
    person('partner'),
    person('partner'),
  ])
  client = randomUUIDv7()
  await as(paula, 'insert into client (id, name, consultant_id) values ($1, $2, $3)', [client, 'Client', anna.id])
})

async function person(role: 'consultant' | 'partner'): Promise<PersonActor> {
  const id = randomUUIDv7()
  await database.rows('insert into person (id, name, role, created_at) values ($1, $2, $3, now())', [id, role, role])
  return personActor({ id, role })
}

let statements = 0
/** Runs a statement as the portal does for a person, without any check of the service. */
async function as<Row = unknown>(who: PersonActor, text: string, values: readonly string[]): Promise<readonly Row[]> {
  statements += 1
  const statement: PreparedStatement<Row> = { name: `rules ${statements}`, text, values }
  const [rows] = await portal.as(who, [statement])
  return rows
}

const refused = { code: 'TG010' }
const set = (rule: ApprovalRule) => keepApprovalRule(database, rule)

/** A new letter of a person. */
async function write(who: PersonActor, status = 'draft', previous?: string): Promise<string> {
  const id = randomUUIDv7()
  const insert = `insert into letter (id, client_id, subject, body, status, previous_id) values ($1, $2, 'Offer', 'Dear', $3, nullif($4, '')::uuid)`
  await as(who, insert, [id, client, status, previous ?? ''])
  return id
}

const change = (who: PersonActor, id: string, what: string) =>
  as(who, `update letter set ${what}, version = version + 1, updated_at = record_time() where id = $1`, [id])
const approve = (who: PersonActor, id: string) => change(who, id, `status = 'approved'`)

async function statusOf(id: string): Promise<string | undefined> {
  const [row] = await database.transaction(async (tx) => {
    await tx.rows(`select set_config('tollgate.proof', 'on', true)`)
    return tx.rows<{ status: string }>('select status from letter where id = $1', [id])
  })
  return row?.status
}

describe('letters.approval: not-writer, in the database', () => {
  beforeEach(() => set('not-writer'))

  test('refuses a new letter that its writer approves or sends', async () => {
    for (const status of ['approved', 'sent']) {
      for (const who of [anna, paula]) await assert.rejects(write(who, status), refused)
    }
  })

  test('refuses everyone who wrote any of the text, in whatever order, and lets others approve it', async () => {
    const letter = await write(anna)
    await change(paula, letter, `body = 'Dear Maria'`)
    for (const writer of [anna, paula]) {
      await assert.rejects(approve(writer, letter), refused)
      await assert.rejects(change(writer, letter, `status = 'sent'`), refused)
    }
    // What is no longer there counts as well: the text rests on it.
    await change(peter, letter, `subject = 'Our offer'`)
    await assert.rejects(approve(peter, letter), refused)
    assert.equal(await statusOf(letter), 'draft')

    const other = await write(anna)
    await approve(paula, other)
    assert.equal(await statusOf(other), 'approved')
  })

  test('refuses a text that is written and approved, or written and sent, at once', async () => {
    const letter = await write(anna)
    await assert.rejects(change(paula, letter, `body = 'Dear Maria', status = 'approved'`), refused)
    await approve(paula, letter)
    await assert.rejects(change(paula, letter, `body = 'Dear Maria', status = 'sent'`), refused)
    await change(anna, letter, `status = 'sent'`)
    assert.equal(await statusOf(letter), 'sent')
  })

  test('counts the writers of the letters that it was copied from, up to one that was sent', async () => {
    const copy = await write(paula, 'draft', await write(anna))
    await assert.rejects(approve(anna, copy), refused)
    await approve(peter, copy)
    await change(anna, copy, `status = 'sent'`)
    const next = await write(paula, 'draft', copy)
    await approve(anna, next)
    assert.equal(await statusOf(next), 'approved')
  })

  test('counts neither looks, nor approvals that were taken back, as writing', async () => {
    const letter = await write(anna)
    await approve(paula, letter)
    await change(paula, letter, `status = 'draft'`)
    await approve(paula, letter)
    assert.equal(await statusOf(letter), 'approved')
  })
})

test('letters.approval: partners, in the database, lets only partners approve and send, also as writers', async () => {
  await set('partners')
  const letter = await write(paula)
  await assert.rejects(approve(anna, letter), refused)
  await assert.rejects(change(anna, letter, `status = 'sent'`), refused)
  for (const status of ['approved', 'sent']) await assert.rejects(write(anna, status), refused)
  // Nobody sets the rule but the service.
  for (const who of [anna, paula]) {
    await assert.rejects(as(who, 'update letter_approval set rule = $1', ['anyone']), { code: '42501' })
  }
  await approve(paula, letter)
  await change(anna, letter, `status = 'sent'`)
  assert.equal(await statusOf(letter), 'sent')
})

test('letters.approval: anyone, as without a rule, lets writers approve', async () => {
  await database.rows('delete from letter_approval')
  await write(anna, 'approved')
  await set('anyone')
  await write(anna, 'sent')
})

const keptRule = () =>
  database.rows<{ rule: string; events: bigint }>(
    `select rule, (select count(*) from audit where action = 'approval_rule_set' and details ->> 'rule' = rule) as events
     from letter_approval`,
  )

test('a start that finds another rule writes its own, with an event', async () => {
  await set('anyone')
  await set('partners')
  const kept = await keptRule()
  await set('partners')
  assert.deepEqual(await keptRule(), kept)
  await set('anyone')
  assert.deepEqual(
    (await keptRule()).map(({ rule }) => rule),
    ['anyone'],
  )
})

interface Review {
  readonly id: string
  readonly status: string
  readonly letter_version: number
  readonly ended_version: number | null
  readonly updated_by: string
}

/** A review of a letter. */
async function ask(who: PersonActor, letter: string, reviewer: PersonActor): Promise<string> {
  const id = randomUUIDv7()
  const insert = 'insert into letter_review (id, client_id, letter_id, reviewer_id) values ($1, $2, $3, $4)'
  await as(who, insert, [id, client, letter, reviewer.id])
  return id
}

const end = (who: PersonActor, review: string, how: string) =>
  as(who, `update letter_review set ${how}, version = version + 1, updated_by = portal_person() where id = $1`, [
    review,
  ])
const give = (who: PersonActor, review: string) => end(who, review, `status = 'returned', reason = 'The fee'`)
const withdraw = (who: PersonActor, review: string) => end(who, review, `status = 'withdrawn'`)
const reviewsOf = (letter: string) =>
  as<Review>(paula, 'select * from letter_review where letter_id = $1 order by created_at, id', [letter])
const noticesOf = async (letter: string) =>
  (
    await as<{ kind: string }>(
      paula,
      'select n.kind from letter_review_notice n join letter_review r on r.id = n.review_id where r.letter_id = $1 order by 1',
      [letter],
    )
  ).map(({ kind }) => kind)

const reviewersFor = async (who: PersonActor, of: PersonActor) =>
  (await as<{ id: string }>(who, 'select id from reviewers_of($1)', [of.id])).map(({ id }) => id)

describe('a review, in the database', () => {
  beforeEach(() => set('anyone'))

  test('is asked of another person who may read the record, and of no one else', async () => {
    const letter = await write(anna)
    const [gone, other] = await Promise.all([person('partner'), person('partner')])
    await database.rows(`update person set status = 'disabled' where id = $1`, [gone.id])
    await database.rows(`update person set role = 'developer' where id = $1`, [other.id])
    for (const [asker, reviewer] of [
      [anna, anna],
      [anna, ben],
      [anna, gone],
      [anna, other],
      [paula, paula],
      [paula, ben],
    ] as const) {
      await assert.rejects(ask(asker, letter, reviewer), { code: 'TG011' })
    }
    await assert.rejects(ask(ben, letter, paula), { code: 'TG003' })
    await ask(anna, letter, paula)
    await ask(paula, letter, anna)
    await assert.rejects(ask(anna, letter, paula), { code: '23505' })
    assert.equal((await reviewsOf(letter)).length, 2)
  })

  test('tells consultants of partners and of themselves only who may review their letters', async () => {
    assert.ok((await reviewersFor(anna, anna)).includes(anna.id))
    assert.ok((await reviewersFor(anna, anna)).includes(paula.id))
    assert.ok(!(await reviewersFor(anna, ben)).includes(ben.id))
    assert.ok((await reviewersFor(paula, ben)).includes(ben.id))
  })

  test('is of a draft', async () => {
    for (const status of ['approved', 'sent']) {
      await assert.rejects(ask(anna, await write(anna, status), paula), { code: 'TG003' })
    }
    const archived = await write(anna)
    await change(anna, archived, 'archived_at = now()')
    await assert.rejects(ask(anna, archived, paula), { code: 'TG003' })
  })

  test('ends once: returned by the reviewer alone, or withdrawn by anyone', async () => {
    const letter = await write(anna)
    const review = await ask(anna, letter, paula)
    await change(anna, letter, `body = 'Dear Maria'`)
    for (const other of [anna, peter]) await assert.rejects(give(other, review), { code: '42501' })
    // No statement approves a draft by its review.
    for (const who of [anna, paula]) {
      await assert.rejects(end(who, review, `status = 'approved'`), { code: '42501' })
    }
    await assert.rejects(as(paula, 'update letter_review set reviewer_id = $2 where id = $1', [review, peter.id]), {
      code: '42501',
    })
    await give(paula, review)
    for (const again of [
      `status = 'open', reason = null`,
      `status = 'withdrawn', reason = null`,
      `reason = 'Another'`,
    ]) {
      await assert.rejects(end(paula, review, again), { code: '42501' }, again)
    }
    const [ended] = await reviewsOf(letter)
    assert.deepEqual([ended?.status, ended?.letter_version, ended?.ended_version], ['returned', 1, 2])
    await assert.rejects(as(paula, 'delete from letter_review where id = $1', [review]), { code: '42501' })

    const withdrawn = await ask(anna, letter, paula)
    await withdraw(peter, withdrawn)
    assert.deepEqual(
      (await reviewsOf(letter)).map(({ status }) => status),
      ['returned', 'withdrawn'],
    )
    assert.deepEqual(await noticesOf(letter), ['asked', 'asked', 'returned'])
  })

  test('ends when the letter is approved or sent, whoever does it, with a notice to those who asked, except that person', async () => {
    for (const status of ['approved', 'sent']) {
      const letter = await write(anna)
      await ask(anna, letter, paula)
      await ask(anna, letter, peter)
      await ask(paula, letter, anna)
      await change(paula, letter, `status = '${status}'`)
      const ended = await reviewsOf(letter)
      assert.deepEqual(
        ended.map((each) => [each.status, each.ended_version, each.updated_by]),
        Array.from({ length: 3 }, () => ['approved', 2, paula.id]),
      )
      assert.deepEqual(await noticesOf(letter), ['approved', 'approved', 'asked', 'asked', 'asked'])
    }
  })
})
