import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { byService, type Role } from '../../src/access/actor.ts'
import { at } from '../support/json.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { addPasskey, challengeOf, forgetSteps, giveFactor, post } from '../support/own-account.ts'
import { startPortal } from '../support/portal.ts'
import type { Page, Profile } from '../support/profile.ts'
import { totpCode } from '../support/totp.ts'
import { until } from '../support/until.ts'
import { waitingForLocks } from '../support/waiting-for-locks.ts'
import { ok } from '../support/answer.ts'

let partner: Profile

const portal = fixture(() => startPortal({ signIn: { second_factor: 'partners', sign_up: { policy: 'invited' } } }))
setUp(async () => {
  const paula = { name: 'Paula', email: 'paula@firm.example', role: 'partner' } as const
  partner = portal.profile()
  const cookie = await portal.service.signIn(await portal.service.people.create(paula, byService))
  partner.cookies().set('session', cookie.slice('session='.length))
})

const tokenOf = ({ json }: Page): string =>
  /\/signin\/invitation#([\w-]{43})$/.exec(String(json['link']))?.[1] ?? assert.fail()

const invite = (email: string, role: Role = 'consultant') =>
  post(partner, '/people/invitations', { email, name: 'Ines', role })

let invited = 0
async function newInvitation(role: Role = 'consultant') {
  const email = `ines${++invited}@firm.example`
  const page = ok(await invite(email, role), 201)
  return { email, id: String(at(page.json, 'invitation', 'id')), token: tokenOf(page) }
}

const accept = (token: string, profile = portal.profile()) => post(profile, '/auth/invitation', { token })

/** Accepts an invitation in a new browser. */
async function enter(token: string) {
  const profile = portal.profile()
  const page = ok(await accept(token, profile))
  return { profile, page, id: String((await profile.who())?.['id']) }
}

async function assertRefused(page: Page, words: RegExp, [status, code] = [400, 'sign_in_failed']): Promise<void> {
  assert.deepEqual([page.status, at(page.json, 'error', 'code')], [status, code], page.text)
  assert.match(String(at(page.json, 'error', 'reason')), words)
  assert.deepEqual(page.headers.getSetCookie(), [])
}

const used = /was used, withdrawn or replaced/
const isSignedIn = /the person it invited is signed in/

const endSessions = async (id: string) =>
  assert.equal((await partner.ask(`/people/${id}/sessions`, { method: 'DELETE' })).status, 200)

const idsOf = async (email: string) =>
  (await portal.service.database.rows<{ id: string }>('select id from person where email_key = $1', [email])).map(
    ({ id }) => id,
  )
const sessionsOf = async (email: string) =>
  (
    await portal.service.database.rows(
      'select from session s join person p on p.id = s.person_id where p.email_key = $1',
      [email],
    )
  ).length

/** Sets up the authenticator app that a sign-in requires. */
async function enrol(profile: Profile): Promise<string> {
  const { secret } = challengeOf(await post(profile, '/auth/second-factor/enrol/start', { factor: 'totp' }))
  ok(await post(profile, '/auth/second-factor/enrol', { input: { code: totpCode(secret) } }))
  return String(secret)
}

