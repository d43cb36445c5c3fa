import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import type { Role } from '../../src/access/actor.ts'
import { createTestCredentials, rightCode } from '../support/credentials.ts'
import { at } from '../support/json.ts'
import { startMailServer, type ReceivedMail } from '../support/mail-server.ts'
import { fixture } from '../support/fixture.ts'
import { startPortal } from '../support/portal.ts'
import type { Page, Profile } from '../support/profile.ts'
import { until } from '../support/until.ts'

const right = 'blatant oyster wagon'
const other = 'mellow trumpet canyon'

const signIn = { password: true, sign_up: { policy: 'invited' } }
const open = (more: object = {}) =>
  startPortal({
    mail: mail.url,
    additional: credentials,
    trustedProxies: ['127.0.0.1'],
    signIn: { ...signIn, ...more },
  })

const mail = fixture(() => startMailServer())
const credentials = fixture(() => createTestCredentials())
const portal = fixture(() => open())

let senders = 0
/** The address that requests seem to come from: one network may ask for ten mails an hour. */
let sender: string
beforeEach(() => {
  senders++
  sender = `203.0.${senders}.7`
})

let people = 0
async function newPerson(there = portal, role: Role = 'consultant', domain = 'firm.example') {
  people++
  const email = `person${people}@${domain}`
  const { id } = await there.service.people.create({ name: `Person ${people}`, email, role }, byService)
  return { id, email }
}

const send = (profile: Profile, method: string, address: string, body?: object) =>
  profile.ask(address, { method, body, headers: { 'x-forwarded-for': sender } })
const post = (profile: Profile, address: string, body: object) => send(profile, 'POST', address, body)

/** Signs in with a password; the response to its submission. */
async function enter(profile: Profile, email: string, password: string): Promise<Page> {
  const { attempt } = (await post(profile, '/auth/start/password', {})).json
  return post(profile, '/auth/complete', { attempt, input: { email, password } })
}

/** The first waits are a few seconds: on a slow machine they are over before the next password is checked. */
const lengthenWaits = () =>
  portal.service.database.rows(
    `update throttle set failed_at = failed_at + interval '5 minutes'
     where kind in ('password', 'password_in_known_networks')`,
  )

const request = (email: unknown, there = portal) => post(there.profile(), '/auth/reset/request', { email })
const reset = (token: string, password = right, there = portal, profile = there.profile()) =>
  post(profile, '/auth/reset', { token, password })
const inspect = (token: string, there = portal) => post(there.profile(), '/auth/reset/inspect', { token })

async function mailTo(email: string, subject: string, count = 1): Promise<ReceivedMail> {
  const isIt = (each: ReceivedMail) => each.to.includes(email) && each.subject === subject
  await until(() => mail.mails.filter(isIt).length >= count)
  return mail.mails.findLast(isIt) ?? assert.fail()
}

function tokenOf({ text }: ReceivedMail): string {
  return /^https:\/\/tollgate\.test\/signin\/reset#([\w-]{43})$/m.exec(text)?.[1] ?? assert.fail(text)
}

/** The token of the link that is mailed to an address. */
async function linkTo(email: string, there = portal, count = 1): Promise<string> {
  const page = await request(email, there)
  assert.deepEqual([page.status, page.json], [200, {}], page.text)
  return tokenOf(await mailTo(email, 'Choose your password', count))
}

/** A person with a password. */
async function withPassword(there = portal, password = right, role: Role = 'consultant') {
  const person = await newPerson(there, role)
  const page = await reset(await linkTo(person.email, there), password, there)
  assert.deepEqual([page.status, page.json], [200, { location: '/signin' }], page.text)
  return person
}

/** A person with a password, who has signed in with it. */
async function signedIn(there = portal) {
  const person = await withPassword(there)
  const profile = there.profile()
  assert.equal((await enter(profile, person.email, right)).status, 200)
  return { ...person, profile }
}

