import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertBetween } from '../support/clock.ts'
import { at } from '../support/json.ts'
import { fixture } from '../support/fixture.ts'
import { startPortal, type Portal } from '../support/portal.ts'
import { eventsOf } from '../support/recorded.ts'

const portal = fixture(() => startPortal())

type Entered = Awaited<ReturnType<Portal['enter']>>

const change = ({ profile }: Entered, id: string, body: object) =>
  profile.ask(`/people/${id}`, { method: 'PATCH', body })

async function rowOf({ profile }: Entered, id: string): Promise<unknown> {
  const { people } = (await profile.ask('/people')).json
  return Array.isArray(people) ? people.find((each) => at(each, 'id') === id) : undefined
}

async function lastEntry(personId: string): Promise<unknown> {
  const [entry] = await portal.service.database.rows(
    `select action, outcome, noun, noun_id as "nounId", details from audit where person_id = $1 order by at desc, id desc limit 1`,
    [personId],
  )
  return entry
}

describe('the list of people', () => {
  test('shows a partner all people', async () => {
    const began = Date.now()
    const [partner, { id, email }] = [await portal.enter('partner'), await portal.enter('consultant')]
    const row = await rowOf(partner, id)
    assert.deepEqual(
      { ...Object(row), created_at: '', last_signed_in_at: '', name: '' },
      {
        id,
        email,
        role: 'consultant',
        status: 'active',
        clients: 0,
        identities: 1,
        accounts: [],
        created_at: '',
        last_signed_in_at: '',
        name: '',
      },
    )
    assertBetween(at(row, 'last_signed_in_at'), began)
  })

  test('B94: leaves an audit row for every view, as does a change without effect', async () => {
    const [partner, other] = [await portal.enter('partner'), await portal.enter('consultant')]
    for (const accept of ['application/json', 'text/html']) {
      const page = await partner.profile.ask('/people', { headers: { accept } })
      const columns = 'actor, person_id, action, outcome, noun, noun_id, address'
      const rows = await eventsOf(page, portal.service.database, columns)
      const row = {
        actor: 'person',
        person_id: partner.id,
        action: 'people_listed',
        outcome: 'allowed',
        noun: 'person',
      }
      assert.deepEqual(rows, [{ ...row, noun_id: null, address: '127.0.0.1' }])
    }
    await change(partner, other.id, {})
    assert.deepEqual(await lastEntry(partner.id), {
      action: 'person_read',
      outcome: 'allowed',
      noun: 'person',
      nounId: other.id,
      details: null,
    })
  })

  test('is withheld if the view cannot be recorded', async () => {
    const { profile } = await portal.enter('partner')
    const { database } = portal.service
    await database.rows(`create trigger full_disk before insert on audit for each row
      when (new.action = 'people_listed') execute function refuse_change()`)
    try {
      assert.ok((await profile.ask('/people')).status >= 500)
    } finally {
      await database.rows('drop trigger full_disk on audit')
    }
    assert.equal((await profile.ask('/people')).status, 200)
  })

  test('counts only active clients', async () => {
    const [partner, { profile, id }] = [await portal.enter('partner'), await portal.enter('consultant')]
    const addresses: string[] = []
    for (const name of ['Kept', 'Archived', 'Deleted']) {
      const made = await profile.ask('/clients', { method: 'POST', body: { name } })
      addresses.push(made.headers.get('location') ?? '')
    }
    const [, archived = '', deleted = ''] = addresses
    const headers = { 'if-match': '"1"' }
    const was = await partner.profile.ask(archived, { method: 'PATCH', body: { status: 'archived' }, headers })
    assert.equal(was.status, 200, was.text)
    assert.equal((await partner.profile.ask(deleted, { method: 'DELETE', headers })).status, 204)
    assert.equal(at(await rowOf(partner, id), 'clients'), 1)
  })

  test('can be read and changed only by partners; refused attempts are in the audit log', async () => {
    const [consultant, victim] = [await portal.enter('consultant'), await portal.enter('consultant')]
    const pages = [
      await consultant.profile.ask('/people'),
      await change(consultant, consultant.id, { role: 'partner' }),
      await change(consultant, 'not an id', { role: 'partner' }),
      await change(consultant, victim.id, { status: 'disabled' }),
      await consultant.profile.ask(`/people/${victim.id}/sessions`, { method: 'DELETE' }),
    ]
    for (const { status } of pages) assert.equal(status, 403)
    assert.equal((await consultant.profile.who())?.['role'], 'consultant')
    assert.ok(await victim.profile.who())
    assert.deepEqual(await lastEntry(consultant.id), {
      action: 'access_denied',
      outcome: 'refused',
      noun: 'person',
      nounId: null,
      details: { action: 'change' },
    })
    for (const address of ['/people']) assert.equal((await portal.profile().ask(address)).status, 401)
  })
})

