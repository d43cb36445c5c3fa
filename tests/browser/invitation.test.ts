import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { barriersInBothSchemes, noticed, signInAs } from '../support/browser.ts'
import { linkIn, startMailedPortal } from '../support/mailed.ts'
import { fixture } from '../support/fixture.ts'

const portal = fixture(() => startMailedPortal())

const ines = 'ines@example.com'
const password = 'blatant oyster wagon'

/** Invites Ines twice as Ruth does; the link in her second mail. */
async function invite(page: Page): Promise<string> {
  await signInAs(page, portal.base, 'Ruth Penhallow', '/people')
  await page.getByRole('button', { name: 'Invite' }).click()
  const form = page.getByRole('form', { name: 'Invite a person' })
  await form.getByLabel('Name').fill('Ines Ferreira')
  await form.getByLabel('Email').fill(ines)
  await form.getByRole('button', { name: 'Invite' }).click()
  await noticed(page, 'The invitation is on its way.')
  const row = page.getByRole('listitem').filter({ hasText: ines })
  await row.getByText('Consultant · by Ruth Penhallow').waitFor()
  await page.getByRole('button', { name: 'Send again to Ines Ferreira' }).click()
  await noticed(page, 'The invitation was sent again.')
  const mail = await portal.mails.mailTo(ines, { count: 2 })
  assert.equal(mail.subject, 'You are invited to sign in – Penhallow Advisory')
  return linkIn(mail)
}

test('B74: an invitation is mailed again, and lets the invited person choose a password, which signs in', async () => {
  const [inviting, invited] = await Promise.all([portal.profile(), portal.profile()])
  const [ruth, page] = await Promise.all([inviting.newPage(), invited.newPage()])
  const link = await invite(ruth)

  // In the browser of the partner, who tries it.
  await ruth.goto(link)
  await ruth.getByLabel('New password').fill(password)
  await ruth.keyboard.press('Enter')
  await ruth
    .getByRole('alert')
    .getByText(/^You are signed in as Ruth Penhallow/)
    .waitFor()
  await ruth.getByRole('button', { name: 'Sign out here' }).click()
  await ruth.getByText('You are signed out. Accept the invitation now.').waitFor()
  assert.equal(await ruth.getByText(/^You are signed in as/).count(), 0)
  assert.equal(await ruth.getByLabel('New password').inputValue(), password)

  await page.goto(link)
  await page.getByText('Ines Ferreira').waitFor()
  assert.equal(page.url(), `${portal.base}/signin/invitation`, 'the token is not in the address bar')
  assert.equal(await page.getByLabel('Email address').inputValue(), ines)
  const field = page.getByLabel('New password')
  await field.and(page.locator(':focus')).waitFor()
  await page.getByRole('button', { name: 'Accept without a password' }).waitFor()
  await field.fill('penhallow advisory')
  await page.keyboard.press('Enter')
  await page.getByText(/easy to guess: it consists of names/).waitFor()
  assert.equal(await field.getAttribute('aria-invalid'), 'true')
  assert.deepEqual(await barriersInBothSchemes(page), [])
  assert.deepEqual(await invited.cookies(), [])
  await field.fill(password)
  await page.keyboard.press('Enter')
  await page.waitForURL(`${portal.base}/`)
  await page.getByText('Ines Ferreira').first().waitFor()

  await invited.clearCookies()
  await page.goto(link)
  await page.getByText(/^This invitation was used/).waitFor()
  await page.getByRole('link', { name: 'Go to the sign-in page' }).click()
  await page.getByLabel('Email address').fill(ines)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.keyboard.press('Enter')
  await page.waitForURL(`${portal.base}/`)
  await Promise.all([inviting.close(), invited.close()])
})