async function actionsOf(id: string, there = portal): Promise<string[]> {
  const rows = await there.service.database.rows<{ action: string }>(
    `select action from audit where noun_id = $1 and action like 'password%' order by id`,
    [id],
  )
  return rows.map(({ action }) => action)
}

const codeOf = (page: Page) => [page.status, at(page.json, 'error', 'code'), at(page.json, 'error', 'field')]
/** A response without its request id. */
const plain = ({ status, text, headers }: Page) => [
  status,
  text.replace(headers.get('request-id') ?? '', 'ID'),
  headers.getSetCookie(),
]

test('addresses that are open to anyone refuse a long body before it is read', async () => {
  const addresses = [
    '/signout',
    '/auth/complete',
    '/auth/reset',
    '/auth/reset/request',
    '/auth/link',
    '/auth/invitation',
  ]
  for (const address of [...addresses, '/auth/second-factor', '/auth/start/password']) {
    const statusOf = async (length: number) => (await post(portal.profile(), address, { x: 'x'.repeat(length) })).status
    assert.deepEqual([address, await statusOf(65_536)], [address, 413])
    assert.notEqual(await statusOf(60_000), 413)
  }
})

describe('a password', () => {
  test('is listed as a method, and signs its person in', async () => {
    const { id, email } = await withPassword()
    const { json } = await portal.profile().ask('/signin')
    assert.deepEqual(at(json, 'credentials', 0), { id: 'password', name: 'Password' })
    const profile = portal.profile()
    const page = await enter(profile, email.toUpperCase(), right)
    assert.deepEqual([page.status, page.json], [200, { location: '/' }], page.text)
    assert.equal((await profile.who())?.['id'], id)
    const rows = await portal.service.database.rows('select method, factors from session where person_id = $1', [id])
    assert.deepEqual(rows, [{ method: 'password', factors: ['password'] }])
  })

  test('B51: is stored as an argon2id hash alone', async () => {
    const { id } = await withPassword()
    const [row] = await portal.service.database.rows<{ text: string }>(
      'select p::text as text from password p where person_id = $1',
      [id],
    )
    assert.match(row?.text ?? '', /\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}/)
    assert.ok(!portal.service.logText().includes(right))
  })

  test('that is wrong gets the same response for every address, and no session', async () => {
    const [known, without, disabled] = [await withPassword(), await newPerson(), await withPassword()]
    await portal.service.people.setStatus(disabled.id, 'disabled', byService)
    const had = await portal.counts()
    const pages = []
    for (const email of [known.email, without.email, disabled.email, 'nobody@elsewhere.example']) {
      pages.push(await enter(portal.profile(), email, 'a wrong password'))
    }
    const [first] = pages.map(plain)
    assert.equal(first?.[0], 400)
    for (const page of pages) assert.deepEqual(plain(page), first)
    assert.deepEqual(await portal.counts(), had)
  })

  test('does not sign a disabled person in', async () => {
    const { id, email } = await withPassword()
    await portal.service.people.setStatus(id, 'disabled', byService)
    const had = await portal.counts()
    await portal.assertRefused(await enter(portal.profile(), email, right), [403, 'sign_in_refused'], had)
  })

  test('is refused with the field at fault if the submission is incomplete or too long', async () => {
    const { email } = await withPassword()
    for (const [input, field] of [
      [{ email: 'nobody', password: right }, 'input.email'],
      [{ password: right }, 'input.email'],
      [{ email }, 'input.password'],
      [{ email, password: '' }, 'input.password'],
      [{ email, password: 7 }, 'input.password'],
      [{ email, password: 'x'.repeat(1025) }, 'input.password'],
      [undefined, 'input.email'],
    ] as const) {
      const profile = portal.profile()
      const { attempt } = (await post(profile, '/auth/start/password', {})).json
      assert.deepEqual(codeOf(await post(profile, '/auth/complete', { attempt, input })), [400, 'invalid_field', field])
    }
  })
})

