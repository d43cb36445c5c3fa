import assert from 'node:assert/strict'
import { beforeEach, describe, mock, test } from 'node:test'
import { fixture } from '../../../../tests/support/fixture.ts'
import { createTestLog } from '../../../../tests/support/log.ts'
import { clientId, clientSecret, startLyingProvider } from '../../../../tests/support/lying-provider.ts'
import { until } from '../../../../tests/support/until.ts'
import type { RedirectMethod } from '../method.ts'
import { createOidcMethod } from './provider.ts'

const { log } = createTestLog()
const baseUrl = 'https://tollgate.test'

const provider = fixture(() => startLyingProvider())
beforeEach(() => {
  provider.beHonest()
  // Longer than any test: a response that is waited for never comes.
  provider.lies.delay = 3_600_000
})

function open({ issuer } = provider): RedirectMethod {
  const settings = { id: 'firm', name: 'Firm', issuer, client_id: clientId }
  return createOidcMethod({
    provider: { ...settings, client_secret: clientSecret, trust_email: 'always', second_factor: { acr: [], amr: [] } },
    baseUrl,
    log,
  })
}

/** A callback, ready to be completed. */
async function callbackFor(method: RedirectMethod): Promise<() => Promise<unknown>> {
  const { location, data } = await method.begin('state')
  const response = await fetch(location, { redirect: 'manual' })
  const callback = new URL(response.headers.get('location') ?? '')
  return () => method.complete(callback, { state: 'state', data })
}

async function logoutToken(): Promise<string> {
  return provider.keys.sign({ iss: provider.issuer }, { header: { typ: 'logout+jwt' }, secret: clientSecret })
}

describe('B18: a provider that does not respond', () => {
  type Place = 'discovery' | 'token' | 'keys' | 'userinfo'
  const cases: [name: string, slow: Place[], prepare: (method: RedirectMethod) => Promise<() => Promise<unknown>>][] = [
    ['at discovery, when a sign-in begins', ['discovery'], async (method) => () => method.begin('state')],
    [
      'at discovery, for a logout token',
      ['discovery'],
      async (method) => async () => method.readLogout(await logoutToken()),
    ],
    [
      'with its keys, for a logout token',
      ['keys'],
      async (method) => async () => method.readLogout(await logoutToken()),
    ],
    ['with its tokens', ['token'], callbackFor],
    ['with its keys', ['keys'], callbackFor],
    ['at UserInfo', ['userinfo'], callbackFor],
  ]
  for (const [name, slow, prepare] of cases) {
    test(`${name}, is waited for 4 s by the clock, and no longer`, async () => {
      const method = open()
      const work = await prepare(method)
      for (const place of slow) provider.lies[place] = 'slow'
      if (slow.includes('userinfo')) provider.lies.claims = { email: undefined }
      const asked = { ...provider.asked }
      let isOver = false
      mock.timers.enable({ apis: ['setTimeout'] })
      try {
        const waiting = work().finally(() => (isOver = true))
        waiting.catch(() => undefined)
        await until(() => isOver || slow.every((place) => provider.asked[place] > asked[place]))
        mock.timers.tick(3999)
        await new Promise((resolve) => setImmediate(resolve))
        assert.equal(isOver, false)
        mock.timers.tick(1)
        await assert.rejects(waiting)
      } finally {
        mock.timers.reset()
      }
    })
  }

  test('at one address after another has 4 s for all of them', async () => {
    const method = open()
    const work = await callbackFor(method)
    provider.lies.claims = { email: undefined }
    Object.assign(provider.lies, { token: 'slow', userinfo: 'slow', delay: 2500 })
    const { token, userinfo } = provider.asked
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      const waiting = work()
      waiting.catch(() => undefined)
      await until(() => provider.asked.token > token)
      mock.timers.tick(2500)
      await until(() => provider.asked.userinfo > userinfo)
      mock.timers.tick(1500)
      await assert.rejects(waiting, { code: 'provider_failed' })
    } finally {
      mock.timers.reset()
    }
  })
})

test('B18: for a logout token, discovery and keys have 4 s together', async () => {
  // Its own provider: requests that earlier tests gave up would be counted too.
  const own = await startLyingProvider()
  Object.assign(own.lies, { discovery: 'slow', keys: 'slow', delay: 2500 })
  const token = await logoutToken()
  const method = open(own)
  let isOver = false
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const waiting = method.readLogout(token).finally(() => (isOver = true))
    waiting.catch(() => undefined)
    await until(() => own.asked.discovery === 1)
    mock.timers.tick(2500)
    await until(() => own.asked.keys === 1)
    mock.timers.tick(1500)
    await until(() => isOver)
    await assert.rejects(waiting)
  } finally {
    mock.timers.reset()
    await own.close()
  }
})

test('an attempt whose secrets are missing is refused before a token request', async () => {
  const method = open()
  const { location } = await method.begin('state')
  const response = await fetch(location, { redirect: 'manual' })
  const callback = new URL(response.headers.get('location') ?? '')
  const asked = provider.asked.token
  for (const data of [{}, { nonce: 'n' }, { codeVerifier: 'v' }, { nonce: 7, codeVerifier: 'v' }]) {
    await assert.rejects(method.complete(callback, { state: 'state', data }), { code: 'sign_in_failed' })
  }
  assert.equal(provider.asked.token, asked)
})
