import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addPasskey } from '../support/own-account.ts'
import { openPortal } from '../support/portal.ts'
import type { Profile } from '../support/profile.ts'

const { portal } = openPortal(() => ({ signIn: { second_factor: 'off' } }))

const now = () => Math.floor(Date.now() / 1000)

async function locationOf(profile: Profile, query: string): Promise<URL> {
  const { location } = await profile.ask(`/auth/start/firm${query}`)
  return new URL(location ?? '')
}

const askedAgain = ({ searchParams }: URL) => [searchParams.get('prompt'), searchParams.get('max_age')]

describe('signing in again at a provider', () => {
  test('asks for a new sign-in there; other sign-ins do not', async () => {
    assert.deepEqual(askedAgain(await locationOf(portal.profile(), '?again=1')), ['login', '0'])
    for (const query of ['', '?again=0', '?again=', '?return_to=/me']) {
      assert.deepEqual(askedAgain(await locationOf(portal.profile(), query)), [null, null], query)
    }
  })

  test('is required of a browser with a session, so that no session counts as recent without a new sign-in', async () => {
    const profile = portal.profile()
    await profile.signIn('firm')
    assert.deepEqual(askedAgain(await locationOf(profile, '')), ['login', '0'])
  })

  test('replaces the session and its cookie, and returns to the page', async () => {
    const profile = portal.profile()
    await profile.signIn('firm')
    const old = profile.cookies().get('session')
    const had = await portal.count('session')
    const page = await profile.follow(await locationOf(profile, '?again=1&return_to=/me'))
    assert.deepEqual([page.status, page.location], [303, '/me'])
    assert.notEqual(profile.cookies().get('session'), old)
    assert.equal(await portal.count('session'), had)
  })

  for (const [what, statedAgo, isAccepted] of [
    ['a sign-in of now', 0, true],
    ['one within the accepted difference of clocks', 20, true],
    ['no time', undefined, true],
    ['a sign-in before the request', 120, false],
    ['a time that is no number', 'now', false],
  ] as const) {
    test(`is ${isAccepted ? 'accepted' : 'refused'} if the provider states ${what}`, async () => {
      const profile = portal.profile()
      const start = await locationOf(profile, '?again=1')
      const stated = typeof statedAgo === 'number' ? now() - statedAgo : statedAgo
      portal.provider.lies.claims = { auth_time: stated }
      const had = await portal.counts()
      const page = await profile.follow(start)
      if (isAccepted) assert.equal(page.status, 303, page.text)
      else await portal.assertRefused(page, [502, 'provider_failed'], had)
    })
  }

  for (const [what, query, stated, hasPasskey, isRecent] of [
    ['a sign-in of now', '', 0, true, true],
    ['a sign-in of an hour ago', '', 3600, true, false],
    ['no time', '', undefined, false, false],
    ['no time, although it was asked for a new sign-in', '?again=1', undefined, true, false],
    ['no time, although asked, of a person without a factor of their own', '?again=1', undefined, false, true],
  ] as const) {
    test(`B108: ${isRecent ? 'counts' : 'does not count'} as recent if the provider states ${what}`, async () => {
      const { profile } = await portal.enter('partner')
      if (hasPasskey) await addPasskey(profile, portal.service.baseUrl)
      await profile.ask('/signout', { method: 'POST' })
      portal.provider.lies.claims = { auth_time: stated === undefined ? undefined : now() - stated }
      assert.equal((await profile.follow(await locationOf(profile, query))).location, '/')
      const { status } = await profile.ask('/me/recovery-codes', { method: 'POST', body: {} })
      assert.equal(status === 403, !isRecent)
    })
  }

  test('ignores the time that is stated for an ordinary sign-in', async () => {
    portal.provider.lies.claims = { auth_time: now() - 3600 }
    assert.equal((await portal.profile().signIn('firm')).status, 303)
  })
})
