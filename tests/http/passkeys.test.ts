import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { createAuthenticator, type Deviations } from '../support/authenticator.ts'
import { ageBegun } from '../support/begun-sign-ins.ts'
import { at, valuesOf } from '../support/json.ts'
import { fixture, setUp } from '../support/fixture.ts'
import {
  addPasskey,
  challengeOf,
  giveFactor,
  post,
  remove,
  setUpTotp,
  signInWithPasskey,
} from '../support/own-account.ts'
import { startPortal } from '../support/portal.ts'
import type { Page, Profile } from '../support/profile.ts'

let origin: string

const portal = fixture(() => startPortal())
setUp(() => {
  origin = portal.service.baseUrl
})

async function owner() {
  const { profile, id } = await portal.enter('consultant')
  return { profile, id, ...(await addPasskey(profile, origin, 'My key')) }
}

const passkeysOf = async (profile: Profile) => (await profile.ask('/me')).json['passkeys']
const factorsOf = async (profile: Profile) => at((await profile.ask('/me')).json, 'sessions', 0, 'factors')
const codeOf = (page: Page) => at(page.json, 'error', 'code')
const wait = (minutes: number) => ageBegun(portal.service.database, minutes)

/** The user handles of two registrations. */
async function handles(profile: Profile): Promise<readonly unknown[]> {
  const pages = [await post(profile, '/me/factors/passkey/start'), await post(profile, '/me/factors/passkey/start')]
  return pages.map((page) => at(challengeOf(page), 'options', 'user', 'id'))
}

