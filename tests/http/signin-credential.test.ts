import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import { createTestCredentials, rightCode, together } from '../support/credentials.ts'
import { at } from '../support/json.ts'
import { startPortal } from '../support/portal.ts'
import type { Page, Profile } from '../support/profile.ts'
import { fixture } from '../support/fixture.ts'

// A test-only method through the real sign-in gate, which email links, passwords and passkeys will use.

const credentials = createTestCredentials()
const portal = fixture(() => startPortal({ additional: credentials, signIn: { sign_up: { policy: 'invited' } } }))
beforeEach(() => {
  credentials.shown = ['code']
})

const email = (address: string) => ({ address, key: address.toLowerCase(), domain: address.split('@')[1] ?? '' })

let people = 0
/** A new person, whom the next correct submission identifies. */
async function nextPerson(role: 'consultant' | 'partner' = 'consultant'): Promise<string> {
  people++
  const { id } = await portal.service.people.create(
    { name: `Person ${people}`, email: `person${people}@firm.example`, role },
    byService,
  )
  credentials.claim = { by: 'person', personId: id }
  return id
}

const begin = (profile: Profile, body: object = {}) => profile.ask('/auth/start/code', { method: 'POST', body })
const complete = (profile: Profile, attempt: unknown, code: unknown = rightCode) =>
  profile.ask('/auth/complete', { method: 'POST', body: { attempt, input: { code } } })

async function signIn(profile: Profile): Promise<Page> {
  return complete(profile, (await begin(profile)).json['attempt'])
}

async function lastRow(action: string): Promise<unknown> {
  const [row] = await portal.service.database.rows(
    'select actor, outcome, details from audit where action = $1 order by id desc limit 1',
    [action],
  )
  return row
}

