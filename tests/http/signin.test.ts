import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { objectAt, valuesOf } from '../support/json.ts'
import { clientId, startLyingProvider } from '../support/lying-provider.ts'
import { openPortal } from '../support/portal.ts'
import type { Profile } from '../support/profile.ts'
import { fixture } from '../support/fixture.ts'

const other = fixture(() => startLyingProvider())
const { portal, provider } = openPortal(() => ({ others: [other.settings({ id: 'other/one', name: 'Another' })] }))

describe('B1: the authorization URL', () => {
  test('has the parameters of the specification and returns to the configured base URL', async () => {
    const start = await portal.profile().ask('/auth/start/firm', {
      headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' },
    })
    assert.equal(start.status, 303)
    const address = new URL(start.location ?? '')
    assert.equal(`${address.origin}${address.pathname}`, `${provider.issuer}/authorize`)
    const { searchParams: query } = address
    const fixed = ['response_type', 'client_id', 'redirect_uri', 'scope', 'code_challenge_method']
    assert.deepEqual(
      fixed.map((name) => query.getAll(name)),
      [['code'], [clientId], [`${portal.service.baseUrl}/auth/callback`], ['openid email'], ['S256']],
    )
    const secrets = ['state', 'nonce', 'code_challenge']
    assert.deepEqual([...query.keys()].toSorted(), [...fixed, ...secrets].toSorted())
  })

  test('has state, nonce and challenge of at least 128 bits, new at every start', async () => {
    const profile = portal.profile()
    const seen = new Set<string>()
    for (let starts = 0; starts < 10; starts++) {
      const { searchParams } = await profile.start('firm')
      for (const name of ['state', 'nonce', 'code_challenge']) {
        const value = searchParams.get(name) ?? ''
        assert.ok(Buffer.from(value, 'base64url').length >= 16, `${name} is too short: ${value}`)
        seen.add(value)
      }
    }
    assert.equal(seen.size, 30)
  })

  test('is refused for an unknown provider', async () => {
    for (const id of ['none', '', 'other', '../firm', 'FIRM']) {
      const page = await portal.profile().ask(`/auth/start/${id}`)
      assert.equal(page.status, 404, id)
      assert.deepEqual(page.headers.getSetCookie(), [])
    }
  })
})

