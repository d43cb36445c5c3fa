import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { barriersInBothSchemes } from '../support/browser.ts'
import { codeIn, linkIn, startMailedPortal } from '../support/mailed.ts'
import { detail } from '../support/detail.ts'
import { fixture } from '../support/fixture.ts'

const portal = fixture(() => startMailedPortal())

/** An address gets three mails in 15 minutes. */
const [ruth, daniel, mei] = ['ruth', 'daniel', 'mei'].map((name) => `${name}@penhallow.example`)
assert.ok(ruth && daniel && mei)

async function linkAndCode(address: string, count = 1): Promise<{ link: string; code: string }> {
  const mail = await portal.mails.mailTo(address, { subject: /^Your sign-in link/, count })
  return { link: linkIn(mail), code: codeIn(mail) }
}

/** Asks for a link on the sign-in page. */
async function ask(page: Page, address: string, from = '/clients'): Promise<void> {
  await page.goto(portal.base + from)
  await page.getByLabel('Email address').fill(address)
  await page.getByRole('button', { name: 'Email me a link' }).click()
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor()
}

const signedIn = (page: Page, path: string) => page.waitForURL(portal.base + path)

describe('a mailed link', () => {
  test('B43: asks in another browser, and signs in the one that asked for it with one click', async () => {
    const [one, other] = await Promise.all([portal.profile(), portal.profile()])
    const [page, far] = await Promise.all([one.newPage(), other.newPage()])
    await ask(page, daniel, '/clients?status=all')
    const { link } = await linkAndCode(daniel)
    await far.goto(link)
    await far.getByRole('heading', { name: 'Sign in with this browser?' }).waitFor()
    await far.getByText('Chrome on Linux').waitFor()
    assert.deepEqual(await barriersInBothSchemes(far), [])
    await page.goto(link)
    await page.getByText(daniel).waitFor()
    assert.equal(page.url(), `${portal.base}/signin/link`, 'the token is not in the address bar')
    assert.ok(
      (await one.cookies()).every(({ name }) => name !== 'session'),
      'opening it does nothing',
    )
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await signedIn(page, '/clients?status=all')
    await page.getByText('Daniel Okonjo').first().waitFor()
    await Promise.all([one.close(), other.close()])
  })

  detail('signs in another browser after its question, and only that one', async () => {
    const [one, other] = await Promise.all([portal.profile(), portal.profile()])
    const [page, far] = await Promise.all([one.newPage(), other.newPage()])
    await ask(page, ruth)
    await far.goto((await linkAndCode(ruth)).link)
    await far.getByRole('button', { name: 'Yes, sign in here' }).click()
    await signedIn(far, '/clients')
    await page.goto(`${portal.base}/me`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await Promise.all([one.close(), other.close()])
  })

  detail('without its token, or used before, says what to do', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    await page.goto(`${portal.base}/signin/link`)
    await page.getByRole('heading', { name: 'Open the link again' }).waitFor()
    await page.goto(`${portal.base}/signin/link#${'x'.repeat(43)}`)
    await page
      .getByRole('alert')
      .getByText(/used before, has expired/)
      .waitFor()
    await page.getByRole('link', { name: 'Go to the sign-in page' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })
})

describe('the code in the mail', () => {
  test('signs in when it is pasted, and a wrong one is refused in place', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    await ask(page, mei)
    const { code } = await linkAndCode(mei)
    const field = page.getByLabel('Code from the mail')
    await field.and(page.locator(':focus')).waitFor()
    assert.equal(await field.getAttribute('autocomplete'), 'one-time-code')
    await page.keyboard.type('aaaabbbb')
    assert.equal(await field.inputValue(), 'AAAA-BBBB')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('The code is wrong.').waitFor()
    await field.and(page.locator(':focus')).waitFor()
    assert.equal(await field.inputValue(), 'AAAA-BBBB', 'what was typed stays')
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await field.fill(code.toLowerCase())
    await page.keyboard.press('Enter')
    await signedIn(page, '/clients')
  })

  detail('can still be entered after the page was loaded again, for 10 minutes', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    await page.clock.install()
    await ask(page, ruth)
    const { code } = await linkAndCode(ruth, 2)
    const field = page.getByLabel('Code from the mail')
    await page.reload()
    await page.getByText(ruth).waitFor()
    await field.fill(code)
    await page.keyboard.press('Enter')
    await signedIn(page, '/clients')
    await profile.clearCookies()
    await page.goto(`${portal.base}/clients`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()

    await ask(page, daniel)
    await page.reload()
    await field.waitFor()
    await page.getByRole('button', { name: 'Use another address' }).click()
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()

    await ask(page, ruth)
    await page.clock.fastForward(601_000)
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    assert.equal(await field.count(), 0)
  })

  detail('can be sent again after a while, and the address can be corrected', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    await page.clock.install()
    await ask(page, mei)
    await page.getByRole('button', { name: /^No mail\? Send another in \d+ s$/ }).waitFor()
    await page.clock.runFor(46_000)
    await page.getByRole('button', { name: 'Send another mail' }).click()
    await page.getByText('Only the code in the last one works.').waitFor()
    await linkAndCode(mei, 3)
    await page.getByRole('button', { name: 'Use another address' }).click()
    assert.equal(await page.getByLabel('Email address').inputValue(), mei, 'what was typed stays')
    await page.getByRole('button', { name: 'Email me a link' }).click()
    await page
      .getByRole('alert')
      .getByText(/Too many sign-in mails/)
      .waitFor()
    await page.getByRole('button', { name: /^Try again in \d+/ }).waitFor()
    const byPassword = page.getByRole('button', { name: 'Sign in', exact: true })
    assert.equal(await byPassword.getAttribute('aria-disabled'), 'false', 'other ways stay open')
  })
})

detail('an address that is none is refused at its field', async () => {
  await using profile = await portal.profile()
  const page = await profile.newPage()
  await page.goto(`${portal.base}/signin`)
  const field = page.getByLabel('Email address')
  await field.fill('nobody')
  await page.getByRole('button', { name: 'Email me a link' }).click()
  await page.getByText('Enter your email address, such as name@example.com.').waitFor()
  await field.and(page.locator(':focus')).waitFor()
  assert.equal(await field.getAttribute('aria-invalid'), 'true')
  assert.equal(await field.inputValue(), 'nobody')
})
