import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertBetween } from '../support/clock.ts'
import { byService } from '../../src/access/actor.ts'
import { at } from '../support/json.ts'
import { clientId, clientSecret } from '../support/lying-provider.ts'
import { fixture } from '../support/fixture.ts'
import { setUpTotp } from '../support/own-account.ts'
import { startPortal, type Portal } from '../support/portal.ts'
import type { Profile } from '../support/profile.ts'
import { routesOf } from '../support/routes.ts'
import { until } from '../support/until.ts'

const portal = fixture(() => startPortal())

/** A second browser of the person who signed in last. */
async function another(): Promise<Profile> {
  const profile = portal.profile()
  assert.equal((await profile.signIn('firm')).status, 303)
  return profile
}

/** A browser with a copy of another one's session cookie. */
function replay(profile: Profile): Profile {
  const thief = portal.profile()
  thief.cookies().set('session', profile.cookies().get('session') ?? '')
  return thief
}

async function actions(nounId: unknown): Promise<string[]> {
  const rows = await portal.service.database.rows<{ action: string }>(
    'select action from audit where noun_id = $1 order by at, id',
    [nounId],
  )
  return rows.map(({ action }) => action)
}

const sessionId = async (profile: Profile) => at((await profile.ask('/me')).json, 'session', 'id')

describe('B29: signing out', () => {
  test('ends the session for good, and clears the browser’s cache and storage', async () => {
    const { profile } = await portal.enter('consultant')
    const thief = replay(profile)
    const id = await sessionId(profile)
    const page = await profile.ask('/signout', { method: 'POST' })
    assert.equal(page.status, 200)
    assert.equal(page.headers.get('clear-site-data'), '"cache", "storage"')
    assert.deepEqual(page.headers.getSetCookie(), ['session=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax'])
    assert.equal(await thief.who(), undefined)
    const rows = await portal.service.database.rows('select 1 from session where id = $1', [id])
    assert.equal(rows.length, 0)
    assert.deepEqual(await actions(id), ['sign_in', 'sign_out'])
  })

  test('is refused to a page of another site', async () => {
    const { profile } = await portal.enter('consultant')
    const page = await profile.ask('/signout', { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } })
    assert.deepEqual([page.status, page.headers.getSetCookie()], [403, []])
    assert.ok(await profile.who())
    assert.equal((await profile.ask('/signout')).status, 405)
    assert.ok(await profile.who())
  })

  test('leaves no page in a cache for the Back button', async () => {
    const { profile } = await portal.enter('partner')
    for (const address of ['/me', '/people', '/clients', '/signin', '/nowhere']) {
      for (const accept of ['application/json', 'text/html']) {
        const page = await profile.ask(address, { headers: { accept } })
        assert.equal(page.headers.get('cache-control'), 'no-store', `${address} as ${accept}`)
      }
    }
  })

  test('succeeds for a visitor who is already signed out', async () => {
    const page = await portal.profile().ask('/signout', { method: 'POST' })
    assert.deepEqual([page.status, page.json], [200, { location: '/signin' }])
  })
})

describe('a page that was loaded for another person', () => {
  test('can neither read nor change anything: it gets not_signed_in', async () => {
    const { profile, id } = await portal.enter('consultant')
    const other = await portal.enter('consultant')
    const made = await profile.ask('/clients', { method: 'POST', body: { name: 'Client' } })
    const address = made.headers.get('location') ?? ''
    for (const [method, body] of [['GET'], ['POST', { date: '2026-03-12', text: 'A note.' }]] as const) {
      const ask = (headers: Record<string, string>) => profile.ask(`${address}/notes`, { method, body, headers })
      const refused = await ask({ 'tollgate-person': other.id })
      assert.deepEqual([refused.status, at(refused.json, 'error', 'code')], [401, 'not_signed_in'])
      assert.equal(at((await profile.ask(`${address}/notes`)).json, 'notes', 0), undefined)
      assert.equal((await ask({ 'tollgate-person': id })).status, method === 'GET' ? 200 : 201)
    }
    assert.ok(await profile.who())
  })
})

