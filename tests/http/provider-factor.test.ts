import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { at } from '../support/json.ts'
import { setUpTotp } from '../support/own-account.ts'
import { startPortal } from '../support/portal.ts'

describe('B70: a second factor at the provider', () => {
  const counted = { second_factor: { acr: ['urn:firm:mfa', 'urn:firm:gold'], amr: ['mfa', 'hwk'] } }
  const cases: [what: string, claims: object, settings: object, isCounted: boolean][] = [
    ['a configured amr', { amr: ['pwd', 'mfa'] }, counted, true],
    ['another configured amr', { amr: ['hwk'] }, counted, true],
    ['a configured acr', { acr: 'urn:firm:gold' }, counted, true],
    ['an amr that is not configured', { amr: ['pwd', 'otp'] }, counted, false],
    ['an amr that is no list', { amr: 'mfa' }, counted, false],
    ['an acr that is not configured', { acr: 'urn:firm:mf' }, counted, false],
    ['an acr in another case', { acr: 'URN:FIRM:MFA' }, counted, false],
    ['a list as acr', { acr: ['urn:firm:mfa'] }, counted, false],
    ['a configured acr as amr', { amr: ['urn:firm:mfa'] }, counted, false],
    ['nothing', {}, counted, false],
    ['an amr, without a configuration', { amr: ['mfa'], acr: 'urn:firm:mfa' }, {}, false],
  ]
  for (const [what, claims, settings, isCounted] of cases) {
    test(`stated by ${what}, ${isCounted ? 'counts' : 'does not count'}`, async () => {
      const portal = await startPortal({ settings })
      try {
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
      } finally {
        await portal.close()
      }
    })
  }

  test('is requested by the configured acr values', async () => {
    const portal = await startPortal({ settings: counted })
    try {
      const { searchParams } = await portal.profile().start('firm')
      assert.equal(searchParams.get('acr_values'), 'urn:firm:mfa urn:firm:gold')
    } finally {
      await portal.close()
    }
  })
})
