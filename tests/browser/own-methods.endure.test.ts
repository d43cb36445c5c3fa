import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { stringify } from 'yaml'
import { barriers, noticed, signInAs, startPortal, type TestPortal } from '../support/browser.ts'
import { totpCode } from '../support/totp.ts'
import { detail } from '../support/detail.ts'

let portal: TestPortal

before(async () => {
  const settings = { second_factor: 'optional', starts_per_minute: 1000 }
  portal = await startPortal(stringify({ sign_in: settings }))
})
after(() => portal.close())

const [first, second] = ['blatant oyster wagon', 'quiet marble harvest moon']
const confirmed = (page: Page, action: string) => page.getByRole('dialog').getByRole('button', { name: action }).click()

describe('on the page of their account, a person', () => {
  test('sets, changes and removes a password', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    await signInAs(page, portal.base, 'Ruth Penhallow', '/me')
    await page.getByRole('button', { name: 'Set a password' }).click()
    const dialog = page.getByRole('dialog')
    const chosen = dialog.getByLabel('New password')
    await chosen.fill('short')
    await page.keyboard.press('Enter')
    await dialog
      .getByRole('alert')
      .getByText(/at least 15 characters, and has 5/)
      .waitFor()
    assert.equal(await chosen.inputValue(), 'short', 'what was typed stays')
    assert.deepEqual(await barriers(page), [])
    await chosen.fill(first)
    await page.keyboard.press('Enter')
    await noticed(page, 'Your password was changed. You had no other sessions.')

    await page.getByRole('button', { name: 'Change the password' }).click()
    await dialog.getByLabel('Current password').fill(second)
    await chosen.fill(second)
    await page.keyboard.press('Enter')
    await dialog.getByRole('alert').getByText('The current password is wrong.').waitFor()
    await dialog.getByLabel('Current password').fill(first)
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Remove the password' }).click()
    await confirmed(page, 'Remove')
    await noticed(page, 'Your password was removed.')
    await page.getByRole('button', { name: 'Set a password' }).waitFor()
  })

  detail('unlinks an account at a provider, and links it again', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    await signInAs(page, portal.base, 'Daniel Okonjo', '/me')
    await page.getByRole('button', { name: /^Unlink / }).click()
    await confirmed(page, 'Unlink')
    const link = page.getByRole('button', { name: /^Link / })
    await link.waitFor()
    assert.equal(await page.getByRole('button', { name: /^Unlink / }).count(), 0)
    await link.click()
    await page.getByRole('button', { name: 'Daniel Okonjo' }).click()
    await page.waitForURL(`${portal.base}/me`)
    await page.getByRole('button', { name: /^Unlink / }).waitFor()
    assert.equal(await link.count(), 0)
  })

  detail('B108: confirms who they are with an authenticator app, and removes it', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    await signInAs(page, portal.base, 'Mei Sakamoto', '/me')
    await page.getByRole('button', { name: 'Set up Authenticator app' }).click()
    const key = page.locator('p').filter({ hasText: /^[A-Z2-7]{4}( [A-Z2-7]{4}){7}$/ })
    const secret = (await key.textContent())?.replaceAll(' ', '')
    await page.getByLabel('Code from the app').fill(totpCode(secret))
    await page.keyboard.press('Enter')
    await page.getByLabel('I have saved these codes').check()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.clock.setSystemTime(Date.now() + 11 * 60_000)
    await page.getByRole('button', { name: 'Set a password' }).click()
    const dialog = page.getByRole('dialog', { name: 'Confirm your identity' })
    await dialog.getByLabel('Authenticator app').fill('000000')
    await page.keyboard.press('Enter')
    await dialog.getByText(/This code is wrong/).waitFor()
    assert.deepEqual(await barriers(page), [])
    await dialog.getByLabel('Authenticator app').fill(totpCode(secret, 1))
    await page.keyboard.press('Enter')
    await page.getByLabel('New password').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Remove Authenticator app' }).click()
    await confirmed(page, 'Remove')
    await page.getByRole('button', { name: 'Set up Authenticator app' }).waitFor()
  })

  test('is asked to sign in again ten minutes after the sign-in', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    await signInAs(page, portal.base, 'Mei Sakamoto', '/me')
    await page.clock.setSystemTime(Date.now() + 11 * 60_000)
    await page.getByRole('button', { name: 'Set a password' }).click()
    const dialog = page.getByRole('dialog', { name: 'Confirm your identity' })
    await dialog.waitFor()
    assert.deepEqual(await barriers(page), [])
    const opened = page.waitForEvent('popup')
    await dialog.getByRole('link', { name: 'Sign in again' }).click()
    const tab = await opened
    await tab.getByRole('heading', { name: 'Confirm your identity' }).waitFor()
    await tab.getByRole('link', { name: /^Continue with/ }).click()
    await tab.getByRole('button', { name: 'Mei Sakamoto' }).click()
    await tab.waitForURL(`${portal.base}/me`)
    await page.getByLabel('New password').waitFor()
  })
})
