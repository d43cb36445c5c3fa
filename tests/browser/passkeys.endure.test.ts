import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CDPSession, Page } from 'playwright-core'
import { signInAs, startPortal } from '../support/browser.ts'
import { at, objectAt, type Json } from '../support/json.ts'
import { fixture } from '../support/fixture.ts'

const portal = fixture(() => startPortal())

/** Runs an expression that is a promise in the page, and returns its value. */
async function inPage(page: Page, expression: string): Promise<Json> {
  const value: unknown = await page.evaluate(`(async () => JSON.stringify(await (${expression})))()`)
  const read: unknown = JSON.parse(String(value))
  assert.ok(typeof read === 'object' && read !== null)
  return { ...read }
}

/** A request of the page: its status, and its body in `json`. */
function send(page: Page, method: string, address: string, body?: object): Promise<Json> {
  const headers = `{ accept: 'application/json', 'content-type': 'application/json' }`
  const content = body === undefined ? '' : `, body: ${JSON.stringify(JSON.stringify(body))}`
  return inPage(
    page,
    `fetch(${JSON.stringify(address)}, { method: '${method}', headers: ${headers}${content} })
      .then(async (response) => ({ status: response.status, json: await response.json() }))`,
  )
}

const create = (page: Page, options: unknown) =>
  inPage(
    page,
    `navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(${JSON.stringify(options)}) })
      .then((credential) => credential.toJSON())`,
  )
const get = (page: Page, options: unknown) =>
  inPage(
    page,
    `navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(${JSON.stringify(options)}) })
      .then((credential) => credential.toJSON())`,
  )

/** Gives the page an authenticator. */
async function addAuthenticator(cdp: CDPSession, hasUserVerification: boolean): Promise<string> {
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: hasUserVerification ? 'internal' : 'usb',
      hasResidentKey: true,
      hasUserVerification,
      isUserVerified: hasUserVerification,
      automaticPresenceSimulation: true,
    },
  })
  return authenticatorId
}

/** Begins and submits a sign-in with a passkey. */
async function signIn(page: Page, known?: unknown): Promise<Json> {
  const begun = await send(page, 'POST', '/auth/start/passkey', { return_to: '/clients' })
  const options = objectAt(begun, 'json', 'challenge', 'options')
  // Without verification, Chromium finds only a passkey that is named.
  const allowed = known === undefined ? {} : { allowCredentials: [{ id: known, type: 'public-key' }] }
  const credential = await get(page, { ...options, ...allowed })
  return send(page, 'POST', '/auth/complete', { attempt: at(begun, 'json', 'attempt'), input: { credential } })
}

const factorsOf = async (page: Page) => at(await send(page, 'GET', '/me'), 'json', 'sessions', 0, 'factors')

describe('B60: a passkey of Chromium', () => {
  test('signs in as two factors, or as one if its authenticator cannot verify the person', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    await signInAs(page, portal.base, 'Mei Sakamoto', '/me')
    const cdp = await profile.newCDPSession(page)
    await cdp.send('WebAuthn.enable')
    const verifying = await addAuthenticator(cdp, true)
    // Its scripts do not sign in by themselves.
    const elsewhere = `${portal.base}/nowhere`

    const begun = await send(page, 'POST', '/me/factors/passkey/start', {})
    const credential = await create(page, at(begun, 'json', 'challenge', 'options'))
    const added = await send(page, 'POST', '/me/factors/passkey', { input: { credential }, name: 'Chromium' })
    assert.equal(added['status'], 200, JSON.stringify(added))
    assert.equal(at(await send(page, 'GET', '/me'), 'json', 'passkeys', 0, 'name'), 'Chromium')

    await profile.clearCookies()
    await page.goto(elsewhere)
    assert.deepEqual(await signIn(page), { status: 200, json: { location: '/clients' } })
    assert.deepEqual(await factorsOf(page), ['passkey', 'user_verification'])

    const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId: verifying })
    await cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: verifying })
    const plain = await addAuthenticator(cdp, false)
    const [copy] = credentials
    assert.ok(copy)
    await cdp.send('WebAuthn.addCredential', { authenticatorId: plain, credential: copy })

    await profile.clearCookies()
    await page.goto(elsewhere)
    assert.deepEqual(await signIn(page, credential['id']), { status: 200, json: { location: '/signin' } })
    assert.equal((await send(page, 'GET', '/me'))['status'], 401)
    const code = at(added, 'json', 'recovery_codes', 0)
    await send(page, 'POST', '/auth/second-factor/start', { factor: 'recovery_code' })
    assert.equal((await send(page, 'POST', '/auth/second-factor', { input: { code } }))['status'], 200)
    assert.deepEqual(await factorsOf(page), ['passkey', 'recovery_code'])
  })
})
