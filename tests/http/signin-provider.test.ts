import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Failure } from '../support/lying-provider.ts'
import { openPortal, startPortal } from '../support/portal.ts'
import { until } from '../support/until.ts'

const { portal, provider } = openPortal()

describe('B8: a provider whose issuer differs from the configured one', () => {
  const names: Record<string, (issuer: string) => string> = {
    'a slash more': (issuer) => `${issuer}/`,
    'capital letters': (issuer) => issuer.replace('http', 'HTTP'),
    'another address': () => 'https://elsewhere.example',
    'no address': () => 'tollgate',
  }
  for (const [name, wrongIssuer] of Object.entries(names)) {
    test(`fails the start with an error that names the setting (${name})`, async () => {
      const started = startPortal({ wrongIssuer }).then((wrong) => wrong.close())
      const message =
        /^sign_in\.providers\[0\]\.issuer: http:\/\/127\.0\.0\.1:\d+ cannot be used, because its document names/
      await assert.rejects(started, { name: 'OperatorError', message })
    })
  }

  test('is refused while the service runs, and /readyz reports it', async () => {
    await using own = await startPortal({ lies: { discovery: 'error' } })
    own.provider.lies.discovery = { issuer: `${own.provider.issuer}/` }
    const page = await own.profile().ask('/auth/start/firm')
    assert.deepEqual([page.status, page.headers.getSetCookie()], [502, []])
    const { text } = await own.service.call('/readyz', undefined)
    assert.match(text, /"providers":\{"firm":"wrong"\}/)
  })
})

describe('B92: an https provider with an http URL', () => {
  test('fails the start, and the error names the field', async () => {
    const lies = { discovery: { jwks_uri: 'http://127.0.0.1:9/keys' } }
    const started = startPortal({ secure: true, lies }).then((insecure) => insecure.close())
    const message =
      /^sign_in\.providers\[0\]\.issuer: https:\S+ cannot be used, because its document has an http: address in jwks_uri/
    await assert.rejects(started, { name: 'OperatorError', message })
  })

  test('is refused when that changes while the service runs, and sign-out still works', async () => {
    await using own = await startPortal({ secure: true })
    const { profile } = await own.enter('consultant')
    const { location } = (await profile.ask('/signout', { method: 'POST' })).json
    assert.match(String(location), /^https:/)
    await using away = await startPortal({ secure: true, lies: { discovery: 'error' } })
    away.provider.beHonest()
    away.provider.lies.discovery = { end_session_endpoint: 'http://127.0.0.1:9/end' }
    away.newcomer()
    const page = await away.profile().ask('/auth/start/firm')
    assert.deepEqual([page.status, page.headers.getSetCookie()], [502, []])
    assert.match((await away.service.call('/readyz', undefined)).text, /"providers":\{"firm":"wrong"\}/)
    assert.match(away.service.logText(), /end_session_endpoint/)
  })
})

describe('a provider that is unreachable when the service starts', () => {
  test('does not prevent the start, and works as soon as it is back', async () => {
    await using own = await startPortal({ lies: { discovery: 'error' } })
    assert.match((await own.service.call('/readyz', undefined)).text, /"ready":true.*"firm":"unreachable"/)
    assert.equal((await own.profile().ask('/auth/start/firm')).status, 502)
    own.provider.beHonest()
    own.newcomer()
    assert.equal((await own.profile().signIn('firm')).status, 303)
    assert.match((await own.service.call('/readyz', undefined)).text, /"firm":"ready"/)
  })
})

describe('B11: the provider’s keys', () => {
  test('a new one works at the first sign-in, after one fetch', async () => {
    await portal.profile().signIn('firm')
    const asked = provider.asked.keys
    await provider.keys.rotate()
    portal.newcomer()
    assert.equal((await portal.profile().signIn('firm')).status, 303)
    assert.equal(provider.asked.keys, asked + 1)
  })

  test('a hundred tokens with unknown key ids cause at most one fetch', async () => {
    const asked = provider.asked.keys
    const had = await portal.counts()
    for (let tokens = 0; tokens < 100; tokens++) {
      provider.lies.header = { kid: `stray-${tokens}` }
      await portal.assertRefused(await portal.profile().signIn('firm'), [502, 'provider_failed'], had)
    }
    assert.ok(provider.asked.keys - asked <= 1, `asked ${provider.asked.keys - asked} times`)
  })

  test('known keys keep working while new ones cannot be fetched', async () => {
    await portal.profile().signIn('firm')
    for (const failure of ['error', 'malformed', 'cut'] as const) {
      provider.lies.keys = failure
      portal.newcomer()
      assert.equal((await portal.profile().signIn('firm')).status, 303, failure)
    }
  })
})

