import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { stringify } from 'yaml'
import { signInAs, startPortal, type TestPortal } from '../support/browser.ts'
import { until } from '../support/until.ts'
import { addVirtualAuthenticator, type VirtualAuthenticator } from '../support/virtual-authenticator.ts'
import { detail } from '../support/detail.ts'

let portal: TestPortal

before(async () => {
  const settings = { email_link: true, second_factor: 'optional', starts_per_minute: 1000 }
  const mail = { url: 'smtp://127.0.0.1:9', from: 'Tollgate <tollgate@penhallow.example>' }
  portal = await startPortal(stringify({ mail, sign_in: settings }))
})
after(() => portal.close())

interface Owner {
  readonly profile: BrowserContext
  readonly page: Page
  readonly authenticator: VirtualAuthenticator
  /** What the page has asked the browser for. */
  readonly asked: () => Promise<readonly Asked[]>
}

interface Asked {
  readonly isOffer: boolean
  readonly isAborted: boolean
  readonly challenge: string
}

/** Records each request of a page for a passkey. */
const recorder = `
  window.asked = []
  const get = navigator.credentials?.get.bind(navigator.credentials)
  if (get) navigator.credentials.get = (options) => {
    window.asked.push(options)
    return get(options)
  }`
const recorded = `(window.asked ?? []).map(({ mediation, signal, publicKey }) => ({
  isOffer: mediation === 'conditional',
  isAborted: signal.aborted,
  challenge: String(new Uint8Array(publicKey.challenge)),
}))`

/** Someone who has added a passkey, is signed out and has opened the sign-in page. Their authenticator does not react yet. */
async function openWithPasskey(name: string): Promise<Owner> {
  const profile = await portal.profile()
  await profile.addInitScript(recorder)
  const page = await profile.newPage()
  const authenticator = await addVirtualAuthenticator(profile, page)
  await signInAs(page, portal.base, name, '/me')
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByLabel('I have saved these codes').check()
  await page.getByRole('button', { name: 'Done' }).click()
  await authenticator.setPresent(false)
  await profile.clearCookies()
  await page.clock.install()
  await page.goto(`${portal.base}/signin`)
  const asked = () => page.evaluate<readonly Asked[]>(recorded)
  await until(async () => (await asked()).length === 1)
  return { profile, page, authenticator, asked }
}

const minute = 60_000

describe('B62: the browser offers passkeys in the address field', () => {
  test('with an empty form, even after ten idle minutes, with a new challenge', async () => {
    const { profile, page, authenticator, asked } = await openWithPasskey('Mei Sakamoto')
    for (const renewed of [2, 3]) {
      await page.clock.fastForward(5 * minute)
      await until(async () => (await asked()).length === renewed)
    }
    const offers = await asked()
    assert.deepEqual(
      offers.map(({ isOffer, isAborted }) => ({ isOffer, isAborted })),
      [true, true, false].map((isAborted) => ({ isOffer: true, isAborted })),
    )
    assert.equal(new Set(offers.map(({ challenge }) => challenge)).size, 3)
    assert.equal(await page.getByRole('alert').count(), 0, 'nothing is shown')
    await authenticator.setPresent(true)
    await page.clock.fastForward(5 * minute)
    await page.waitForURL((url) => url.pathname === '/')
    await profile.close()
  })

  detail('until the button is pressed, which ends the offer', async () => {
    const { profile, page, asked } = await openWithPasskey('Ruth Penhallow')
    const button = page.getByRole('button', { name: 'Sign in with a passkey' })
    await button.click()
    await until(async () => (await asked()).length === 2)
    await page.clock.fastForward(5 * minute)
    assert.equal(await button.getAttribute('aria-busy'), 'true')
    assert.deepEqual(
      (await asked()).map(({ isOffer, isAborted }) => ({ isOffer, isAborted })),
      [
        { isOffer: true, isAborted: true },
        { isOffer: false, isAborted: false },
      ],
    )
    await profile.close()
  })
})
