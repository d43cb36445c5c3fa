import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { byService, type Role } from '../../src/access/actor.ts'
import { createAuthenticator } from '../support/authenticator.ts'
import { at, valuesOf } from '../support/json.ts'
import { startMailServer, type ReceivedMail } from '../support/mail-server.ts'
import { fixture } from '../support/fixture.ts'
import {
  addPasskey,
  challengeOf,
  codesOf,
  forgetSteps,
  giveFactor,
  post,
  setUpTotp,
  signInWithPasskey,
} from '../support/own-account.ts'
import { startPortal, type Portal } from '../support/portal.ts'
import type { Page, Profile } from '../support/profile.ts'
import { routesOf } from '../support/routes.ts'
import { totpCode } from '../support/totp.ts'
import { until } from '../support/until.ts'
import { waitingForLocks } from '../support/waiting-for-locks.ts'

const policies = ['optional', 'required'] as const
type Policy = (typeof policies)[number]

const mail = fixture(() => startMailServer())
const open = (policy: Policy) =>
  startPortal({
    mail: mail.url,
    trustedProxies: ['127.0.0.1'],
    signIn: { second_factor: policy, email_link: true, password: true },
  })
const portals = { optional: fixture(() => open('optional')), required: fixture(() => open('required')) }

/** A person with a session that did not pass the gate, in which they set up what the case needs. */
interface Someone {
  readonly portal: Portal
  readonly id: string
  readonly email: string
  readonly home: Profile
}

let people = 0
async function someone(portal: Portal, role: Role): Promise<Someone> {
  people++
  const email = `matrix${people}@firm.example`
  const { id } = await portal.service.people.create({ name: `Person ${people}`, email, role }, byService)
  const home = portal.profile()
  home.cookies().set('session', (await portal.service.signIn({ id })).slice('session='.length))
  return { portal, id, email, home }
}

/** Prepares the first proof; the result submits it in a browser. */
type Method = (who: Someone) => Promise<(profile: Profile) => Promise<Page>>

const password = 'blatant oyster wagon'
/** A new network, because one may ask for ten mails an hour. */
const from = () => ({ 'x-forwarded-for': `203.0.${Math.floor(people / 250)}.${people % 250}` })

/** A new method is one line here. */
const methods: Readonly<Record<string, Method>> = {
  'a provider': async ({ portal, id, email }) => {
    portal.provider.say({ subject: id, email })
    return (profile) => profile.signIn('firm')
  },
  'an email link':
    async ({ email }) =>
    async (profile) => {
      const body = { input: { email } }
      const begun = await profile.ask('/auth/start/email_link', { method: 'POST', body, headers: from() })
      // The address gets other mail as well, possibly after this.
      const isIt = ({ to, text }: ReceivedMail) => to.includes(email) && text.includes('/signin/link#')
      await until(() => mail.mails.some(isIt))
      const { text = '' } = mail.mails.findLast(isIt) ?? {}
      const code = /^[0-9A-Z]{4}-[0-9A-Z]{4}$/m.exec(text)?.[0]
      return post(profile, '/auth/complete', { attempt: begun.json['attempt'], input: { code } })
    },
  'a password': async ({ email, home }) => {
    assert.equal((await post(home, '/me/password', { password })).status, 200)
    return async (profile) => {
      const { attempt } = (await post(profile, '/auth/start/password')).json
      return post(profile, '/auth/complete', { attempt, input: { email, password } })
    }
  },
  'a passkey without verification': async ({ portal, home }) => {
    const { authenticator } = await addPasskey(home, portal.service.baseUrl)
    return (profile) => signInWithPasskey(profile, authenticator, { verified: false })
  },
}

function expectation(method: string, policy: Policy, hasFactor: boolean): 'in' | 'due' | 'enrol' {
  // Its owner has a factor: the passkey itself, and the recovery codes that came with it.
  if (hasFactor || method.startsWith('a passkey')) return 'due'
  return policy === 'required' ? 'enrol' : 'in'
}

const sessionsOf = ({ portal, id }: Someone) =>
  portal.service.database.rows('select id from session where person_id = $1 order by id', [id])

const locationOf = (page: Page) => page.location ?? page.json['location']

