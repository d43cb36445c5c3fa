import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { byService, personActor } from '../access/actor.ts'
import { createAudit } from '../access/audit/audit.ts'
import type { MailMessage } from '../mail/mailer.ts'
import { createPeople } from '../people/people.ts'
import { createEncryption } from '../platform/encryption/encryption.ts'
import type { Person } from '../people/person.ts'
import { fixture } from '../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../tests/support/own-database.ts'
import { createTestLog } from '../../tests/support/log.ts'
import { valuesOf } from '../../tests/support/json.ts'
import { createAttempts } from './attempt/attempts.ts'
import { createCredentialChanges } from './credential-change.ts'
import { createSessions } from './session/sessions.ts'

const { log } = createTestLog()
let queued: MailMessage[] = []
const mailer = { send: async (_tx: unknown, mail: MailMessage) => void queued.push(mail) }

const { database } = openOwnDatabase(log)
const audit = fixture(() => createAudit({ database }))
const people = fixture(() => createPeople({ database, audit }))
const sessions = fixture(() =>
  createSessions({ database, audit, log, lifetimes: { idle: 3_600_000, absolute: 43_200_000 } }),
)
const encryption = createEncryption(Buffer.alloc(32))
const attempts = fixture(() =>
  createAttempts({ database, encryption, baseUrl: 'https://tollgate.test', clock: Date.now }),
)
const changes = fixture(() => createCredentialChanges({ sessions, audit, mailer }))

let made = 0
async function makePerson(): Promise<Person> {
  made++
  return people.create({ name: `Person ${made}`, email: `person${made}@example.com`, role: 'consultant' }, byService)
}

const start = (person: Person) => sessions.start({ personId: person.id, method: 'firm', factors: ['provider'] })
const idsOf = async (person: Person) => (await sessions.list(person.id)).map(({ id }) => id)

/** A sign-in of the person that waits for a second factor; the Cookie header of its browser. */
async function waitForFactor(person: Person): Promise<string> {
  const state = `state of ${person.id}`
  const line = await attempts.begin({ state, method: 'firm', data: {}, returnTo: '/', cookies: undefined })
  const cookies = line.split(';')[0] ?? ''
  const attempt = await attempts.use(state, cookies)
  assert.ok(attempt)
  const proven = await attempts.prove(attempt, {
    cookies,
    personId: person.id,
    proofFor: () => Buffer.from('proof'),
    providerSid: undefined,
    confirm: async () => {},
  })
  return proven.split(';')[0] ?? ''
}

const noted = { action: 'password_changed', notice: { what: 'password_changed' } } as const

describe('B33: a change to how a person signs in', () => {
  test('ends their other sessions and unfinished sign-ins, is recorded, and is mailed to them', async () => {
    const [person, other] = [await makePerson(), await makePerson()]
    const [own, foreign] = [await start(person), await start(other)]
    await start(person)
    await start(person)
    const [waiting, foreignWaiting] = [await waitForFactor(person), await waitForFactor(other)]
    queued = []
    const by = { actor: personActor(person), requestId: '01990000-0000-7000-8000-00000000000a', address: '192.0.2.7' }
    const ended = await database.transaction((tx) => changes.conclude(tx, { person, ...noted, exceptId: own.id, by }))
    assert.equal(ended, 2)
    assert.deepEqual(await idsOf(person), [own.id])
    assert.deepEqual(await idsOf(other), [foreign.id])
    assert.equal(await attempts.proven(waiting), undefined)
    assert.ok(await attempts.proven(foreignWaiting))
    assert.deepEqual(queued, [{ to: person.email, template: 'account_changed', values: { what: 'password_changed' } }])
    const rows = await database.rows<{ action: string }>(
      `select action, outcome, person_id, noun, noun_id, address from audit
       where person_id = $1 and action <> 'sign_in' order by id`,
      [person.id],
    )
    assert.deepEqual(valuesOf(rows, 'action'), ['session_revoked', 'session_revoked', 'password_changed'])
    const about = { outcome: 'allowed', person_id: person.id, noun: 'person', noun_id: person.id, address: '192.0.2.7' }
    assert.deepEqual(rows.at(-1), { action: 'password_changed', ...about })
  })

  test('ends every session if none is to stay', async () => {
    const person = await makePerson()
    await start(person)
    await database.transaction((tx) => changes.conclude(tx, { person, ...noted, by: byService }))
    assert.deepEqual(await idsOf(person), [])
  })

  test('that is rolled back ends and records nothing', async () => {
    const person = await makePerson()
    const { id } = await start(person)
    const waiting = await waitForFactor(person)
    const failing = database.transaction(async (tx) => {
      await changes.conclude(tx, { person, ...noted, by: byService })
      throw new Error('expected')
    })
    await assert.rejects(failing, /expected/)
    assert.deepEqual(await idsOf(person), [id])
    assert.ok(await attempts.proven(waiting))
    const rows = await database.rows('select 1 from audit where noun_id = $1 and action = $2', [
      person.id,
      noted.action,
    ])
    assert.deepEqual(rows, [])
  })
})