describe('a credential method', () => {
  test('is listed together with the providers', async () => {
    const { json } = await portal.profile().ask('/signin')
    assert.deepEqual(json, {
      providers: [{ id: 'firm', name: 'Firm account' }],
      credentials: [
        { id: 'passkey', name: 'Passkey' },
        { id: 'code', name: 'Code' },
      ],
    })
  })

  test('returns a challenge; a correct submission starts a session without a provider', async () => {
    const personId = await nextPerson()
    const profile = portal.profile()
    const had = await portal.counts()
    const begun = await begin(profile, { return_to: '/clients?q=b', input: { hint: 'h' } })
    assert.deepEqual([begun.status, begun.json['challenge']], [200, { digits: 4, hint: 'h' }])
    assert.match(begun.headers.getSetCookie()[0] ?? '', /^__Host-signin-/)
    assert.ok(!begun.text.includes(rightCode))
    assert.deepEqual(await portal.counts(), had)

    const page = await complete(profile, begun.json['attempt'])
    assert.deepEqual([page.status, page.json], [200, { location: '/clients?q=b' }], page.text)
    const [cookie = '', ...others] = page.headers.getSetCookie()
    assert.match(cookie, /^session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
    assert.match(others.join(), /^__Host-browser-[^,]*$/)
    assert.equal((await profile.who())?.['id'], personId)
    const rows = await portal.service.database.rows(
      'select method, factors, provider, issuer, subject, id_token from session where person_id = $1',
      [personId],
    )
    const none = { provider: null, issuer: null, subject: null, id_token: null }
    assert.deepEqual(rows, [{ method: 'code', factors: ['code'], ...none }])
    assert.deepEqual((await profile.ask('/signout', { method: 'POST' })).json, { location: '/signin' })
    assert.equal(await profile.who(), undefined)
  })

  test('allows five wrong submissions per attempt', async () => {
    await nextPerson()
    const profile = portal.profile()
    const { attempt } = (await begin(profile)).json
    const had = await portal.counts()
    for (let tries = 0; tries < 5; tries++) {
      await portal.assertRefused(await complete(profile, attempt, 'wrong'), [400, 'sign_in_failed'], had)
    }
    assert.deepEqual(await lastRow('sign_in_failed'), {
      actor: 'visitor',
      outcome: 'refused',
      details: { method: 'code', why: 'sign_in_failed' },
    })
    await portal.assertRefused(await complete(profile, attempt), [400, 'sign_in_failed'], had)
    assert.equal((await signIn(profile)).status, 200)
  })

  test('starts one session for concurrent correct submissions', async () => {
    const personId = await nextPerson()
    const profile = portal.profile()
    const { attempt } = (await begin(profile)).json
    const pages = await together(credentials, () => complete(profile, attempt))
    assert.equal(pages.filter(({ status }) => status === 200).length, 1)
    const rows = await portal.service.database.rows('select from session where person_id = $1', [personId])
    assert.equal(rows.length, 1)
  })

  test('accepts an attempt once, in its own browser, for its own kind of method', async () => {
    await nextPerson()
    const [mine, theirs] = [portal.profile(), portal.profile()]
    const { attempt } = (await begin(mine)).json
    await begin(theirs)
    const had = await portal.counts()
    await portal.assertRefused(await complete(theirs, attempt), [400, 'sign_in_failed'], had)
    await portal.assertRefused(await complete(portal.profile(), attempt), [400, 'sign_in_failed'], had)
    assert.equal((await complete(mine, attempt)).status, 200)
    mine.cookies().delete('session')
    const then = await portal.counts()
    await portal.assertRefused(await complete(mine, attempt), [400, 'sign_in_failed'], then)
    const redirect = await mine.start('firm')
    await portal.assertRefused(await complete(mine, redirect.searchParams.get('state')), [400, 'sign_in_failed'], then)
    const { attempt: other } = (await begin(mine)).json
    await portal.assertRefused(await mine.ask(`/auth/callback?state=${String(other)}`), [400, 'sign_in_failed'], then)
    assert.equal((await mine.ask('/auth/start/code')).status, 404, 'it has no address to go to')
    assert.equal((await mine.ask('/auth/start/firm', { method: 'POST', body: {} })).status, 404)
  })

  test('refuses a page of another site', async () => {
    const profile = portal.profile()
    const headers = { 'sec-fetch-site': 'cross-site' }
    for (const address of ['/auth/start/code', '/auth/complete', '/auth/second-factor/start', '/auth/second-factor']) {
      const page = await profile.ask(address, { method: 'POST', body: {}, headers })
      assert.deepEqual([page.status, at(page.json, 'error', 'code')], [403, 'cross_site_request'])
      assert.deepEqual(page.headers.getSetCookie(), [])
    }
  })

  test('returns only to a path of this service', async () => {
    await nextPerson()
    const profile = portal.profile()
    const { attempt } = (await begin(profile, { return_to: '//evil.example' })).json
    assert.deepEqual((await complete(profile, attempt)).json, { location: '/' })
  })
})

describe('a proof of an email address', () => {
  for (const [policy, domains, address, isAdmitted] of [
    ['anyone', undefined, 'new@elsewhere.example', true],
    ['invited', undefined, 'new@elsewhere.example', false],
    ['domain', ['firm.example'], 'new@firm.example', true],
    ['domain', ['firm.example'], 'new@elsewhere.example', false],
  ] as const) {
    test(`by a stranger at ${address} under ${policy} ${isAdmitted ? 'creates a consultant' : 'is refused'}`, async () => {
      const own = createTestCredentials()
      const sign = { sign_up: { policy, ...(domains && { domains }) } }
      await using there = await startPortal({ additional: own, signIn: sign })
      own.claim = { by: 'email', email: email(address) }
      const had = await there.counts()
      const profile = there.profile()
      const page = await signIn(profile)
      if (!isAdmitted) return await there.assertRefused(page, [403, 'sign_in_refused'], had)
      const person = await profile.who()
      assert.deepEqual([person?.['email'], person?.['role']], [address, 'consultant'])
      assert.equal(await there.count('identity'), 0)
      const again = there.profile()
      await signIn(again)
      assert.equal((await again.who())?.['id'], person?.['id'])
      const rows = await there.service.database.rows(`select from audit where action = 'person_created'`)
      assert.equal(rows.length, 1)
    })
  }

  test('signs in the person with that address, unless disabled', async () => {
    const id = await nextPerson()
    credentials.claim = { by: 'email', email: email(`person${people}@firm.example`) }
    const profile = portal.profile()
    await signIn(profile)
    assert.equal((await profile.who())?.['id'], id)
    await portal.service.people.setStatus(id, 'disabled', byService)
    const had = await portal.counts()
    await portal.assertRefused(await signIn(portal.profile()), [403, 'sign_in_refused'], had)
  })
})

describe('a proof of a person', () => {
  test('is refused if that person is unknown or disabled', async () => {
    const id = await nextPerson()
    await portal.service.people.setStatus(id, 'disabled', byService)
    const had = await portal.counts()
    for (const personId of [id, '01990000-0000-7000-8000-000000000000']) {
      credentials.claim = { by: 'person', personId }
      await portal.assertRefused(await signIn(portal.profile()), [403, 'sign_in_refused'], had)
    }
  })

  test('is subject to the domain policy', async () => {
    const own = createTestCredentials()
    const sign = { sign_up: { policy: 'domain', domains: ['firm.example'] } }
    await using there = await startPortal({ additional: own, signIn: sign })
    for (const [address, status] of [
      ['in@firm.example', 200],
      ['out@elsewhere.example', 403],
    ] as const) {
      const person = { name: 'P', email: address, role: 'consultant' } as const
      own.claim = { by: 'person', personId: (await there.service.people.create(person, byService)).id }
      assert.equal((await signIn(there.profile())).status, status)
    }
  })
})