describe('B53: guessing', () => {
  test('makes the address wait with 429 and Retry-After, is recorded, and leaves other methods open', async () => {
    const { id, email } = await withPassword()
    for (let n = 0; n < 8; n++) await enter(portal.profile(), email, 'wrong')
    await lengthenWaits()
    const page = await enter(portal.profile(), email, right)
    assert.equal(page.status, 429, page.text)
    assert.match(page.text, /"code":"too_many_sign_ins"/)
    assert.ok(Number(page.headers.get('retry-after')) >= 1)
    const rows = await portal.service.database.rows(
      `select details ->> 'why' as why from audit
       where action = 'sign_in_failed' and address = $1 and details ->> 'method' = 'password' order by id`,
      [sender],
    )
    assert.deepEqual([rows.length >= 9, rows.at(-1)], [true, { why: 'too_many_sign_ins' }])

    credentials.claim = { by: 'person', personId: id }
    const profile = portal.profile()
    const { attempt } = (await post(profile, '/auth/start/code', {})).json
    assert.equal((await post(profile, '/auth/complete', { attempt, input: { code: rightCode } })).status, 200)
    portal.provider.say({ subject: `subject of ${id}`, email })
    const atProvider = portal.profile()
    assert.equal((await atProvider.signIn('firm')).status, 303)
    assert.equal((await atProvider.who())?.['id'], id)
  })

  test('warns a person at the tenth wrong password in succession, and mails nothing to anyone else who could sign up', async () => {
    const { email } = await withPassword()
    const pages: Page[] = []
    for (const address of ['nobody@elsewhere.example', email]) {
      await enter(portal.profile(), address, 'wrong')
      await portal.service.database.rows(
        `update throttle set failures = 9, failed_at = failed_at - interval '1 day' where kind = 'password' and failures = 1`,
      )
      pages.push(await enter(portal.profile(), address, 'wrong'))
    }
    const [unknown, known] = pages.map(plain)
    assert.deepEqual(unknown, known)
    await mailTo(email, 'Someone may be guessing your sign-in')
    // The other was queued before.
    assert.ok(!mail.seen.some(({ to }) => to.includes('nobody@elsewhere.example')))
  })

  test('ends with a reset: the new password works at once', async () => {
    const { email } = await withPassword()
    for (let n = 0; n < 8; n++) await enter(portal.profile(), email, 'wrong')
    assert.equal((await reset(await linkTo(email, portal, 2), other)).status, 200)
    assert.equal((await enter(portal.profile(), email, other)).status, 200)
  })
})