/** A browser that has proven nothing: it learns of no factor, and can neither set one up nor show one. */
async function assertUnproven(profile: Profile, code: string): Promise<void> {
  const { json } = await profile.ask('/signin')
  assert.deepEqual([json['second_factors'], json['enrol']], [undefined, undefined])
  for (const [path, body] of [
    ['/auth/second-factor/enrol/start', { factor: 'totp' }],
    ['/auth/second-factor/enrol', { input: { code } }],
    ['/auth/second-factor/start', { factor: 'totp' }],
    ['/auth/second-factor', { input: { code } }],
  ] as const) {
    const page = await post(profile, path, body)
    assert.deepEqual([page.status, at(page.json, 'error', 'code')], [400, 'sign_in_failed'], path)
  }
  assert.equal(await profile.who(), undefined)
}

/** Every page of the portal answers as to a visitor who is not signed in. */
async function assertOutside({ portal }: Someone, profile: Profile): Promise<void> {
  assert.equal(await profile.who(), undefined)
  const paths = routesOf(portal.service)
    .map((route) => route.split(' '))
    .filter(([method, path = '']) => method === 'GET' && !portal.service.app.jsonOnlyUrls.has(path))
    .map(([, path = '']) => path.replaceAll(/:\w+/g, '0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11'))
    .filter((path) => !/^\/(auth|signin)/.test(path))
  assert.ok(paths.length > 15, `${paths.length} pages`)
  for (const path of paths) {
    // Calendars need no session. This address does not exist.
    assert.equal((await profile.ask(path)).status, path.startsWith('/calendar/') ? 404 : 401, path)
  }
}

/**
 * Another browser that knows each sign-in cookie that this one had before the first proof. It sends the value under the names
 * that are used after the proof, too.
 */
function thiefOf({ portal }: Someone, profile: Profile): Profile {
  const thief = portal.profile()
  const [known] = [...profile.cookies()].filter(([name]) => name.startsWith('__Host-signin-'))
  if (known === undefined) return thief
  const [name, value] = known
  for (const each of [name, ...profile.cookies().keys()]) thief.cookies().set(each, value)
  return thief
}

/** Shows or sets up the factor that is due. */
async function passFactor(
  profile: Profile,
  outcome: 'due' | 'enrol',
  has: { secret?: string; codes: readonly string[] },
) {
  const { json } = await profile.ask('/signin')
  if (outcome === 'enrol') {
    assert.equal(json['second_factors'], undefined)
    assert.deepEqual(at(json, 'enrol', 1), { id: 'totp', name: 'Authenticator app' })
    const { secret } = challengeOf(await post(profile, '/auth/second-factor/enrol/start', { factor: 'totp' }))
    return post(profile, '/auth/second-factor/enrol', { input: { code: totpCode(secret) } })
  }
  assert.equal(json['enrol'], undefined)
  assert.equal((await post(profile, '/auth/second-factor/enrol/start', { factor: 'totp' })).status, 404)
  return has.secret === undefined
    ? giveFactor(profile, 'recovery_code', { code: has.codes[0] })
    : giveFactor(profile, 'totp', { code: totpCode(has.secret) })
}

describe('B64, B26: no route is reachable before the second factor', () => {
  for (const [method, prepare] of Object.entries(methods)) {
    for (const [policy, hasFactor] of [
      ['required', true],
      ['required', false],
      ['optional', false],
    ] as const) {
      const outcome = expectation(method, policy, hasFactor)
      const who = `a person ${hasFactor ? 'with' : 'without'} a factor`
      test(`with ${method}, under the policy ${policy}, for ${who}: ${outcome}`, async () => {
        const portal = portals[policy]
        const person = await someone(portal, 'consultant')
        const totp = hasFactor ? await setUpTotp(person.home) : undefined
        const prove = await prepare(person)
        const codes = totp?.codes ?? codesOf(await post(person.home, '/me/recovery-codes'))
        await forgetSteps(portal.service.database)
        const profile = portal.profile()
        const had = await sessionsOf(person)
        const page = await prove(profile)
        if (outcome === 'in') {
          assert.notEqual(locationOf(page), '/signin', page.text)
          assert.deepEqual((await profile.ask('/signin')).json['second_factors'], undefined)
          return assert.equal((await profile.who())?.['id'], person.id)
        }
        assert.equal(locationOf(page), '/signin', page.text)
        await assertOutside(person, profile)
        assert.deepEqual(await sessionsOf(person), had, 'no session before the factor')
        const done = await passFactor(profile, outcome, { ...(totp && { secret: totp.secret }), codes })
        assert.equal(done.status, 200, done.text)
        assert.equal(codesOf(done).length, outcome === 'enrol' ? 10 : 0)
        assert.equal((await profile.who())?.['id'], person.id)
        assert.equal(at((await profile.ask('/me')).json, 'sessions', 0, 'factors', 1) !== undefined, true)
      })
    }
  }
})

