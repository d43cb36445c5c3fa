import assert from 'node:assert/strict'
import { describe, mock, test } from 'node:test'
import { exportJWK, generateKeyPair } from 'jose'
import { clientId, type LyingProvider } from '../support/lying-provider.ts'
import { openPortal, startPortal } from '../support/portal.ts'
import { setUp } from '../support/fixture.ts'

// Expiry checks must not depend on how long a sign-in takes.
setUp(() => mock.timers.enable({ apis: ['Date'], now: Date.now() }))
const { portal, provider } = openPortal()

const now = () => Math.floor(Date.now() / 1000)
type Lie = Partial<Pick<LyingProvider['lies'], 'claims' | 'header' | 'signature' | 'callback'>>

describe('B7: a callback from another provider', () => {
  const cases: [string, Lie][] = [
    ['names another issuer', { callback: { iss: 'https://elsewhere.example' } }],
    ['names the issuer with an extra slash', { callback: { iss: `http://127.0.0.1/` } }],
    ['names no issuer, although the metadata declares that it always does', { callback: { iss: undefined } }],
  ]
  for (const [name, lie] of cases) {
    test(`${name}: the code is not redeemed`, async () => {
      Object.assign(provider.lies, lie)
      const [had, asked] = [await portal.counts(), provider.asked.token]
      await portal.assertRefused(await portal.profile().signIn('firm'), [400, 'sign_in_failed'], had)
      assert.equal(provider.asked.token, asked)
    })
  }
})

describe('B9: an ID token is refused when', () => {
  const cases: [string, () => Lie][] = [
    ['it is not signed', () => ({ signature: 'none' })],
    ['its header says alg none', () => ({ header: { alg: 'none' }, signature: 'none' })],
    ['it is signed with the client secret', () => ({ signature: 'secret' })],
    ['it is signed with a foreign key', () => ({ signature: 'stranger' })],
    ['it is from another issuer', () => ({ claims: { iss: 'https://elsewhere.example' } })],
    ['its issuer has an extra slash', () => ({ claims: { iss: `${provider.issuer}/` } })],
    ['it is for another client', () => ({ claims: { aud: 'another' } })],
    ['it is for several other clients', () => ({ claims: { aud: ['another', 'third'] } })],
    [
      'it is for us and others, and another is the authorized party',
      () => ({ claims: { aud: [clientId, 'b'], azp: 'b' } }),
    ],
    ['it is for us and others, and names no authorized party', () => ({ claims: { aud: [clientId, 'b'] } })],
    ['it is for us alone, and another is the authorized party', () => ({ claims: { azp: 'another' } })],
    ['it has no nonce', () => ({ claims: { nonce: undefined } })],
    ['it has another nonce', () => ({ claims: { nonce: 'A'.repeat(43) } })],
    ['it has expired', () => ({ claims: { exp: now() - 31 } })],
    ['it has no expiry', () => ({ claims: { exp: undefined } })],
    ['it was issued in the future', () => ({ claims: { iat: now() + 33 } })],
    ['it has no time of issue', () => ({ claims: { iat: undefined } })],
    ['it is not valid yet', () => ({ claims: { nbf: now() + 33 } })],
    ['it has no subject', () => ({ claims: { sub: undefined } })],
    ['its subject is a number', () => ({ claims: { sub: 7 } })],
    ['its subject is empty', () => ({ claims: { sub: '' } })],
    ['its subject contains a NUL', () => ({ claims: { sub: 'a\0b' } })],
    ['its subject is too long', () => ({ claims: { sub: 'a'.repeat(256) } })],
    ['its header lists a critical extension', () => ({ header: { crit: ['exp'], exp: now() + 60 } })],
  ]
  for (const [name, lie] of cases) {
    test(name, async () => {
      Object.assign(provider.lies, lie())
      const had = await portal.counts()
      await portal.assertRefused(await portal.profile().signIn('firm'), [502, 'provider_failed'], had)
    })
  }

  test('it is missing', async () => {
    provider.lies.token = { id_token: undefined }
    const had = await portal.counts()
    await portal.assertRefused(await portal.profile().signIn('firm'), [502, 'provider_failed'], had)
  })
})

