import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import { recordWithin } from '../../src/access/audit/audit.ts'
import { createIdentities } from '../../src/people/identities.ts'
import { createSignUp } from '../../src/signin/sign-up.ts'
import { at } from '../support/json.ts'
import { startLyingProvider } from '../support/lying-provider.ts'
import { startMailServer } from '../support/mail-server.ts'
import { fixture } from '../support/fixture.ts'
import { addPasskey, challengeOf, forgetSteps, giveFactor, post, remove, setUpTotp } from '../support/own-account.ts'
import { startPortal } from '../support/portal.ts'
import type { Page, Profile } from '../support/profile.ts'
import { totpCode } from '../support/totp.ts'
import { until } from '../support/until.ts'
import { waitingForLocks } from '../support/waiting-for-locks.ts'

const mail = fixture(() => startMailServer())
const other = fixture(() => startLyingProvider())
const portal = fixture(() =>
  startPortal({ mail: mail.url, others: [other.settings({ id: 'other', name: 'Another account' })] }),
)
let subjects = 0
beforeEach(() => {
  subjects++
  other.say({ subject: `other-${subjects}`, email: `other${subjects}@elsewhere.example` })
})

const codeOf = (page: Page) => at(page.json, 'error', 'code')
const sessionsOf = async (id: string) =>
  (await portal.service.database.rows('select from session where person_id = $1', [id])).length
const identitiesOf = async (profile: Profile) => (await profile.ask('/me')).json['identities']
/** Makes the sessions of a person so many minutes older. */
const age = (id: string, minutes: number) =>
  portal.service.database.rows(
    `update session set proven_at = proven_at - make_interval(mins => $2) where person_id = $1`,
    [id, minutes],
  )
const sameOrigin = { 'sec-fetch-site': 'same-origin' }
const startLink = (profile: Profile, headers: Readonly<Record<string, string>> = sameOrigin, provider = 'other') =>
  profile.ask(`/auth/start/${provider}?link=1&return_to=/me`, { headers })

async function link(profile: Profile): Promise<Page> {
  const { location } = await startLink(profile)
  return profile.follow(new URL(location ?? ''))
}

async function notified(email: string, subject: RegExp): Promise<void> {
  await until(() => mail.mails.some((each) => each.to.includes(email) && subject.test(each.subject)))
}