describe('B55: a link to choose a password', () => {
  test('is asked for with the same response for every address, and is mailed to those who may sign in', async () => {
    const [known, disabled] = [await newPerson(), await newPerson()]
    await portal.service.people.setStatus(disabled.id, 'disabled', byService)
    const pages = []
    for (const email of ['nobody@elsewhere.example', disabled.email, known.email]) pages.push(await request(email))
    for (const page of pages) assert.deepEqual(plain(page), [200, '{}', []])
    await mailTo(known.email, 'Choose your password')
    // The others were queued before, and are not sent.
    const to = new Set(mail.seen.flatMap((each) => each.to))
    assert.ok(!to.has('nobody@elsewhere.example') && !to.has(disabled.email))
  })

  test('works once, of twenty at the same time, and signs nobody in', async () => {
    const { id, email } = await newPerson()
    const token = await linkTo(email)
    assert.deepEqual((await inspect(token)).json, { email, minimum_length: 15 })
    const had = await portal.counts()
    const profile = portal.profile()
    const pages = await Promise.all(Array.from({ length: 20 }, () => reset(token, right, portal, profile)))
    const [chosen, ...others] = pages.toSorted((one, two) => one.status - two.status)
    assert.deepEqual([chosen?.status, chosen?.json, chosen?.headers.getSetCookie()], [200, { location: '/signin' }, []])
    for (const page of others) assert.deepEqual(codeOf(page), [400, 'sign_in_failed', undefined])
    assert.deepEqual(await portal.counts(), had)
    assert.equal(await profile.who(), undefined)
    assert.deepEqual(await actionsOf(id), ['password_set'])
    assert.deepEqual(codeOf(await inspect(token)), [400, 'sign_in_failed', undefined])
  })

  test('has 256 random bits, of which the hash is stored, and lasts 20 minutes', async () => {
    const { email } = await newPerson()
    const token = await linkTo(email)
    const row = async () =>
      (
        await portal.service.database.rows<{ text: string; left: number }>(
          `select r::text as text, extract(epoch from expires_at - now())::float8 as left from password_reset r
           where token_hash = sha256($1::text::bytea)`,
          [token],
        )
      )[0]
    const found = await row()
    assert.ok(found && found.left > 600 && found.left <= 1200, String(found?.left))
    assert.ok(!found.text.includes(token))
    assert.ok(!portal.service.logText().includes(token))
    await portal.service.database.rows(
      'update password_reset set expires_at = now() where token_hash = sha256($1::text::bytea)',
      [token],
    )
    assert.deepEqual(codeOf(await reset(token)), [400, 'sign_in_failed', undefined])
  })

  test('B46: is replaced by a newer one that the same network asked for', async () => {
    const { email } = await newPerson()
    const token = await linkTo(email)
    const own = sender
    sender = '198.18.0.1'
    await linkTo(email, portal, 2)
    assert.equal((await inspect(token)).status, 200)
    sender = own
    const newer = await linkTo(email, portal, 3)
    assert.notEqual(newer, token)
    assert.deepEqual(codeOf(await reset(token)), [400, 'sign_in_failed', undefined])
    assert.equal((await reset(newer)).status, 200)
  })

  test('is not used up by a password that is refused', async () => {
    const { email } = await newPerson()
    const token = await linkTo(email)
    for (const password of ['too short', 'passwordpassword', email]) {
      assert.deepEqual(codeOf(await reset(token, password)), [400, 'invalid_field', 'password'])
    }
    assert.equal((await reset(token)).status, 200)
  })

  test('B46: is one of three to an address, and of ten an hour for a network', async () => {
    for (const email of [(await newPerson()).email, 'stranger@elsewhere.example']) {
      sender = `192.0.2.${email.length}`
      const statuses = []
      for (let n = 0; n < 4; n++) {
        sender = `100.64.${email.length + n}.1`
        const page = await request(email)
        statuses.push([page.status, Number(page.headers.get('retry-after')) > 0])
      }
      assert.deepEqual(statuses, [
        [200, false],
        [200, false],
        [200, false],
        [429, true],
      ])
    }
    sender = '100.65.0.1'
    const statuses = []
    for (let n = 0; n < 11; n++) statuses.push((await request(`nobody${n}@elsewhere.example`)).status)
    assert.deepEqual(statuses, [...Array<number>(10).fill(200), 429])
  })

  test('ends all sessions, sets the old password aside, and notifies the person', async () => {
    const { id, email, profile } = await signedIn()
    const elsewhere = portal.profile()
    await enter(elsewhere, email, right)
    assert.equal((await reset(await linkTo(email, portal, 2), other, portal, profile)).status, 200)
    assert.deepEqual([await profile.who(), await elsewhere.who()], [undefined, undefined])
    assert.equal((await enter(portal.profile(), email, right)).status, 400)
    assert.equal((await enter(portal.profile(), email, other)).status, 200)
    assert.deepEqual(await actionsOf(id), ['password_set', 'password_reset'])
    await mailTo(email, 'Your password was changed', 2)
  })

  test('does not waive the second factor', async () => {
    const { id, email } = await newPerson()
    credentials.enrolled.add(id)
    const token = await linkTo(email)
    assert.equal(at((await inspect(token)).json, 'minimum_length'), 8)
    assert.equal((await reset(token, 'kx7mv2qp')).status, 200)
    const had = await portal.counts()
    const profile = portal.profile()
    const page = await enter(profile, email, 'kx7mv2qp')
    assert.deepEqual([page.status, page.json], [200, { location: '/signin' }])
    assert.deepEqual(await portal.counts(), had)
    await post(profile, '/auth/second-factor/start', { factor: 'pin' })
    assert.equal((await post(profile, '/auth/second-factor', { input: { pin: rightCode } })).status, 200)
    assert.equal((await profile.who())?.['id'], id)
  })

  test('that is invented is refused and recorded', async () => {
    for (const page of [await inspect('invented'), await reset('invented')]) {
      assert.deepEqual(codeOf(page), [400, 'sign_in_failed', undefined])
    }
    const rows = await portal.service.database.rows(
      `select details from audit where action = 'sign_in_failed' and address = $1`,
      [sender],
    )
    const details = { method: 'password', why: 'unknown_link' }
    assert.deepEqual(rows, [{ details }, { details }])
  })

  test('has a page, whose URL never contains the token', async () => {
    const page = await portal.profile().ask('/signin/reset', { headers: { accept: 'text/html' } })
    assert.equal(page.status, 200)
    assert.match(page.headers.get('content-type') ?? '', /text\/html/)
    assert.match(page.headers.get('referrer-policy') ?? '', /no-referrer|same-origin/)
  })
})

