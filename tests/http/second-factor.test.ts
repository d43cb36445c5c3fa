import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import { createTestCredentials, rightCode, together } from '../support/credentials.ts'
import { at } from '../support/json.ts'
import { fixture } from '../support/fixture.ts'
import { startPortal } from '../support/portal.ts'
import type { Page, Profile } from '../support/profile.ts'
import { routesOf } from '../support/routes.ts'

const credentials = fixture(() => createTestCredentials())
const portal = fixture(() => startPortal({ additional: credentials, signIn: { second_factor: 'required' } }))
beforeEach(() => {
  credentials.shown = ['code']
})

let people = 0
/** A new person, enrolled in the second factor, whom the next correct submission identifies. */
async function nextPerson(there = portal, to = credentials, role: 'consultant' | 'partner' = 'consultant') {
  people++
  const { id } = await there.service.people.create(
    { name: `Person ${people}`, email: `person${people}@firm.example`, role },
    byService,
  )
  to.claim = { by: 'person', personId: id }
  to.enrolled.add(id)
  return id
}

const post = (profile: Profile, address: string, body: object) => profile.ask(address, { method: 'POST', body })

async function prove(profile: Profile, returnTo = '/clients'): Promise<Page> {
  const { attempt } = (await post(profile, '/auth/start/code', { return_to: returnTo })).json
  return post(profile, '/auth/complete', { attempt, input: { code: rightCode } })
}

const beginFactor = (profile: Profile, factor = 'pin') => post(profile, '/auth/second-factor/start', { factor })
const completeFactor = (profile: Profile, pin: unknown = rightCode) =>
  post(profile, '/auth/second-factor', { input: { pin } })

async function stepOf(personId: string): Promise<unknown> {
  const [row] = await portal.service.database.rows(
    'select step, proof is not null as "hasProof" from sign_in_attempt where person_id = $1',
    [personId],
  )
  return row
}

/** A response without its request id. */
const plain = (page: Page | undefined) => [page?.status, page?.location, page?.text.replace(/[0-9a-f-]{36}/, '')]