describe('B15: linking an account at another provider', () => {
  test('gives the person a second way in, ends the other sessions, and is audited and mailed', async () => {
    const { profile, id, email } = await portal.enter('consultant')
    await portal.profile().signIn('firm')
    const cookie = profile.cookies().get('session')
    assert.deepEqual((await profile.ask('/me')).json['unlinked'], [{ id: 'other', name: 'Another account' }])
    const page = await link(profile)
    assert.deepEqual([page.status, page.location, page.headers.getSetCookie()], [303, '/me', []])
    assert.equal(profile.cookies().get('session'), cookie, 'it is no sign-in')
    assert.equal(await sessionsOf(id), 1)
    await notified(email, /sign-in method was added/)
    const { methods, identities, unlinked } = (await profile.ask('/me')).json
    assert.deepEqual(unlinked, [])
    assert.deepEqual(methods, [
      { id: 'firm', name: 'Firm account' },
      { id: 'other', name: 'Another account' },
    ])
    assert.deepEqual(
      [0, 1].map((index) => at(identities, index, 'name')),
      ['Firm account', 'Another account'],
    )
    assert.equal(at(identities, 1, 'issuer'), other.issuer)
    const browser = portal.profile()
    await browser.signIn('other')
    assert.equal((await browser.who())?.['id'], id)
    const rows = await portal.service.database.rows(
      `select person_id, details from audit where action = 'identity_added' and details->>'issuer' = $1 and noun_id = $2`,
      [other.issuer, id],
    )
    assert.deepEqual(rows, [{ person_id: id, details: { issuer: other.issuer } }])
  })

  test('twice changes nothing', async () => {
    const { profile, id } = await portal.enter('consultant')
    await link(profile)
    await portal.profile().signIn('firm')
    const had = await sessionsOf(id)
    assert.equal((await link(profile)).status, 303)
    assert.equal(await sessionsOf(id), had)
  })

  test('needs a session, a recent one, and a page of this service that led there (B16)', async () => {
    const { profile, id } = await portal.enter('consultant')
    const visitor = portal.profile()
    assert.equal((await startLink(visitor)).status, 401)
    for (const headers of [{}, { 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'none' }]) {
      const page = await startLink(profile, headers)
      assert.deepEqual([page.status, codeOf(page)], [403, 'cross_site_request'])
    }
    await age(id, 11)
    const page = await startLink(profile)
    assert.deepEqual([page.status, codeOf(page)], [403, 'recent_sign_in_required'])
  })

  test('checks at the callback too that the sign-in is recent', async () => {
    const { profile, id } = await portal.enter('consultant')
    const { location } = await startLink(profile)
    await age(id, 11)
    const page = await profile.follow(new URL(location ?? ''))
    assert.deepEqual([page.status, codeOf(page)], [403, 'recent_sign_in_required'])
    assert.equal(at(await identitiesOf(profile), 1), undefined)
  })

  test('is refused if the session ends while it is carried out, as in a recovery of the account', async () => {
    const { profile, id } = await portal.enter('consultant')
    const { location } = await startLink(profile)
    const callback = await profile.callbackOf(new URL(location ?? ''))
    const { database } = portal.service
    const { linking } = await database.transaction(async (tx) => {
      await tx.rows('select from person where id = $1 for no key update', [id])
      await tx.rows('delete from session where person_id = $1', [id])
      const begun = profile.ask(callback)
      await until(async () => (await waitingForLocks(database)) > 0)
      return { linking: begun }
    })
    assert.equal((await linking).status, 401)
    const identities = await database.rows('select from identity where person_id = $1', [id])
    assert.equal(identities.length, 1)
  })

  test('asks the provider for a new sign-in', async () => {
    const { profile } = await portal.enter('consultant')
    const { location } = await startLink(profile)
    assert.equal(new URL(location ?? '').searchParams.get('prompt'), 'login')
  })

  test('is refused if another person has signed in since, or nobody is signed in', async () => {
    for (const leave of [
      async (profile: Profile) => void (await profile.ask('/signout', { method: 'POST' })),
      async (profile: Profile) => {
        portal.newcomer()
        await profile.signIn('firm')
      },
    ]) {
      const { profile, id } = await portal.enter('consultant')
      const { location } = await startLink(profile)
      await leave(profile)
      const page = await profile.follow(new URL(location ?? ''))
      assert.deepEqual([page.status, codeOf(page)], [400, 'sign_in_failed'])
      const rows = await portal.service.database.rows('select from identity where person_id = $1', [id])
      assert.equal(rows.length, 1)
    }
  })

  test('of another person is refused, and signs nobody in', async () => {
    const { profile: owner } = await portal.enter('consultant')
    await link(owner)
    const { profile, id } = await portal.enter('consultant')
    const page = await link(profile)
    assert.deepEqual([page.status, codeOf(page)], [409, 'conflict'])
    assert.equal((await profile.who())?.['id'], id)
    assert.equal(at(await identitiesOf(profile), 1), undefined)
  })
})

describe('unlinking an account', () => {
  test('removes it, except the last way to sign in', async () => {
    const { profile, id, email } = await portal.enter('consultant')
    await link(profile)
    const ids = [0, 1].map(async (index) => String(at(await identitiesOf(profile), index, 'id')))
    const [firm, linked] = await Promise.all(ids)
    const stranger = (await portal.enter('consultant')).profile
    assert.equal((await remove(stranger, `/me/identities/${linked}`)).status, 404)
    assert.equal((await remove(profile, `/me/identities/${linked}`)).status, 200)
    await notified(email, /sign-in method was removed/)
    const page = await remove(profile, `/me/identities/${firm}`)
    assert.deepEqual([page.status, codeOf(page)], [409, 'conflict'])
    const had = await portal.counts()
    assert.equal((await portal.profile().signIn('other')).status, 303)
    assert.equal((await portal.counts()).person, had.person + 1, 'it is a stranger now')
    assert.equal(await sessionsOf(id), 1)
  })

  test('of two at the same moment keeps one', async () => {
    const { profile } = await portal.enter('consultant')
    await link(profile)
    const ids = await Promise.all([0, 1].map(async (index) => String(at(await identitiesOf(profile), index, 'id'))))
    const pages = await Promise.all(ids.map((id) => remove(profile, `/me/identities/${id}`)))
    assert.deepEqual(new Set(pages.map(({ status }) => status)), new Set([200, 409]))
  })
})