test('B72: a person whose domain was removed is refused', async () => {
  await using there = await open({ sign_up: { policy: 'domain', domains: ['firm.example'] } })
  const { id, email } = await withPassword(there)
  await there.service.database.rows(
    `update person set email = 'p@elsewhere.example', email_key = 'p@elsewhere.example' where id = $1`,
    [id],
  )
  assert.equal((await enter(there.profile(), email, right)).status, 400)
  const page = await enter(there.profile(), 'p@elsewhere.example', right)
  assert.deepEqual(codeOf(page), [403, 'sign_in_refused', undefined])
})

describe('B49: the fewest characters', () => {
  for (const [policy, role, isEnrolled, minimum] of [
    ['optional', 'consultant', true, 8],
    ['partners', 'consultant', false, 15],
  ] as const) {
    test(`are ${minimum} for a ${role} ${isEnrolled ? 'with' : 'without'} a factor, if it is ${policy}`, async () => {
      await using there = await open({ second_factor: policy })
      const { id, email } = await newPerson(there, role)
      if (isEnrolled) credentials.enrolled.add(id)
      const token = await linkTo(email, there)
      assert.deepEqual((await inspect(token, there)).json, { email, minimum_length: minimum })
      const short = 'kx7mv2qp9zt4bw'
      const page = await reset(token, minimum === 15 ? short : short.slice(0, 7), there)
      assert.deepEqual(codeOf(page), [400, 'invalid_field', 'password'])
      assert.equal((await reset(token, `${short}c`.slice(0, minimum), there)).status, 200)
    })
  }

  test('count again at sign-in: a short password does not suffice once the second factor is gone', async () => {
    const { id, email } = await newPerson()
    credentials.enrolled.add(id)
    assert.equal((await reset(await linkTo(email), 'kx7mv2qp')).status, 200)
    credentials.enrolled.delete(id)
    const had = await portal.counts()
    await portal.assertRefused(await enter(portal.profile(), email, 'kx7mv2qp'), [403, 'sign_in_refused'], had)
    assert.equal((await reset(await linkTo(email, portal, 2))).status, 200)
    assert.equal((await enter(portal.profile(), email, right)).status, 200)
  })
})

const change = (profile: Profile, body: object) => post(profile, '/me/password', body)

