import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { stringify } from 'yaml'
import { barriersInBothSchemes, startPortal, type TestPortal } from '../support/browser.ts'
import { startSmsGateway } from '../support/sms-gateway.ts'
import { totpCode } from '../support/totp.ts'
import { addVirtualAuthenticator } from '../support/virtual-authenticator.ts'
import { detail } from '../support/detail.ts'
import { fixture, setUp } from '../support/fixture.ts'

let portal: TestPortal

const gateway = fixture(() => startSmsGateway())
setUp(async () => {
  const settings = { second_factor: 'required', starts_per_minute: 1000 }
  portal = await startPortal(stringify({ sms: { url: gateway.url, token: 'gateway-token' }, sign_in: settings }))
})
after(() => portal.close())

/** Signs in at the provider, up to the step that follows there. */
async function signInTo(page: Page, name: string, step: string): Promise<void> {
  await page.context().clearCookies()
  await page.goto(`${portal.base}/clients`)
  await page.getByRole('link', { name: /^Continue with/ }).click()
  await page.getByRole('button', { name }).click()
  await page.getByRole('heading', { name: step }).waitFor()
  assert.deepEqual(
    (await page.context().cookies()).filter((cookie) => cookie.name === 'session'),
    [],
  )
}

const alert = (page: Page, text: RegExp) => page.getByRole('alert').getByText(text)
const inside = (page: Page) => page.waitForURL(`${portal.base}/clients`)

/** Another tab at the second factor of the same sign-in, with a code in its field. */
async function openAgain(profile: BrowserContext): Promise<Page> {
  const page = await profile.newPage()
  await page.goto(`${portal.base}/signin`)
  await page.getByLabel('Code from your authenticator app').fill('000000')
  return page
}

/** How many codes overlap a code or the number of one, which is to the left of its code. */
const overlapping = `(() => {
  const boxes = [...document.querySelectorAll('li code')].map((each) => each.getBoundingClientRect())
  return boxes.filter((one) => boxes.some((other) =>
    one !== other && one.left < other.right && other.left - 20 < one.right && one.top < other.bottom && other.top < one.bottom)).length
})()`

/** Saves the recovery codes, which are shown once, and goes on. */
async function saveCodes(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor()
  assert.equal(await page.getByRole('listitem').count(), 10)
  assert.equal(await page.evaluate<number>(overlapping), 0, 'codes that cover another one')
  await page.getByRole('button', { name: 'Continue' }).click()
  await alert(page, /Save the codes first/).waitFor()
  assert.deepEqual(await barriersInBothSchemes(page), [])
  await page.getByLabel('I have saved these codes').check()
  await page.getByRole('button', { name: 'Continue' }).click()
  await inside(page)
}

describe('a person who needs a second factor and has none', () => {
  test('sets up an authenticator app during the sign-in, and confirms the next one in one of three tabs', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    await signInTo(page, 'Ruth Penhallow', 'Set up a second factor')
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await page.getByRole('button', { name: /^Authenticator app/ }).click()
    await page.getByRole('img', { name: /^QR code/ }).waitFor()
    const secret = (await page.locator('.key').textContent())?.replaceAll(' ', '')
    await page.getByLabel('Code from the app').fill('000000')
    await page.keyboard.press('Enter')
    await alert(page, /code is wrong.* 4 attempts are left\./).waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await page.getByLabel('Code from the app').fill(totpCode(secret))
    await page.keyboard.press('Enter')
    await saveCodes(page)

    await signInTo(page, 'Ruth Penhallow', 'Second factor')
    await page.getByText(/^If you have lost all of these, ask a partner/).waitFor()
    await page.locator('.wordmark').getByText('Penhallow Advisory').waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [])
    const [late, leaving] = [await openAgain(profile), await openAgain(profile)]
    await page.getByLabel('Code from your authenticator app').fill(totpCode(secret, 1))
    await page.keyboard.press('Enter')
    await inside(page)

    await late.keyboard.press('Enter')
    await late.getByText('You are signed in as Ruth Penhallow.').waitFor()
    await leaving.getByRole('button', { name: 'Sign in as someone else' }).click()
    await leaving.getByText('You are signed in as Ruth Penhallow.').waitFor()
    await late.getByRole('link', { name: 'Continue', exact: true }).click()
    await late.waitForURL(`${portal.base}/`)
    await late.getByText('Ruth Penhallow').first().waitFor()
  })

  detail('sets up text messages, and confirms the next sign-in with one', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    await signInTo(page, 'Daniel Okonjo', 'Set up a second factor')
    await page.getByRole('button', { name: /^Text message/ }).click()
    const number = page.getByLabel('Telephone number')
    await number.fill('0151 12345678')
    await page.getByRole('button', { name: 'Send me a code' }).click()
    await page.getByText(/international format/).waitFor()
    assert.equal(await number.getAttribute('aria-invalid'), 'true')
    assert.deepEqual(await barriersInBothSchemes(page), [])
    assert.equal(gateway.requests.length, 0)
    await number.fill('+49 151 12345678')
    await page.getByRole('button', { name: 'Send me a code' }).click()
    const code = page.getByLabel('Code from the message')
    await code.and(page.locator(':focus')).waitFor()
    assert.equal(await code.getAttribute('autocomplete'), 'one-time-code')
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await code.fill(gateway.lastCode())
    await page.keyboard.press('Enter')
    await saveCodes(page)

    await signInTo(page, 'Daniel Okonjo', 'Second factor')
    await page.getByRole('button', { name: 'Send me a code' }).click()
    await page.getByText('sent to +•••••••••••78').waitFor()
    await code.fill(gateway.lastCode() === '111111' ? '222222' : '111111')
    await page.keyboard.press('Enter')
    await alert(page, /4 attempts are left\./).waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await code.fill(gateway.lastCode())
    await page.keyboard.press('Enter')
    await inside(page)
  })

  detail('creates a passkey, and confirms the next sign-in with it', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    const authenticator = await addVirtualAuthenticator(profile, page)
    // Otherwise the browser would offer the passkey by itself on the first step.
    await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false')
    await signInTo(page, 'Mei Sakamoto', 'Set up a second factor')
    await page.getByRole('button', { name: /^Passkey/ }).click()
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await saveCodes(page)
    assert.equal(await authenticator.count(), 1)

    await signInTo(page, 'Mei Sakamoto', 'Second factor')
    await page.getByText(/^Confirm with a passkey of yours/).waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await page.getByRole('button', { name: 'Use your passkey' }).click()
    await inside(page)
  })
})
