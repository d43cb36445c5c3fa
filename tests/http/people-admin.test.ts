import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import { at, valuesOf } from '../support/json.ts'
import { openMailingPortal, type Entered } from '../support/mailing-portal.ts'
import { addPasskey, setUpTotp } from '../support/own-account.ts'
import { startPortal } from '../support/portal.ts'
import type { Page } from '../support/profile.ts'
import { eventsOf } from '../support/recorded.ts'
import { ok } from '../support/answer.ts'

const { portal, partner, mailsTo, mailTo } = openMailingPortal()

const change = (by: Entered, { id }: { readonly id: string }, body: object) =>
  by.profile.ask(`/people/${id}`, { method: 'PATCH', body })
const unlink = (by: Entered, { id }: { readonly id: string }) =>
  by.profile.ask(`/people/${id}/identities`, { method: 'DELETE' })
const remove = (by: Entered, { id }: { readonly id: string }) => by.profile.ask(`/people/${id}`, { method: 'DELETE' })

/** Returns the id of the invitation. */
async function invite(email: string): Promise<string> {
  const body = { email, name: 'Ines', role: 'partner' }
  const page = ok(await partner.profile.ask('/people/invitations', { method: 'POST', body }), 201)
  return String(at(page.json, 'invitation', 'id'))
}

/** The addresses of the open invitations. */
async function invited(): Promise<unknown[]> {
  const { invitations } = (await partner.profile.ask('/people')).json
  return Array.isArray(invitations) ? invitations.map((each) => at(each, 'email')) : assert.fail()
}

function assertProblem(page: Page, [status, code]: [number, string]): void {
  assert.deepEqual([page.status, at(page.json, 'error', 'code')], [status, code], page.text)
}

async function rowOf(id: string): Promise<unknown> {
  const { people } = (await partner.profile.ask('/people')).json
  return Array.isArray(people) ? people.find((each) => at(each, 'id') === id) : assert.fail()
}

/** What the audit log says of a request. */
async function recorded(page: Page): Promise<unknown[]> {
  const said = `concat_ws(' ', action, outcome, person_id, noun, noun_id) as said`
  return valuesOf(await eventsOf(page, portal.service.database, said), 'said')
}