describe('a sign-in', () => {
  test('ends on the requested page, with a session in one cookie', async () => {
    const profile = portal.profile()
    const page = await profile.signIn('firm', '/clients?q=b')
    assert.deepEqual([page.status, page.location, page.text], [303, '/clients?q=b', ''])
    const [cookie = '', ...others] = page.headers.getSetCookie()
    assert.match(cookie, /^session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
    assert.match(others.join(), /^__Host-browser-[^,]*$/)
    assert.deepEqual(
      [page.headers.get('cache-control'), page.headers.get('referrer-policy')],
      ['no-store', 'no-referrer'],
    )
    const [person] = await portal.service.database.rows(
      'select id, name, email, role from person order by id desc limit 1',
    )
    assert.deepEqual(await profile.who(), person)
  })

  test('works with each of several providers', async () => {
    other.say({ subject: 'theirs', email: 'theirs@example.com' })
    const profile = portal.profile()
    assert.equal((await profile.signIn('other/one')).location, '/')
    const me = await profile.ask('/me')
    assert.match(me.text, /theirs@example\.com/)
    assert.match(me.text, /"method":"other\/one"/)
  })

  test('B19: falls back to / for a return path on another host', async () => {
    for (const address of ['//evil.example', '/\\evil.example', 'https:evil.example', '/%09/evil.example']) {
      assert.equal((await portal.profile().signIn('firm', address)).location, '/', address)
    }
  })

  test('B23: does not adopt a session value that the browser already has', async () => {
    const profile = portal.profile()
    const planted = 'P'.repeat(43)
    profile.cookies().set('session', planted)
    await profile.signIn('firm')
    assert.notEqual(profile.cookies().get('session'), planted)
    const attacker = portal.profile()
    attacker.cookies().set('session', planted)
    assert.equal(await attacker.who(), undefined)
  })

  test('B24: gives the browser a new value every time, and refuses the previous one at once', async () => {
    const profile = portal.profile()
    await profile.signIn('firm')
    const first = profile.cookies().get('session') ?? ''
    const { id } = objectAt((await profile.ask('/me')).json, 'session')
    await profile.signIn('firm')
    assert.notEqual(profile.cookies().get('session'), first)
    const replay = portal.profile()
    replay.cookies().set('session', first)
    assert.equal(await replay.who(), undefined)
    assert.ok(await profile.who())
    const entries = await portal.service.database.rows<{ action: string }>(
      'select action from audit where noun_id = $1 order by at, id',
      [id],
    )
    assert.deepEqual(valuesOf(entries, 'action'), ['sign_in', 'session_ended'])
  })
})

describe('B2: a callback', () => {
  test('without a state, with an unknown one or with two makes no token request', async () => {
    const profile = portal.profile()
    const back = await profile.callbackOf(await profile.start('firm'))
    const state = back.searchParams.get('state') ?? ''
    const [asked, had] = [provider.asked.token, await portal.counts()]
    for (const change of [
      (query: URLSearchParams) => query.delete('state'),
      (query: URLSearchParams) => query.set('state', ''),
      (query: URLSearchParams) => query.set('state', 'A'.repeat(43)),
      (query: URLSearchParams) => query.set('state', `${state}A`),
      (query: URLSearchParams) => query.set('state', `${state}\0`),
      (query: URLSearchParams) => query.append('state', 'other'),
    ]) {
      const wrong = new URL(back)
      change(wrong.searchParams)
      await portal.assertRefused(await profile.ask(wrong), [400, 'sign_in_failed'], had)
    }
    assert.equal(provider.asked.token, asked)
    assert.equal((await profile.ask(back)).status, 303, 'the right one still works')
  })

  test('used twice, even concurrently, makes no second token request and no second session', async () => {
    const profile = portal.profile()
    const back = await profile.callbackOf(await profile.start('firm'))
    const [asked, had] = [provider.asked.token, await portal.counts()]
    const twin = portal.profile()
    for (const [name, value] of profile.cookies()) twin.cookies().set(name, value)
    const pages = await Promise.all([twin.ask(back), twin.ask(back), twin.ask(back)])
    assert.deepEqual(
      pages.map(({ status }) => status).toSorted((one, two) => one - two),
      [303, 400, 400],
    )
    await portal.assertRefused(await profile.ask(back), [400, 'sign_in_failed'], {
      session: had.session + 1,
      person: had.person + 1,
    })
    assert.equal(provider.asked.token, asked + 1)
  })

  test('expires after half an hour', async () => {
    const profile = portal.profile()
    const back = await profile.callbackOf(await profile.start('firm'))
    const [asked, had] = [provider.asked.token, await portal.counts()]
    await portal.service.database.rows(`update sign_in_attempt set expires_at = expires_at - interval '1801 seconds'`)
    await portal.assertRefused(await profile.ask(back), [400, 'sign_in_failed'], had)
    assert.equal(provider.asked.token, asked)
  })

  test('B3: is refused in another browser, and its own browser can still finish', async () => {
    const [mine, theirs] = [portal.profile(), portal.profile()]
    const back = await mine.callbackOf(await mine.start('firm'))
    await theirs.start('firm')
    const [asked, had] = [provider.asked.token, await portal.counts()]
    await portal.assertRefused(await theirs.ask(back), [400, 'sign_in_failed'], had)
    await portal.assertRefused(await portal.profile().ask(back), [400, 'sign_in_failed'], had)
    assert.equal(provider.asked.token, asked)
    assert.equal((await mine.ask(back)).status, 303)
  })

  test('B3: is refused with a cookie from a sibling host, whose name is not exactly ours', async () => {
    const mine = portal.profile()
    const back = await mine.callbackOf(await mine.start('firm'))
    const [[name = '', value = ''] = []] = mine.cookies()
    assert.match(name, /^__Host-signin-/)
    const [asked, had] = [provider.asked.token, await portal.counts()]
    for (const planted of [`\u00a0${name}`, name.toLowerCase(), name.replace('__Host-', '__Secure-'), `"${name}`]) {
      const theirs = portal.profile()
      theirs.cookies().set(planted, value)
      await portal.assertRefused(await theirs.ask(back), [400, 'sign_in_failed'], had)
    }
    assert.equal(provider.asked.token, asked)
    assert.equal((await mine.ask(back)).status, 303)
  })

  test('says so if the browser did not keep its cookie, as Safari does without https, and what to do', async () => {
    const profile = portal.profile()
    const back = await profile.callbackOf(await profile.start('firm'))
    const reasonOf = async (asking: Profile) => String(objectAt((await asking.ask(back)).json, 'error')['reason'])
    assert.match(await reasonOf(portal.profile()), /without the cookie for this sign-in.*Allow cookies.*use https/)
    const stranger = portal.profile()
    await stranger.start('firm')
    assert.match(await reasonOf(stranger), /not started in this browser/, 'it has a cookie')
    assert.equal((await profile.ask(back)).status, 303)
    assert.match(await reasonOf(portal.profile()), /without the cookie/)
  })
})

describe('B4: several tabs', () => {
  for (const tabs of [2, 8]) {
    test(`${tabs} tabs, started one by one and finished in any order, all end signed in`, async () => {
      const profile = portal.profile()
      const backs: URL[] = []
      for (let tab = 0; tab < tabs; tab++) {
        backs.push(await profile.callbackOf(await profile.start('firm', `/clients?tab=${tab}`)))
      }
      for (const back of backs.toReversed()) assert.equal((await profile.ask(back)).status, 303)
      assert.ok(await profile.who())
    })

    test(`${tabs} concurrent tabs of a new person all end signed in as one person`, async () => {
      const profile = portal.profile()
      const people = await portal.count('person')
      const starts = await Promise.all(
        Array.from({ length: tabs }, (_, tab) => profile.start('firm', `/clients?tab=${tab}`)),
      )
      const backs = await Promise.all(starts.map((start) => profile.callbackOf(start)))
      const pages = await Promise.all(backs.map((back) => profile.ask(back)))
      assert.deepEqual(
        pages.map(({ status, location }) => [status, location]),
        starts.map((_, tab) => [303, `/clients?tab=${tab}`]),
      )
      assert.ok(await profile.who())
      assert.equal(await portal.count('person'), people + 1)
    })
  }
})

describe('B5: a callback in a browser that is signed in', () => {
  test('redirects to / with the session unchanged, and does not redeem the code', async () => {
    const profile = portal.profile()
    await profile.signIn('firm')
    const value = profile.cookies().get('session')
    const asked = provider.asked.token
    const page = await profile.ask('/auth/callback?code=x&state=unknown')
    assert.deepEqual([page.status, page.location, page.headers.getSetCookie()], [303, '/', []])
    assert.equal(provider.asked.token, asked)
    assert.equal(profile.cookies().get('session'), value)
    assert.ok(await profile.who())
  })

  test('redirects to the requested page when it is reloaded', async () => {
    const profile = portal.profile()
    const back = await profile.callbackOf(await profile.start('firm', '/people'))
    await profile.ask(back)
    const again = await profile.ask(back)
    assert.deepEqual([again.status, again.location, again.headers.getSetCookie()], [303, '/people', []])
  })
})

describe('B6: a refusal by the provider', () => {
  test('shows a readable message; the attempt cannot be reused, and a new one works', async () => {
    provider.lies.callback = { error: 'access_denied', error_description: '<b>call 555-1234</b>', code: undefined }
    const profile = portal.profile()
    const back = await profile.callbackOf(await profile.start('firm'))
    const [asked, had] = [provider.asked.token, await portal.counts()]
    const page = await profile.ask(back)
    await portal.assertRefused(page, [400, 'sign_in_failed'], had)
    assert.match(page.text, /Firm account.*Start again/)
    assert.doesNotMatch(page.text, /555/)
    back.searchParams.delete('error')
    back.searchParams.set('code', 'x')
    await portal.assertRefused(await profile.ask(back), [400, 'sign_in_failed'], had)
    assert.equal(provider.asked.token, asked)
    provider.beHonest()
    assert.equal((await profile.signIn('firm')).status, 303)
  })

  test('that is a failure of the provider says so', async () => {
    for (const error of ['server_error', 'temporarily_unavailable']) {
      provider.lies.callback = { error, code: undefined }
      const page = await portal.profile().signIn('firm')
      assert.deepEqual([page.status, page.headers.get('x-should-retry')], [502, 'true'])
    }
  })
})

describe('B14: identity', () => {
  test('is issuer and subject: a changed address is the same person, another subject with the same address is not', async () => {
    const profile = portal.profile()
    const { subject, email } = portal.newcomer()
    await profile.signIn('firm')
    const was = await profile.who()
    assert.equal(was?.['email'], email)
    provider.say({ subject, email: 'new-name@example.com' })
    await profile.signIn('firm')
    assert.deepEqual(await profile.who(), { ...was, email: 'new-name@example.com' })

    const had = await portal.counts()
    provider.say({ subject: 'somebody else', email: 'new-name@example.com' })
    await portal.assertRefused(await portal.profile().signIn('firm'), [403, 'sign_in_refused'], had)
    other.say({ subject, email: 'new-name@example.com' })
    await portal.assertRefused(await portal.profile().signIn('other/one'), [403, 'sign_in_refused'], had)
  })

  test('an address that the provider changes to another person’s stays unchanged', async () => {
    const first = portal.newcomer()
    await portal.profile().signIn('firm')
    const second = portal.newcomer()
    const profile = portal.profile()
    await profile.signIn('firm')
    provider.say({ subject: second.subject, email: first.email })
    await profile.signIn('firm')
    assert.equal((await profile.who())?.['email'], second.email)
  })
})

describe('B20: the callback', () => {
  test('accepts only GET', async () => {
    const profile = portal.profile()
    const back = await profile.callbackOf(await profile.start('firm'))
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']) {
      const page = await profile.ask(back, { method })
      assert.deepEqual([page.status, page.headers.get('allow')], [405, 'GET'], method)
    }
    assert.equal((await profile.ask(back)).status, 303)
  })
})

