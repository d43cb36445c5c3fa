import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import { at, valuesOf } from '../support/json.ts'
import type { ReceivedMail } from '../support/mail-server.ts'
import { openMailingPortal, type Entered } from '../support/mailing-portal.ts'
import { startPortal } from '../support/portal.ts'
import type { Page, Profile } from '../support/profile.ts'
import { until } from '../support/until.ts'
import { waitingForLocks } from '../support/waiting-for-locks.ts'
import { ok } from '../support/answer.ts'

const { portal, partner, mailTo } = openMailingPortal()

let invited = 0
const newAddress = () => `Invited${++invited}@firm.example`

const post = (profile: Profile, address: string, body?: object) => profile.ask(address, { method: 'POST', body })

const invite = (email: string, role = 'consultant', by: Entered = partner) =>
  post(by.profile, '/people/invitations', { email, name: 'Ines', role })
const accept = (profile: Profile, token: string) => post(profile, '/auth/invitation', { token })
const inspect = (profile: Profile, token: string) => post(profile, '/auth/invitation/inspect', { token })
const idOf = (page: Page) => String(at(page.json, 'invitation', 'id'))

function tokenOf({ text }: ReceivedMail): string {
  return /^https:\/\/tollgate\.test\/signin\/invitation#([\w-]{43})$/m.exec(text)?.[1] ?? assert.fail(text)
}

async function newInvitation(role = 'consultant') {
  const email = newAddress()
  const page = ok(await invite(email, role), 201)
  return { email, id: idOf(page), token: tokenOf(await mailTo(email)), page }
}

test('invitations for partners end when their sender is no longer a partner', async () => {
  for (const change of [{ role: 'consultant' }, { status: 'disabled' }]) {
    const former = await portal.enter('partner')
    const [address, harmless] = [newAddress(), newAddress()]
    assert.equal((await invite(address, 'partner', former)).status, 201)
    assert.equal((await invite(harmless, 'consultant', former)).status, 201)
    const [token, other] = [tokenOf(await mailTo(address)), tokenOf(await mailTo(harmless))]
    ok(await partner.profile.ask(`/people/${former.id}`, { method: 'PATCH', body: change }))
    const [refused, accepted] = [await accept(portal.profile(), token), await accept(portal.profile(), other)]
    assert.equal(refused.status, 400, refused.text)
    assert.equal(await personWith(address), undefined)
    assert.equal(accepted.status, 200, accepted.text)
  }
})

const personWith = async (email: string) =>
  (
    await portal.service.database.rows<{ id: string; name: string; role: string }>(
      'select id, name, role from person where email_key = lower($1)',
      [email],
    )
  )[0]

const openInvitations = async () => {
  const { invitations } = (await partner.profile.ask('/people')).json
  return Array.isArray(invitations) ? invitations.map((each) => String(at(each, 'email'))) : assert.fail()
}

async function assertRefused(page: Page, email: string, [status, code] = [400, 'sign_in_failed']): Promise<void> {
  assert.deepEqual([page.status, at(page.json, 'error', 'code')], [status, code], page.text)
  assert.deepEqual(page.headers.getSetCookie(), [])
  assert.equal(await personWith(email), undefined)
}

const actionsOn = async (nounId: string) =>
  (
    await portal.service.database.rows<{ said: string }>(
      `select concat_ws(' ', action, outcome, person_id) as said from audit where noun_id = $1 order by id`,
      [nounId],
    )
  ).map(({ said }) => said)