describe('B26: while a second factor is due', () => {
  test('the attempt is stored, no session exists, and the sign-in page offers the factors', async () => {
    const personId = await nextPerson()
    const profile = portal.profile()
    const had = await portal.counts()
    const page = await prove(profile)
    assert.deepEqual([page.status, page.json], [200, { location: '/signin' }])
    assert.match(
      page.headers.getSetCookie().join(', '),
      /^__Host-factor=[\w-]{43}; Path=\/; Max-Age=1800; HttpOnly; Secure; SameSite=Lax$/,
    )
    assert.deepEqual(await portal.counts(), had)
    assert.deepEqual(await stepOf(personId), { step: 'proven', hasProof: true })
    const { json } = await profile.ask('/signin')
    assert.deepEqual(json['second_factors'], [{ id: 'pin', name: 'PIN' }])
    assert.equal((await portal.profile().ask('/signin')).json['second_factors'], undefined)
  })

  test('every route responds as it does to an anonymous visitor', async () => {
    await nextPerson()
    const [pending, anonymous] = [portal.profile(), portal.profile()]
    await prove(pending)
    const routes = routesOf(portal.service)
      .map((route) => route.split(' '))
      .filter(
        ([method = '', path = '']) =>
          method !== 'HEAD' && !portal.service.app.jsonOnlyUrls.has(path) && !/^\/(auth|signin|\*)/.test(path),
      )
    assert.ok(routes.length > 30, `${routes.length} routes`)
    for (const [method = '', path = ''] of routes) {
      if (path === '/signout') continue
      const address = path.replaceAll(/:\w+/g, '0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11')
      const body = method === 'GET' ? {} : { body: {} }
      const [one, other] = await Promise.all([pending, anonymous].map((each) => each.ask(address, { method, ...body })))
      assert.deepEqual(plain(one), plain(other), `${method} ${path}`)
      const refused = path.startsWith('/calendar/') ? [404] : [401, 303]
      assert.ok(refused.includes(one?.status ?? 0), `${method} ${path}: ${one?.status}`)
    }
    assert.equal(await pending.who(), undefined)
  })

  test('completing the factor starts a session with a new cookie value and both factors', async () => {
    const personId = await nextPerson()
    const profile = portal.profile()
    profile.cookies().set('session', 'P'.repeat(43))
    await prove(profile, '/clients?q=b')
    const begun = await beginFactor(profile)
    assert.deepEqual([begun.status, begun.json, begun.headers.getSetCookie()], [200, { challenge: { digits: 4 } }, []])
    const page = await completeFactor(profile)
    assert.deepEqual([page.status, page.json], [200, { location: '/clients?q=b' }], page.text)
    assert.match(page.headers.getSetCookie().join(), /^session=[\w-]{43};/)
    assert.notEqual(profile.cookies().get('session'), 'P'.repeat(43))
    assert.equal((await profile.who())?.['id'], personId)
    assert.deepEqual(credentials.completed, [personId])
    const me = (await profile.ask('/me')).json
    assert.deepEqual([at(me, 'sessions', 0, 'method'), at(me, 'sessions', 0, 'factors')], ['code', ['code', 'pin']])
    assert.equal(await stepOf(personId), undefined)
    assert.equal((await profile.ask('/signin')).json['second_factors'], undefined)
    assert.equal((await completeFactor(profile)).status, 400, 'it is used up')
  })

  test('the factor cannot be skipped, completed in another browser or replaced by another factor', async () => {
    const personId = await nextPerson()
    const [profile, other] = [portal.profile(), portal.profile()]
    const { attempt } = (await post(profile, '/auth/start/code', {})).json
    const submit = () => post(profile, '/auth/complete', { attempt, input: { code: rightCode } })
    await submit()
    await post(other, '/auth/start/code', {})
    const had = await portal.counts()
    await portal.assertRefused(await submit(), [400, 'sign_in_failed'], had)
    await portal.assertRefused(await completeFactor(profile), [400, 'sign_in_failed'], had)
    assert.equal((await beginFactor(profile, 'other')).status, 404, 'it is not set up')
    assert.equal((await beginFactor(profile, 'code')).status, 404)
    await beginFactor(profile)
    for (const stranger of [other, portal.profile()]) {
      await portal.assertRefused(await beginFactor(stranger), [400, 'sign_in_failed'], had)
      await portal.assertRefused(await completeFactor(stranger), [400, 'sign_in_failed'], had)
    }
    const back = `/auth/callback?state=${String(attempt)}`
    await portal.assertRefused(await profile.ask(back), [400, 'sign_in_failed'], had)
    assert.deepEqual(await stepOf(personId), { step: 'proven', hasProof: true })
    assert.equal((await completeFactor(profile)).status, 200)
  })

  test('five wrong submissions end the attempt, even if the factor is started again in between', async () => {
    const of = await nextPerson()
    const profile = portal.profile()
    await prove(profile)
    const had = await portal.counts()
    for (let tries = 0; tries < 5; tries++) {
      await beginFactor(profile)
      await portal.assertRefused(await completeFactor(profile, 'wrong'), [400, 'sign_in_failed'], had)
    }
    await beginFactor(profile)
    await portal.assertRefused(await completeFactor(profile), [400, 'sign_in_failed'], had)
    const [row] = await portal.service.database.rows<{ details: unknown }>(
      `select details from audit where action = 'sign_in_failed' and details ? 'factor' order by id desc limit 1`,
    )
    assert.deepEqual(row?.details, { method: 'code', factor: 'pin', of, why: 'sign_in_failed' })
  })

  test('concurrent correct submissions start one session', async () => {
    const personId = await nextPerson()
    const profile = portal.profile()
    await prove(profile)
    await beginFactor(profile)
    const pages = await together(credentials, () => completeFactor(profile))
    assert.equal(pages.filter(({ status }) => status === 200).length, 1)
    const rows = await portal.service.database.rows('select from session where person_id = $1', [personId])
    assert.equal(rows.length, 1)
  })

  test('the attempt expires after half an hour', async () => {
    const personId = await nextPerson()
    const profile = portal.profile()
    await prove(profile)
    await portal.service.database.rows(
      `update sign_in_attempt set expires_at = expires_at - interval '1801 seconds' where person_id = $1`,
      [personId],
    )
    const had = await portal.counts()
    await portal.assertRefused(await beginFactor(profile), [400, 'sign_in_failed'], had)
  })

  test('signing out discards the attempt', async () => {
    const personId = await nextPerson()
    const profile = portal.profile()
    await prove(profile)
    await beginFactor(profile)
    assert.deepEqual((await profile.ask('/signout', { method: 'POST' })).json, { location: '/signin' })
    assert.equal(await stepOf(personId), undefined)
    const had = await portal.counts()
    await portal.assertRefused(await completeFactor(profile), [400, 'sign_in_failed'], had)
  })

  test('abandoning it discards the attempt and no session', async () => {
    const signedInId = await nextPerson()
    const profile = portal.profile()
    await prove(profile)
    await beginFactor(profile)
    await completeFactor(profile)
    const personId = await nextPerson()
    await prove(profile)
    await beginFactor(profile)
    const page = await post(profile, '/auth/second-factor/abandon', {})
    assert.deepEqual([page.status, page.json], [200, { location: '/signin' }])
    assert.equal(await stepOf(personId), undefined)
    assert.equal((await profile.who())?.['id'], signedInId)
    const had = await portal.counts()
    await portal.assertRefused(await completeFactor(profile), [400, 'sign_in_failed'], had)
  })

  test('with several attempts in one browser, the factor completes the latest', async () => {
    const profile = portal.profile()
    await nextPerson()
    await prove(profile)
    const latest = await nextPerson()
    await prove(profile)
    await beginFactor(profile)
    assert.equal((await completeFactor(profile)).status, 200)
    assert.equal((await profile.who())?.['id'], latest)
  })

  test('a disabled person is not offered the factor', async () => {
    const personId = await nextPerson()
    await portal.service.people.setStatus(personId, 'disabled', byService)
    const had = await portal.counts()
    await portal.assertRefused(await prove(portal.profile()), [403, 'sign_in_refused'], had)
    assert.equal(await stepOf(personId), undefined)
  })

  test('a person who is disabled in the meantime gets no session, also not once they are enabled again', async () => {
    const personId = await nextPerson()
    const profile = portal.profile()
    await prove(profile)
    await beginFactor(profile)
    await portal.service.people.setStatus(personId, 'disabled', byService)
    const had = await portal.counts()
    await portal.assertRefused(await completeFactor(profile), [400, 'sign_in_failed'], had)
    await portal.service.people.setStatus(personId, 'active', byService)
    await portal.assertRefused(await completeFactor(profile), [400, 'sign_in_failed'], had)
    assert.equal((await profile.ask('/signin')).json['second_factors'], undefined)
  })

  test('an altered proof or another person’s proof starts no session', async () => {
    const [victim, mine] = [await nextPerson(), await nextPerson()]
    const profile = portal.profile()
    await prove(profile)
    await beginFactor(profile)
    await portal.service.database.rows('update sign_in_attempt set person_id = $1 where person_id = $2', [victim, mine])
    await portal.service.database.rows(
      `update sign_in_attempt set data = jsonb_set(data, '{personId}', to_jsonb($1::text)) where person_id = $1::uuid`,
      [victim],
    )
    const had = await portal.counts()
    await portal.assertRefused(await completeFactor(profile), [400, 'sign_in_failed'], had)
  })
})