describe('B16, B33, B100: a partner', () => {
  test('renames a person, who stays signed in', async () => {
    const other = await portal.enter('consultant')
    const page = await change(partner, other, { name: '  Frida Kahlo ' })
    assert.deepEqual([page.status, page.json['name']], [200, 'Frida Kahlo'], page.text)
    assert.equal((await other.profile.who())?.['name'], 'Frida Kahlo')
    assert.deepEqual(await recorded(page), [`person_renamed allowed ${partner.id} person ${other.id}`])
    const [row] = await portal.service.database.rows<{ text: string }>(
      'select a::text as text from audit a where request_id = $1',
      [page.headers.get('request-id')],
    )
    assert.ok(!row?.text.includes('Frida'), 'names are not in the audit log')
    assertProblem(await change(partner, other, { name: ' ' }), [400, 'invalid_field'])
  })

  test('changes an address: sessions end, and a mail goes to both addresses', async () => {
    const other = await portal.enter('consultant')
    const to = `new-${other.email}`
    const invitation = await invite(to)
    const page = await change(partner, other, { email: to, name: 'New' })
    assert.deepEqual([page.status, page.json['email'], page.json['name']], [200, to, 'New'], page.text)
    assert.equal(await other.profile.who(), undefined)
    assert.ok(!(await invited()).includes(to))
    for (const address of [other.email, to]) await mailTo(address, { subject: 'Your email address was changed' })
    assert.deepEqual(await recorded(page), [
      `person_renamed allowed ${partner.id} person ${other.id}`,
      `session_revoked allowed ${partner.id} session ${await sessionRevoked(page)}`,
      `email_changed allowed ${partner.id} person ${other.id}`,
      `invitation_withdrawn allowed ${partner.id} invitation ${invitation}`,
    ])
    // Their account at the provider stays theirs, and what it says of the old address changes nothing back.
    assert.equal((await other.profile.signIn('firm')).status, 303)
    const who = await other.profile.who()
    assert.deepEqual([who?.['id'], who?.['email']], [other.id, to])
    portal.provider.say({ subject: `subject of ${other.email}`, email: other.email })
    const had = await portal.counts()
    await portal.assertRefused(await portal.profile().signIn('firm'), [403, 'sign_in_refused'], had)
  })

  test('B33: an address that changed at the provider ends the other sessions, and a mail goes to both addresses', async () => {
    const other = await portal.enter('consultant')
    const to = `reported-${other.email}`
    const invitation = await invite(to)
    const [identity] = await portal.service.database.rows<{ subject: string }>(
      'select subject from identity where person_id = $1',
      [other.id],
    )
    portal.provider.say({ subject: identity?.subject ?? assert.fail(), email: to })
    const profile = portal.profile()
    const page = await profile.signIn('firm')
    assert.equal(page.status, 303, page.text)
    const who = await profile.who()
    assert.deepEqual([who?.['id'], who?.['email']], [other.id, to])
    assert.equal(await other.profile.who(), undefined)
    assert.ok(!(await invited()).includes(to))
    const [said] = await portal.service.database.rows<{ person: string }>(
      `select person_id as person from audit where action = 'invitation_withdrawn' and noun_id = $1`,
      [invitation],
    )
    assert.equal(said?.person, other.id)
    for (const address of [other.email, to]) await mailTo(address, { subject: 'Your email address was changed' })
    assert.ok((await recorded(page)).includes(`email_changed allowed ${other.id} person ${other.id}`))
    assert.equal((await portal.profile().signIn('firm')).status, 303)
    assert.ok(await profile.who(), 'the same address again changes nothing')
  })

  test('changes an address, after which a link mailed to the old one signs in nobody', async () => {
    const other = await portal.enter('consultant')
    const attacker = portal.profile()
    ok(
      await attacker.ask('/auth/start/email_link', {
        method: 'POST',
        body: { input: { email: other.email } },
      }),
    )
    const { text } = await mailTo(other.email, { subject: 'Your sign-in link' })
    const token = /#([\w-]{43})$/m.exec(text)?.[1] ?? assert.fail(text)
    assert.equal((await change(partner, other, { email: `moved-${other.email}` })).status, 200)
    const had = await portal.counts()
    const page = await attacker.ask('/auth/link', { method: 'POST', body: { token } })
    await portal.assertRefused(page, [400, 'sign_in_failed'], had)
    assert.equal(await attacker.who(), undefined)
  })

  test('gives nobody an address that another person has, or that is none', async () => {
    const [one, other] = [await portal.enter('consultant'), await portal.enter('consultant')]
    const was = await rowOf(one.id)
    assertProblem(await change(partner, one, { email: other.email.toUpperCase(), name: 'Taken' }), [409, 'conflict'])
    assertProblem(await change(partner, one, { email: 'nobody', role: 'partner' }), [400, 'invalid_field'])
    assert.deepEqual(await rowOf(one.id), was)
    assert.ok(await one.profile.who(), 'a refused change ends no session')
    assert.equal(mailsTo(one.email).length, 0)
  })

  test('lets a person back in who got a new account at the provider, in one step', async () => {
    const other = await portal.enter('consultant')
    portal.provider.say({ subject: `renewed ${other.email}`, email: other.email })
    const renewed = portal.profile()
    const had = await portal.counts()
    await portal.assertRefused(await renewed.signIn('firm'), [403, 'sign_in_refused'], had)
    assert.equal(at(await rowOf(other.id), 'identities'), 1)
    const page = await unlink(partner, other)
    assert.deepEqual([page.status, page.json], [200, { unlinked: 1 }], page.text)
    assert.equal(await other.profile.who(), undefined, 'a session of the old account ends')
    await mailTo(other.email, { subject: 'Your accounts at providers were removed' })
    assert.ok((await recorded(page)).includes(`identity_removed allowed ${partner.id} person ${other.id}`))
    assert.equal((await renewed.signIn('firm')).status, 303)
    assert.equal((await renewed.who())?.['id'], other.id)
    await mailTo(other.email, { subject: 'A sign-in method was added' })
    // B16 (c): the account that was linked before has no access any more.
    portal.provider.say({ subject: `renewed ${other.email}`, email: 'elsewhere@example.com' })
    assert.equal((await unlink(partner, other)).status, 200)
    const unlinked = await portal.counts()
    await portal.assertRefused(await portal.profile().signIn('firm'), [403, 'sign_in_refused'], unlinked)
    assertProblem(await unlink(partner, other), [409, 'conflict'])
  })

  test('a first sign-in at a provider is mailed only to someone who has signed in before (B15)', async () => {
    const [entered, member] = [portal.newcomer(), portal.newcomer()]
    for (const { subject, email } of [entered, member]) {
      const { id } = await portal.service.people.create({ name: subject, email, role: 'consultant' }, byService)
      if (email === member.email) await portal.service.signIn({ id })
      portal.provider.say({ subject, email })
      assert.equal((await portal.profile().signIn('firm')).status, 303)
    }
    await mailTo(member.email, { subject: 'A sign-in method was added' })
    assert.deepEqual(mailsTo(entered.email), [])
  })

  test('does none of this to an unknown person, and consultants do none of it', async () => {
    const [consultant, victim] = [await portal.enter('consultant'), await portal.enter('consultant')]
    const was = await rowOf(victim.id)
    const refused = [
      await change(consultant, victim, { email: 'mine@example.com' }),
      await change(consultant, consultant, { name: 'Boss' }),
      await unlink(consultant, victim),
      await remove(consultant, victim),
    ]
    for (const page of refused) assertProblem(page, [403, 'forbidden'])
    assert.deepEqual(await rowOf(victim.id), was)
    for (const id of ['01a1fde9-640a-7d47-911d-f32ac54c1c8c', 'x', '%00']) {
      for (const act of [unlink, remove]) assertProblem(await act(partner, { id }), [404, 'not_found'])
    }
  })

  test('needs a sign-in within the last ten minutes, except to end sessions', async () => {
    const [old, other] = [await portal.enter('partner'), await portal.enter('consultant')]
    const { database } = portal.service
    await database.rows(`update session set proven_at = proven_at - interval '11 minutes' where person_id = $1`, [
      old.id,
    ])
    const body = { email: 'late@firm.example', name: 'L', role: 'partner' }
    const refused = [
      await change(old, other, { name: 'Late' }),
      await unlink(old, other),
      await remove(old, other),
      await old.profile.ask('/people/invitations', { method: 'POST', body }),
    ]
    for (const page of refused) assertProblem(page, [403, 'recent_sign_in_required'])
    assert.equal((await old.profile.ask(`/people/${other.id}/sessions`, { method: 'DELETE' })).status, 200)
  })
})