describe('B33: a change of a second factor', () => {
  const changes: [
    what: string,
    subject: RegExp,
    prepare: (p: Profile) => Promise<unknown>,
    act: (p: Profile) => Promise<unknown>,
  ][] = [
    ['totp_set_up', /authenticator app was added/, async () => undefined, setUpTotp],
    ['totp_removed', /authenticator app was removed/, setUpTotp, (p) => remove(p, '/me/factors/totp')],
    ['passkey_added', /passkey was added/, async () => undefined, (p) => addPasskey(p, portal.service.baseUrl)],
    [
      'passkey_removed',
      /passkey was removed/,
      (p) => addPasskey(p, portal.service.baseUrl),
      async (p) => remove(p, `/me/passkeys/${String(at((await p.ask('/me')).json, 'passkeys', 0, 'id'))}`),
    ],
    ['recovery_codes_created', /recovery codes were created/, setUpTotp, (p) => post(p, '/me/recovery-codes')],
  ]
  for (const [what, subject, prepare, act] of changes) {
    test(`${what} ends the other sessions, is audited and mailed, and keeps this session`, async () => {
      const { profile, id, email } = await portal.enter('consultant')
      await prepare(profile)
      const session = (await portal.service.signIn({ id })).slice('session='.length)
      const elsewhere = portal.profile()
      elsewhere.cookies().set('session', session)
      assert.ok(await elsewhere.who())
      await act(profile)
      assert.equal(await elsewhere.who(), undefined)
      assert.equal((await profile.who())?.['id'], id)
      await notified(email, subject)
      const rows = await portal.service.database.rows(
        `select from audit where action = $1 and person_id = $2 and request_id is not null`,
        [what, id],
      )
      // The first factor brings codes of its own.
      assert.equal(rows.length, what === 'recovery_codes_created' ? 2 : 1)
    })
  }

  test('is undone as a whole if it cannot be recorded in the audit log', async () => {
    const { profile, id } = await portal.enter('consultant')
    await setUpTotp(profile)
    await portal.service.signIn({ id })
    const { database } = portal.service
    await database.rows(`create trigger full_disk before insert on audit for each row
      when (new.action = 'totp_removed') execute function refuse_change()`)
    assert.ok((await remove(profile, '/me/factors/totp')).status >= 500)
    await database.rows('drop trigger full_disk on audit')
    assert.equal(await sessionsOf(id), 2)
    assert.equal((await database.rows('select from totp where person_id = $1', [id])).length, 1)
  })

  test('each use of a recovery code is mailed, with the number that is left', async () => {
    const { profile, email } = await portal.enter('consultant')
    const { codes } = await setUpTotp(profile)
    const browser = portal.profile()
    await browser.signIn('firm')
    await giveFactor(browser, 'recovery_code', { code: codes[0] })
    await notified(email, /recovery code was used/)
    const used = mail.mails.find((each) => each.to.includes(email) && /recovery code was used/.test(each.subject))
    assert.match(used?.text ?? '', /9 codes are left/)
  })

  test('guessing is mailed once', async () => {
    const { profile, email } = await portal.enter('consultant')
    await setUpTotp(profile)
    await forgetSteps(portal.service.database)
    for (let tries = 0; tries < 7; tries++) {
      const browser = portal.profile()
      await browser.signIn('firm')
      await giveFactor(browser, 'totp', { code: '000000' })
    }
    await notified(email, /guessing/)
    assert.equal(mail.mails.filter((each) => each.to.includes(email) && /guessing/.test(each.subject)).length, 1)
  })

  test('guessing is mailed at the fifth wrong code in succession, however slow it is, and not before', async () => {
    const { profile, email, id } = await portal.enter('consultant')
    const { secret } = await setUpTotp(profile)
    const { database } = portal.service
    const guess = async (code: string) => {
      await forgetSteps(database)
      // As a quarter of an hour later.
      await database.rows(`delete from throttle where kind = 'second_factor'`)
      const browser = portal.profile()
      await browser.signIn('firm')
      return (await giveFactor(browser, 'totp', { code })).status
    }
    const warnings = () =>
      database.rows(`select 1 from audit where action = 'second_factor_guessing' and noun_id = $1`, [id])
    for (let tries = 0; tries < 4; tries++) assert.equal(await guess('000000'), 400)
    assert.equal(await guess(totpCode(secret)), 200, 'a right code starts the count again')
    for (let tries = 0; tries < 4; tries++) assert.equal(await guess('000000'), 400)
    assert.deepEqual(await warnings(), [])
    assert.equal(await guess('000000'), 400)
    assert.equal((await warnings()).length, 1)
    await notified(email, /guessing/)
  })
})

