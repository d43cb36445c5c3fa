import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { at } from '../support/json.ts'
import { fixture } from '../support/fixture.ts'
import { challengeOf, codesOf, forgetSteps, giveFactor, post, remove, setUpTotp } from '../support/own-account.ts'
import { startPortal } from '../support/portal.ts'
import type { Page, Profile } from '../support/profile.ts'
import { totpCode } from '../support/totp.ts'

const portal = fixture(() => startPortal())

/** A person with an authenticator app whose codes of now are unused. */
async function enrolled() {
  const { profile, id } = await portal.enter('consultant')
  const { secret, codes } = await setUpTotp(profile)
  await forgetSteps(portal.service.database)
  return { profile, id, secret, codes }
}

/** Their next browser, in which the provider has vouched for them. */
async function proven(): Promise<Profile> {
  const profile = portal.profile()
  const page = await profile.signIn('firm')
  assert.equal(page.location, '/signin')
  return profile
}

const give = (profile: Profile, code: string) => giveFactor(profile, 'totp', { code })
const codeOf = (page: Page) => at(page.json, 'error', 'code')

test('a set-up in two tabs says which of them counts', async () => {
  const { profile } = await portal.enter('consultant')
  const { secret: first } = challengeOf(await post(profile, '/me/factors/totp/start'))
  const { secret: second } = challengeOf(await post(profile, '/me/factors/totp/start'))
  const wrong = await post(profile, '/me/factors/totp', { input: { code: totpCode(first) } })
  assert.equal(wrong.status, 400, wrong.text)
  assert.match(String(at(wrong.json, 'error', 'reason')), /opened this page more than once, use the one opened last/)
  const right = await post(profile, '/me/factors/totp', { input: { code: totpCode(second) } })
  assert.equal(right.status, 200, right.text)
})

describe('B66: an authenticator app', () => {
  test('gets a secret of 160 bits, as text and as a QR code, which is shown once and stored encrypted', async () => {
    const { profile, id } = await portal.enter('consultant')
    const { secret, uri, qr } = challengeOf(await post(profile, '/me/factors/totp/start'))
    assert.match(String(secret), /^[A-Z2-7]{32}$/)
    assert.match(String(uri), new RegExp(`^otpauth://totp/Tollgate:.*secret=${String(secret)}`))
    assert.match(String(qr), /^<svg /)
    const dump = async () =>
      JSON.stringify(
        await portal.service.database.rows(
          'select t::text from totp t union all select e::text from enrolment e union all select a::text from audit a',
        ),
      )
    assert.ok(!(await dump()).includes(String(secret)))
    await post(profile, '/me/factors/totp', { input: { code: totpCode(secret) } })
    assert.ok(!(await dump()).includes(String(secret)))
    assert.ok(!(await dump()).includes(Buffer.from(String(secret)).toString('hex')))
    const pages = [await profile.ask('/me'), await post(profile, '/me/factors/totp/start')]
    for (const { text } of pages) assert.ok(!text.includes(String(secret)))
    assert.ok(!portal.service.logText().includes(String(secret)))
    const rows = await portal.service.database.rows(
      'select length(secret) > 32 as long from totp where person_id = $1',
      [id],
    )
    assert.deepEqual(rows, [{ long: true }])
  })

  test('is replaced in one step, so that a lost phone is no dead end, and the old one ends at once', async () => {
    const { profile, id } = await portal.enter('consultant')
    const { secret: lost } = await setUpTotp(profile)
    const { secret: found } = challengeOf(await post(profile, '/me/factors/totp/start'))
    const stored = () => portal.service.database.rows('select secret from totp where person_id = $1', [id])
    const first = await stored()
    assert.equal((await post(profile, '/me/factors/totp', { input: { code: '000000' } })).status, 400)
    assert.deepEqual(await stored(), first, 'a wrong code replaces nothing')
    const replaced = await post(profile, '/me/factors/totp', { input: { code: totpCode(found) } })
    assert.equal(replaced.status, 200, replaced.text)
    assert.deepEqual(codesOf(replaced), [], 'the recovery codes stay')
    await forgetSteps(portal.service.database)
    const next = portal.profile()
    assert.equal((await next.signIn('firm')).location, '/signin')
    assert.equal((await giveFactor(next, 'totp', { code: totpCode(lost) })).status, 400)
    assert.equal((await giveFactor(next, 'totp', { code: totpCode(found) })).status, 200)
  })

  test('is not set up by a wrong code, by a code for another secret, or after five wrong codes', async () => {
    const { profile, id } = await portal.enter('consultant')
    const { secret: first } = challengeOf(await post(profile, '/me/factors/totp/start'))
    const { secret } = challengeOf(await post(profile, '/me/factors/totp/start'))
    const submit = (code: string) => post(profile, '/me/factors/totp', { input: { code } })
    for (const code of [totpCode(first), '', '12345', '1234567', totpCode(secret, 30)]) {
      const page = await submit(code)
      assert.deepEqual([page.status, codeOf(page)], [400, 'sign_in_failed'])
    }
    assert.equal((await submit(totpCode(secret))).status, 400, 'five tries are used up')
    assert.deepEqual(await portal.service.database.rows('select from totp where person_id = $1', [id]), [])
    await setUpTotp(profile)
  })

  test('is not set up in another session than the one that began it', async () => {
    const { profile } = await portal.enter('consultant')
    const { secret } = challengeOf(await post(profile, '/me/factors/totp/start'))
    const other = portal.profile()
    await other.signIn('firm')
    const page = await post(other, '/me/factors/totp', { input: { code: totpCode(secret) } })
    assert.deepEqual([page.status, codeOf(page)], [400, 'sign_in_failed'])
  })

  test('is not set up later than ten minutes after it was begun', async () => {
    const { profile, id } = await portal.enter('consultant')
    const { secret } = challengeOf(await post(profile, '/me/factors/totp/start'))
    await portal.service.database.rows(
      `update enrolment e set expires_at = e.expires_at - interval '10 minutes'
       from session s where s.id = e.session_id and s.person_id = $1`,
      [id],
    )
    const page = await post(profile, '/me/factors/totp', { input: { code: totpCode(secret) } })
    assert.deepEqual([page.status, codeOf(page)], [400, 'sign_in_failed'])
    assert.deepEqual(await portal.service.database.rows('select from totp where person_id = $1', [id]), [])
  })

  test('is set up once by five submissions at the same moment', async () => {
    const { profile, id } = await portal.enter('consultant')
    const { secret } = challengeOf(await post(profile, '/me/factors/totp/start'))
    const submit = () => post(profile, '/me/factors/totp', { input: { code: totpCode(secret) } })
    const statuses = (await Promise.all(Array.from({ length: 5 }, submit))).map(({ status }) => status)
    assert.deepEqual(
      statuses.toSorted((one, two) => one - two),
      [200, 400, 400, 400, 400],
    )
    const rows = await portal.service.database.rows(`select from audit where action = 'totp_set_up' and noun_id = $1`, [
      id,
    ])
    assert.equal(rows.length, 1)
  })

  test('can be removed, and is no longer asked for then', async () => {
    const { profile, id } = await enrolled()
    assert.equal((await remove(profile, '/me/factors/totp')).status, 200)
    assert.equal((await remove(profile, '/me/factors/totp')).status, 404)
    assert.equal((await portal.profile().signIn('firm')).location, '/')
    assert.deepEqual(await portal.service.database.rows('select from recovery_code where person_id = $1', [id]), [])
  })
})

