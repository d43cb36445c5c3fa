import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { beforeEach, describe, test } from 'node:test'
import { openOwnDatabase } from '../../../../tests/support/own-database.ts'
import { fixture, setUp } from '../../../../tests/support/fixture.ts'
import { log } from '../../../../tests/support/tills.ts'
import { personActor, type PersonActor } from '../../../access/actor.ts'
import { openPortal } from '../../../access/portal/portal.ts'
import type { ApprovalRule } from '../../../access/policy.ts'
import { keepApprovalRule } from './approvals.ts'

const { own, database } = openOwnDatabase(log)
const portal = fixture(() => openPortal({ databaseUrl: own.url, log }))
let anna: PersonActor
let paula: PersonActor
let peter: PersonActor
let client: string
setUp(async () => {
  ;[anna, paula, peter] = await Promise.all([person('consultant'), person('partner'), person('partner')])
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
async function as(who: PersonActor, text: string, values: readonly string[]): Promise<void> {
  statements += 1
  await portal.as(who, [{ name: `approval ${statements}`, text, values }])
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
