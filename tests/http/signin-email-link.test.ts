import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import { createTestCredentials, rightCode } from '../support/credentials.ts'
import { startMailServer, type ReceivedMail } from '../support/mail-server.ts'
import { startPortal } from '../support/portal.ts'
import type { Page, Profile } from '../support/profile.ts'
import { until } from '../support/until.ts'
import { fixture } from '../support/fixture.ts'

const trustedProxies = ['127.0.0.1']
const signIn = { email_link: true, sign_up: { policy: 'invited' } }

const mail = fixture(() => startMailServer())
const credentials = createTestCredentials()
const portal = fixture(() => startPortal({ mail: mail.url, signIn, additional: credentials, trustedProxies }))

let senders = 0
/** The address that requests seem to come from: one network may ask for ten mails an hour. */
let sender: string
beforeEach(() => {
  senders++
  sender = `203.0.113.${senders}`
})

let people = 0
async function newPerson(): Promise<{ id: string; email: string }> {
  people++
  const email = `Person${people}@firm.example`
  const { id } = await portal.service.people.create({ name: `Person ${people}`, email, role: 'consultant' }, byService)
  return { id, email }
}

const post = (profile: Profile, address: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
  profile.ask(address, { method: 'POST', body, headers: { 'x-forwarded-for': sender, ...headers } })
const ask = (profile: Profile, email: unknown, headers: Readonly<Record<string, string>> = {}) =>
  post(profile, '/auth/start/email_link', { input: { email } }, headers)
const open = (profile: Profile, token: string, confirmed?: boolean) =>
  post(profile, '/auth/link', { token, ...(confirmed !== undefined && { confirmed }) })
const inspect = (profile: Profile, token: string) => post(profile, '/auth/link/inspect', { token })
const enter = (profile: Profile, attempt: unknown, code: string) =>
  post(profile, '/auth/complete', { attempt, input: { code } })

const isTo = (email: string) => (received: ReceivedMail) => received.to.includes(email)

/** The last of so many links to an address. */
async function mailTo(email: string, count = 1): Promise<ReceivedMail> {
  const links = () => mail.mails.filter(isTo(email)).filter(({ subject }) => subject.startsWith('Your sign-in link'))
  await until(() => links().length >= count)
  return links().at(-1) ?? assert.fail()
}

function tokenOf({ text }: ReceivedMail): string {
  return /^https:\/\/tollgate\.test\/signin\/link#([\w-]{43})$/m.exec(text)?.[1] ?? assert.fail(text)
}

function codeOf({ text }: ReceivedMail): string {
  return /^([0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4})$/m.exec(text)?.[1] ?? assert.fail(text)
}

/** A new person, whom a mail has reached that a browser asked for. */
async function askFor(profile: Profile = portal.profile()) {
  const person = await newPerson()
  const begun = await ask(profile, person.email)
  assert.equal(begun.status, 200, begun.text)
  const received = await mailTo(person.email)
  return { profile, ...person, attempt: begun.json['attempt'], token: tokenOf(received), code: codeOf(received) }
}

const sessionsOf = async (personId: string) =>
  (await portal.service.database.rows('select from session where person_id = $1', [personId])).length

function assertRefused(page: Page): void {
  assert.equal(page.status, 400, page.text)
  assert.match(page.text, /"code":"sign_in_failed"/)
  assert.deepEqual(page.headers.getSetCookie(), [])
}

describe('a sign-in link', () => {
  test('B41: signs in once, even if it is sent twenty times at once', async () => {
    const { profile, token, id } = await askFor()
    const pages = await Promise.all(Array.from({ length: 20 }, () => open(profile, token)))
    const [entered, ...others] = pages.toSorted((one, other) => one.status - other.status)
    assert.deepEqual([entered?.status, entered?.json], [200, { location: '/' }])
    others.forEach(assertRefused)
    assert.equal(await sessionsOf(id), 1)
    assert.equal((await profile.who())?.['id'], id)
    assertRefused(await open(profile, token))
  })

  test('B41: has 256 random bits, of which the hash is stored, and lasts ten minutes', async () => {
    const { profile, token, code, id } = await askFor()
    const rows = await portal.service.database.rows<{ row: string; left: number }>(
      `select l::text as row, extract(epoch from expires_at - now())::float8 as left from email_link l
       where token_hash = sha256($1::text::bytea)`,
      [token],
    )
    const [row] = rows
    assert.ok(row && row.left > 0 && row.left <= 600, String(row?.left))
    const secrets = [token, code, Buffer.from(token, 'base64url').toString('hex'), Buffer.from(code).toString('hex')]
    for (const secret of secrets) assert.ok(!row.row.includes(secret))
    await portal.service.database.rows(
      `update email_link set expires_at = now() - interval '1 second' where token_hash = sha256($1::text::bytea)`,
      [token],
    )
    assertRefused(await open(profile, token))
    assert.equal(await sessionsOf(id), 0)
  })

  test('B42: is still usable after scanners have opened it and run its scripts', async () => {
    const { profile, token, id } = await askFor()
    const scanner = portal.profile()
    for (let visit = 0; visit < 10; visit++) {
      for (const method of ['GET', 'HEAD']) {
        const page = await scanner.ask('/signin/link', { method, headers: { accept: 'text/html' } })
        assert.equal(page.status, 200)
        assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
      }
      assert.equal((await inspect(scanner, token)).status, 200)
    }
    assert.equal(await sessionsOf(id), 0)
    assert.equal((await open(profile, token)).status, 200)
  })

  test('B43: in another browser it signs in only after a confirmation, and only there', async () => {
    const { profile, email, token, id, attempt, code } = await askFor()
    const other = portal.profile()
    const browser = { address: email, device: 'Unknown browser' }
    assert.deepEqual((await inspect(profile, token)).json, { own_browser: true, ...browser })
    assert.deepEqual((await inspect(other, token)).json, { own_browser: false, ...browser })
    for (const confirmed of [undefined, false]) assertRefused(await open(other, token, confirmed))
    assert.equal(await sessionsOf(id), 0)
    assert.equal((await open(other, token, true)).status, 200)
    assert.equal((await other.who())?.['id'], id)
    assert.equal(await profile.who(), undefined)
    assertRefused(await enter(profile, attempt, code))
    assertRefused(await open(profile, token))
    assert.equal(await sessionsOf(id), 1)
  })

  test('B44: comes with a code for the tab that asked, in any spelling', async () => {
    const { profile, token, id, attempt, code } = await askFor()
    assertRefused(await enter(portal.profile(), attempt, code))
    const spelled = code.toLowerCase().replace('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')
    const page = await enter(profile, attempt, spelled)
    assert.deepEqual([page.status, page.json], [200, { location: '/' }])
    assert.equal((await profile.who())?.['id'], id)
    assertRefused(await open(portal.profile(), token, true))
    assert.equal(await sessionsOf(id), 1)
  })

  test('B44: five wrong codes end the attempt, and leave the link usable', async () => {
    const { profile, token, attempt, code, id } = await askFor()
    for (let tries = 0; tries < 5; tries++) assertRefused(await enter(profile, attempt, '0000-0000'))
    assertRefused(await enter(profile, attempt, code))
    assert.equal(await sessionsOf(id), 0)
    assert.equal((await open(profile, token)).status, 200)
  })

  test('leads to the page that was asked for, and to the second factor if one is due', async () => {
    const profile = portal.profile()
    const { id, email } = await newPerson()
    const count = async () => (await portal.service.database.rows('select from session')).length
    const body = { input: { email }, return_to: '/clients?q=b' }
    assert.equal((await post(profile, '/auth/start/email_link', body)).status, 200)
    credentials.enrolled.add(id)
    const had = await count()
    const other = portal.profile()
    const page = await open(other, tokenOf(await mailTo(email)), true)
    assert.deepEqual([page.status, page.json], [200, { location: '/signin' }])
    assert.equal(await count(), had)
    assert.equal((await post(profile, '/auth/second-factor/start', { factor: 'pin' })).status, 400)
    assert.equal((await post(other, '/auth/second-factor/start', { factor: 'pin' })).status, 200)
    const done = await post(other, '/auth/second-factor', { input: { pin: rightCode } })
    assert.deepEqual([done.status, done.json], [200, { location: '/clients?q=b' }])
    const [session] = await portal.service.database.rows('select method, factors from session where person_id = $1', [
      id,
    ])
    assert.deepEqual(session, { method: 'email_link', factors: ['email', 'pin'] })
  })

  test('is refused from another site', async () => {
    const { profile, token } = await askFor()
    const page = await post(
      profile,
      '/auth/link',
      { token },
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    )
    assert.equal(page.status, 403)
    assert.equal((await open(profile, token)).status, 200)
  })
})

const askFrom = (profile: Profile, email: string, address: string) =>
  ask(profile, email, { 'x-forwarded-for': address })

describe('asking for a sign-in link', () => {
  test('B45: gets the same response for a known, unknown and disabled address, and only a known one gets mail', async () => {
    const known = await newPerson()
    const disabled = await newPerson()
    await portal.service.people.setStatus(disabled.id, 'disabled', byService)
    const addresses = [known.email, disabled.email, 'nobody@firm.example', 'nobody@elsewhere.example']
    const pages = await Promise.all(addresses.map((address) => ask(portal.profile(), address)))
    const shapes = pages.map(({ status, json, headers }) => ({
      status,
      json: { ...json, attempt: String(json['attempt']).replaceAll(/[\w-]/g, 'x') },
      headers: [...headers.keys()].toSorted(),
    }))
    for (const shape of shapes) assert.deepEqual(shape, shapes[0])
    assert.equal(shapes[0]?.status, 200)
    await mailTo(known.email)
    await until(
      async () =>
        (await portal.service.database.rows(`select from pgboss.job where name = 'mail' and state <> 'completed'`))
          .length === 0,
    )
    for (const address of addresses.slice(1)) assert.deepEqual(mail.seen.filter(isTo(address)), [])
  })

  test('B46: an address has three live links, each of its browser; others use up none of a known network', async () => {
    const { profile, email, token } = await askFor()
    assert.equal((await open(profile, token)).status, 200)
    const strangers = [1, 2, 3].map(() => portal.profile())
    for (const [n, each] of strangers.entries()) assert.equal((await askFrom(each, email, `198.18.0.${n}`)).status, 200)
    const spelled = ` ${email.toUpperCase()} `
    const full = await askFrom(portal.profile(), spelled, '198.18.0.9')
    assert.deepEqual([full.status, Number(full.headers.get('retry-after')) > 0], [429, true])
    assert.equal((await askFrom(strangers[0] ?? profile, email, '198.18.0.10')).status, 200, 'replaces its own')
    await mailTo(email, 5)
    const owner = portal.profile()
    assert.equal((await ask(owner, email)).status, 200)
    const link = tokenOf(await mailTo(email, 6))
    for (let n = 0; n < 12; n++) await askFrom(portal.profile(), email, `198.18.1.${n}`)
    assert.equal((await open(owner, link)).status, 200)
  })

  test('B46: a network gets three mails to an address in 15 minutes, all unknown ones ten an hour, even after a restart', async () => {
    const { email } = await newPerson()
    const statuses: number[] = []
    const profile = portal.profile()
    for (let n = 0; n < 12; n++) statuses.push((await askFrom(profile, email, `198.19.${Math.floor(n / 4)}.1`)).status)
    assert.deepEqual(statuses, [200, 200, 200, 429, 200, 200, 200, 429, 200, 200, 200, 429])
    assert.equal((await askFrom(profile, email, '198.19.9.1')).status, 200)
    const { databaseUrl } = portal.service
    const restarted = await startPortal({ mail: mail.url, signIn, trustedProxies, databaseUrl })
    const again = await restarted.profile().ask('/auth/start/email_link', {
      method: 'POST',
      body: { input: { email } },
      headers: { 'x-forwarded-for': '203.0.113.250' },
    })
    await restarted.close()
    assert.equal(again.status, 429)
  })

  test('B46: a network may ask for ten mails an hour: an IPv4 address, or a /64 of IPv6', async () => {
    const networks = [
      [() => '198.51.100.7', '198.51.100.8'],
      [(n: number) => `2001:db8:1:2::${n + 1}`, '2001:db8:1:3::1'],
    ] as const
    for (const [addressOf, elsewhere] of networks) {
      for (let n = 0; n < 10; n++) {
        const page = await ask(
          portal.profile(),
          `n${n}@elsewhere.example`.replace('n', elsewhere.replaceAll(/\W/g, '')),
          {
            'x-forwarded-for': addressOf(n),
          },
        )
        assert.equal(page.status, 200, page.text)
      }
      const page = await ask(portal.profile(), 'last@elsewhere.example', { 'x-forwarded-for': addressOf(10) })
      assert.equal(page.status, 429)
      const rows = await portal.service.database.rows(
        `select details from audit where action = 'sign_in_failed' and address = $1`,
        [addressOf(10)],
      )
      assert.deepEqual(rows, [{ details: { why: 'too_many_sign_ins', method: 'email_link' } }])
      const other = await ask(portal.profile(), `${elsewhere.length}@elsewhere.example`, {
        'x-forwarded-for': elsewhere,
      })
      assert.equal(other.status, 200)
    }
  })

  test('A36: an instance of the previous version replaces its own link only', async () => {
    const { profile, email, token } = await askFor()
    const ofPrevious = `insert into email_link (email_key, email, token_hash, code, state_hash, device, expires_at)
      values ($1, $1, sha256($2::text::bytea), 'code', sha256('state'), '', now() + interval '1 minute')
      on conflict (email_key) do update set token_hash = excluded.token_hash`
    for (const other of ['first', 'second'])
      await portal.service.database.rows(ofPrevious, [email.toLowerCase(), other])
    const [links] = await portal.service.database.rows(
      'select count(*)::int as n, bool_or(token_hash = sha256($2)) as second from email_link where address_key = $1',
      [email.toLowerCase(), 'second'],
    )
    assert.deepEqual(links, { n: 2, second: true })
    assert.equal((await open(profile, token)).status, 200)
  })

  test('B46: a new mail voids the one before of the same browser, with its code', async () => {
    const { profile, email, attempt, token, code, id } = await askFor()
    assert.equal((await ask(profile, email)).status, 200)
    const next = await mailTo(email, 2)
    assertRefused(await open(profile, token))
    assertRefused(await enter(profile, attempt, code))
    assert.equal(await sessionsOf(id), 0)
    assert.equal((await open(profile, tokenOf(next), true)).status, 200)
  })

  test('B47: links lead to base_url, whatever host a request names; no token is in the log or the audit log', async () => {
    const { email } = await newPerson()
    const hostile = { host: 'evil.example', 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' }
    const profile = portal.profile()
    assert.equal((await ask(profile, email, hostile)).status, 200)
    const received = await mailTo(email)
    assert.ok(!`${received.text}${received.html}`.includes('evil'))
    const [token, code] = [tokenOf(received), codeOf(received)]
    assert.equal((await inspect(profile, token)).status, 200)
    assert.equal((await open(profile, token)).status, 200)
    assertRefused(await open(profile, token))
    const rows = await portal.service.database.rows<{ row: string }>('select a::text as row from audit a')
    const written = [portal.service.logText(), ...rows.map(({ row }) => row)].join('\n')
    for (const secret of [token, code]) assert.ok(!written.includes(secret))
  })

  test('B48: reads addresses as people write them, and mails to the address of the person', async () => {
    const { email } = await newPerson()
    assert.equal((await ask(portal.profile(), `  ${email.toUpperCase()}\t`)).status, 200)
    assert.deepEqual((await mailTo(email)).to, [email])
    const wrong = [
      'a@b@c.example',
      '"a b"@c.example',
      'a@ｅxample.com',
      'İ@',
      'a@b',
      '',
      'a,b@c.example, d@e.example',
      7,
    ]
    for (const address of [...wrong, undefined]) {
      const page = await ask(portal.profile(), address)
      assert.deepEqual([page.status, page.text.includes('"field":"input.email"')], [400, true], String(address))
    }
  })

  test('lets an address join where anyone may sign up', async () => {
    const metricsToken = 'a token for metrics'
    await using other = await startPortal({ mail: mail.url, signIn: { email_link: true }, metricsToken })
    const profile = other.profile()
    const email = 'newcomer@elsewhere.example'
    const body = { input: { email } }
    const begun = await profile.ask('/auth/start/email_link', { method: 'POST', body })
    assert.equal(begun.status, 200)
    const code = codeOf(await mailTo(email))
    assert.equal((await other.counts()).person, 0)
    await profile.ask('/auth/complete', { method: 'POST', body: { attempt: begun.json['attempt'], input: { code } } })
    const who = await profile.who()
    assert.deepEqual([who?.['email'], who?.['role']], [email, 'consultant'])
    const headers = { authorization: `Bearer ${metricsToken}` }
    const metrics = async () => (await profile.ask('/metrics', { headers })).text
    // A mail counts once the response of its server has come back, which may be after the mail.
    await until(async () => /^tollgate_mails_sent 1$/m.test(await metrics()))
    assert.match(await metrics(), /^tollgate_mails_given_up 0$/m)
  })

  test('is not offered unless the configuration says so', async () => {
    await using other = await startPortal({ mail: mail.url })
    const profile = other.profile()
    assert.doesNotMatch((await profile.ask('/signin')).text, /email_link/)
    for (const [address, body] of [
      ['/auth/start/email_link', { input: { email: 'a@b.example' } }],
      ['/auth/link', { token: 'x' }],
      ['/auth/link/inspect', { token: 'x' }],
    ] as const) {
      assert.equal((await profile.ask(address, { method: 'POST', body })).status, 404)
    }
  })
})

test('without a mail server, a start with email links is refused', async () => {
  const started = startPortal({ signIn }).then((wrong) => wrong.close())
  await assert.rejects(started, {
    name: 'OperatorError',
    message: /^sign_in\.email_link: a sign-in link needs a mail server/,
  })
})