describe('the link of an accepted invitation', () => {
  test('continues for someone who left before the required second factor was set up', async () => {
    const { email, token } = await newInvitation('partner')
    const first = portal.profile()
    assert.deepEqual((await accept(token, first)).json, { location: '/signin' })
    const [id] = await idsOf(email)
    const profile = portal.profile()
    assert.deepEqual((await accept(token, profile)).json, { location: '/signin' })
    assert.equal(await profile.who(), undefined)
    assert.deepEqual([await idsOf(email), await sessionsOf(email)], [[id], 0])
    await enrol(profile)
    assert.deepEqual([(await profile.who())?.['id'], (await profile.who())?.['role']], [id, 'partner'])
    const late = await post(first, '/auth/second-factor/enrol/start', { factor: 'totp' })
    assert.deepEqual([late.status, late.headers.getSetCookie()], [400, []])
    await assertRefused(await accept(token), isSignedIn)
    assert.equal(await sessionsOf(email), 1)
  })

  test('does not get past a second factor that was set up', async () => {
    const { email, token } = await newInvitation('partner')
    const first = portal.profile()
    await accept(token, first)
    const secret = await enrol(first)
    await endSessions(String((await idsOf(email))[0]))
    const profile = portal.profile()
    assert.deepEqual((await accept(token, profile)).json, { location: '/signin' })
    const set = await post(profile, '/auth/second-factor/enrol/start', { factor: 'totp' })
    assert.equal(set.status, 404, set.text)
    assert.equal(await sessionsOf(email), 0)
    await forgetSteps(portal.service.database)
    assert.equal((await giveFactor(profile, 'totp', { code: totpCode(secret) })).status, 200)
    assert.equal(await sessionsOf(email), 1)
  })

  test('continues when the session has ended without a way to sign in, and only then', async () => {
    const { email, token } = await newInvitation()
    const { profile, id } = await enter(token)
    await assertRefused(await accept(token), isSignedIn)
    await assertRefused(await accept(token, profile), /^You are signed in\. Set up/, [403, 'sign_in_refused'])
    assert.equal((await profile.who())?.['id'], id)
    await endSessions(id)
    assert.equal((await enter(token)).id, id)
    assert.deepEqual([await idsOf(email), await sessionsOf(email)], [[id], 1])
  })

  test('is used up by a way to sign in, even if a partner removes it later', async () => {
    for (const method of ['passkey', 'identity']) {
      const { email, token } = await newInvitation()
      const { profile, id } = await enter(token)
      if (method === 'passkey') await addPasskey(profile, 'https://tollgate.test')
      else {
        portal.provider.say({ subject: `subject ${email}`, email })
        assert.equal((await portal.profile().signIn('firm')).status, 303)
      }
      await endSessions(id)
      await assertRefused(await accept(token), used)
      const removed =
        method === 'passkey'
          ? await partner.ask(`/people/${id}/factors`, { method: 'DELETE' })
          : await partner.ask(`/people/${id}/identities`, { method: 'DELETE' })
      assert.ok(removed.status < 300, removed.text)
      await assertRefused(await accept(token), used)
      assert.deepEqual([await idsOf(email), await sessionsOf(email)], [[id], 0])
      assert.equal((await invite(email)).status, 409)
    }
  })

  test('makes one person and one session, of ten requests at once, each time', async () => {
    const { email, token } = await newInvitation()
    for (const round of [1, 2]) {
      const pages = await Promise.all(Array.from({ length: 10 }, () => accept(token)))
      assert.equal(pages.filter(({ status }) => status === 200).length, 1, `round ${round}`)
      assert.equal(pages.filter((page) => page.headers.getSetCookie().join().includes('session=')).length, 1)
      const [id, ...others] = await idsOf(email)
      assert.deepEqual([others, await sessionsOf(email)], [[], 1])
      await endSessions(String(id))
    }
  })

  test('starts no session if it is withdrawn between its acceptance and the session', async () => {
    const { email, token } = await newInvitation()
    const { id } = await enter(token)
    await endSessions(id)
    const { database } = portal.service
    const { accepted } = await database.transaction(async (tx) => {
      await tx.rows('select from person where id = $1 for no key update', [id])
      const sent = accept(token)
      await until(async () => (await waitingForLocks(database)) > 0)
      await tx.rows('update invitation set withdrawn_at = now() where person_id = $1', [id])
      return { accepted: sent }
    })
    await assertRefused(await accepted, used)
    assert.equal(await sessionsOf(email), 0)
  })

  test('is replaced when a partner invites the address again, with the same role', async () => {
    const { email, id: invitation, token } = await newInvitation()
    const { id } = await enter(token)
    await endSessions(id)
    await portal.service.database.rows('update invitation set expires_at = now() where id = $1', [invitation])
    await assertRefused(await accept(token), used)
    const other = await invite(email, 'partner')
    assert.deepEqual(
      [other.status, at(other.json, 'error', 'code'), at(other.json, 'error', 'field')],
      [409, 'conflict', 'role'],
    )
    const again = ok(await invite(email), 201)
    await assertRefused(await accept(token), used)
    assert.equal((await enter(tokenOf(again))).id, id)
    assert.deepEqual(await idsOf(email), [id])
  })

  test('ends when it is withdrawn, and with the address or the status that the person had', async () => {
    const changes: ((id: string, invitation: string) => Promise<Page>)[] = [
      (_, invitation) => partner.ask(`/people/invitations/${invitation}`, { method: 'DELETE' }),
      (id) => partner.ask(`/people/${id}`, { method: 'PATCH', body: { email: `new${id}@firm.example` } }),
      (id) => partner.ask(`/people/${id}`, { method: 'PATCH', body: { status: 'disabled' } }),
      (id) => partner.ask(`/people/${id}`, { method: 'DELETE' }),
    ]
    const ended: string[] = []
    for (const change of changes) {
      const { id: invitation, token } = await newInvitation()
      const { id } = await enter(token)
      await endSessions(id)
      const page = await change(id, invitation)
      assert.ok(page.status < 300, page.text)
      await assertRefused(await accept(token), used)
      ended.push(invitation)
    }
    const { invitations } = (await partner.ask('/people')).json
    assert.ok(Array.isArray(invitations))
    const open = new Set(invitations.map((each) => at(each, 'id')))
    // Only someone who is disabled may be enabled again.
    assert.deepEqual(
      ended.filter((id) => open.has(id)),
      [ended[2]],
    )
    const withdrawn = await portal.service.database.rows<{ id: string }>(
      `select noun_id as id from audit where action = 'invitation_withdrawn' and noun_id = any($1)`,
      [ended],
    )
    assert.deepEqual(
      ended.filter((id) => withdrawn.some((each) => each.id === id)),
      [ended[0], ended[1]],
    )
  })
})