describe('B30: one’s own sessions', () => {
  test('can all be ended at once, in every browser', async () => {
    const { profile } = await portal.enter('consultant')
    const second = await another()
    const stranger = (await portal.enter('consultant')).profile
    const page = await second.ask('/me/sessions', { method: 'DELETE' })
    assert.deepEqual([page.status, page.json], [200, { ended: 2 }])
    assert.equal(second.cookies().has('session'), false)
    assert.equal(await profile.who(), undefined)
    assert.equal(await replay(second).who(), undefined)
    assert.ok(await stranger.who())
  })

  test('can be ended one by one', async () => {
    const { profile } = await portal.enter('consultant')
    const second = await another()
    const id = await sessionId(second)
    const page = await profile.ask(`/me/sessions/${String(id)}`, { method: 'DELETE' })
    assert.deepEqual([page.status, page.json, page.headers.getSetCookie()], [200, { ended: 1 }, []])
    assert.equal(await second.who(), undefined)
    assert.ok(await profile.who())
    assert.deepEqual(await actions(id), ['sign_in', 'session_revoked'])
  })

  test('can be ended only by their owner', async () => {
    const { profile } = await portal.enter('consultant')
    const stranger = (await portal.enter('partner')).profile
    const ids = [await sessionId(stranger), '01a1fde9-640a-7d47-911d-f32ac54c1c8c', 'x', "' or 1=1--"]
    const answers: unknown[] = []
    for (const id of ids) {
      const page = await profile.ask(`/me/sessions/${encodeURIComponent(String(id))}`, { method: 'DELETE' })
      answers.push([page.status, at(page.json, 'error', 'reason')])
    }
    assert.deepEqual(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1, 'the refusals differ')
    assert.equal(at(answers, 0, 0), 404)
    assert.ok(await stranger.who())
  })
})

describe('B31: the list of one’s own sessions', () => {
  test('shows method, device, times and the current session, but no cookie', async () => {
    const began = Date.now()
    const { profile, id, email } = await portal.enter('partner')
    const other = portal.profile()
    const start = await other.start('firm')
    const back = await other.callbackOf(start)
    const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
    await other.ask(back, { headers: { 'user-agent': agent } })
    const { json, text } = await profile.ask('/me')
    assert.deepEqual(json['person'], { id, name: at(json, 'person', 'name'), email, role: 'partner' })
    const listed = [0, 1].map((place) => at(json, 'sessions', place))
    const [there, here] = [
      listed.find((each) => at(each, 'current') === false),
      listed.find((each) => at(each, 'current')),
    ]
    assert.deepEqual(
      ['method', 'method_name', 'factors', 'device', 'address'].map((name) => at(there, name)),
      ['firm', 'Firm account', ['provider'], 'Firefox on Linux', '127.0.0.0/24'],
    )
    assert.equal(at(here, 'id'), at(json, 'session', 'id'))
    for (const each of listed) {
      for (const name of ['created_at', 'last_seen_at']) assertBetween(at(each, name), began)
    }
    assert.equal(at(json, 'sessions', 2), undefined)
    const idle = Number(at(json, 'session', 'idle_seconds'))
    assert.ok(idle > 3500 && idle <= 3600, String(idle))
    for (const each of [profile, other]) assert.ok(!text.includes(each.cookies().get('session') ?? '?'))
    assert.doesNotMatch(text, /hash|token|sid/)
  })
})

describe('B24, B34: many requests while a session is replaced', () => {
  test('are answered or refused; none fails, and none ends the new session', async () => {
    const { profile } = await portal.enter('consultant')
    const back = await profile.callbackOf(await profile.start('firm'))
    const asking = Array.from({ length: 50 }, (_, index) =>
      profile.ask(index % 2 === 0 ? '/me' : '/clients', { headers: { accept: 'application/json' } }),
    )
    const [signedIn, ...pages] = await Promise.all([profile.ask(back), ...asking])
    assert.equal(signedIn.status, 303)
    for (const page of pages) {
      assert.ok([200, 401].includes(page.status), String(page.status))
      assert.deepEqual(page.headers.getSetCookie(), [])
    }
    assert.ok(await profile.who())
  })

  test('are answered or refused while the session expires', async () => {
    await using short = await startPortal({ session: { idle: '5s', absolute: '5s' } })
    const { profile } = await short.enter('consultant')
    const statuses = new Set<number>()
    await until(async () => {
      const pages = await Promise.all(Array.from({ length: 50 }, () => profile.ask('/me')))
      for (const { status } of pages) statuses.add(status)
      return statuses.has(401)
    })
    assert.deepEqual([...statuses], [200, 401])
  })
})