describe('B74: an invitation', () => {
  test('is mailed, and its link creates the person with the invited name and role, and signs them in', async () => {
    const { email, id, token, page } = await newInvitation('partner')
    assert.equal(at(page.json, 'link'), undefined, 'anyone with the link could accept it')
    assert.ok(!page.text.includes(token))
    const received = await mailTo(email)
    assert.match(received.text, /Hello Ines/)
    const [row] = await portal.service.database.rows<{ row: string; days: number }>(
      `select i::text as row, extract(epoch from expires_at - created_at)::float8 / 86400 as days
       from invitation i where id = $1`,
      [id],
    )
    assert.equal(row?.days, 7)
    assert.ok(!row?.row.includes(token) && !row?.row.includes(Buffer.from(token, 'base64url').toString('hex')))
    const profile = portal.profile()
    const inspected = await inspect(profile, token)
    const about = { email, name: 'Ines', role: 'partner' }
    assert.deepEqual({ ...inspected.json, expires_at: '' }, { ...about, expires_at: '' })
    assert.equal(await personWith(email), undefined, 'looking consumes nothing')
    const accepted = await accept(profile, token)
    assert.deepEqual([accepted.status, accepted.json], [200, { location: '/' }], accepted.text)
    const who = await profile.who()
    assert.deepEqual({ ...who, id: '' }, { ...about, id: '' })
    assert.ok(!(await openInvitations()).includes(email))
    assert.deepEqual(await actionsOn(id), [
      `person_invited allowed ${partner.id}`,
      `invitation_accepted allowed ${String(who?.['id'])}`,
    ])
  })

  test('is accepted once, even by twenty requests at a time', async () => {
    const { email, token } = await newInvitation()
    const pages = await Promise.all(Array.from({ length: 20 }, () => accept(portal.profile(), token)))
    assert.deepEqual(
      pages.map(({ status }) => status).toSorted((one, other) => one - other),
      [200, ...Array.from({ length: 19 }, () => 400)],
    )
    const sessions = await portal.service.database.rows(
      'select from session s join person p on p.id = s.person_id where p.email_key = lower($1)',
      [email],
    )
    assert.equal(sessions.length, 1)
  })

  test('that is withdrawn while it is being accepted lets nobody in', async () => {
    const { email, token } = await newInvitation()
    const { database } = portal.service
    const { accepted } = await database.transaction(async (tx) => {
      await tx.rows('update invitation set withdrawn_at = now() where email_key = lower($1)', [email])
      const sent = accept(portal.profile(), token)
      await until(async () => (await waitingForLocks(database)) > 0)
      return { accepted: sent }
    })
    await assertRefused(await accepted, email)
  })

  test('is voided by a newer one of the address, by sending it again and by withdrawing it', async () => {
    const first = await newInvitation('partner')
    const again = await invite(first.email.toUpperCase())
    assert.equal(again.status, 201)
    const second = tokenOf(await mailTo(first.email, { count: 2 }))
    await assertRefused(await accept(portal.profile(), first.token), first.email)
    assert.equal((await actionsOn(first.id)).at(-1), `invitation_withdrawn allowed ${partner.id}`)
    assert.equal((await openInvitations()).filter((each) => each.toLowerCase() === first.email.toLowerCase()).length, 1)

    ok(await post(partner.profile, `/people/invitations/${idOf(again)}/resend`))
    const third = tokenOf(await mailTo(first.email, { count: 3 }))
    await assertRefused(await accept(portal.profile(), second), first.email)
    assert.equal((await inspect(portal.profile(), third)).status, 200)

    const address = `/people/invitations/${idOf(again)}`
    assert.equal((await partner.profile.ask(address, { method: 'DELETE' })).status, 204)
    await assertRefused(await accept(portal.profile(), third), first.email)
    assert.equal((await partner.profile.ask(address, { method: 'DELETE' })).status, 404)
    assert.equal((await post(partner.profile, `${address}/resend`)).status, 404)
    assert.deepEqual(
      (await actionsOn(idOf(again))).map((said) => said.split(' ')[0]),
      ['person_invited', 'invitation_resent', 'invitation_withdrawn', 'record_not_found', 'record_not_found'],
    )
  })

  test('expires after seven days, stays listed, and can be sent again', async () => {
    const { email, id, token } = await newInvitation()
    await portal.service.database.rows(`update invitation set expires_at = now() where id = $1`, [id])
    await assertRefused(await accept(portal.profile(), token), email)
    assert.ok((await openInvitations()).includes(email))
    assert.equal((await post(partner.profile, `/people/invitations/${id}/resend`)).status, 200)
    assert.equal((await accept(portal.profile(), tokenOf(await mailTo(email, { count: 2 })))).status, 200)
  })

  test('is refused in a browser where another person is signed in, and stays open', async () => {
    const { email, id, token } = await newInvitation()
    const other = await portal.enter('consultant')
    const page = await accept(other.profile, token)
    await assertRefused(page, email, [403, 'sign_in_refused'])
    assert.match(String(at(page.json, 'error', 'reason')), /^You are signed in as consultant \d+/)
    assert.equal((await other.profile.who())?.['id'], other.id)
    assert.equal((await accept(portal.profile(), token)).status, 200)
    assert.equal((await actionsOn(id)).length, 2)
  })

  test('is not accepted by someone whom a provider knows by another address', async () => {
    const { email } = await newInvitation()
    portal.provider.say({ subject: `other ${email}`, email: `not-${email}` })
    const had = await portal.counts()
    await portal.assertRefused(await portal.profile().signIn('firm'), [403, 'sign_in_refused'], had)
    assert.ok((await openInvitations()).includes(email))
  })

  test('is accepted by a verified address at a provider, and by no other', async () => {
    const { email, token } = await newInvitation('partner')
    portal.provider.say({ subject: `subject ${email}`, email: email.toUpperCase() })
    portal.provider.lies.claims = { email_verified: false }
    const had = await portal.counts()
    await portal.assertRefused(await portal.profile().signIn('firm'), [403, 'sign_in_refused'], had)
    portal.provider.lies.claims = {}
    const profile = portal.profile()
    assert.equal((await profile.signIn('firm')).status, 303)
    assert.deepEqual([(await profile.who())?.['role'], (await profile.who())?.['name']], ['partner', 'Ines'])
    assert.equal((await accept(portal.profile(), token)).status, 400)
    assert.ok(!(await openInvitations()).includes(email))
  })

  test('is accepted by a sign-in link for the address, after which its own link no longer works', async () => {
    const { email, token: own } = await newInvitation()
    const profile = portal.profile()
    ok(await post(profile, '/auth/start/email_link', { input: { email } }))
    const { text } = await mailTo(email, { count: 2 })
    const token = /\/signin\/link#([\w-]{43})$/m.exec(text)?.[1] ?? assert.fail(text)
    assert.equal((await post(profile, '/auth/link', { token })).status, 200)
    assert.equal((await profile.who())?.['name'], 'Ines')
    assert.equal((await accept(portal.profile(), own)).status, 400)
    assert.ok(!(await openInvitations()).includes(email))
  })

  test('of an unknown, malformed or foreign token is refused alike', async () => {
    const profile = portal.profile()
    const reasons = new Set<string>()
    for (const token of ['', 'x', 'A'.repeat(43), '\u0000']) {
      const page = await accept(profile, token)
      assert.equal(page.status, 400, page.text)
      reasons.add(String(at(page.json, 'error', 'reason')))
    }
    assert.equal(reasons.size, 1)
  })

  test('of someone who has entered meanwhile is void, and of a person is refused', async () => {
    const { email, token } = await newInvitation('partner')
    await portal.service.people.create({ name: 'Entered', email, role: 'consultant' }, byService)
    assert.equal((await accept(portal.profile(), token)).status, 400)
    assert.equal((await personWith(email))?.role, 'consultant')
    assert.ok(!(await openInvitations()).includes(email))
    const page = await invite(email)
    assert.deepEqual([page.status, at(page.json, 'error', 'code')], [409, 'conflict'])
  })

  test('is sent by partners only, and not to what is no address', async () => {
    const consultant = await portal.enter('consultant')
    const email = newAddress()
    assert.equal((await invite(email, 'consultant', consultant)).status, 403)
    assert.ok(!(await openInvitations()).includes(email))
    const bodies = [
      { email: 'nobody', name: 'N', role: 'consultant' },
      { email, name: ' ', role: 'consultant' },
      { email, name: 'N', role: 'king' },
      { email, name: 'N' },
      { email, name: 'N', role: 'consultant', token_hash: 'x' },
    ]
    for (const body of bodies) {
      assert.equal((await post(partner.profile, '/people/invitations', body)).status, 400, JSON.stringify(body))
    }
    assert.ok(!(await openInvitations()).includes(email))
  })

  test('of two at once for one address, one is open', async () => {
    const email = newAddress()
    const pages = await Promise.all([invite(email), invite(email), invite(email)])
    assert.deepEqual(valuesOf(pages, 'status'), [201, 201, 201])
    assert.equal((await openInvitations()).filter((each) => each === email).length, 1)
  })

  test('is not sent if it cannot be recorded in the audit log', async () => {
    const email = newAddress()
    const { database } = portal.service
    await database.rows(`create trigger full_disk before insert on audit for each row
      when (new.action = 'person_invited') execute function refuse_change()`)
    try {
      assert.ok((await invite(email)).status >= 500)
    } finally {
      await database.rows('drop trigger full_disk on audit')
    }
    assert.ok(!(await openInvitations()).includes(email))
  })
})

describe('without mail', () => {
  test('B74: the link of an invitation is shown once, to hand it over', async () => {
    await using own = await startPortal({ signIn: { sign_up: { policy: 'domain', domains: ['firm.example'] } } })
    await own.service.people.create({ name: 'P', email: 'p@firm.example', role: 'partner' }, byService)
    own.provider.say({ subject: 'partner', email: 'p@firm.example' })
    const profile = own.profile()
    assert.equal((await profile.signIn('firm')).status, 303)
    const body = { email: 'new@firm.example', name: 'New', role: 'consultant' }
    const page = await post(profile, '/people/invitations', body)
    const [, token = ''] =
      /^https:\/\/tollgate\.test\/signin\/invitation#([\w-]{43})$/.exec(String(page.json['link'])) ?? []
    assert.ok(!(await profile.ask('/people')).text.includes(token))
    assert.equal((await accept(own.profile(), token)).status, 200)
    const elsewhere = await post(profile, '/people/invitations', { ...body, email: 'new@elsewhere.example' })
    assert.deepEqual([elsewhere.status, at(elsewhere.json, 'error', 'field')], [400, 'email'])
  })
})
