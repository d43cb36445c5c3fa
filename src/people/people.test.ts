import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { byService, personActor } from '../access/actor.ts'
import { handedInvitations } from '../../tests/support/handed-invitations.ts'
import { meetingAt } from '../../tests/support/meeting.ts'
import { fixture } from '../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../tests/support/own-database.ts'
import { createAudit } from '../access/audit/audit.ts'
import { createIdentities } from './identities.ts'
import { createPeople } from './people.ts'
import { readEmail, type Email } from './email.ts'

const { database } = openOwnDatabase()
const audit = fixture(() => createAudit({ database }))

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
          {
            email: addressOf('entered@example.com'),
            mayJoin: true,
            claimed: () => assert.fail('never signed in before'),
          },
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

test('the open invitation of an address is withdrawn when a person is added with it', async () => {
  const invitations = handedInvitations(database, audit)
  const person = { name: 'Ines', email: 'ines@firm.example', role: 'consultant' } as const
  const { invitation } = await invitations.create(person, byService)
  await createPeople({ database, audit }).create(person, byService)
  assert.deepEqual(await invitations.list(), [])
  const rows = await database.rows(`select actor, outcome, noun_id from audit where action = 'invitation_withdrawn'`)
  assert.deepEqual(rows, [{ actor: 'service', outcome: 'allowed', noun_id: invitation.id }])
})

describe('someone who is no longer a partner', () => {
  for (const [how, end] of [
    ['another role', { role: 'consultant' }],
    ['a disabled account', { status: 'disabled' }],
  ] as const) {
    test(`because of ${how} changes nobody, although they were one when they asked`, async () => {
      const people = createPeople({ database, audit })
      const [stays, former, other] = [
        await people.create(
          { name: 'Stays', email: `stays.${how}@example.com`.replaceAll(' ', ''), role: 'partner' },
          byService,
        ),
        await people.create(
          { name: 'Former', email: `former.${how}@example.com`.replaceAll(' ', ''), role: 'partner' },
          byService,
        ),
        await people.create(
          { name: 'Other', email: `other.${how}@example.com`.replaceAll(' ', ''), role: 'consultant' },
          byService,
        ),
      ]
      const by = { actor: personActor(former) }
      await people.setRole(other.id, 'partner', by)
      if ('role' in end) await people.setRole(former.id, end.role, byService)
      else await people.setStatus(former.id, end.status, byService)
      await assert.rejects(people.setRole(stays.id, 'consultant', by), { code: 'forbidden' })
      await assert.rejects(people.setStatus(other.id, 'disabled', by), { code: 'forbidden' })
      await assert.rejects(people.setRole(former.id, 'partner', by), { code: 'forbidden' })
      const found = (await people.list()).filter(({ id }) => [stays.id, other.id].includes(id))
      assert.deepEqual(
        found.map(({ role, status }) => [role, status]),
        [
          ['partner', 'active'],
          ['partner', 'active'],
        ],
      )
    })
  }
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