const required = () => portals.required
async function proven(who: Someone): Promise<Profile> {
  required().provider.say({ subject: who.id, email: who.email })
  const profile = required().profile()
  assert.equal((await profile.signIn('firm')).location, '/signin')
  return profile
}
const beginEnrolment = async (profile: Profile) =>
  challengeOf(await post(profile, '/auth/second-factor/enrol/start', { factor: 'totp' }))['secret']
const completeEnrolment = (profile: Profile, code: string) =>
  post(profile, '/auth/second-factor/enrol', { input: { code } })

describe('B106: what a browser had before its first proof carries no rights after it', () => {
  for (const [method, prepare] of Object.entries(methods)) {
    for (const outcome of method.startsWith('a passkey') ? (['due'] as const) : (['due', 'enrol'] as const)) {
      test(`with ${method}, when a factor is ${outcome === 'due' ? 'to be shown' : 'to be set up'}`, async () => {
        const person = await someone(required(), 'partner')
        const totp = outcome === 'due' ? await setUpTotp(person.home) : undefined
        const prove = await prepare(person)
        await forgetSteps(required().service.database)
        const profile = required().profile()
        await prove(profile)
        const thief = thiefOf(person, profile)
        assert.ok(thief.cookies().size > 1, 'the browser has one cookie of each kind')
        await assertUnproven(thief, '000000')
        const path = outcome === 'due' ? '/auth/second-factor' : '/auth/second-factor/enrol'
        const { secret } = challengeOf(await post(profile, `${path}/start`, { factor: 'totp' }))
        const code = totpCode(totp?.secret ?? secret)
        await assertUnproven(thief, code)
        const done = await post(profile, path, { input: { code } })
        assert.equal(done.status, 200, done.text)
        assert.equal((await profile.who())?.['id'], person.id)
        await assertUnproven(profile.cookies().delete('session') ? profile : thief, code)
      })
    }
  }

  test('B23: a value that another browser made up is not taken over by a proof', async () => {
    const who = await someone(required(), 'consultant')
    required().provider.say({ subject: who.id, email: who.email })
    const [profile, maker] = [required().profile(), required().profile()]
    const value = 'A'.repeat(43)
    for (const each of [profile, maker]) each.cookies().set('__Host-factor', value)
    assert.equal((await profile.signIn('firm')).location, '/signin')
    assert.notEqual(profile.cookies().get('__Host-factor'), value)
    await assertUnproven(maker, '000000')
  })

  test('a second first proof in the browser replaces the one that waits, whose value is worthless then', async () => {
    const who = await someone(required(), 'consultant')
    const profile = await proven(who)
    const earlier = required().profile()
    earlier.cookies().set('__Host-factor', profile.cookies().get('__Host-factor') ?? '')
    assert.equal((await profile.signIn('firm')).location, '/signin')
    await assertUnproven(earlier, '000000')
    assert.equal((await completeEnrolment(profile, totpCode(await beginEnrolment(profile)))).status, 200)
  })
})

