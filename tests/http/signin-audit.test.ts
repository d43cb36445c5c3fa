import assert from 'node:assert/strict'
import { beforeEach, describe, mock, test } from 'node:test'
import { at } from '../support/json.ts'
import { forgetSteps, giveFactor, setUpTotp } from '../support/own-account.ts'
import { openPortal } from '../support/portal.ts'
import type { Page } from '../support/profile.ts'
import { totpCode } from '../support/totp.ts'
import { setUp } from '../support/fixture.ts'
import { eventsOf } from '../support/recorded.ts'

// B94: refused visitors leave audit rows, bounded per network.

const perMinute = 15

// A fixed clock: the bounds are per minute.
let time = Date.now()
setUp(() => mock.method(Date, 'now', () => time))
const { portal } = openPortal(() => ({ signIn: { starts_per_minute: perMinute } }))
beforeEach(() => void (time += 60_000))

const rowsOf = (page: Page) =>
  eventsOf(page, portal.service.database, 'actor, person_id, action, outcome, address, details')

const refused = (action: string, details: object) => [
  { actor: 'visitor', person_id: null, action, outcome: 'refused', address: '127.0.0.1', details },
]

const unusable = (why: string) => refused('sign_in_failed', { method: 'firm', why })

async function count(action: string): Promise<number> {
  const [row] = await portal.service.database.rows<{ n: number }>(
    'select count(*)::int as n from audit where action = $1',
    [action],
  )
  return row?.n ?? 0
}

describe('B94: a failed sign-in leaves an audit row', () => {
  test('for a state that is unknown, missing or given twice', async () => {
    const profile = portal.profile()
    const { searchParams } = await profile.start('firm')
    for (const query of ['state=unknown', '', `state=${searchParams.get('state')}&state=other`]) {
      const page = await profile.ask(`/auth/callback?code=x&${query}`)
      assert.deepEqual(await rowsOf(page), refused('sign_in_failed', { why: 'unknown_state' }), query)
    }
  })

  test('for a state that was used, has expired or belongs to another browser', async () => {
    const profile = portal.profile()
    const back = await profile.callbackOf(await profile.start('firm'))
    await profile.ask(back)
    const signedIn = await profile.ask(back)
    assert.deepEqual([signedIn.status, signedIn.location], [303, '/'])
    assert.deepEqual(await rowsOf(signedIn), unusable('used_state'))
    profile.cookies().delete('session')
    assert.deepEqual(await rowsOf(await profile.ask(back)), unusable('used_state'))
    const other = await profile.callbackOf(await profile.start('firm'))
    const stranger = portal.profile()
    assert.deepEqual(await rowsOf(await stranger.ask(other)), unusable('no_cookie'))
    await stranger.start('firm')
    assert.deepEqual(await rowsOf(await stranger.ask(other)), unusable('foreign_state'))
    await portal.service.database.rows(`update sign_in_attempt set expires_at = expires_at - interval '1801 seconds'`)
    assert.deepEqual(await rowsOf(await profile.ask(other)), unusable('expired_state'))
  })

  test('with the issuer, and with the subject once it is proven', async () => {
    const { issuer } = portal.provider
    portal.provider.lies.signature = 'stranger'
    const forged = await portal.profile().signIn('firm')
    const details = { method: 'firm', issuer, why: 'provider_failed' }
    assert.deepEqual(await rowsOf(forged), refused('sign_in_failed', details))
    portal.provider.beHonest()
    portal.provider.lies.claims = { email_verified: false }
    const { subject } = portal.newcomer()
    const page = await portal.profile().signIn('firm')
    assert.equal(page.status, 403)
    assert.deepEqual(
      await rowsOf(page),
      refused('sign_in_failed', { method: 'firm', issuer, subject, why: 'sign_in_refused' }),
    )
  })

  test('with the method, the factor and the person, once the first proof is right (B87)', async () => {
    const { profile, id } = await portal.enter('consultant')
    const { secret } = await setUpTotp(profile)
    await forgetSteps(portal.service.database)
    const browser = portal.profile()
    await browser.signIn('firm')
    const wrong = await giveFactor(browser, 'totp', { code: '000000' })
    const details = { method: 'firm', factor: 'totp', of: id, why: 'sign_in_failed' }
    assert.deepEqual(await rowsOf(wrong), refused('sign_in_failed', details))
    const right = await giveFactor(browser, 'totp', { code: totpCode(secret) })
    const shown = { method: 'firm', factors: 'provider totp', device: 'Unknown browser' }
    const allowed = { actor: 'person', person_id: id, action: 'sign_in', outcome: 'allowed', address: '127.0.0.1' }
    assert.deepEqual(await rowsOf(right), [{ ...allowed, details: shown }])
  })

  test('for too many attempts', async () => {
    const pages = await Promise.all(
      Array.from({ length: perMinute + 3 }, () => portal.profile().ask('/auth/start/firm')),
    )
    const tooMany = pages.filter(({ status }) => status === 429)
    assert.equal(tooMany.length, 3)
    for (const page of tooMany) {
      assert.deepEqual(await rowsOf(page), refused('sign_in_failed', { why: 'too_many_sign_ins' }))
    }
  })
})