describe('B65: a code', () => {
  test('is accepted with spaces', async () => {
    const { secret } = await enrolled()
    const code = totpCode(secret)
    assert.equal((await give(await proven(), ` ${code.slice(0, 3)} ${code.slice(3)} `)).status, 200)
  })

  test('from the set-up is refused at the next sign-in', async () => {
    const { profile } = await portal.enter('consultant')
    const { secret } = challengeOf(await post(profile, '/me/factors/totp/start'))
    const code = totpCode(secret)
    assert.equal((await post(profile, '/me/factors/totp', { input: { code } })).status, 200)
    const had = await portal.counts()
    await portal.assertRefused(await give(await proven(), code), [400, 'sign_in_failed'], had)
  })

  test('is accepted once, in any browser', async () => {
    const { secret } = await enrolled()
    const code = totpCode(secret)
    const [one, other] = [await proven(), await proven()]
    assert.equal((await give(one, code)).status, 200)
    const had = await portal.counts()
    await portal.assertRefused(await give(other, code), [400, 'sign_in_failed'], had)
    await portal.assertRefused(await give(other, totpCode(secret, -1)), [400, 'sign_in_failed'], had)
    assert.equal((await give(other, totpCode(secret, 1))).status, 200)
  })

  test('is accepted once of five at the same moment', async () => {
    const { secret, id } = await enrolled()
    const profiles = await Promise.all(Array.from({ length: 5 }, proven))
    const had = await portal.service.database.rows('select from session where person_id = $1', [id])
    const code = totpCode(secret)
    const pages = await Promise.all(profiles.map((profile) => give(profile, code)))
    assert.equal(pages.filter(({ status }) => status === 200).length, 1)
    const then = await portal.service.database.rows('select from session where person_id = $1', [id])
    assert.equal(then.length, had.length + 1)
  })

  test('of another person is refused', async () => {
    const { secret } = await enrolled()
    await enrolled()
    const had = await portal.counts()
    await portal.assertRefused(await give(await proven(), totpCode(secret)), [400, 'sign_in_failed'], had)
  })
})

describe('B67: guessing', () => {
  test('ends after five wrong codes of a person, in any of their browsers, and says how long to wait', async () => {
    const { secret, id } = await enrolled()
    for (let tries = 0; tries < 5; tries++) {
      const page = await give(await proven(), '000000')
      assert.equal(page.status, 400)
    }
    const profile = await proven()
    const had = await portal.counts()
    const page = await give(profile, totpCode(secret))
    await portal.assertRefused(page, [429, 'too_many_sign_ins'], had)
    const wait = Number(page.headers.get('retry-after'))
    assert.ok(wait > 800 && wait <= 900, `${wait} s`)
    await give(profile, totpCode(secret))
    const rows = await portal.service.database.rows(
      `select outcome from audit where action = 'second_factor_guessing' and noun_id = $1`,
      [id],
    )
    assert.deepEqual(rows, [{ outcome: 'refused' }], 'one row')
  })

  test('does not affect another person', async () => {
    const { secret } = await enrolled()
    assert.equal((await give(await proven(), totpCode(secret))).status, 200)
  })

  test('is counted from the start after a right code', async () => {
    const { secret } = await enrolled()
    for (let tries = 0; tries < 4; tries++) await give(await proven(), '000000')
    assert.equal((await give(await proven(), totpCode(secret))).status, 200)
    await forgetSteps(portal.service.database)
    for (let tries = 0; tries < 4; tries++) await give(await proven(), '000000')
    assert.equal((await give(await proven(), totpCode(secret))).status, 200)
  })

  test('with twenty codes at the same moment gets five of them checked', async () => {
    await enrolled()
    const profiles = await Promise.all(Array.from({ length: 20 }, proven))
    const pages = await Promise.all(profiles.map((profile) => give(profile, '000000')))
    assert.equal(pages.filter(({ status }) => status === 400).length, 5)
    assert.equal(pages.filter(({ status }) => status === 429).length, 15)
  })
})