async function confirmWith(code: string, profile: Profile): Promise<Page> {
  const begun = await post(profile, '/me/confirmation/start', { factor: 'totp' })
  return begun.status === 200 ? post(profile, '/me/confirmation', { factor: 'totp', input: { code } }) : begun
}

describe('a change of the own sign-in', () => {
  const changes: [method: string, address: string, body?: object][] = [
    ['POST', '/me/factors/totp/start', {}],
    ['POST', '/me/factors/totp', { input: {} }],
    ['DELETE', '/me/factors/totp'],
    ['POST', '/me/recovery-codes', {}],
    ['PATCH', '/me/passkeys/01990000-0000-7000-8000-000000000000', { name: 'x' }],
    ['DELETE', '/me/passkeys/01990000-0000-7000-8000-000000000000'],
    ['DELETE', '/me/identities/01990000-0000-7000-8000-000000000000'],
  ]
  test('needs a recent sign-in', async () => {
    const { profile, id } = await portal.enter('consultant')
    await age(id, 11)
    for (const [method, address, body] of changes) {
      const page = await profile.ask(address, { method, ...(body && { body }) })
      assert.deepEqual([page.status, codeOf(page)], [403, 'recent_sign_in_required'], `${method} ${address}`)
    }
    assert.equal((await profile.ask('/me')).status, 200)
    await profile.signIn('firm')
    assert.equal((await post(profile, '/me/factors/totp/start')).status, 200, 'after signing in again')
  })

  test('B108: is possible after one factor was given in the session, which gets a new cookie', async () => {
    const { profile, id } = await portal.enter('consultant')
    const { secret } = await setUpTotp(profile)
    await forgetSteps(portal.service.database)
    await age(id, 11)
    const old = profile.cookies().get('session')
    assert.deepEqual(codeOf(await confirmWith('000000', profile)), 'sign_in_failed')
    const stranger = (await portal.enter('consultant')).profile
    assert.deepEqual((await confirmWith(totpCode(secret), stranger)).status, 404)
    assert.equal(codeOf(await post(profile, '/me/recovery-codes')), 'recent_sign_in_required')
    assert.equal((await confirmWith(totpCode(secret), profile)).status, 200)
    assert.equal((await post(profile, '/me/recovery-codes')).status, 200)
    const former = portal.profile()
    former.cookies().set('session', old ?? '')
    assert.equal((await former.ask('/me')).status, 401)
    const rows = await portal.service.database.rows(
      `select details from audit where action = 'identity_confirmed' and person_id = $1`,
      [id],
    )
    assert.deepEqual(rows, [{ details: { factor: 'totp' } }])
  })

  test('is not possible while a second factor is due', async () => {
    const { profile } = await portal.enter('consultant')
    await setUpTotp(profile)
    const pending = portal.profile()
    await pending.signIn('firm')
    for (const [method, address, body] of changes) {
      assert.equal((await pending.ask(address, { method, ...(body && { body }) })).status, 401, `${method} ${address}`)
    }
  })

  test('cannot remove the last factor of a person who needs one', async () => {
    await using own = await startPortal({ signIn: { second_factor: 'partners' } })
    const { id } = await own.service.people.create(
      { name: 'Partner', email: 'p@firm.example', role: 'partner' },
      { actor: { kind: 'service' } },
    )
    const profile = own.profile()
    profile.cookies().set('session', (await own.service.signIn({ id })).slice('session='.length))
    await own.service.database.rows(
      'insert into identity (issuer, subject, person_id, created_at) values ($1, $2::text, $2::text::uuid, now())',
      [own.provider.issuer, id],
    )
    await setUpTotp(profile)
    const page = await remove(profile, '/me/factors/totp')
    assert.deepEqual([page.status, codeOf(page)], [409, 'conflict'])
    await addPasskey(profile, own.service.baseUrl)
    assert.equal((await remove(profile, '/me/factors/totp')).status, 200)
    const passkey = String(at((await profile.ask('/me')).json, 'passkeys', 0, 'id'))
    for (const path of ['/me/factors/passkey', `/me/passkeys/${passkey}`]) {
      assert.equal((await remove(profile, path)).status, 409, path)
    }
    assert.ok(challengeOf(await post(profile, '/me/factors/totp/start')))
    assert.equal((await profile.ask('/me')).json['factor_required'], true)
  })
})

