import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { byService } from '../access/actor.ts'
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts'
import { createTestLog } from '../../tests/support/log.ts'
import { meetingAt } from '../../tests/support/meeting.ts'
import { createAudit, type Audit } from '../access/audit.ts'
import { openDatabase, type Database } from '../platform/database/database.ts'
import { createIdentities } from './identities.ts'
import { createPeople } from './people.ts'
import { readEmail, type Email } from './email.ts'

let fresh: TestDatabase
let database: Database
let audit: Audit

before(async () => {
  fresh = await createTestDatabase()
  const { log } = createTestLog()
  database = openDatabase(fresh.url, { log })
  audit = createAudit({ database })
})
after(async () => {
  await audit.close()
  await database.close()
  await fresh.drop()
})

function addressOf(text: string): Email {
  return readEmail(text) ?? assert.fail(`${text} is no address`)
}

describe('concurrently', () => {
  test('B76: two partners who demote each other leave one', async () => {
    const people = createPeople({ database: meetingAt(database, (text) => text.includes(`role = 'partner'`)), audit })
    const ids: string[] = []
    for (const name of ['one', 'two']) {
      ids.push((await people.create({ name, email: `${name}@example.com`, role: 'partner' }, byService)).id)
    }
    const outcomes = await Promise.allSettled(ids.map((id) => people.setRole(id, 'consultant', byService)))
    assert.deepEqual(
      outcomes.map(({ status }) => status).toSorted(),
      ['fulfilled', 'rejected'],
      'both were demoted, or neither',
    )
    const partners = (await people.list()).filter(({ role }) => role === 'partner')
    assert.equal(partners.length, 1)
  })

  test('two people cannot be added with one address', async () => {
    const people = createPeople({ database, audit })
    const entering = ['Same@example.com', 'same@EXAMPLE.com'].map((email) =>
      people.create({ name: 'S', email, role: 'consultant' }, byService),
    )
    const outcomes = await Promise.allSettled(entering)
    assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  })

  test("B14: of two identities with an added person's address, one is linked", async () => {
    const { id } = await createPeople({ database, audit }).create(
      {
        name: 'Entered',
        email: 'entered@example.com',
        role: 'partner',
      },
      byService,
    )
    const met = meetingAt(database, (text) => text.includes('from identity where person_id'))
    const identities = createIdentities({ database: met, audit })
    const people = await Promise.all(
      ['a', 'b'].map((subject) =>
        identities.welcome(
          { issuer: 'https://id.example', subject },
          { email: addressOf('entered@example.com'), mayJoin: true },
        ),
      ),
    )
    assert.deepEqual(
      people.map((person) => person?.id).filter((each) => each !== undefined),
      [id],
    )
    const rows = await database.rows('select subject from identity where person_id = $1', [id])
    assert.equal(rows.length, 1)
  })
})

describe('an identity', () => {
  test('stays with its person', async () => {
    const people = createPeople({ database, audit })
    const identities = createIdentities({ database, audit })
    const [first, second] = [
      await people.create({ name: 'F', email: 'first@example.com', role: 'consultant' }, byService),
      await people.create({ name: 'S', email: 'second@example.com', role: 'consultant' }, byService),
    ]
    const identity = { issuer: 'https://id.example', subject: 'first' }
    await identities.identify(first.id, identity)
    await identities.identify(first.id, identity)
    await identities.identify(second.id, identity)
    assert.equal((await identities.byIdentity(identity))?.id, first.id)
    assert.equal(await identities.byIdentity({ ...identity, issuer: 'https://id.example/' }), undefined)
  })
})