describe('a sign-in at a provider', () => {
  test('needs the factor too; its ID token is stored encrypted until then, and used at sign-out', async () => {
    const { email, subject } = portal.newcomer()
    const person = { name: 'At the provider', email, role: 'consultant' } as const
    const { id } = await portal.service.people.create(person, byService)
    credentials.enrolled.add(id)
    const profile = portal.profile()
    const had = await portal.counts()
    const page = await profile.signIn('firm', '/clients')
    assert.deepEqual([page.status, page.location, page.headers.getSetCookie().length], [303, '/signin', 1])
    assert.deepEqual(await portal.counts(), had)
    const idToken = portal.provider.tokens.at(-3) ?? ''
    const dump = JSON.stringify(await portal.service.database.rows('select t::text as row from sign_in_attempt t'))
    assert.ok(!dump.includes(idToken) && !dump.includes(Buffer.from(idToken).toString('hex')))
    await beginFactor(profile)
    const done = await completeFactor(profile)
    assert.deepEqual(done.json, { location: '/clients' })
    assert.ok(!done.text.includes(idToken))
    const rows = await portal.service.database.rows(
      'select provider, issuer, subject, factors from session where person_id = $1',
      [id],
    )
    assert.deepEqual(rows, [
      { provider: 'firm', issuer: portal.provider.issuer, subject, factors: ['provider', 'pin'] },
    ])
    const { location } = (await profile.ask('/signout', { method: 'POST' })).json
    assert.equal(new URL(String(location)).searchParams.get('id_token_hint'), idToken)
  })
})
