import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ageBegun } from '../support/begun-sign-ins.ts'
import { at, parseObject } from '../support/json.ts'
import { fixture } from '../support/fixture.ts'
import { challengeOf, codesOf, giveFactor, post, remove } from '../support/own-account.ts'
import { startPortal } from '../support/portal.ts'
import type { Page, Profile } from '../support/profile.ts'
import { startSmsGateway } from '../support/sms-gateway.ts'
import { ok } from '../support/answer.ts'

const gateway = fixture(() => startSmsGateway())
const portal = fixture(() => startPortal({ sms: { url: `${gateway.url}/send`, token: 'gateway-token' } }))

let numbers = 0
const newNumber = () => {
  numbers++
  return `+491511234${String(numbers).padStart(4, '0')}`
}
const codeOf = (page: Page) => at(page.json, 'error', 'code')
/** All tests come from one network. */
const forgetLimits = () =>
  portal.service.database.rows(`delete from throttle where kind like 'sms%_network' and kind not like '%by_network'`)

async function begin(profile: Profile, number: unknown = newNumber()): Promise<Page> {
  await forgetLimits()
  return post(profile, '/me/factors/sms/start', { input: { number } })
}

async function enrolled() {
  const { profile, id } = await portal.enter('consultant')
  const number = newNumber()
  assert.equal((await begin(profile, number)).status, 200)
  const page = ok(await post(profile, '/me/factors/sms', { input: { code: gateway.lastCode() } }))
  assert.equal(codesOf(page).length, 10)
  return { profile, id, number }
}

async function proven(): Promise<Profile> {
  const profile = portal.profile()
  assert.equal((await profile.signIn('firm')).location, '/signin')
  return profile
}

const send = async (profile: Profile) => {
  await forgetLimits()
  return post(profile, '/auth/second-factor/start', { factor: 'sms' })
}
const give = (profile: Profile, code: string) => post(profile, '/auth/second-factor', { input: { code } })
const age = (minutes: number) => ageBegun(portal.service.database, minutes)

describe('B69: a telephone number', () => {
  test('is verified by a code; an authenticator app and passkeys are offered too', async () => {
    const { profile, number } = await enrolled()
    const { headers, url, body } = gateway.requests.at(-1) ?? assert.fail()
    assert.deepEqual([url, headers['authorization']], ['/send', 'Bearer gateway-token'])
    assert.equal(parseObject(body)['to'], number)
    const { factors } = (await profile.ask('/me')).json
    assert.deepEqual(factors, [
      { id: 'passkey', name: 'Passkey', set_up: false },
      { id: 'totp', name: 'Authenticator app', set_up: false },
      { id: 'sms', name: 'Text message', set_up: true },
    ])
  })

  test('is no factor while it is being set up, nor is any other', async () => {
    for (const factor of ['passkey', 'totp', 'sms']) {
      const { profile } = await portal.enter('consultant')
      await forgetLimits()
      ok(await post(profile, `/me/factors/${factor}/start`, { input: { number: newNumber() } }))
      const { factors } = (await profile.ask('/me')).json
      for (const index of [0, 1, 2]) assert.equal(at(factors, index, 'set_up'), false, factor)
      assert.equal((await portal.profile().signIn('firm')).location, '/')
    }
  })

  test('is not stored before, and not with a wrong code', async () => {
    const { profile, id } = await portal.enter('consultant')
    const page = await begin(profile, '+49 (151) 1234-9999')
    assert.deepEqual(challengeOf(page), { digits: 6, number: '+•••••••••••99' })
    const stored = async () =>
      (await portal.service.database.rows('select from phone where person_id = $1', [id])).length
    assert.equal(await stored(), 0)
    const wrong = gateway.lastCode() === '000000' ? '000001' : '000000'
    assert.equal((await post(profile, '/me/factors/sms', { input: { code: wrong } })).status, 400)
    assert.equal(await stored(), 0)
    assert.equal((await post(profile, '/me/factors/sms', { input: { code: gateway.lastCode() } })).status, 200)
  })

  test('must be in the international format', async () => {
    const { profile } = await portal.enter('consultant')
    const had = gateway.requests.length
    for (const number of ['0151 1234567', '+0151', '+49', 'x', '', null, 12, `+${'1'.repeat(16)}`]) {
      const page = await begin(profile, number)
      assert.deepEqual(
        [page.status, codeOf(page), at(page.json, 'error', 'field')],
        [400, 'invalid_field', 'input.number'],
      )
    }
    assert.equal(gateway.requests.length, had, 'nothing was sent')
  })

  test('is replaced in one step by another number', async () => {
    const { profile, id } = await enrolled()
    const stored = async () =>
      (await portal.service.database.rows<{ number: string }>('select number from phone where person_id = $1', [id]))[0]
    const first = await stored()
    const number = newNumber()
    assert.equal((await begin(profile, number)).status, 200)
    assert.deepEqual(await stored(), first, 'not before it is verified')
    assert.equal((await post(profile, '/me/factors/sms', { input: { code: gateway.lastCode() } })).status, 200)
    assert.deepEqual(await stored(), { number })
  })

  test('can be removed', async () => {
    const { profile } = await enrolled()
    assert.equal((await remove(profile, '/me/factors/sms')).status, 200)
    assert.equal((await portal.profile().signIn('firm')).location, '/')
  })

  test('is no factor unless a gateway is configured', async () => {
    await using without = await startPortal()
    const { profile } = await without.enter('consultant')
    assert.equal((await post(profile, '/me/factors/sms/start', { input: { number: newNumber() } })).status, 404)
  })
})