describe('B32, B76: a change of a person', () => {
  test('of role takes effect on their next request and ends their sessions', async () => {
    const [partner, other] = [await portal.enter('partner'), await portal.enter('partner')]
    assert.equal((await other.profile.ask('/people')).status, 200)
    const page = await change(partner, other.id, { role: 'consultant' })
    assert.deepEqual([page.status, page.json['role']], [200, 'consultant'])
    assert.equal((await other.profile.ask('/people')).status, 401)
    assert.deepEqual(await lastEntry(partner.id), {
      action: 'role_changed',
      outcome: 'allowed',
      noun: 'person',
      nounId: other.id,
      details: { from: 'partner', to: 'consultant' },
    })
  })

  test('to disabled takes effect on their next request, and prevents sign-in until it is undone', async () => {
    const partner = await portal.enter('partner')
    const other = await portal.enter('consultant')
    assert.equal((await change(partner, other.id, { status: 'disabled' })).status, 200)
    assert.equal(await other.profile.who(), undefined)
    const had = await portal.counts()
    await portal.assertRefused(await other.profile.signIn('firm'), [403, 'sign_in_refused'], had)
    assert.equal((await change(partner, other.id, { status: 'active' })).status, 200)
    assert.equal(await other.profile.who(), undefined, 'the old session does not come back')
    assert.equal((await other.profile.signIn('firm')).status, 303)
  })

  test('is not made if it cannot be recorded in the audit log', async () => {
    const [partner, { profile, id }] = [await portal.enter('partner'), await portal.enter('consultant')]
    const { database } = portal.service
    await database.rows(`create trigger full_disk before insert on audit for each row
      when (new.action = 'role_changed') execute function refuse_change()`)
    try {
      assert.ok((await change(partner, id, { role: 'partner' })).status >= 500)
    } finally {
      await database.rows('drop trigger full_disk on audit')
    }
    assert.equal(at(await rowOf(partner, id), 'role'), 'consultant')
    assert.equal((await profile.who())?.['role'], 'consultant')
  })

  test('that is invalid or has no effect leaves the person unchanged', async () => {
    const [partner, other] = [await portal.enter('partner'), await portal.enter('consultant')]
    const was = await rowOf(partner, other.id)
    const bodies: [unknown, number][] = [
      [{}, 200],
      [{ role: 'consultant' }, 200],
      [{ role: 'king' }, 400],
      [{ status: '' }, 400],
      [{ email: 'new' }, 400],
      [{ name: '' }, 400],
      [{ id: partner.id, role: 'partner' }, 400],
      [[], 400],
    ]
    for (const [body, status] of bodies) {
      const page = await partner.profile.ask(`/people/${other.id}`, { method: 'PATCH', body })
      assert.equal(page.status, status, `${JSON.stringify(body)}: ${page.text}`)
    }
    assert.deepEqual(await rowOf(partner, other.id), was)
    assert.ok(await other.profile.who())
  })

  test('of an unknown person is 404', async () => {
    const partner = await portal.enter('partner')
    for (const id of ['01a1fde9-640a-7d47-911d-f32ac54c1c8c', 'x', '%00']) {
      assert.equal((await change(partner, id, { role: 'partner' })).status, 404, id)
      assert.equal((await partner.profile.ask(`/people/${id}/sessions`, { method: 'DELETE' })).status, 404, id)
    }
  })
})

describe('B76: the last partner', () => {
  test('cannot be demoted or disabled', async () => {
    await using own = await startPortal()
    const last = await own.enter('partner')
    for (const body of [{ role: 'consultant' }, { status: 'disabled' }, { role: 'consultant', status: 'active' }]) {
      const page = await change(last, last.id, body)
      assert.deepEqual([page.status, at(page.json, 'error', 'code')], [409, 'conflict'], JSON.stringify(body))
      const rows = await eventsOf(page, own.service.database, `concat_ws(' ', action, outcome, noun_id) as said`)
      const action = 'role' in body ? 'role_changed' : 'person_disabled'
      assert.deepEqual(rows, [{ said: `${action} refused ${last.id}` }])
    }
    assert.equal((await last.profile.who())?.['role'], 'partner')
  })
})

describe('B38: a partner', () => {
  test('can end all sessions of one person, and no others', async () => {
    const [partner, other] = [await portal.enter('partner'), await portal.enter('consultant')]
    const second = portal.profile()
    await second.signIn('firm')
    const page = await partner.profile.ask(`/people/${other.id}/sessions`, { method: 'DELETE' })
    assert.deepEqual([page.status, page.json], [200, { ended: 2 }])
    assert.deepEqual([await other.profile.who(), await second.who()], [undefined, undefined])
    assert.ok(await partner.profile.who())
    assert.equal((await other.profile.signIn('firm')).status, 303, 'they may sign in again')
    const entry = await lastEntry(partner.id)
    assert.deepEqual([at(entry, 'action'), at(entry, 'details')], ['session_revoked', { of: other.id }])
  })
})
