import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { barriersInBothSchemes } from '../support/browser.ts'
import { linkIn, startMailedPortal } from '../support/mailed.ts'
import { detail } from '../support/detail.ts'
import { fixture } from '../support/fixture.ts'

const portal = fixture(() => startMailedPortal())

const mei = 'mei@penhallow.example'
const daniel = 'daniel@penhallow.example'
const password = 'correct horse 7 battery staple'

/** Chooses a password by mail, as a person who has none. */
async function choose(page: Page, address: string): Promise<void> {
  await page.goto(`${portal.base}/signin`)
  await page.getByLabel('Email address').fill(address)
  await page.getByRole('link', { name: /^Forgot your password/ }).click()
  assert.equal(await page.getByLabel('Email address').inputValue(), address, 'typed once')
  await page.getByRole('button', { name: 'Email me a link' }).click()
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor()
  await page.goto(linkIn(await portal.mails.mailTo(address, { subject: /password/i })))
  await page.getByLabel('New password').fill(password)
  await page.getByRole('button', { name: 'Set the password' }).click()
  await page.getByRole('heading', { name: 'Your password is set' }).waitFor()
}

const passwordField = (page: Page) => page.getByLabel('Password', { exact: true })
const hasFocus = (page: Page, name: string) => page.locator(`input[name=${name}]:focus`).waitFor()
const isSignedIn = async (profile: BrowserContext) => (await profile.cookies()).some(({ name }) => name === 'session')

describe('a password', () => {
  test('is chosen with a mailed link, which does not sign in, and then signs in', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    await choose(page, mei)
    assert.equal(await isSignedIn(profile), false)
    await page.getByRole('link', { name: 'Sign in' }).click()
    assert.equal(await page.getByLabel('Email address').inputValue(), mei)
    await passwordField(page).fill('a wrong one, 15 long')
    await passwordField(page).press('Enter')
    await page.getByRole('alert').filter({ hasText: /wrong/i }).waitFor()
    await hasFocus(page, 'password')
    assert.equal(await page.getByLabel('Email address').inputValue(), mei, 'what was typed stays')
    assert.deepEqual(await barriersInBothSchemes(page), [])
    assert.equal(await isSignedIn(profile), false)
    await passwordField(page).fill(password)
    await passwordField(page).press('Enter')
    await page.waitForURL((url) => url.pathname === '/')
    await page.getByText('Mei Sakamoto').first().waitFor()
  })

  detail('that is refused is refused with the reason, at its field, and the link stays usable', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    await page.goto(`${portal.base}/signin/reset`)
    await page.getByLabel('Email address').fill(daniel)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Check your mail' }).waitFor()
    const link = linkIn(await portal.mails.mailTo(daniel, { subject: /password/i }))
    await page.goto(link)
    const field = page.getByLabel('New password')
    await field.waitFor()
    assert.equal(page.url(), `${portal.base}/signin/reset`, 'the token is not in the address bar')
    await page.getByText(/^At least 15 characters/).waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [])
    for (const [typed, reason] of [
      ['short', /at least 15 characters, and has 5/],
      ['penhallow penhallow', /easy to guess/],
    ] as const) {
      await field.fill(typed)
      await field.press('Enter')
      await page.getByText(reason).waitFor()
      await hasFocus(page, 'password')
      assert.equal(await field.getAttribute('aria-invalid'), 'true')
      assert.equal(await field.inputValue(), typed)
    }
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await field.fill(password)
    await field.press('Enter')
    await page.getByRole('heading', { name: 'Your password is set' }).waitFor()
    await page.goto(link)
    await page.getByText(/expired, was used/).waitFor()
    await page.getByRole('link', { name: 'Ask for another link' }).click()
    await page.getByRole('heading', { name: 'Choose a new password' }).waitFor()
  })

  test('B56, B90: is pasted, shown and found in the right order by keyboard, and its fields say what they are for', async () => {
    await using profile = await portal.profile()
    await profile.grantPermissions(['clipboard-read', 'clipboard-write'])
    const page = await profile.newPage()
    await page.goto(`${portal.base}/signin?return_to=/me`)
    const [email, field] = [page.getByLabel('Email address'), passwordField(page)]
    assert.equal(await email.getAttribute('autocomplete'), 'username webauthn')
    assert.equal(await field.getAttribute('autocomplete'), 'current-password')
    const order: (string | null)[] = []
    for (let steps = 0; steps < 8; steps++) {
      await page.keyboard.press('Tab')
      const focused = page.locator(':focus')
      order.push(
        (await focused.getAttribute('name')) ??
          (await focused.getAttribute('aria-label')) ??
          (await focused.textContent()),
      )
    }
    assert.match(
      order.join(', '),
      /email, password, Show the password, Forgot your password.*, Sign in, Email me a link/,
    )
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(password)})`)
    await field.focus()
    await page.keyboard.press('Control+v')
    assert.equal(await field.inputValue(), password)
    assert.equal(await field.getAttribute('type'), 'password')
    const toggle = page.getByRole('button', { name: 'Show the password' })
    await toggle.click()
    assert.equal(await field.getAttribute('type'), 'text')
    assert.equal(await toggle.getAttribute('aria-pressed'), 'true')
    await toggle.click()
    assert.equal(await field.getAttribute('type'), 'password')
    assert.equal(await field.inputValue(), password)
  })
})
