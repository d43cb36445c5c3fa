import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, mock, test } from 'node:test'
import { exportJWK, generateKeyPair } from 'jose'
import { clientId, type LyingProvider } from '../support/lying-provider.ts'
import { startPortal, type Portal } from '../support/portal.ts'

let portal: Portal
let provider: LyingProvider

before(async () => {
  // What is said of seconds must not depend on how many a sign-in takes.
  mock.timers.enable({ apis: ['Date'], now: Date.now() })
  portal = await startPortal()
  provider = portal.provider
})
after(() => portal.close())
beforeEach(() => {
  provider.beHonest()
  portal.newcomer()
})

const now = () => Math.floor(Date.now() / 1000)
type Lie = Partial<Pick<LyingProvider['lies'], 'claims' | 'header' | 'signature' | 'callback'>>

describe('B7: an answer of another provider', () => {
  const cases: [string, Lie][] = [
    ['names another issuer', { callback: { iss: 'https://elsewhere.example' } }],
    ['names the issuer with a slash more', { callback: { iss: `http://127.0.0.1/` } }],
    ['names no issuer, though this one says that it always does', { callback: { iss: undefined } }],
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
    ['it says that it is not signed, and is', () => ({ header: { alg: 'none' }, signature: 'none' })],
    ['it is signed by the secret that we know too', () => ({ signature: 'secret' })],
    ['somebody else signed it', () => ({ signature: 'stranger' })],
    ['it is of another issuer', () => ({ claims: { iss: 'https://elsewhere.example' } })],
    ['it is of the issuer with a slash more', () => ({ claims: { iss: `${provider.issuer}/` } })],
    ['it is for somebody else', () => ({ claims: { aud: 'another' } })],
    ['it is for several others', () => ({ claims: { aud: ['another', 'third'] } })],
    ['it is for us and others, and was issued to another', () => ({ claims: { aud: [clientId, 'b'], azp: 'b' } })],
    ['it is for us and others, and does not say to whom it was issued', () => ({ claims: { aud: [clientId, 'b'] } })],
    ['it is for us alone, and was issued to another', () => ({ claims: { azp: 'another' } })],
    ['it has no nonce', () => ({ claims: { nonce: undefined } })],
    ['it has another nonce', () => ({ claims: { nonce: 'A'.repeat(43) } })],
    ['it has expired', () => ({ claims: { exp: now() - 31 } })],
    ['it does not expire', () => ({ claims: { exp: undefined } })],
    ['it is from the future', () => ({ claims: { iat: now() + 33 } })],
    ['it does not say when it is from', () => ({ claims: { iat: undefined } })],
    ['it is not valid yet', () => ({ claims: { nbf: now() + 33 } })],
    ['it says of nobody', () => ({ claims: { sub: undefined } })],
    ['it says of something else than a name', () => ({ claims: { sub: 7 } })],
    ['it says of the empty name', () => ({ claims: { sub: '' } })],
    ['it says of a name that no database takes', () => ({ claims: { sub: 'a\0b' } })],
    ['it says of an endless name', () => ({ claims: { sub: 'a'.repeat(256) } })],
    ['its header has a part that must be understood', () => ({ header: { crit: ['exp'], exp: now() + 60 } })],
  ]
  for (const [name, lie] of cases) {
    test(name, async () => {
      Object.assign(provider.lies, lie())
      const had = await portal.counts()
      await portal.assertRefused(await portal.profile().signIn('firm'), [502, 'provider_failed'], had)
    })
  }

  test('there is none', async () => {
    provider.lies.token = { id_token: undefined }
    const had = await portal.counts()
    await portal.assertRefused(await portal.profile().signIn('firm'), [502, 'provider_failed'], had)
  })
})

describe('B9: an ID token is taken when', () => {
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

describe('B10: a key that a token brings along', () => {
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

describe('B12: where the ID token has no address', () => {
  test('UserInfo is asked', async () => {
    provider.lies.claims = { email: undefined, email_verified: undefined }
    const asked = provider.asked.userinfo
    const profile = portal.profile()
    assert.equal((await profile.signIn('firm')).status, 303)
    assert.equal(provider.asked.userinfo, asked + 1)
    assert.match(JSON.stringify(await profile.who()), /somebody\d+@example\.com/)
  })

  test('and UserInfo speaks of somebody else, it is refused', async () => {
    provider.lies.claims = { email: undefined, email_verified: undefined }
    provider.lies.userinfo = { sub: 'somebody else' }
    const had = await portal.counts()
    await portal.assertRefused(await portal.profile().signIn('firm'), [502, 'provider_failed'], had)
  })

  test('and UserInfo has none either, nobody is made, and the answer says why', async () => {
    provider.lies.claims = { email: undefined, email_verified: undefined }
    provider.lies.userinfo = { email: undefined, email_verified: undefined }
    const had = await portal.counts()
    const page = await portal.profile().signIn('firm')
    await portal.assertRefused(page, [403, 'sign_in_refused'], had)
    assert.match(page.text, /e-mail address/)
  })

  test('whoever is known already comes in without one', async () => {
    await portal.profile().signIn('firm')
    provider.lies.claims = { email: undefined, email_verified: undefined }
    provider.lies.userinfo = { email: undefined }
    assert.equal((await portal.profile().signIn('firm')).status, 303)
  })

  test('UserInfo is not asked where the ID token has one', async () => {
    const asked = provider.asked.userinfo
    await portal.profile().signIn('firm')
    assert.equal(provider.asked.userinfo, asked)
  })
})

describe('B13: whether an address counts', () => {
  const verified = [true, false, undefined, 'true', 'false', 1]
  const rules = { never: [], when_verified: [true], always: verified }
  for (const [rule, counting] of Object.entries(rules)) {
    test(`under ${rule}`, async () => {
      const own = await startPortal({ settings: { trust_email: rule } })
      try {
        for (const value of verified) {
          own.newcomer()
          own.provider.lies.claims = { email_verified: value }
          const counts = counting.some((each) => each === value)
          const page = await own.profile().signIn('firm')
          assert.equal(page.status, counts ? 303 : 403, `${JSON.stringify(value)}: ${page.text}`)
        }
        assert.equal(await own.count('person'), counting.length)
      } finally {
        await own.close()
      }
    })
  }

  test('an address that is none does not, whoever vouches for it', async () => {
    for (const email of ['nobody', 'a@b@c.example', '', 7, null, ['a@example.com'], { a: 1 }, '"a b"@example.com']) {
      provider.say({ subject: `odd ${JSON.stringify(email)}`, email })
      const had = await portal.counts()
      await portal.assertRefused(await portal.profile().signIn('firm'), [403, 'sign_in_refused'], had)
    }
  })
})
