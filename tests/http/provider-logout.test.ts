import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, mock, test } from 'node:test'
import { clientId, clientSecret, startLyingProvider } from '../support/lying-provider.ts'
import type { Signature } from '../support/lying-tokens.ts'
import { forgetSteps, post, setUpTotp } from '../support/own-account.ts'
import { startPortal } from '../support/portal.ts'
import { parseObject } from '../support/json.ts'
import { fixture } from '../support/fixture.ts'
import type { Profile } from '../support/profile.ts'
import { totpCode } from '../support/totp.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { eventsOf } from '../support/recorded.ts'

const elsewhere = fixture(() => startLyingProvider())
const portal = fixture(() => startPortal({ others: [elsewhere.settings({ id: 'elsewhere' })] }))
const provider = fixture(() => portal.provider)
beforeEach(() => provider.beHonest())

const event = 'http://schemas.openid.net/event/backchannel-logout'
const now = () => Math.floor(Date.now() / 1000)

interface Token {
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
  readonly signature?: Signature
}

/** A valid logout token with these changes; `undefined` removes a claim. */
function tokenOf(subject: string, { claims, header, signature }: Token = {}): Promise<string> {
  const right = { iss: provider.issuer, aud: clientId, iat: now(), exp: now() + 120, jti: randomUUID(), sub: subject }
  return provider.keys.sign(
    { ...right, events: { [event]: {} }, ...claims },
    { signature, header: { typ: 'logout+jwt', ...header }, secret: clientSecret },
  )
}

async function tell(token: string, path = '/auth/backchannel-logout/firm') {
  const response = await fetch(`${portal.service.url}${path}`, {
    method: 'POST',
    body: new URLSearchParams({ logout_token: token }),
  })
  return { status: response.status, text: await response.text(), headers: response.headers }
}

/** Two browsers of one person, each with its own session at the provider. */
async function twice(): Promise<{ subject: string; sids: [string, string]; profiles: [Profile, Profile] }> {
  const { subject } = portal.newcomer()
  const sids: [string, string] = [randomUUID(), randomUUID()]
  const profiles: [Profile, Profile] = [portal.profile(), portal.profile()]
  for (const [index, profile] of profiles.entries()) {
    provider.lies.claims = { sid: sids[index] }
    assert.equal((await profile.signIn('firm')).status, 303)
  }
  provider.beHonest()
  return { subject, sids, profiles }
}

/** A browser of a new person, whose session at the provider has no name here. */
async function withoutSid(): Promise<{ subject: string; profile: Profile }> {
  const { subject } = portal.newcomer()
  const profile = portal.profile()
  provider.lies.claims = { sid: undefined }
  await profile.signIn('firm')
  provider.beHonest()
  return { subject, profile }
}

/** Signs the provider's person in and sets up an authenticator app: its secret. */
async function setUpAt(at: string): Promise<string> {
  const profile = portal.profile()
  await profile.signIn(at)
  return (await setUpTotp(profile)).secret
}

const areIn = async (...profiles: readonly Profile[]) =>
  (await Promise.all(profiles.map((profile) => profile.who()))).map((person) => person !== undefined)

/** A person with an authenticator app whose sign-in waits for it. */
async function waiting(sid?: string, at: 'firm' | 'elsewhere' = 'firm') {
  const { subject, email } = portal.newcomer()
  elsewhere.say({ subject, email: `elsewhere-${email}` })
  for (const each of [provider, elsewhere]) each.lies.claims = { sid: 'at home' }
  const secret = await setUpAt(at)
  for (const each of [provider, elsewhere]) each.lies.claims = { sid }
  const profile = portal.profile()
  assert.equal((await profile.signIn(at)).location, '/signin')
  return { subject, secret, profile }
}
/** Whether their sign-ins can go on. */
async function goOn(...people: readonly Awaited<ReturnType<typeof waiting>>[]) {
  await forgetSteps(portal.service.database)
  for (const { profile, secret } of people) {
    const begun = await post(profile, '/auth/second-factor/start', { factor: 'totp' })
    if (begun.status === 200) await post(profile, '/auth/second-factor', { input: { code: totpCode(secret) } })
  }
  return areIn(...people.map(({ profile }) => profile))
}