describe('/me/password', () => {
  test('B33: a change needs the current one, ends the other sessions, is mailed and recorded', async () => {
    const { id, email, profile } = await signedIn()
    const elsewhere = portal.profile()
    await enter(elsewhere, email, right)
    assert.deepEqual(codeOf(await change(profile, { password: other })), [400, 'missing_field', 'current'])
    assert.deepEqual(codeOf(await change(profile, { current: 'wrong', password: other })), [
      400,
      'invalid_field',
      'current',
    ])
    assert.deepEqual(codeOf(await change(profile, { current: right, password: 'short' })), [
      400,
      'invalid_field',
      'password',
    ])
    assert.ok(await elsewhere.who(), 'a refused change ends nothing')
    const page = await change(profile, { current: right, password: other })
    assert.deepEqual([page.status, page.json], [200, { ended: 1 }], page.text)
    assert.equal((await profile.who())?.['id'], id)
    assert.equal(await elsewhere.who(), undefined)
    assert.equal((await enter(portal.profile(), email, right)).status, 400)
    assert.equal((await enter(portal.profile(), email, other)).status, 200)
    assert.deepEqual(await actionsOf(id), ['password_set', 'password_changed'])
    await mailTo(email, 'Your password was changed', 2)
  })

  test('of two changes at the same time, one succeeds', async () => {
    const { email, profile } = await signedIn()
    const elsewhere = portal.profile()
    await enter(elsewhere, email, right)
    const chosen = [other, 'nimble harbour violin']
    const pages = await Promise.all(
      [profile, elsewhere].map((each, n) => change(each, { current: right, password: chosen[n] })),
    )
    const winners = pages.flatMap(({ status }, n) => (status === 200 ? [chosen[n] ?? ''] : []))
    assert.equal(winners.length, 1, pages.map(({ text }) => text).join())
    assert.equal((await enter(portal.profile(), email, winners[0] ?? '')).status, 200)
  })

  test('a person who signed in another way sets the first one', async () => {
    const { id, email } = await newPerson()
    credentials.claim = { by: 'person', personId: id }
    const profile = portal.profile()
    const { attempt } = (await post(profile, '/auth/start/code', {})).json
    await post(profile, '/auth/complete', { attempt, input: { code: rightCode } })
    assert.equal((await send(profile, 'DELETE', '/me/password')).status, 404)
    assert.equal((await change(profile, { password: right })).status, 200)
    assert.deepEqual(await actionsOf(id), ['password_set'])
    assert.equal((await enter(portal.profile(), email, right)).status, 200)
  })

  test('guesses of the current one count like those at sign-in', async () => {
    const { profile, email } = await signedIn()
    for (let n = 0; n < 6; n++) await change(profile, { current: 'wrong', password: other })
    await lengthenWaits()
    assert.equal((await change(profile, { current: right, password: other })).status, 429)
    assert.equal((await enter(portal.profile(), email, right)).status, 429)
  })

  test('a removal needs another method, ends the other sessions, is mailed and recorded', async () => {
    const { id, email, profile } = await signedIn()
    const elsewhere = portal.profile()
    await enter(elsewhere, email, right)
    credentials.isUsable = false
    try {
      assert.deepEqual(codeOf(await send(profile, 'DELETE', '/me/password')), [409, 'conflict', undefined])
      assert.ok(await elsewhere.who())
    } finally {
      credentials.isUsable = true
    }
    const token = await linkTo(email, portal, 2)
    const page = await send(profile, 'DELETE', '/me/password')
    assert.deepEqual([page.status, page.json], [200, { ended: 1 }], page.text)
    assert.equal((await profile.who())?.['id'], id)
    assert.equal(await elsewhere.who(), undefined)
    assert.equal((await enter(portal.profile(), email, right)).status, 400)
    assert.deepEqual(await actionsOf(id), ['password_set', 'password_removed'])
    await mailTo(email, 'Your password was removed')
    assert.deepEqual(codeOf(await reset(token)), [400, 'sign_in_failed', undefined])
    assert.equal((await enter(portal.profile(), email, other)).status, 400)
  })

  test('every change needs a recent sign-in, and a page of this service', async () => {
    const { id, profile } = await signedIn()
    const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
    const body = { current: right, password: other }
    for (const method of ['POST', 'DELETE']) {
      const page = await profile.ask('/me/password', { method, body, headers: foreign })
      assert.deepEqual(codeOf(page).slice(0, 2), [403, 'cross_site_request'])
    }
    await portal.service.database.rows(
      `update session set proven_at = now() - interval '11 minutes' where person_id = $1`,
      [id],
    )
    for (const page of [await change(profile, body), await send(profile, 'DELETE', '/me/password')]) {
      assert.deepEqual(codeOf(page).slice(0, 2), [403, 'recent_sign_in_required'])
    }
    const confirm = async (password: string) => {
      await post(profile, '/me/confirmation/start', { factor: 'password' })
      return (await post(profile, '/me/confirmation', { factor: 'password', input: { password } })).status
    }
    assert.deepEqual([await confirm(other), await confirm(right)], [400, 200], 'B108: the password confirms it')
    assert.deepEqual(await actionsOf(id), ['password_set'])
    assert.equal((await send(profile, 'DELETE', '/me/password')).status, 200)
  })
})