async function sessionRevoked({ headers }: Page): Promise<string> {
  const [row] = await portal.service.database.rows<{ id: string }>(
    `select noun_id as id from audit where request_id = $1 and action = 'session_revoked'`,
    [headers.get('request-id')],
  )
  return row?.id ?? assert.fail('no session was revoked')
}

/** Gives a person one of everything. */
async function setUpFactors(id: string): Promise<void> {
  const { database } = portal.service
  await database.rows(`insert into totp values ($1, 'secret', 1, now())`, [id])
  await database.rows(`insert into phone values ($1, '+4912345678', now())`, [id])
  await database.rows(`insert into recovery_code values ($1, sha256('code'))`, [id])
  await database.rows(`insert into passkey_owner values ($1, sha512($2::text::bytea))`, [id, id])
  await database.rows(
    `insert into passkey (id, person_id, rp_id, credential_id, public_key, counter, transports, name, created_at)
     values (gen_random_uuid(), $1, 'tollgate.test', sha256($2::text::bytea), 'key', 0, '{}', 'Key', now())`,
    [id, id],
  )
}

describe('B71: a lost second factor', () => {
  test('is not removed here by the partner who lost it: /me protects the last one', async () => {
    const own = await portal.enter('partner')
    await setUpFactors(own.id)
    assertProblem(await own.profile.ask(`/people/${own.id}/factors`, { method: 'DELETE' }), [409, 'conflict'])
    const rows = await portal.service.database.rows('select 1 from totp where person_id = $1', [own.id])
    assert.equal(rows.length, 1)
  })

  test('is removed by a partner, who learns nothing: sessions end, a mail goes out, new ones are set up', async () => {
    const other = await portal.enter('consultant')
    await setUpFactors(other.id)
    const page = await partner.profile.ask(`/people/${other.id}/factors`, { method: 'DELETE' })
    assert.deepEqual([page.status, page.text], [204, ''])
    assert.ok((await recorded(page)).includes(`factors_reset allowed ${partner.id} person ${other.id}`))
    await mailTo(other.email, { subject: 'Your second factors were removed' })
    assert.equal(await other.profile.who(), undefined)
    for (const table of ['totp', 'phone', 'recovery_code', 'passkey']) {
      const rows = await portal.service.database.rows(`select from ${table} where person_id = $1`, [other.id])
      assert.equal(rows.length, 0, table)
    }
    const again = await partner.profile.ask(`/people/${other.id}/factors`, { method: 'DELETE' })
    assertProblem(again, [409, 'conflict'])
    const consultant = await portal.enter('consultant')
    const refused = await consultant.profile.ask(`/people/${other.id}/factors`, { method: 'DELETE' })
    assertProblem(refused, [403, 'forbidden'])
  })
})

