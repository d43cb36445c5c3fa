import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fixture } from '../support/fixture.ts'
import { codesOf, giveFactor, post, setUpTotp } from '../support/own-account.ts'
import { startPortal } from '../support/portal.ts'
import type { Profile } from '../support/profile.ts'

const portal = fixture(() => startPortal())

async function enrolled() {
  const { profile, id } = await portal.enter('consultant')
  return { profile, id, ...(await setUpTotp(profile)) }
}

async function proven(): Promise<Profile> {
  const profile = portal.profile()
  assert.equal((await profile.signIn('firm')).location, '/signin')
  return profile
}

const give = (profile: Profile, code: string) => giveFactor(profile, 'recovery_code', { code })
const left = async (profile: Profile) => (await profile.ask('/me')).json['recovery_codes_left']

describe('B68: recovery codes', () => {
  test('are ten different ones of 80 bits, shown once and stored as hashes', async () => {
    const { profile, id, codes } = await enrolled()
    assert.equal(new Set(codes).size, 10)
    for (const code of codes) assert.match(code, /^([A-Z2-7]{4}-){3}[A-Z2-7]{4}$/)
    assert.equal(await left(profile), 10)
    const rows = await portal.service.database.rows('select t::text from recovery_code t where person_id = $1', [id])
    const dump = JSON.stringify(rows)
    for (const code of codes) {
      const plain = code.replaceAll('-', '')
      for (const form of [code, plain, Buffer.from(plain).toString('hex')]) assert.ok(!dump.includes(form))
    }
    assert.ok(!(await profile.ask('/me')).text.includes(codes[0] ?? ''))
    assert.ok(!portal.service.logText().includes(codes[0] ?? ''))
  })

  test('are listed as a second factor, and each signs in once', async () => {
    const { id, codes } = await enrolled()
    const profile = await proven()
    assert.deepEqual((await profile.ask('/signin')).json['second_factors'], [
      { id: 'totp', name: 'Authenticator app' },
      { id: 'recovery_code', name: 'Recovery code' },
    ])
    const [code = ''] = codes
    assert.equal((await give(profile, code.toLowerCase().replaceAll('-', ' '))).status, 200)
    assert.equal((await profile.who())?.['id'], id)
    assert.equal(await left(profile), 9)
    const had = await portal.counts()
    await portal.assertRefused(await give(await proven(), code), [400, 'sign_in_failed'], had)
    const rows = await portal.service.database.rows(
      `select person_id, details from audit where action = 'recovery_code_used' and noun_id = $1`,
      [id],
    )
    assert.deepEqual(rows, [{ person_id: id, details: { remaining: '9' } }])
  })

  test('one signs in once of five at the same moment', async () => {
    const { codes } = await enrolled()
    const profiles = await Promise.all(Array.from({ length: 5 }, proven))
    const pages = await Promise.all(profiles.map((profile) => give(profile, codes[0] ?? '')))
    assert.equal(pages.filter(({ status }) => status === 200).length, 1)
  })

  test('of another person are refused', async () => {
    const { codes } = await enrolled()
    await enrolled()
    const had = await portal.counts()
    await portal.assertRefused(await give(await proven(), codes[0] ?? ''), [400, 'sign_in_failed'], had)
  })

  test('are void once new ones are created', async () => {
    const { profile, codes } = await enrolled()
    const fresh = codesOf(await post(profile, '/me/recovery-codes'))
    assert.equal(new Set([...fresh, ...codes]).size, 20)
    const had = await portal.counts()
    await portal.assertRefused(await give(await proven(), codes[0] ?? ''), [400, 'sign_in_failed'], had)
    assert.equal((await give(await proven(), fresh[0] ?? '')).status, 200)
  })

  test('need a second factor that they replace', async () => {
    const { profile } = await portal.enter('consultant')
    assert.equal((await post(profile, '/me/recovery-codes')).status, 409)
    assert.equal(await left(profile), 0)
  })

  test('are limited like other codes', async () => {
    const { codes } = await enrolled()
    for (let tries = 0; tries < 5; tries++) await give(await proven(), 'AAAA-AAAA-AAAA-AAAA')
    const had = await portal.counts()
    await portal.assertRefused(await give(await proven(), codes[0] ?? ''), [429, 'too_many_sign_ins'], had)
  })
})