describe('B16: an attacker who was there before', () => {
  test('cannot prepare a password for an address that they do not own', async () => {
    const email = 'victim@firm.example'
    await using there = await open({ sign_up: { policy: 'anyone' } })
    // Whatever the attacker asks for goes to the owner's mailbox, and nobody exists before the link is used.
    const had = await there.counts()
    assert.equal((await request(email, there)).status, 200)
    assert.deepEqual(await there.counts(), had)
    there.provider.say({ subject: 'victim', email })
    const owner = there.profile()
    assert.equal((await owner.signIn('firm')).status, 303)
    assert.equal((await enter(there.profile(), email, right)).status, 400)
    // The link that the attacker asked for gives access to its reader alone, who is the owner.
    await mailTo(email, 'Choose your password')
  })

  test('gets no access with an account of theirs at a provider that does not verify the address', async () => {
    const { email } = await withPassword()
    portal.provider.say({ subject: 'attacker', email })
    portal.provider.lies.claims = { email_verified: false }
    try {
      const attacker = portal.profile()
      const page = await attacker.signIn('firm')
      assert.deepEqual([page.status, at(page.json, 'error', 'code')], [403, 'sign_in_refused'])
      assert.equal(await attacker.who(), undefined)
    } finally {
      portal.provider.lies.claims = {}
    }
  })

  test('loses their session, and a sign-in that waits for a second factor, when the owner chooses a new password', async () => {
    const { id, email, profile: attacker } = await signedIn()
    credentials.enrolled.add(id)
    const waiting = portal.profile()
    assert.deepEqual((await enter(waiting, email, right)).json, { location: '/signin' })
    await post(waiting, '/auth/second-factor/start', { factor: 'pin' })
    assert.equal((await reset(await linkTo(email, portal, 2), other)).status, 200)
    assert.equal(await attacker.who(), undefined)
    assert.equal((await post(waiting, '/auth/second-factor', { input: { pin: rightCode } })).status, 400)
    assert.equal(await waiting.who(), undefined)
  })

  test('cannot use a link that was mailed before the owner changed the password or the address', async () => {
    const { email, id, profile } = await signedIn()
    const token = await linkTo(email, portal, 2)
    const body = { current: right, password: other }
    assert.equal((await post(profile, '/me/password', body)).status, 200)
    assert.deepEqual(codeOf(await reset(token)), [400, 'sign_in_failed', undefined])
    const later = await linkTo(email, portal, 3)
    await portal.service.database.rows(
      `update person set email = 'x' || email, email_key = 'x' || email_key where id = $1`,
      [id],
    )
    assert.deepEqual(codeOf(await reset(later)), [403, 'sign_in_refused', undefined])
    assert.equal((await enter(portal.profile(), `x${email}`, other)).status, 200)
  })
})
