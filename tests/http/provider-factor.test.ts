import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { at } from '../support/json.ts'
import { setUpTotp } from '../support/own-account.ts'
import { startPortal, type Portal } from '../support/portal.ts'
import { fixture } from '../support/fixture.ts'

const counted = { second_factor: { acr: ['urn:firm:mfa', 'urn:firm:gold'], amr: ['mfa', 'hwk'] } }
const configured = fixture(() => startPortal({ settings: counted }))
const unconfigured = fixture(() => startPortal())

describe('B70: a second factor at the provider', () => {
  const cases: [what: string, claims: object, portal: Portal, isCounted: boolean][] = [
    ['a configured amr', { amr: ['pwd', 'mfa'] }, configured, true],
    ['another configured amr', { amr: ['hwk'] }, configured, true],
    ['a configured acr', { acr: 'urn:firm:gold' }, configured, true],
    ['an amr that is not configured', { amr: ['pwd', 'otp'] }, configured, false],
    ['an amr that is no list', { amr: 'mfa' }, configured, false],
    ['an acr that is not configured', { acr: 'urn:firm:mf' }, configured, false],
    ['an acr in another case', { acr: 'URN:FIRM:MFA' }, configured, false],
    ['a list as acr', { acr: ['urn:firm:mfa'] }, configured, false],
    ['a configured acr as amr', { amr: ['urn:firm:mfa'] }, configured, false],
    ['nothing', {}, configured, false],
    ['an amr, without a configuration', { amr: ['mfa'], acr: 'urn:firm:mfa' }, unconfigured, false],
  ]
  for (const [what, claims, portal, isCounted] of cases) {
    test(`stated by ${what}, ${isCounted ? 'counts' : 'does not count'}`, async () => {
      portal.provider.beHonest()
      const { profile: home } = await portal.enter('consultant')
      await setUpTotp(home)
      portal.provider.lies.claims = { ...claims }
      const profile = portal.profile()
      const page = await profile.signIn('firm')
      assert.equal(page.location, isCounted ? '/' : '/signin')
      assert.equal((await profile.who()) !== undefined, isCounted)
      if (!isCounted) return
      const { json } = await profile.ask('/me')
      assert.deepEqual(at(json, 'sessions', 0, 'factors'), ['provider', 'provider_second_factor'])
    })
  }

  test('is requested by the configured acr values', async () => {
    const { searchParams } = await configured.profile().start('firm')
    assert.equal(searchParams.get('acr_values'), 'urn:firm:mfa urn:firm:gold')
  })
})