describe('B39: a logout token', () => {
  test('with a subject ends all sessions of that person and no others', async () => {
    const [{ subject, profiles }, another] = [await twice(), await twice()]
    const { status, headers, text } = await tell(await tokenOf(subject))
    assert.deepEqual([status, headers.get('cache-control'), text], [200, 'no-store', ''])
    assert.deepEqual(await areIn(...profiles, ...another.profiles), [false, false, true, true])
    const entries = await portal.service.database.rows<{ details: unknown }>(
      `select details from audit where action = 'session_ended' order by at desc limit 2`,
    )
    const details = { why: 'signed out at the provider', method: 'firm' }
    assert.deepEqual(entries, [{ details }, { details }])
  })

  test('with a subject ends the sign-in of that person that waits for a second factor, and no other', async () => {
    const [told, another] = [await waiting(), await waiting()]
    assert.equal((await tell(await tokenOf(told.subject))).status, 200)
    assert.deepEqual(await goOn(told, another), [false, true])
  })

  test('with a sid ends the sign-in of that session that waits for a second factor, and no other', async () => {
    const sid = randomUUID()
    const people = [await waiting(sid), await waiting(randomUUID()), await waiting(), await waiting(sid, 'elsewhere')]
    assert.equal((await tell(await tokenOf('', { claims: { sub: undefined, sid } }))).status, 200)
    assert.deepEqual(await goOn(...people), [false, true, true, true])
  })

  test('with both ends the sign-ins that match both, or that have no sid', async () => {
    const [same, other, nameless] = [await waiting('same'), await waiting('other'), await waiting()]
    for (const { subject } of [same, other, nameless]) {
      assert.equal((await tell(await tokenOf(subject, { claims: { sid: 'same' } }))).status, 200)
    }
    assert.deepEqual(await goOn(same, other, nameless), [false, true, false])
  })

  test('with a sid ends only that session', async () => {
    const { profiles, sids } = await twice()
    assert.equal((await tell(await tokenOf('', { claims: { sub: undefined, sid: sids[0] } }))).status, 200)
    assert.deepEqual(await areIn(...profiles), [false, true])
  })

  test('with both ends the sessions that match both', async () => {
    const [{ subject, profiles, sids }, another] = [await twice(), await twice()]
    assert.equal((await tell(await tokenOf(subject, { claims: { sid: another.sids[0] } }))).status, 200)
    assert.deepEqual(await areIn(...profiles, ...another.profiles), [true, true, true, true])
    assert.equal((await tell(await tokenOf(subject, { claims: { sid: sids[1] } }))).status, 200)
    assert.deepEqual(await areIn(...profiles), [true, false])
  })

  test('with both ends the sessions of that person for which the provider sent no sid', async () => {
    const [told, another] = [await withoutSid(), await withoutSid()]
    const sid = randomUUID()
    assert.equal((await tell(await tokenOf('', { claims: { sub: undefined, sid } }))).status, 200)
    assert.deepEqual(await areIn(told.profile, another.profile), [true, true], 'a sid alone names neither')
    assert.equal((await tell(await tokenOf(told.subject, { claims: { sid } }))).status, 200)
    assert.deepEqual(await areIn(told.profile, another.profile), [false, true])
  })

  test('is accepted once, even when two requests send it at the same time', async () => {
    const { subject, profiles } = await twice()
    const token = await tokenOf(subject)
    const statuses = (await Promise.all([tell(token), tell(token)])).map(({ status }) => status)
    assert.deepEqual(
      statuses.toSorted((one, two) => one - two),
      [200, 400],
    )
    provider.say({ subject, email: undefined })
    await profiles[0].signIn('firm')
    assert.equal((await tell(token)).status, 400)
    assert.deepEqual(await areIn(profiles[0]), [true])
  })

  test('that could not be processed can be sent again', async () => {
    const { subject, profiles } = await twice()
    const token = await tokenOf(subject)
    const { database } = portal.service
    await database.rows(`
      create function refuse_end() returns trigger language plpgsql as
        $$ begin raise exception 'the disk is full' using errcode = 'disk_full'; end $$;
      create trigger refuse_end before delete on session for each row execute function refuse_end()`)
    assert.equal((await tell(token)).status, 503)
    assert.deepEqual(await areIn(...profiles), [true, true])
    await database.rows('drop function refuse_end cascade')
    assert.equal((await tell(token)).status, 200)
    assert.deepEqual(await areIn(...profiles), [false, false])
  })

  const wrong: Record<string, () => Token> = {
    'is not signed': () => ({ signature: 'none' }),
    'is signed by the secret that we know too': () => ({ signature: 'secret' }),
    'is signed by somebody else': () => ({ signature: 'stranger' }),
    'has the type of another token': () => ({ header: { typ: 'JWT' } }),
    'has no type': () => ({ header: { typ: undefined } }),
    'is of another issuer': () => ({ claims: { iss: 'https://elsewhere.example' } }),
    'is for another': () => ({ claims: { aud: 'another' } }),
    'is for nobody': () => ({ claims: { aud: undefined } }),
    'is from the future': () => ({ claims: { iat: now() + 40 } }),
    'is old': () => ({ claims: { iat: now() - 700, exp: now() + 700 } }),
    'does not say when it is from': () => ({ claims: { iat: undefined } }),
    'has expired': () => ({ claims: { exp: now() - 40 } }),
    'does not expire': () => ({ claims: { exp: undefined } }),
    'is of no event': () => ({ claims: { events: undefined } }),
    'is of another event': () => ({ claims: { events: { 'http://schemas.openid.net/event/other': {} } } }),
    'is of an event that is no object': () => ({ claims: { events: { [event]: true } } }),
    'has a nonce': () => ({ claims: { nonce: 'n' } }),
    'has no jti': () => ({ claims: { jti: undefined } }),
    'has an endless jti': () => ({ claims: { jti: 'a'.repeat(1000) } }),
    'has no subject and no sid': () => ({ claims: { sub: undefined } }),
    'has an empty subject': () => ({ claims: { sub: '' } }),
    'has a sid that is none': () => ({ claims: { sid: 7 } }),
    'has a sid that no database takes': () => ({ claims: { sid: 'a\0' } }),
  }
  for (const [name, lie] of Object.entries(wrong)) {
    test(`that ${name} is refused, and ends no session`, async () => {
      const { subject, profiles } = await twice()
      const { status, text, headers } = await tell(await tokenOf(subject, lie()))
      assert.deepEqual([status, headers.get('cache-control')], [400, 'no-store'], text)
      assert.deepEqual(await areIn(...profiles), [true, true])
    })
  }

  test('B94: that is refused leaves an audit row with the reason, at most ten a minute', async () => {
    await using own = await startPortal()
    const tellOwn = (token: string) =>
      fetch(`${own.service.url}/auth/backchannel-logout/firm`, {
        method: 'POST',
        body: new URLSearchParams({ logout_token: token }),
      })
    const claims = { iss: own.provider.issuer, aud: 'another', iat: now() }
    const forged = await own.provider.keys.sign(claims, { header: { typ: 'logout+jwt' }, secret: clientSecret })
    const columns = 'actor, action, outcome, address, details'
    const rows = await eventsOf(await tellOwn(forged), own.service.database, columns)
    const why = 'The logout token is invalid: aud is wrong.'
    const details = { method: 'firm', issuer: own.provider.issuer, why }
    const row = { actor: 'visitor', action: 'provider_logout_failed', outcome: 'refused', address: '127.0.0.1' }
    assert.deepEqual(rows, [{ ...row, details }])
    mock.method(Date, 'now', () => 0)
    for (let n = 0; n < 30; n++) assert.equal((await tellOwn(`x${n}`)).status, 400)
    mock.restoreAll()
    const [all] = await own.service.database.rows<{ n: number }>(
      `select count(*)::int as n from audit where action = 'provider_logout_failed'`,
    )
    assert.ok(all !== undefined && all.n >= 10 && all.n <= 11, `${all?.n} rows`)
  })

  test('is refused if it is missing, an ID token or sent in another format', async () => {
    const { subject, profiles } = await twice()
    const idToken = provider.tokens.at(-3) ?? ''
    assert.equal(idToken.split('.').length, 3)
    for (const token of [idToken, '', 'x', 'a.b.c', `${await tokenOf(subject)}x`]) {
      assert.equal((await tell(token)).status, 400, token.slice(0, 20))
    }
    const token = await tokenOf(subject)
    const asJson = await fetch(`${portal.service.url}/auth/backchannel-logout/firm`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ logout_token: token }),
    })
    assert.equal(asJson.status, 415)
    assert.match(await asJson.text(), /Send logout_token in a form/)
    assert.equal((await tell('x'.repeat(20_000))).status, 413)
    assert.equal((await tell(token, '/auth/backchannel-logout/other')).status, 404)
    const asGet = await fetch(`${portal.service.url}/auth/backchannel-logout/firm?logout_token=${token}`)
    assert.equal(asGet.status, 405)
    assert.deepEqual(await areIn(...profiles), [true, true])
  })
})