describe('B69: a code by text message', () => {
  test('signs in, once, and is stored encrypted', async () => {
    const { number } = await enrolled()
    const profile = await proven()
    assert.deepEqual(challengeOf(await send(profile)), { digits: 6, number: number.replace(/\d(?=\d{2})/g, '•') })
    const code = gateway.lastCode()
    const rows = await portal.service.database.rows<{ data: unknown }>('select data from sign_in_attempt')
    assert.ok(!JSON.stringify(rows).includes(code))
    assert.ok(!portal.service.logText().includes(code))
    const pages = await Promise.all([give(profile, code), give(profile, code), give(profile, code)])
    assert.equal(pages.filter(({ status }) => status === 200).length, 1)
    assert.deepEqual(at((await profile.ask('/me')).json, 'sessions', 0, 'factors'), ['provider', 'sms'])
    const had = await portal.counts()
    await portal.assertRefused(await give(await proven(), code), [400, 'sign_in_failed'], had)
  })

  test('is valid for 10 minutes, and until the next one is sent', async () => {
    await enrolled()
    const profile = await proven()
    await send(profile)
    const first = gateway.lastCode()
    await send(profile)
    const second = gateway.lastCode()
    const had = await portal.counts()
    if (first !== second) await portal.assertRefused(await give(profile, first), [400, 'sign_in_failed'], had)
    await age(10)
    await portal.assertRefused(await give(profile, second), [400, 'sign_in_failed'], had)
    await enrolled()
    const other = await proven()
    await send(other)
    await age(9)
    assert.equal((await give(other, gateway.lastCode())).status, 200)
  })

  test('is not sent more than three times in 15 minutes', async () => {
    await enrolled()
    const profile = await proven()
    // One was sent to verify the number.
    for (let sent = 1; sent < 3; sent++) assert.equal((await send(profile)).status, 200)
    const had = gateway.requests.length
    const page = await send(profile)
    assert.deepEqual([page.status, codeOf(page)], [429, 'too_many_sign_ins'])
    assert.ok(Number(page.headers.get('retry-after')) > 800)
    assert.equal(gateway.requests.length, had)
  })

  test('is limited per network and per number too', async () => {
    const number = newNumber()
    for (let sent = 0; sent < 3; sent++) {
      assert.equal((await begin((await portal.enter('consultant')).profile, number)).status, 200)
    }
    assert.equal((await begin((await portal.enter('consultant')).profile, number)).status, 429)
    await forgetLimits()
    const statuses: number[] = []
    for (let sent = 0; sent < 11; sent++) {
      const { profile } = await portal.enter('consultant')
      statuses.push((await post(profile, '/me/factors/sms/start', { input: { number: newNumber() } })).status)
    }
    assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 200), 429])
  })

  test('that the gateway refuses is an error of its own', async () => {
    const { profile } = await portal.enter('consultant')
    gateway.status = 500
    try {
      const page = await begin(profile)
      assert.deepEqual([page.status, codeOf(page)], [502, 'sms_failed'])
      assert.ok(!page.text.includes('gateway-token'))
    } finally {
      gateway.status = 200
    }
  })

  test('counts among the wrong codes of the person', async () => {
    await enrolled()
    for (let tries = 0; tries < 5; tries++) {
      assert.equal((await giveFactor(await proven(), 'recovery_code', { code: 'AAAA' })).status, 400)
    }
    const profile = await proven()
    await send(profile)
    const had = await portal.counts()
    await portal.assertRefused(await give(profile, gateway.lastCode()), [429, 'too_many_sign_ins'], had)
  })
})

test('a code that verifies a number during a sign-in is no second factor by itself, nor the other way round', async () => {
  await using own = await startPortal({
    sms: { url: gateway.url, token: 'gateway-token' },
    signIn: { second_factor: 'required' },
  })
  const enrol = (profile: Profile) =>
    post(profile, '/auth/second-factor/enrol', { input: { code: gateway.lastCode() } })
  own.newcomer()
  const profile = own.profile()
  assert.equal((await profile.signIn('firm')).location, '/signin')
  const choice = { factor: 'sms', input: { number: newNumber() } }
  assert.equal((await post(profile, '/auth/second-factor/enrol/start', choice)).status, 200)
  const had = await own.counts()
  await own.assertRefused(await give(profile, gateway.lastCode()), [400, 'sign_in_failed'], had)
  ok(await enrol(profile))
  assert.ok(await profile.who())
  const later = own.profile()
  await later.signIn('firm')
  assert.equal((await post(later, '/auth/second-factor/start', { factor: 'sms' })).status, 200)
  // The number was taken from the person meanwhile: its code must not bring it back.
  await own.service.database.rows('delete from phone')
  await own.assertRefused(await enrol(later), [400, 'sign_in_failed'], await own.counts())
  assert.deepEqual(await own.service.database.rows('select from phone'), [])
})

describe('the Twilio format', () => {
  test('is a form, with the account in the URL as the user', async () => {
    const url = `${gateway.url}/2010-04-01/Accounts/AC123/Messages.json`
    await using own = await startPortal({ sms: { url, token: 'auth-token', format: 'twilio', from: '+15005550006' } })
    const { profile } = await own.enter('consultant')
    const number = newNumber()
    assert.equal((await post(profile, '/me/factors/sms/start', { input: { number } })).status, 200)
    const request = gateway.requests.at(-1) ?? assert.fail()
    const basic = Buffer.from('AC123:auth-token').toString('base64')
    assert.equal(request.headers['authorization'], `Basic ${basic}`)
    assert.match(String(request.headers['content-type']), /^application\/x-www-form-urlencoded/)
    const form = new URLSearchParams(request.body)
    assert.deepEqual([form.get('To'), form.get('From')], [number, '+15005550006'])
    assert.match(form.get('Body') ?? '', /^Your Tollgate code is \d{6}\./)
  })
})