describe('a browser whose callback fails', () => {
  test('gets a page with the same status and advice, and no session', async () => {
    const cases: [() => void, string, number][] = [
      [() => undefined, '/auth/callback?code=planted-1&state=planted-2', 400],
      [() => undefined, '/auth/callback?error=planted-1&error_description=planted%2d2&state=planted-3', 400],
      [() => (provider.lies.token = 'error'), '', 502],
      [() => (provider.lies.claims = { email_verified: false }), '', 403],
    ]
    for (const [lie, address, status] of cases) {
      lie()
      const profile = portal.profile()
      const back = address === '' ? await profile.callbackOf(await profile.start('firm')) : address
      const page = await profile.ask(back, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })
      assert.deepEqual([page.status, page.headers.getSetCookie()], [status, []], page.text)
      assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
      assert.match(page.text, /"reason":"[^"]+"/)
      assert.match(page.text, /"address":"\/auth\/callback"/)
      const { searchParams } = new URL(back, portal.service.baseUrl)
      for (const value of [...searchParams.values(), 'planted%2d2']) assert.ok(!page.text.includes(value), value)
      assert.equal(page.headers.get('cache-control'), 'no-store')
      provider.beHonest()
    }
  })

  test('is redirected from a protected page to the sign-in, and back', async () => {
    const profile = portal.profile()
    const page = await profile.ask('/me?a=b', { headers: { accept: 'text/html' } })
    assert.deepEqual([page.status, page.location], [303, '/signin?return_to=%2Fme%3Fa%3Db'])
    const json = await profile.ask('/me', { headers: { accept: 'application/json' } })
    assert.equal(json.status, 401)
  })
})