describe('a deleted person', () => {
  test('cannot sign in, and their address is free; their name stays in the history', async () => {
    const other = await portal.enter('consultant')
    const { json: client } = await other.profile.ask('/clients', { method: 'POST', body: { name: 'Kept' } })
    assertProblem(await remove(partner, other), [409, 'conflict'])
    assert.ok(await other.profile.who(), 'a refused deletion ends no session')
    const handed = await partner.profile.ask(`/people/${other.id}/handover`, {
      method: 'POST',
      body: { to: partner.id },
    })
    assert.deepEqual([handed.status, handed.json], [200, { handed_over: 1 }], handed.text)
    const { name } = (await other.profile.who()) ?? {}
    const page = ok(await remove(partner, other), 204)
    assert.ok((await recorded(page)).includes(`person_deleted allowed ${partner.id} person ${other.id}`))
    await mailTo(other.email, { subject: 'Your account was deleted' })
    assert.equal(await other.profile.who(), undefined)
    assert.equal(await rowOf(other.id), undefined)
    const had = await portal.counts()
    portal.provider.say({ subject: 'subject of the deleted', email: other.email })
    await portal.assertRefused(await other.profile.signIn('firm'), [403, 'sign_in_refused'], had)
    const { text } = await partner.profile.ask(`/clients/${String(client['id'])}/revisions`)
    assert.ok(text.includes(String(name)), text)
    for (const act of [remove, unlink]) assertProblem(await act(partner, other), [404, 'not_found'])
    assertProblem(await change(partner, other, { status: 'active' }), [404, 'not_found'])
    const body = { email: other.email, name: 'Successor', role: 'consultant' }
    assert.equal((await partner.profile.ask('/people/invitations', { method: 'POST', body })).status, 201)
  })

  test('leaves nothing to sign in with in any table', async () => {
    const other = await portal.enter('consultant')
    await setUpTotp(other.profile)
    await addPasskey(other.profile, portal.service.baseUrl)
    await portal.service.database.rows(
      `insert into phone (person_id, number, verified_at) values ($1, '+4915112345678', now())`,
      [other.id],
    )
    await other.profile.ask('/auth/start/email_link', { method: 'POST', body: { input: { email: other.email } } })
    await portal.service.database.rows(`insert into password values ($1, '$argon2id$', now())`, [other.id])
    await portal.service.database.rows(
      `insert into password_reset values (lower($1), sha256($1::text::bytea), $1, now())`,
      [other.email],
    )
    const body = { email: `inv-${other.email}`, name: 'Invited', role: 'consultant' }
    await partner.profile.ask('/people/invitations', { method: 'POST', body })
    assert.equal((await remove(partner, other)).status, 204)
    /** Where the id of a person stays: the history, with digests of what there was, and the person. */
    const history = [
      'audit',
      'client',
      'dispute',
      'letter',
      'note',
      'person',
      'recorded_change',
      'revision',
      'invitation',
    ]
    const { database } = portal.service
    const tables = await database.rows<{ table: string }>(
      `select relname::text as table from pg_class
       where relnamespace = current_schema::regnamespace and relkind = 'r' and relname <> all($1) order by 1`,
      [history],
    )
    assert.ok(tables.length > 10)
    for (const { table } of tables) {
      const rows = await database.rows(
        `select from "${table}" t where position($1 in t::text) > 0 or position(lower($2) in lower(t::text)) > 0`,
        [other.id, other.email],
      )
      assert.equal(rows.length, 0, `${table} still has a row of the person`)
    }
    const [person] = await database.rows('select email, email_key, status from person where id = $1', [other.id])
    assert.deepEqual(person, { email: null, email_key: null, status: 'disabled' })
  })
})

describe('B76: two partners', () => {
  test('who delete each other at once leave one', async () => {
    await using own = await startPortal()
    const [first, second] = [await own.enter('partner'), await own.enter('partner')]
    const pages = await Promise.all([remove(first, second), remove(second, first)])
    const statuses = pages.map(({ status }) => status).toSorted((one, other) => one - other)
    assert.equal(statuses[0], 204, statuses.join(' '))
    assert.ok([401, 403, 409].includes(statuses[1] ?? 0), statuses.join(' '))
    const left = await own.service.database.rows<{ id: string }>(
      `select id from person where role = 'partner' and status = 'active'`,
    )
    assert.equal(left.length, 1)
    const last = left[0]?.id === first.id ? first : second
    assertProblem(await remove(last, last), [409, 'conflict'])
    assert.ok(await last.profile.who())
  })
})

describe('B38: a partner', () => {
  test('ends the sessions of everyone', async () => {
    await using own = await startPortal()
    const [boss, other] = [await own.enter('partner'), await own.enter('consultant')]
    assert.equal((await other.profile.ask('/people/sessions', { method: 'DELETE' })).status, 403)
    const page = await boss.profile.ask('/people/sessions', { method: 'DELETE' })
    assert.deepEqual([page.status, page.json], [200, { ended: 2 }])
    assert.deepEqual([await boss.profile.who(), await other.profile.who()], [undefined, undefined])
    assert.equal(await own.count('session'), 0)
    const rows = await own.service.database.rows(
      `select from audit where action = 'session_revoked' and person_id = $1`,
      [boss.id],
    )
    assert.equal(rows.length, 2)
  })
})