/** The names of what a person can still complete. */
const unfinished = async (id: string) => {
  const rows = await portal.service.database.rows<{ what: string }>(
    `select method as what from sign_in_attempt where $1 in (person_id, links_to)
     union all select factor from enrolment join session s on s.id = session_id where s.person_id = $1
     union all select factor from confirmation join session s on s.id = session_id where s.person_id = $1
     union all select device from email_link where email_key = $1::text
     union all select email from password_reset where email_key = $1::text order by 1`,
    [id],
  )
  return rows.map(({ what }) => what)
}
const gone = (address: string) => (by: Profile) => by.ask(address, { method: 'DELETE' })

describe('B107: what a person has not completed', () => {
  const all = ['adding', 'confirming', 'enrolling', 'link', 'reset', 'waiting']

  /** A person with two sessions, one of each thing that can be completed, and a telephone. */
  async function somebody() {
    const { profile, id } = await portal.enter('consultant')
    const second = await another()
    const { database } = portal.service
    const other = String(await sessionId(second))
    await database.rows(
      `with p as (update person set email_key = id::text where id = $1),
         a as (insert into sign_in_attempt (state_hash, browser_hash, method, return_to, expires_at, step, person_id, proof, links_to)
           select sha256(method::bytea || $1::text::bytea), sha256('b'), method, '/', now() + interval '1 hour', step, person,
             case when person is not null then '\\x00'::bytea end, linked
           from (values ('waiting', 'proven', $1::uuid, null), ('adding', 'begun', null, $1::uuid)) v(method, step, person, linked)),
         e as (insert into enrolment values ($2, 'enrolling', '{}', 0, now() + interval '1 hour')),
         c as (insert into confirmation values ($2, 'confirming', '{}', 0, now() + interval '1 hour')),
         l as (insert into email_link (email_key, email, token_hash, code, state_hash, device, expires_at)
           values ($1::text, 'link', sha256($1::text::bytea), '', sha256('s'), 'link', now() + interval '1 hour')),
         r as (insert into password_reset values ($1::text, sha256($1::text::bytea), 'reset', now() + interval '1 hour'))
       insert into phone values ($1, '+4915112345678', now())`,
      [id, other],
    )
    assert.deepEqual(await unfinished(id), all)
    const identities = await database.rows<{ subject: string }>('select subject from identity where person_id = $1', [
      id,
    ])
    return { profile, id, other, subject: identities[0]?.subject ?? '' }
  }
  type Somebody = Awaited<ReturnType<typeof somebody>>

  const events: Readonly<Record<string, (who: Somebody, partner: Profile) => Promise<unknown>>> = {
    'signing out of a browser': ({ profile }) => profile.ask('/signout', { method: 'POST' }),
    'ending one session': ({ profile, other }) => gone(`/me/sessions/${other}`)(profile),
    'ending one’s sessions': ({ profile }) => gone('/me/sessions')(profile),
    'a new factor of one’s own': ({ profile }) => setUpTotp(profile),
    'the end by a partner': ({ id }, partner) => gone(`/people/${id}/sessions`)(partner),
    'another role': ({ id }, partner) => partner.ask(`/people/${id}`, { method: 'PATCH', body: { role: 'partner' } }),
    'another address': ({ id }, partner) =>
      partner.ask(`/people/${id}`, { method: 'PATCH', body: { email: `${id}@new.example` } }),
    'the removal of identities': ({ id }, partner) => gone(`/people/${id}/identities`)(partner),
    'the removal of factors': ({ id }, partner) => gone(`/people/${id}/factors`)(partner),
    'the deletion of the person': ({ id }, partner) => gone(`/people/${id}`)(partner),
    'the command line': ({ id }) => portal.service.people.setStatus(id, 'disabled', byService),
    'a statement in SQL': ({ id }) =>
      portal.service.database.rows(`update person set status = 'disabled' where id = $1`, [id]),
    'a logout at the provider': async ({ subject }) => {
      const { issuer, keys } = portal.provider
      const now = Math.floor(Date.now() / 1000)
      const claims = { iss: issuer, aud: clientId, iat: now, exp: now + 120, jti: subject, sub: subject }
      const logout = { 'http://schemas.openid.net/event/backchannel-logout': {} }
      const token = await keys.sign(
        { ...claims, events: logout },
        { header: { typ: 'logout+jwt' }, secret: clientSecret },
      )
      const body = new URLSearchParams({ logout_token: token })
      assert.equal(
        (await fetch(`${portal.service.url}/auth/backchannel-logout/firm`, { method: 'POST', body })).status,
        200,
      )
    },
  }
  for (const [name, event] of Object.entries(events)) {
    test(`ends with ${name}; that of others does not`, async () => {
      const [who, bystander, partner] = [await somebody(), await somebody(), (await portal.enter('partner')).profile]
      await event(who, partner)
      assert.deepEqual([await unfinished(who.id), await unfinished(bystander.id)], [[], all])
    })
  }

  test('ends for everybody with all sessions', async () => {
    const [one, two] = [await somebody(), await somebody()]
    await gone('/people/sessions')((await portal.enter('partner')).profile)
    assert.deepEqual([await unfinished(one.id), await unfinished(two.id)], [[], []])
  })
})