describe('a second factor that is set up during the sign-in', () => {
  test('ends the sessions that were started without it, is audited and mailed', async () => {
    const who = await someone(required(), 'consultant')
    const profile = await proven(who)
    assert.ok(await who.home.who())
    assert.equal((await completeEnrolment(profile, totpCode(await beginEnrolment(profile)))).status, 200)
    assert.equal(await who.home.who(), undefined)
    await until(() => mail.mails.some(({ to, subject }) => to.includes(who.email) && /authenticator app/.test(subject)))
    const rows = await required().service.database.rows<{ action: string }>(
      `select action from audit where noun_id = $1 and action in ('totp_set_up', 'recovery_codes_created') order by id`,
      [who.id],
    )
    assert.deepEqual(valuesOf(rows, 'action'), ['recovery_codes_created', 'totp_set_up'])
  })

  test('cannot be completed as one that is shown, or in another browser', async () => {
    const who = await someone(required(), 'consultant')
    const profile = await proven(who)
    const code = totpCode(await beginEnrolment(profile))
    const had = await required().counts()
    const wrong = await post(profile, '/auth/second-factor', { input: { code } })
    await required().assertRefused(wrong, [400, 'sign_in_failed'], had)
    for (const other of [required().profile(), await proven(await someone(required(), 'consultant'))]) {
      const then = await required().counts()
      await required().assertRefused(await completeEnrolment(other, code), [400, 'sign_in_failed'], then)
    }
    assert.equal((await completeEnrolment(profile, code)).status, 200)
  })

  test('is set up once: another attempt that waits can no longer set up its own', async () => {
    const who = await someone(required(), 'consultant')
    const [mine, thief] = [await proven(who), await proven(who)]
    const codes = { mine: totpCode(await beginEnrolment(mine)), thief: totpCode(await beginEnrolment(thief)) }
    assert.equal((await completeEnrolment(mine, codes.mine)).status, 200)
    const had = await required().counts()
    await required().assertRefused(await completeEnrolment(thief, codes.thief), [400, 'sign_in_failed'], had)
    assert.equal((await post(thief, '/auth/second-factor/enrol/start', { factor: 'totp' })).status, 400)
  })

  test('is not set up by a person who has one by now', async () => {
    const who = await someone(required(), 'consultant')
    const profile = await proven(who)
    const begun = await post(profile, '/auth/second-factor/enrol/start', { factor: 'passkey' })
    const credential = createAuthenticator(required().service.baseUrl).create(challengeOf(begun)['options'])
    await required().service.database.rows(
      `insert into totp (person_id, secret, last_step, created_at) values ($1, 'sealed', 0, now())`,
      [who.id],
    )
    const had = await required().counts()
    const page = await post(profile, '/auth/second-factor/enrol', { input: { credential } })
    await required().assertRefused(page, [400, 'sign_in_failed'], had)
  })

  test('B26: starts no session if a partner removes it before the session has started', async () => {
    const { service } = required()
    const [who, partner] = [await someone(required(), 'consultant'), await someone(required(), 'partner')]
    const profile = await proven(who)
    const code = totpCode(await beginEnrolment(profile))
    const waiting = (count: number) => until(async () => (await waitingForLocks(service.database)) >= count)
    // The removal waits behind the set-up, and goes before the session.
    const sent = await service.database.transaction(async (tx) => {
      await tx.rows('select 1 from person where id = $1 for no key update', [who.id])
      const enrolment = completeEnrolment(profile, code)
      await waiting(1)
      const removal = partner.home.ask(`/people/${who.id}/factors`, { method: 'DELETE' })
      await waiting(2)
      return { both: Promise.all([enrolment, removal]) }
    })
    const [enrolled, removed] = await sent.both
    assert.equal(removed.status, 204, removed.text)
    assert.ok([200, 400].includes(enrolled.status), enrolled.text)
    assert.deepEqual(await service.database.rows('select 1 from session where person_id = $1', [who.id]), [])
    assert.equal(await profile.who(), undefined)
  })

  test('of several submissions at the same moment sets it up once', async () => {
    const profile = await proven(await someone(required(), 'consultant'))
    const code = totpCode(await beginEnrolment(profile))
    const pages = await Promise.all(Array.from({ length: 4 }, () => completeEnrolment(profile, code)))
    assert.equal(pages.filter(({ status }) => status === 200).length, 1)
  })

  test('is not possible after five wrong codes', async () => {
    const profile = await proven(await someone(required(), 'consultant'))
    const secret = await beginEnrolment(profile)
    const had = await required().counts()
    for (let tries = 0; tries < 5; tries++) {
      await required().assertRefused(await completeEnrolment(profile, '000000'), [400, 'sign_in_failed'], had)
    }
    await required().assertRefused(await completeEnrolment(profile, totpCode(secret)), [400, 'sign_in_failed'], had)
  })

  test('is undone if it cannot be recorded in the audit log', async () => {
    const who = await someone(required(), 'consultant')
    const profile = await proven(who)
    const secret = await beginEnrolment(profile)
    const { database } = required().service
    await database.rows(`create trigger full_disk before insert on audit for each row
      when (new.action = 'totp_set_up') execute function refuse_change()`)
    assert.ok((await completeEnrolment(profile, totpCode(secret))).status >= 500)
    await database.rows('drop trigger full_disk on audit')
    assert.deepEqual(await database.rows('select from totp where person_id = $1', [who.id]), [])
    assert.ok(await who.home.who(), 'no session has ended')
    assert.equal((await completeEnrolment(profile, totpCode(secret))).status, 200)
  })

  test('may be a passkey', async () => {
    const who = await someone(required(), 'consultant')
    const profile = await proven(who)
    const { options } = challengeOf(await post(profile, '/auth/second-factor/enrol/start', { factor: 'passkey' }))
    const credential = createAuthenticator(required().service.baseUrl).create(options)
    assert.equal((await post(profile, '/auth/second-factor/enrol', { input: { credential } })).status, 200)
    assert.equal((await profile.who())?.['id'], who.id)
  })
})