describe('B25: an anonymous visitor', () => {
  test('gets no session, and no cookie except when a sign-in starts', async () => {
    const sessions = await portal.count('session')
    for (const address of [
      '/',
      '/signin',
      '/signin?return_to=/clients',
      '/clients',
      '/me',
      '/people',
      '/auth/callback',
    ]) {
      for (const accept of ['application/json', 'text/html']) {
        const page = await portal.profile().ask(address, { headers: { accept } })
        assert.deepEqual(page.headers.getSetCookie(), [], address)
      }
    }
    assert.equal(await portal.count('session'), sessions)
    const start = await portal.profile().ask('/auth/start/firm')
    const [cookie = '', ...others] = start.headers.getSetCookie()
    assert.match(cookie, /^__Host-signin-[\w-]+=[\w-]{43}; Path=\/; Max-Age=1800; HttpOnly; Secure; SameSite=Lax$/)
    assert.deepEqual(others, [])
    assert.equal(await portal.count('session'), sessions)
  })

  test('sees the providers, and where the sign-in returns to', async () => {
    const page = await portal.profile().ask('/signin?return_to=%2Fclients%3Fq%3Db')
    assert.deepEqual(page.json, {
      providers: [
        { id: 'firm', name: 'Firm account' },
        { id: 'other/one', name: 'Another' },
      ],
      credentials: [{ id: 'passkey', name: 'Passkey' }],
      return_to: '/clients?q=b',
    })
    assert.equal((await portal.profile().ask('/signin?return_to=//evil.example')).json['return_to'], '/')
  })
})