describe('B36: a change that does not come from our own pages', () => {
  const foreign: Record<string, Readonly<Record<string, string>>> = {
    'says nothing of where it is from': {},
    'is from another site': { 'sec-fetch-site': 'cross-site' },
    'is from a sibling host': { 'sec-fetch-site': 'same-site' },
    'is from nowhere': { 'sec-fetch-site': 'none' },
    'has a foreign origin': { origin: 'https://evil.example' },
    'has no origin to speak of': { origin: 'null' },
    'has our host at another port': { origin: 'https://tollgate.test:8443' },
    'has our host without https': { origin: 'http://tollgate.test' },
    'has our name in another': { origin: 'https://tollgate.test.evil.example' },
    'says both, and one is foreign': { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
    'says both, and the other is foreign': { 'sec-fetch-site': 'cross-site', origin: 'https://tollgate.test' },
  }

  test('is refused on every route with an unsafe method', async () => {
    const { profile } = await portal.enter('partner')
    const cookie = `session=${profile.cookies().get('session')}`
    const unsafe = routesOf(portal.service)
      .map((route) => route.split(' '))
      .filter(
        ([method = '', path = '']) =>
          !['GET', 'HEAD', 'OPTIONS'].includes(method) && !portal.service.app.jsonOnlyUrls.has(path),
      )
      // Unknown URLs, and the route that takes a token of the provider instead of a cookie.
      .filter(([, path]) => path !== '/*' && path !== '/auth/backchannel-logout/*')
    assert.ok(unsafe.length >= 15, `${unsafe.length} routes`)
    const had = await portal.counts()
    for (const [method = '', path = ''] of unsafe) {
      for (const [name, headers] of Object.entries(foreign)) {
        const response = await fetch(
          `${portal.service.url}${path.replaceAll(/:\w+/g, '0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11')}`,
          {
            method,
            headers: { cookie, 'content-type': 'application/json', ...headers },
            body: '{}',
          },
        )
        const text = await response.text()
        assert.equal(response.status, 403, `${method} ${path} ${name}: ${text}`)
        assert.match(text, /"cross_site_request"/, `${method} ${path} ${name}`)
      }
    }
    assert.deepEqual(await portal.counts(), had)
    assert.ok(await profile.who())
  })
})

describe('B88: the client address', () => {
  const forged = { 'x-forwarded-for': '198.51.100.9, 203.0.113.77' }

  test('is that of the connection, ignoring headers', async () => {
    portal.newcomer()
    const profile = portal.profile()
    await profile.ask(await profile.callbackOf(await profile.start('firm')), { headers: forged })
    assert.match((await profile.ask('/me')).text, /"address":"127\.0\.0\.0\/24"/)
    assert.equal(await lastAddress(portal), '127.0.0.1')
  })

  test('is the nearest untrusted hop behind a trusted proxy', async () => {
    await using behind = await startPortal({ trustedProxies: ['127.0.0.1'] })
    behind.newcomer()
    const profile = behind.profile()
    await profile.ask(await profile.callbackOf(await profile.start('firm')), { headers: forged })
    assert.match((await profile.ask('/me')).text, /"address":"203\.0\.113\.0\/24"/)
    assert.equal(await lastAddress(behind), '203.0.113.77')
    // Some proxies add the port, which differs for each connection.
    const withPorts = { 'x-forwarded-for': '198.51.100.9:1, nonsense, [2001:db8::7]:4711' }
    await profile.ask(await profile.callbackOf(await profile.start('firm')), { headers: withPorts })
    assert.equal(await lastAddress(behind), '2001:db8::7')
  })
})

async function lastAddress({ service }: Portal): Promise<string | undefined> {
  const [entry] = await service.database.rows<{ address: string }>(
    `select address from audit where action = 'sign_in' order by at desc, id desc limit 1`,
  )
  return entry?.address
}