const turn = (profile: Profile, method: 'POST' | 'DELETE') =>
  profile.ask('/me/task-mail', { method, headers: sameOrigin })
const isMailed = async (profile: Profile) => (await profile.ask('/me')).json['task_mail']
async function eventsOf(id: string): Promise<string[]> {
  const rows = await portal.service.database.rows<{ action: string }>(
    `select action from audit where noun_id = $1 and person_id = $1 and action like 'task_mail%' order by id`,
    [id],
  )
  return rows.map(({ action }) => action)
}

describe('the mail of tasks', () => {
  test('is off until a person turns it on, and each change is audited once', async () => {
    const { profile, id } = await portal.enter('consultant')
    assert.equal(await isMailed(profile), false)
    assert.equal((await turn(profile, 'DELETE')).status, 200)
    for (let n = 0; n < 2; n++) assert.equal((await turn(profile, 'POST')).status, 200)
    assert.equal(await isMailed(profile), true)
    assert.equal((await turn(profile, 'DELETE')).status, 200)
    assert.equal(await isMailed(profile), false)
    assert.deepEqual(await eventsOf(id), ['task_mail_turned_on', 'task_mail_turned_off'])
  })

  test('that is turned off and on again sends no second mail on the day', async () => {
    const { profile, id } = await portal.enter('consultant')
    await turn(profile, 'POST')
    await turn(profile, 'DELETE')
    await turn(profile, 'POST')
    const rows = await portal.service.database.rows(
      `select 1 from task_mail where person_id = $1 and settled_on >= (now() at time zone 'UTC')::date`,
      [id],
    )
    assert.equal(rows.length, 1)
  })

  test('reaches no one who has become a developer or was disabled since it was queued', async () => {
    const { recipientOf } = createSignUp({
      policy: { policy: 'invited', domains: [] },
      identities: createIdentities({ database: portal.service.database, audit: { recordWithin } }),
    })
    const [consultant, disabled, developer] = [
      await portal.enter('consultant'),
      await portal.enter('consultant'),
      await portal.enter('consultant'),
    ]
    await portal.service.people.setStatus(disabled.id, 'disabled', byService)
    await portal.service.people.setRole(developer.id, 'developer', byService)
    const reached = await Promise.all(
      [consultant, disabled, developer].map(({ email }) => recipientOf(email, 'record_reader')),
    )
    assert.deepEqual(reached, [consultant.email, undefined, undefined])
    assert.equal(await recipientOf(developer.email, 'person'), developer.email)
  })
})
