import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { addVirtualAuthenticator } from '../support/virtual-authenticator.ts'
import { barriers, noticed, signInAs } from '../support/browser.ts'
import { startMailedPortal } from '../support/mailed.ts'
import { totpCode } from '../support/totp.ts'
import { until } from '../support/until.ts'
import { detail } from '../support/detail.ts'
import { fixture } from '../support/fixture.ts'

const portal = fixture(() => startMailedPortal())

const [ruth, daniel] = ['Ruth Penhallow', 'Daniel Okonjo']
const isSignedIn = (page: Page) => page.waitForURL((url) => url.pathname === '/clients')
async function signOut(page: Page): Promise<void> {
  await page.context().clearCookies()
  await page.goto(`${portal.base}/signin?return_to=/clients`)
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

describe('a person', () => {
  test('B62, B63: adds, names and uses a passkey, which the browser offers by itself, and removes it', async () => {
    await using profile = await portal.profile()
    await profile.addInitScript(recorder)
    const page = await profile.newPage()
    const authenticator = await addVirtualAuthenticator(profile, page)
    await signInAs(page, portal.base, ruth, '/me')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await noticed(page, 'The passkey was added.')
    assert.equal(await authenticator.count(), 1)
    await page.getByRole('dialog', { name: 'Save your recovery codes' }).waitFor()
    assert.deepEqual(await barriers(page), [])
    assert.equal(await page.getByRole('dialog').getByRole('listitem').count(), 10)
    await page.getByLabel('I have saved these codes').check()
    await page.getByRole('button', { name: 'Done' }).click()
    const mailed = { name: 'Mail me my tasks in the morning', checked: true }
    await page.getByRole('switch', { ...mailed, checked: false }).click()
    await page.getByRole('switch', mailed).waitFor()
    await page.reload()
    await page.getByRole('switch', mailed).waitFor()
    await page.getByRole('button', { name: /^Rename / }).click()
    await page.getByLabel('Name', { exact: true }).fill('Work laptop')
    await page.keyboard.press('Enter')
    await page.getByText('Work laptop').waitFor()
    await portal.mails.mailTo('ruth@penhallow.example', { subject: /passkey was added/ })

    await authenticator.setPresent(false)
    await page.clock.install()
    await signOut(page)
    const asked = () => page.evaluate<readonly Asked[]>(recorded)
    for (const renewed of [1, 2, 3]) {
      await until(async () => (await asked()).length === renewed)
      if (renewed < 3) await page.clock.fastForward(5 * 60_000)
    }
    assert.deepEqual(
      (await asked()).map(({ isOffer, isAborted }) => [isOffer, isAborted]),
      [true, true, false].map((isAborted) => [true, isAborted]),
    )
    assert.equal(new Set((await asked()).map(({ challenge }) => challenge)).size, 3)
    assert.equal(await page.getByRole('alert').count(), 0, 'nothing is shown')
    await authenticator.setPresent(true)
    // Chromium refuses this unless the button ends the offer.
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await isSignedIn(page)
    await page.goto(`${portal.base}/me`)
    await page.getByText(/last used/).waitFor()
    await page.getByRole('button', { name: 'Remove Work laptop' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await noticed(page, 'The passkey was removed.')
    await page.getByText('Work laptop').waitFor({ state: 'detached' })
  })

  detail('signs in with the passkey that the browser offers', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    const authenticator = await addVirtualAuthenticator(profile, page)
    await signInAs(page, portal.base, 'Mei Sakamoto', '/me')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByLabel('I have saved these codes').check()
    await page.getByRole('button', { name: 'Done' }).click()
    await authenticator.setPresent(true)
    await signOut(page)
    await isSignedIn(page)
  })

  test('sets up an authenticator app, then needs it or a recovery code, and removes it', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    await signInAs(page, portal.base, daniel, '/me')
    await page.getByRole('button', { name: 'Set up Authenticator app' }).click()
    await page.getByRole('img', { name: /^QR code/ }).waitFor()
    const key = page.locator('p').filter({ hasText: /^[A-Z2-7]{4}( [A-Z2-7]{4}){7}$/ })
    const secret = (await key.textContent())?.replaceAll(' ', '')
    assert.deepEqual(await barriers(page), [])
    await page.getByLabel('Code from the app').fill('000000')
    await page.keyboard.press('Enter')
    await page
      .getByRole('alert')
      .getByText(/code is wrong/)
      .waitFor()
    await page.getByLabel('Code from the app').fill(totpCode(secret))
    await page.keyboard.press('Enter')
    await noticed(page, 'Authenticator app is set up.')
    const codes = await page.getByRole('dialog').getByRole('listitem').allTextContents()
    assert.equal(codes.length, 10)
    await page.getByLabel('I have saved these codes').check()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText('10 of 10 left.').waitFor()

    await signInToFactor(page)
    await page.getByRole('button', { name: 'Recovery code' }).click()
    await page.getByLabel('Recovery code').and(page.locator(':focus')).waitFor()
    await page.keyboard.type((codes[0] ?? '').toLowerCase().replaceAll('-', ''))
    assert.equal(await page.getByLabel('Recovery code').inputValue(), codes[0])
    await page.keyboard.press('Enter')
    await page.getByText('You have 9 left.').waitFor()
    await page.getByRole('link', { name: 'Set up a second factor' }).click()
    await page.getByText('9 of 10 left.').waitFor()
    await page.getByRole('button', { name: 'Create new codes' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create new codes' }).click()
    await page.getByRole('dialog', { name: 'Save your recovery codes' }).waitFor()
    await page.getByLabel('I have saved these codes').check()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText('10 of 10 left.').waitFor()
    await page.getByRole('button', { name: 'Remove Authenticator app' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('button', { name: 'Set up Authenticator app' }).waitFor()
  })
})

/** Signs in again as Daniel at the provider, up to the second factor. */
async function signInToFactor(page: Page): Promise<void> {
  await signOut(page)
  await page.getByRole('link', { name: /^Continue with/ }).click()
  await page.getByRole('button', { name: daniel }).click()
  await page.getByRole('heading', { name: 'Second factor' }).waitFor()
  assert.equal((await page.context().cookies()).filter(({ name }) => name === 'session').length, 0)
}
