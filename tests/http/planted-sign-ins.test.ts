import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import { createEncryption } from '../../src/platform/encryption/encryption.ts'
import { hashOf, newSecret } from '../../src/signin/session/cookies.ts'
import { verifySignIns } from '../../src/signin/verify.ts'
import { fixture } from '../support/fixture.ts'
import { at } from '../support/json.ts'
import { startMailServer } from '../support/mail-server.ts'
import { challengeOf, post } from '../support/own-account.ts'
import { startPortal } from '../support/portal.ts'
import type { Page } from '../support/profile.ts'
import { encryptionKey } from '../support/service.ts'
import { totpCode } from '../support/totp.ts'
import { until } from '../support/until.ts'

// Someone who can write to the database can invent a row, or change their own, but not the part that Tollgate encrypted for it.

const mail = fixture(() => startMailServer())
const portal = fixture(() =>
  startPortal({ mail: mail.url, signIn: { second_factor: 'required', email_link: true, password: true } }),
)

const faults = async () =>
  (await verifySignIns(portal.service.database, createEncryption(encryptionKey))).flatMap((check) => check.faults)

const tokenIn = async (path: string, to: string) => {
  const link = new RegExp(String.raw`^https://tollgate\.test/signin/${path}#([\w-]{43})$`, 'm')
  const found = () => mail.mails.flatMap((each) => (each.to.includes(to) ? (link.exec(each.text)?.slice(1) ?? []) : []))
  await until(() => found().length > 0)
  return found()[0] ?? assert.fail()
}

async function newPerson(name: string): Promise<string> {
  const email = `${name}@firm.example`
  await portal.service.people.create({ name, email, role: 'consultant' }, byService)
  return email
}

test('a mailed link to which another address is given is refused, and verify names it', async () => {
  const { database } = portal.service
  const [mine, hers] = [await newPerson('mallory'), await newPerson('paula')]
  const profile = portal.profile()
  const { json } = await post(profile, '/auth/start/email_link', { input: { email: mine } })
  assert.equal((await post(profile, '/auth/reset/request', { email: mine })).status, 200)
  const [link, reset] = [await tokenIn('link', mine), await tokenIn('reset', mine)]
  assert.deepEqual(await faults(), [])
  await database.rows('update email_link set email = $1', [hers])
  await database.rows('update password_reset set email = $1', [hers])
  assert.deepEqual(
    (await faults()).map((fault) => at(fault, 'table')),
    ['email_link', 'password_reset'],
  )
  for (const [address, body] of [
    ['/auth/reset/inspect', { token: reset }],
    ['/auth/reset', { token: reset, password: 'blatant oyster wagon' }],
    ['/auth/link/inspect', { token: link }],
    ['/auth/link', { token: link }],
    ['/auth/complete', { attempt: json['attempt'], input: { code: '0000-0000' } }],
  ] as const) {
    assert.equal((await post(profile, address, body)).status, 400, address)
  }
  assert.deepEqual(await database.rows('select from session'), [])
  for (const table of ['email_link', 'password_reset']) await database.rows(`delete from ${table}`)
})

test('a sign-in that waits for a second factor cannot be given to another browser, and verify names it', async () => {
  const { database } = portal.service
  portal.newcomer()
  assert.equal((await portal.profile().signIn('firm')).location, '/signin')
  assert.deepEqual(await faults(), [])
  const other = portal.profile()
  const value = newSecret()
  other.cookies().set('__Host-factor', value)
  await database.rows(`update sign_in_attempt set browser_hash = $1 where step = 'proven'`, [hashOf(value)])
  assert.equal((await faults()).length, 1)
  const page = await post(other, '/auth/second-factor/enrol/start', { factor: 'totp' })
  assert.match(page.text, /was not started in this browser/)
  await database.rows('delete from sign_in_attempt')
})

test('what a browser has begun is refused once something else has changed it, and verify names it', async () => {
  const { database } = portal.service
  /** Makes each change, which undoes itself if it is made twice. */
  async function refuses(changes: readonly string[], go: () => Promise<Page>) {
    for (const change of changes) {
      await database.rows(`update sign_in_attempt set ${change}`)
      assert.deepEqual(
        (await faults()).map((fault) => at(fault, 'table')),
        ['sign_in_attempt'],
        change,
      )
      assert.match((await go()).text, /was not started in this browser/, change)
      await database.rows(`update sign_in_attempt set ${change}`)
      assert.deepEqual(await faults(), [], change)
    }
  }
  const ofBoth = [
    'method = reverse(method)',
    'return_to = reverse(return_to)',
    'links_to = case when links_to is null then (select id from person limit 1) end',
    `expires_at = expires_at + interval '1 minute' * (1 - 2 * mod(extract(minute from expires_at)::int, 2))`,
  ]

  const profile = portal.profile()
  const { json } = await post(profile, '/auth/start/password', { return_to: '/clients' })
  const guess = { email: await newPerson('paul'), password: 'not the right one' }
  const complete = () => post(profile, '/auth/complete', { attempt: json['attempt'], input: guess })
  // They are counted.
  await refuses(ofBoth, complete)
  await database.rows('update sign_in_attempt set tries = 0')
  assert.match((await complete()).text, /was not started in this browser/)
  await database.rows('delete from sign_in_attempt')

  portal.newcomer()
  assert.equal((await profile.signIn('firm', '/clients')).location, '/signin')
  const { secret } = challengeOf(await post(profile, '/auth/second-factor/enrol/start', { factor: 'totp' }))
  const enrol = (code = totpCode(secret)) => post(profile, '/auth/second-factor/enrol', { input: { code } })
  assert.match((await enrol('000000')).text, /This code is wrong/)
  const changes = [
    ...ofBoth,
    'factor = reverse(factor)',
    'enrols = not enrols',
    'tries = 1 - tries',
    `data = jsonb_build_object('secret', reverse(data ->> 'secret'))`,
    'provider_sid = reverse(provider_sid)',
  ]
  await refuses(changes, enrol)
  assert.equal((await enrol()).status, 200)
})