describe('B9: an ID token is accepted when', () => {
  const cases: [string, () => Lie][] = [
    ['all of it is right', () => ({})],
    ['it is from 29 s ahead', () => ({ claims: { iat: now() + 29, nbf: now() + 29 } })],
    ['it expired 28 s ago', () => ({ claims: { exp: now() - 28 } })],
    ['it is for us and others, and was issued to us', () => ({ claims: { aud: [clientId, 'b'], azp: clientId } })],
    ['it is for us in a list', () => ({ claims: { aud: [clientId] } })],
    ['it does not say which key signed it', () => ({ header: { kid: undefined } })],
  ]
  for (const [name, lie] of cases) {
    test(name, async () => {
      Object.assign(provider.lies, lie())
      assert.equal((await portal.profile().signIn('firm')).status, 303)
    })
  }
})

describe('B10: a key in the header of a token', () => {
  const headers: [string, () => Promise<Record<string, unknown>>][] = [
    ['jwk', async () => ({ jwk: await exportJWK((await generateKeyPair('RS256')).publicKey) })],
    ['jku', async () => ({ jku: `${provider.issuer}/attacker/keys` })],
    ['x5u', async () => ({ x5u: `${provider.issuer}/attacker/certificate` })],
  ]
  for (const [name, header] of headers) {
    test(`as ${name} is neither used nor fetched`, async () => {
      provider.lies.header = await header()
      const others = provider.asked.other
      assert.equal((await portal.profile().signIn('firm')).status, 303, 'the right key still counts')
      provider.lies.signature = 'stranger'
      const had = await portal.counts()
      await portal.assertRefused(await portal.profile().signIn('firm'), [502, 'provider_failed'], had)
      assert.equal(provider.asked.other, others)
    })
  }
})

describe('B12: if the ID token has no email address', () => {
  test('UserInfo is called', async () => {
    provider.lies.claims = { email: undefined, email_verified: undefined }
    const asked = provider.asked.userinfo
    const profile = portal.profile()
    assert.equal((await profile.signIn('firm')).status, 303)
    assert.equal(provider.asked.userinfo, asked + 1)
    assert.match(JSON.stringify(await profile.who()), /somebody\d+@example\.com/)
  })

  test('and UserInfo returns another subject, the sign-in is refused', async () => {
    provider.lies.claims = { email: undefined, email_verified: undefined }
    provider.lies.userinfo = { sub: 'somebody else' }
    const had = await portal.counts()
    await portal.assertRefused(await portal.profile().signIn('firm'), [502, 'provider_failed'], had)
  })

  test('and UserInfo has none either, no person is created, and the response says why', async () => {
    provider.lies.claims = { email: undefined, email_verified: undefined }
    provider.lies.userinfo = { email: undefined, email_verified: undefined }
    const had = await portal.counts()
    const page = await portal.profile().signIn('firm')
    await portal.assertRefused(page, [403, 'sign_in_refused'], had)
    assert.match(page.text, /email address/)
  })

  test('a known person signs in without one', async () => {
    await portal.profile().signIn('firm')
    provider.lies.claims = { email: undefined, email_verified: undefined }
    provider.lies.userinfo = { email: undefined }
    assert.equal((await portal.profile().signIn('firm')).status, 303)
  })

  test('UserInfo is not called if the ID token has one', async () => {
    const asked = provider.asked.userinfo
    await portal.profile().signIn('firm')
    assert.equal(provider.asked.userinfo, asked)
  })
})

describe('B13: email_verified', () => {
  const verified = [true, false, undefined, 'true', 'false', 1]
  const rules = { never: [], when_verified: [true], always: verified }
  for (const [rule, counting] of Object.entries(rules)) {
    test(`is judged by the rule "${rule}"`, async () => {
      await using own = await startPortal({ settings: { trust_email: rule } })
      for (const value of verified) {
        own.newcomer()
        own.provider.lies.claims = { email_verified: value }
        const counts = counting.some((each) => each === value)
        const page = await own.profile().signIn('firm')
        assert.equal(page.status, counts ? 303 : 403, `${JSON.stringify(value)}: ${page.text}`)
      }
      assert.equal(await own.count('person'), counting.length)
    })
  }

  test('makes no invalid address count', async () => {
    for (const email of ['nobody', 'a@b@c.example', '', 7, null, ['a@example.com'], { a: 1 }, '"a b"@example.com']) {
      provider.say({ subject: `odd ${JSON.stringify(email)}`, email })
      const had = await portal.counts()
      await portal.assertRefused(await portal.profile().signIn('firm'), [403, 'sign_in_refused'], had)
    }
  })
})