const askWith = (cookie: string, path = '/clients') =>
  portal.profile().ask(path, { headers: { cookie, accept: 'application/json' } })

test('B94: a change that needs a recent sign-in leaves an audit row in an older session', async () => {
  const { profile, id } = await portal.enter('consultant')
  await portal.service.database.rows(
    `update session set proven_at = proven_at - interval '11 minutes' where person_id = $1`,
    [id],
  )
  const change = await profile.ask('/me/recovery-codes', { method: 'POST', body: {} })
  const link = await profile.ask('/auth/start/firm?link=1', { headers: { 'sec-fetch-site': 'same-origin' } })
  for (const [page, what] of [
    [change, 'POST /me/recovery-codes'],
    [link, 'GET /auth/start/*'],
  ] as const) {
    assert.deepEqual([page.status, at(page.json, 'error', 'code')], [403, 'recent_sign_in_required'], what)
    const [row] = refused('session_too_old', { change: what })
    assert.deepEqual(await rowsOf(page), [{ ...row, actor: 'person', person_id: id }])
  }
})

describe('B94: a session cookie without a session', () => {
  test('is refused and recorded once', async () => {
    for (const cookie of [`session=${'I'.repeat(43)}`, 'a=b; session=short', 'session=']) {
      const page = await askWith(cookie)
      assert.deepEqual([page.status, page.headers.getSetCookie()], [401, []])
      assert.deepEqual(await rowsOf(page), refused('session_unknown', { why: 'unknown_cookie' }))
      assert.deepEqual(await rowsOf(await askWith(cookie, '/me')), [])
    }
    assert.doesNotMatch(portal.service.logText(), /I{43}/)
  })

  test('is not recorded if the cookie is missing or has another name', async () => {
    for (const cookie of ['', 'theme=dark', `my_session=${'I'.repeat(43)}`]) {
      assert.deepEqual(await rowsOf(await askWith(cookie)), [], cookie)
    }
  })
})

test('B94: a flood of any kind leaves ten rows a minute', async () => {
  const kinds: [string, (n: number) => Promise<Page>][] = [
    ['sign_in_failed', (n) => portal.profile().ask(`/auth/callback?state=${n}`)],
    ['session_unknown', (n) => portal.profile().ask('/me', { headers: { cookie: `session=flood${n}` } })],
  ]
  for (const [action, attack] of kinds) {
    time += 60_000
    const was = await count(action)
    await Promise.all(Array.from({ length: 60 }, (_, n) => attack(n)))
    assert.equal(await count(action), was + 10, action)
  }
})

describe('B35: two session cookies in one request', () => {
  test('of different people sign out both, with an audit row for each', async () => {
    const [mine, planted] = [await portal.enter('consultant'), await portal.enter('consultant')]
    const values = [planted, mine].map(({ profile }) => profile.cookies().get('session') ?? '')
    const cookie = values.map((value) => `session=${value}`).join('; ')
    const ids = [
      at((await mine.profile.ask('/me')).json, 'session', 'id'),
      at((await planted.profile.ask('/me')).json, 'session', 'id'),
    ]
    const page = await portal.profile().ask('/clients', { headers: { cookie } })
    assert.equal(page.status, 401)
    assert.deepEqual([await mine.profile.who(), await planted.profile.who()], [undefined, undefined])
    const rows = await portal.service.database.rows<{ details: unknown }>(
      `select details from audit where action = 'session_ended' and actor = 'service' and noun_id = any($1)`,
      [ids],
    )
    assert.equal(rows.length, 2)
    for (const { details } of rows) {
      assert.equal(at(details, 'why'), 'one request had sessions of several people')
      for (const { id } of [mine, planted]) assert.match(String(at(details, 'people')), new RegExp(id))
    }
  })

  test('keep the person signed in if one is invented or both are theirs', async () => {
    const { profile, id } = await portal.enter('consultant')
    const first = profile.cookies().get('session') ?? ''
    const second = portal.profile()
    await second.signIn('firm')
    for (const other of ['I'.repeat(43), second.cookies().get('session')]) {
      for (const cookie of [`session=${first}; session=${other}`, `session=${other}; session=${first}`]) {
        const page = await portal.profile().ask('/me', { headers: { cookie } })
        assert.deepEqual([page.status, at(page.json, 'person', 'id')], [200, id])
      }
    }
  })
})