describe('B17: tokens', () => {
  test('appear in no response except the sign-out redirect, and in no cookie, log or row', async () => {
    const profile = portal.profile()
    provider.lies.claims = { email: undefined }
    const pages = [await profile.signIn('firm'), await profile.ask('/me'), await profile.ask('/signin')]
    provider.lies.userinfo = 'malformed'
    pages.push(await profile.signIn('firm'))
    provider.lies.signature = 'stranger'
    pages.push(await profile.signIn('firm'))
    const dumped = await portal.service.database.rows<{ token: string }>(
      `select encode(id_token, 'escape') as token from session where id_token is not null`,
    )
    assert.ok(dumped.length > 0, 'an ID token is stored')
    const signOut = await profile.ask('/signout', { method: 'POST' })
    const hint = new URL(String(signOut.json['location'])).searchParams.get('id_token_hint') ?? ''
    assert.ok(provider.tokens.includes(hint) && hint.split('.').length === 3)
    pages.push({ ...signOut, text: signOut.text.replace(hint, '') })
    const dump = await Promise.all(
      ['session', 'person', 'identity', 'sign_in_attempt', 'audit'].map((table) =>
        portal.service.database.rows(`select t::text as row from ${table} t`),
      ),
    )
    const everything = [
      ...pages.map(({ text, headers }) => `${text} ${JSON.stringify([...headers])}`),
      portal.service.logText(),
      JSON.stringify(dump),
      JSON.stringify(dumped),
    ].join('\n')
    assert.ok(provider.tokens.length > 10)
    for (const token of provider.tokens) {
      assert.ok(!everything.includes(token), 'a whole token')
      for (const part of token.split('.')) if (part.length > 20) assert.ok(!everything.includes(part), 'a part of one')
    }
  })

  test('of a malformed response are not logged either', async () => {
    provider.lies.token = 'malformed'
    await portal.profile().signIn('firm')
    assert.doesNotMatch(portal.service.logText(), /secret-in-a-broken-answer/)
  })
})

describe('B18: a provider that fails', { concurrency: 4 }, () => {
  const places = ['token', 'keys', 'userinfo', 'discovery'] as const
  const failures: Failure[] = ['slow', 'error', 'malformed', 'huge', 'cut', 'not an object']
  for (const place of places) {
    for (const failure of failures) {
      test(`${failure} at ${place}: 502 within the limit, with a request id, without delaying other requests`, async () => {
        // A service that has not cached the provider's metadata yet.
        await using own = await startPortal(place === 'discovery' ? { lies: { discovery: 'error' } } : {})
        own.newcomer()
        if (place === 'userinfo') own.provider.lies.claims = { email: undefined }
        Object.assign(own.provider.lies, { [place]: failure })
        // A sign-in that waited for it would not end.
        own.provider.lies.delay = 2 ** 31 - 1
        const had = await own.counts()
        let isOver = false
        const waiting = own
          .profile()
          .follow('/auth/start/firm')
          .finally(() => (isOver = true))
        const calm = await own.service.call('/signin', undefined)
        assert.deepEqual([calm.status, failure === 'slow' && isOver], [200, false])
        const page = await waiting
        await own.assertRefused(page, [502, 'provider_failed'], had)
        assert.match(page.text, /"request_id":"[0-9a-f-]{36}"/)
        assert.doesNotMatch(page.text, /127\.0\.0\.1|oops|JSON|timed? ?out/i)
        own.provider.beHonest()
        // A sign-in right after it may still share the failed request.
        await until(async () => (await own.profile().signIn('firm')).status === 303)
      })
    }
  }

  test('slow at every endpoint: the time limit covers all of them', async () => {
    await using own = await startPortal()
    own.provider.lies.delay = 2000
    Object.assign(own.provider.lies, { token: 'slow', keys: 'slow', userinfo: 'slow', claims: { email: undefined } })
    // Each responds in time, but not all of them together.
    assert.equal((await own.profile().signIn('firm')).status, 502)
  })
})

describe('a failure at the provider', () => {
  test('is logged with the error code of the standard, and is in the audit log', async () => {
    await using own = await startPortal()
    own.provider.lies.token = { status: 400, error: 'invalid_grant', error_description: 'quoted' }
    const page = await own.profile().signIn('firm')
    assert.equal(page.status, 400)
    await until(() => own.service.logText().includes('"provider_error":"invalid_grant"'))
    assert.doesNotMatch(own.service.logText(), /quoted/)
    const entries = await own.service.database.rows<{ details: unknown; address: string }>(
      `select details, address from audit where action = 'sign_in_failed' order by at desc limit 1`,
    )
    const details = { method: 'firm', issuer: own.provider.issuer, why: 'sign_in_failed' }
    assert.deepEqual(entries, [{ details, address: '127.0.0.1' }])
  })
})