/** The redirect of a sign-out, with its parameters. */
async function leave(profile: Profile): Promise<{ address: URL; parameters: Record<string, string> }> {
  const { json, status } = await profile.ask('/signout', {
    method: 'POST',
    headers: { referer: 'https://evil.example' },
  })
  assert.equal(status, 200)
  const address = new URL(String(json['location']))
  return { address, parameters: Object.fromEntries(address.searchParams) }
}
const withoutHint = () => ({
  client_id: clientId,
  post_logout_redirect_uri: `${portal.service.baseUrl}/signin`,
})
const storedToken = async (personId: string) => {
  const [row] = await portal.service.database.rows<{ token: Buffer | null }>(
    'select id_token as token from session where person_id = $1',
    [personId],
  )
  return row?.token
}

describe('B40: signing out at Tollgate', () => {
  test('B93: redirects to the provider with the ID token, the client id and the return URL', async () => {
    const { profile, id } = await portal.enter('consultant')
    const idToken = provider.tokens.at(-3) ?? ''
    const stored = (await storedToken(id)) ?? Buffer.alloc(0)
    assert.ok(stored.length > idToken.length && !stored.includes(idToken.slice(0, 40)), 'it is encrypted')
    const { address, parameters } = await leave(profile)
    assert.equal(`${address.origin}${address.pathname}`, `${provider.issuer}/end`)
    assert.deepEqual(parameters, { ...withoutHint(), id_token_hint: idToken })
    const left = await portal.service.database.rows('select from session where id_token = $1', [stored])
    assert.equal(left.length, 0, 'it is deleted with the session')
    assert.deepEqual((await profile.ask('/signout', { method: 'POST' })).json, { location: '/signin' })
  })

  test('B93: succeeds at a provider that refuses a sign-out without its ID token', async () => {
    const { profile } = await portal.enter('consultant')
    const { address } = await leave(profile)
    const returned = await fetch(address, { redirect: 'manual' })
    assert.deepEqual([returned.status, returned.headers.get('location')], [303, `${portal.service.baseUrl}/signin`])
    address.searchParams.delete('id_token_hint')
    assert.equal((await fetch(address, { redirect: 'manual' })).status, 400)
  })

  test('B93: sends only the client id if the ID token is missing, another person’s, altered or too long for a URL', async () => {
    const { database } = portal.service
    const other = await portal.enter('consultant')
    const damage: ((id: string) => Promise<unknown>)[] = [
      (id) => database.rows('update session set id_token = null where person_id = $1', [id]),
      (id) => database.rows(`update session set id_token = id_token || 'x' where person_id = $1`, [id]),
      (id) => database.rows(`update session set id_token = 'short' where person_id = $1`, [id]),
      async (id) =>
        database.rows('update session set id_token = $1 where person_id = $2', [await storedToken(other.id), id]),
    ]
    for (const harm of damage) {
      const { profile, id } = await portal.enter('consultant')
      await harm(id)
      assert.deepEqual((await leave(profile)).parameters, withoutHint())
    }
    provider.lies.claims = { groups: 'x'.repeat(6000) }
    const { profile } = await portal.enter('consultant')
    assert.deepEqual((await leave(profile)).parameters, withoutHint())
  })

  test('B93: sends the ID token of the ended session, on any instance with the same key', async () => {
    const { profile } = await portal.enter('consultant')
    const idToken = provider.tokens.at(-3) ?? ''
    await portal.enter('consultant')
    const second = await startService({
      models: [upstreamModel('http://127.0.0.1:9/v1')],
      signIn: { providers: [provider.settings()], sign_up: { policy: 'anyone' } },
      databaseUrl: portal.service.databaseUrl,
    })
    try {
      const response = await fetch(`${second.url}/signout`, {
        method: 'POST',
        headers: { cookie: `session=${profile.cookies().get('session')}`, 'sec-fetch-site': 'same-origin' },
      })
      const location = new URL(String(parseObject(await response.text())['location']))
      assert.equal(location.searchParams.get('id_token_hint'), idToken)
    } finally {
      await second.close()
    }
    assert.equal(await profile.who(), undefined)
  })

  test('ignores a return URL in the request', async () => {
    const { profile } = await portal.enter('consultant')
    const page = await profile.ask('/signout?post_logout_redirect_uri=https://evil.example', {
      method: 'POST',
      body: { post_logout_redirect_uri: 'https://evil.example', location: 'https://evil.example' },
    })
    assert.equal(page.status, 200)
    assert.doesNotMatch(page.text, /evil/)
  })

  test('works while the provider is down, and with a provider that has no sign-out endpoint', async () => {
    for (const lie of [
      { discovery: 'error', token: 'error', keys: 'error' },
      { discovery: { end_session_endpoint: undefined } },
    ]) {
      await using own = await startPortal(
        typeof lie.discovery === 'object' ? { lies: { discovery: lie.discovery } } : {},
      )
      const { profile } = await own.enter('consultant')
      const thief = own.profile()
      thief.cookies().set('session', profile.cookies().get('session') ?? '')
      Object.assign(own.provider.lies, lie)
      const { status, json } = await profile.ask('/signout', { method: 'POST' })
      assert.equal(status, 200)
      if (typeof lie.discovery === 'object') assert.deepEqual(json, { location: '/signin' })
      assert.equal(await thief.who(), undefined)
    }
  })
})