describe('B57: registering a passkey', () => {
  test('asks for a discoverable credential with user verification, without attestation, and excludes known ones', async () => {
    const { profile, authenticator } = await owner()
    const { options } = challengeOf(await post(profile, '/me/factors/passkey/start'))
    assert.deepEqual(at(options, 'authenticatorSelection'), {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    })
    assert.equal(at(options, 'attestation'), 'none')
    assert.deepEqual(at(options, 'rp'), { name: 'Tollgate', id: 'tollgate.test' })
    assert.equal(at(options, 'excludeCredentials', 0, 'id'), authenticator.credentialId)
    assert.equal(Buffer.from(String(at(options, 'user', 'id')), 'base64url').length, 64)
    assert.ok(Buffer.from(String(at(options, 'challenge')), 'base64url').length >= 16)
  })

  test('uses the same user handle for a person every time, and another one for another person', async () => {
    const [one, again] = await handles((await portal.enter('consultant')).profile)
    const [other] = await handles((await portal.enter('consultant')).profile)
    assert.equal(one, again)
    assert.notEqual(one, other)
  })

  test('needs a recent sign-in', async () => {
    const { profile, id } = await portal.enter('consultant')
    const age = (minutes: number) =>
      portal.service.database.rows(
        `update session set proven_at = now() - make_interval(mins => $2) where person_id = $1`,
        [id, minutes],
      )
    await age(11)
    const page = await post(profile, '/me/factors/passkey/start')
    assert.deepEqual([page.status, codeOf(page)], [403, 'recent_sign_in_required'])
    await age(9)
    assert.equal((await post(profile, '/me/factors/passkey/start')).status, 200)
  })

  const wrong: [what: string, deviations: Deviations][] = [
    ['without user verification', { verified: false }],
    ['without the person’s presence', { present: false }],
    ['for another challenge', { challenge: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
    ['of a sign-in', { type: 'webauthn.get' }],
    ['for a subdomain', { origin: 'https://sub.tollgate.test' }],
    ['over http', { origin: 'http://tollgate.test' }],
    ['at another port', { origin: 'https://tollgate.test:8443' }],
    ['for another host', { rpId: 'evil.test' }],
  ]
  for (const [what, deviations] of wrong) {
    test(`${what} is refused (B58, B59)`, async () => {
      const { profile } = await portal.enter('consultant')
      const { options } = challengeOf(await post(profile, '/me/factors/passkey/start'))
      const credential = createAuthenticator(origin).create(options, deviations)
      const page = await post(profile, '/me/factors/passkey', { input: { credential } })
      assert.deepEqual([page.status, codeOf(page)], [400, 'sign_in_failed'])
      assert.deepEqual(await passkeysOf(profile), [])
    })
  }

  test('is possible once per challenge, and once per credential', async () => {
    const { profile } = await portal.enter('consultant')
    const { options } = challengeOf(await post(profile, '/me/factors/passkey/start'))
    const authenticator = createAuthenticator(origin)
    const submit = () => post(profile, '/me/factors/passkey', { input: { credential: authenticator.create(options) } })
    const pages = await Promise.all([submit(), submit(), submit()])
    assert.equal(pages.filter(({ status }) => status === 200).length, 1)
    assert.equal((await submit()).status, 400)
    const thief = (await portal.enter('consultant')).profile
    const { options: theirs } = challengeOf(await post(thief, '/me/factors/passkey/start'))
    const page = await post(thief, '/me/factors/passkey', { input: { credential: authenticator.create(theirs) } })
    assert.equal(page.status, 409)
  })
})

describe('signing in with a passkey', () => {
  test('B60: that verified the person counts as two factors, and needs no name', async () => {
    const { id, authenticator } = await owner()
    const profile = portal.profile()
    const { options } = challengeOf(await post(profile, '/auth/start/passkey'))
    assert.deepEqual([at(options, 'allowCredentials'), at(options, 'rpId')], [undefined, 'tollgate.test'])
    const page = await signInWithPasskey(profile, authenticator)
    assert.deepEqual([page.status, page.json], [200, { location: '/clients' }], page.text)
    assert.equal((await profile.who())?.['id'], id)
    assert.deepEqual(await factorsOf(profile), ['passkey', 'user_verification'])
  })

  test('B60: that did not verify the person leads to another second factor, never to the passkey itself', async () => {
    const { codes, authenticator } = await owner()
    const profile = portal.profile()
    const had = await portal.counts()
    const page = await signInWithPasskey(profile, authenticator, { verified: false })
    assert.deepEqual([page.status, page.json], [200, { location: '/signin' }])
    assert.match(page.headers.getSetCookie().join(), /^__Host-factor=[^,]*$/)
    assert.deepEqual(await portal.counts(), had)
    assert.deepEqual((await profile.ask('/signin')).json['second_factors'], [
      { id: 'recovery_code', name: 'Recovery code' },
    ])
    assert.equal((await post(profile, '/auth/second-factor/start', { factor: 'passkey' })).status, 404)
    assert.equal((await giveFactor(profile, 'recovery_code', { code: codes[0] })).status, 200)
    assert.deepEqual(await factorsOf(profile), ['passkey', 'recovery_code'])
  })

  test('that did not verify the person is refused if there is no other factor', async () => {
    const { id, authenticator } = await owner()
    await portal.service.database.rows('delete from recovery_code where person_id = $1', [id])
    const had = await portal.counts()
    const page = await signInWithPasskey(portal.profile(), authenticator, { verified: false })
    await portal.assertRefused(page, [403, 'sign_in_refused'], had)
  })

  test('a factor that the configuration no longer offers is replaced by a recovery code, never by nothing (B64)', async () => {
    const { id, email, profile: own } = await portal.enter('consultant')
    const { codes } = await setUpTotp(own)
    const { database } = portal.service
    // As if they had set up a phone, and text messages had been switched off since.
    await database.rows('delete from totp where person_id = $1', [id])
    await database.rows(`insert into phone (person_id, number, verified_at) values ($1, '+15550100', now())`, [id])
    const profile = portal.profile()
    const had = await portal.counts()
    assert.equal((await profile.signIn('firm')).location, '/signin', email)
    assert.deepEqual(await portal.counts(), had)
    const { json } = await profile.ask('/signin')
    assert.deepEqual(json['second_factors'], [{ id: 'recovery_code', name: 'Recovery code' }])
    assert.equal((await giveFactor(profile, 'recovery_code', { code: codes[0] })).status, 200)
    assert.deepEqual(await factorsOf(profile), ['provider', 'recovery_code'])
    await database.rows('delete from recovery_code where person_id = $1', [id])
    const page = await portal.profile().signIn('firm')
    assert.equal(page.status, 403, page.text)
    assert.match(page.text, /Your second factor can no longer be used here, and you have no recovery codes\./)
  })

  test('a passkey for a former host is replaced by a recovery code, too', async () => {
    const { profile: own, id, codes } = await owner()
    await portal.service.database.rows(`update passkey set rp_id = 'former.example' where person_id = $1`, [id])
    assert.deepEqual(await passkeysOf(own), [])
    const email = (await own.who())?.['email']
    portal.provider.say({ subject: `former-${id}`, email: String(email) })
    await portal.service.database.rows('delete from identity where person_id = $1', [id])
    const profile = portal.profile()
    assert.equal((await profile.signIn('firm')).location, '/signin')
    const { json } = await profile.ask('/signin')
    assert.deepEqual(json['second_factors'], [{ id: 'recovery_code', name: 'Recovery code' }])
    assert.equal((await giveFactor(profile, 'recovery_code', { code: codes[0] })).status, 200)
  })

  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const wrong: [what: string, deviations: Deviations][] = [
    ['without the person’s presence', { present: false }],
    ['for another challenge', { challenge: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
    ['of a registration', { type: 'webauthn.create' }],
    ['signed with another key', { key }],
    ['without a user handle', { userHandle: null }],
    ['with another user handle', { userHandle: Buffer.alloc(64).toString('base64url') }],
    ['for a subdomain', { origin: 'https://sub.tollgate.test' }],
    ['over http', { origin: 'http://tollgate.test' }],
    ['at another port', { origin: 'https://tollgate.test:8443' }],
    ['for another host', { rpId: 'evil.test' }],
  ]
  for (const [what, deviations] of wrong) {
    test(`${what} is refused (B58, B59)`, async () => {
      const { authenticator } = await owner()
      const had = await portal.counts()
      const page = await signInWithPasskey(portal.profile(), authenticator, deviations)
      await portal.assertRefused(page, [400, 'sign_in_failed'], had)
    })
  }

  test('that is unknown, or malformed, is refused', async () => {
    const profile = portal.profile()
    const had = await portal.counts()
    await portal.assertRefused(
      await signInWithPasskey(profile, createAuthenticator(origin)),
      [400, 'sign_in_failed'],
      had,
    )
    for (const input of [undefined, null, {}, { credential: {} }, { credential: { id: 'A', rawId: 'A', type: 'x' } }]) {
      const { attempt } = (await post(profile, '/auth/start/passkey')).json
      await portal.assertRefused(
        await post(profile, '/auth/complete', { attempt, input }),
        [400, 'sign_in_failed'],
        had,
      )
    }
  })

  test('B58: is possible for 5 minutes, in the browser that began it, and once', async () => {
    const { authenticator } = await owner()
    const [mine, theirs] = [portal.profile(), portal.profile()]
    const begin = async () => {
      const begun = await post(mine, '/auth/start/passkey')
      const { options } = challengeOf(begun)
      const input = { credential: authenticator.get(options) }
      return (profile: Profile) => post(profile, '/auth/complete', { attempt: begun.json['attempt'], input })
    }
    await post(theirs, '/auth/start/passkey')
    const had = await portal.counts()
    const late = await begin()
    await wait(5)
    await portal.assertRefused(await late(mine), [400, 'sign_in_failed'], had)
    const submit = await begin()
    await wait(4)
    await portal.assertRefused(await submit(theirs), [400, 'sign_in_failed'], had)
    assert.equal((await submit(mine)).status, 200)
    mine.cookies().delete('session')
    const then = await portal.counts()
    await portal.assertRefused(await submit(mine), [400, 'sign_in_failed'], then)
  })

  test('ends for a disabled person', async () => {
    const { id, authenticator } = await owner()
    await portal.service.database.rows(`update person set status = 'disabled' where id = $1`, [id])
    const had = await portal.counts()
    const page = await signInWithPasskey(portal.profile(), authenticator)
    await portal.assertRefused(page, [403, 'sign_in_refused'], had)
  })
})

describe('B61: the signature counter', () => {
  test('may stay at 0', async () => {
    const { authenticator } = await owner()
    authenticator.counts = false
    for (let times = 0; times < 2; times++) {
      assert.equal((await signInWithPasskey(portal.profile(), authenticator)).status, 200)
    }
  })

  test('that goes back or stands still is refused, with an audit row', async () => {
    const { authenticator } = await owner()
    authenticator.counter = 41
    assert.equal((await signInWithPasskey(portal.profile(), authenticator)).status, 200)
    const had = await portal.counts()
    for (const counter of [42, 7, 0]) {
      const page = await signInWithPasskey(portal.profile(), authenticator, { counter })
      await portal.assertRefused(page, [400, 'sign_in_failed'], had)
    }
    const rows = await portal.service.database.rows<{ received: string }>(
      `select details->>'received' as received from audit where action = 'passkey_counter_refused' order by id`,
    )
    assert.deepEqual(valuesOf(rows, 'received'), ['42', '7', '0'])
    assert.equal((await signInWithPasskey(portal.profile(), authenticator, { counter: 43 })).status, 200)
  })

  test('is checked once for two responses at the same moment', async () => {
    const { authenticator } = await owner()
    const pages = await Promise.all(
      [1, 2, 3].map(() => signInWithPasskey(portal.profile(), authenticator, { counter: 9 })),
    )
    assert.equal(pages.filter(({ status }) => status === 200).length, 1)
  })
})

describe('a passkey as a second factor', () => {
  test('completes a sign-in at a provider, even without verification', async () => {
    const { authenticator } = await owner()
    const profile = portal.profile()
    assert.equal((await profile.signIn('firm')).location, '/signin')
    const { options } = challengeOf(await post(profile, '/auth/second-factor/start', { factor: 'passkey' }))
    assert.equal(at(options, 'allowCredentials', 0, 'id'), authenticator.credentialId)
    const credential = authenticator.get(options, { verified: false, userHandle: null })
    assert.equal((await post(profile, '/auth/second-factor', { input: { credential } })).status, 200)
    assert.deepEqual(await factorsOf(profile), ['provider', 'passkey'])
  })

  test('of another person is refused', async () => {
    const { authenticator } = await owner()
    await owner()
    const profile = portal.profile()
    await profile.signIn('firm')
    const { options } = challengeOf(await post(profile, '/auth/second-factor/start', { factor: 'passkey' }))
    const had = await portal.counts()
    const page = await post(profile, '/auth/second-factor', { input: { credential: authenticator.get(options) } })
    await portal.assertRefused(page, [400, 'sign_in_failed'], had)
  })
})

describe('B63: the passkeys of a person', () => {
  test('can be listed, renamed and removed by their owner alone', async () => {
    const { profile } = await owner()
    const id = String(at(await passkeysOf(profile), 0, 'id'))
    const other = (await portal.enter('consultant')).profile
    const rename = (who: Profile, name: string) => who.ask(`/me/passkeys/${id}`, { method: 'PATCH', body: { name } })
    assert.equal((await rename(other, 'Mine')).status, 404)
    assert.equal((await remove(other, `/me/passkeys/${id}`)).status, 404)
    assert.equal((await rename(profile, ' ')).status, 400)
    assert.deepEqual((await rename(profile, ' Desk ')).json, { id, name: 'Desk' })
    assert.deepEqual([at(await passkeysOf(profile), 0, 'name'), at(await passkeysOf(profile), 1)], ['Desk', undefined])
    assert.equal((await remove(profile, `/me/passkeys/${id}`)).status, 200)
    assert.deepEqual(await passkeysOf(profile), [])
  })

  test('are named after the browser by default, and show their last use', async () => {
    const { profile } = await portal.enter('consultant')
    const { authenticator } = await addPasskey(profile, origin)
    assert.deepEqual(at(await passkeysOf(profile), 0, 'name'), 'Unknown browser')
    assert.equal(at(await passkeysOf(profile), 0, 'last_used_at'), null)
    await signInWithPasskey(portal.profile(), authenticator)
    assert.match(String(at(await passkeysOf(profile), 0, 'last_used_at')), /^20/)
  })

  test('the last one stays if it is the only way to sign in, even if two are removed at once', async () => {
    const { profile, id } = await owner()
    await addPasskey(profile, origin)
    await portal.service.database.rows('delete from identity where person_id = $1', [id])
    const ids = [0, 1].map(async (index) => String(at(await passkeysOf(profile), index, 'id')))
    const pages = await Promise.all((await Promise.all(ids)).map((each) => remove(profile, `/me/passkeys/${each}`)))
    assert.deepEqual(new Set(pages.map(({ status }) => status)), new Set([200, 409]))
    assert.equal((await remove(profile, '/me/factors/passkey')).status, 409, 'nor all at once')
    assert.notEqual(at(await passkeysOf(profile), 0), undefined)
  })
})

test('passkeys are not offered where browsers have none, or if they are switched off', async () => {
  await using without = await startPortal({ signIn: { passkey: false } })
  const { profile } = await without.enter('consultant')
  assert.equal((await profile.ask('/signin')).json['credentials'], undefined)
  assert.equal((await post(profile, '/auth/start/passkey')).status, 404)
  assert.equal((await post(profile, '/me/factors/passkey/start')).status, 404)
  await setUpTotp(profile)
})
