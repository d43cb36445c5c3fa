import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { parseObject } from '../support/json.ts'
import { barriers, signIn, startPortal } from '../support/browser.ts'
import { chooseIn } from '../support/choice.ts'
import { detail } from '../support/detail.ts'
import { fixture, setUp } from '../support/fixture.ts'

// Not the shared one, since a person is deleted.
const portal = fixture(() => startPortal('{}'))
const partner = fixture(() => portal.profile())
setUp(() => signIn(partner, portal.base, 'Ruth Penhallow'))

async function open(): Promise<Page> {
  const page = await partner.newPage()
  await page.goto(`${portal.base}/people`)
  await page.getByRole('heading', { name: 'People', level: 1 }).waitFor()
  return page
}

async function choose(page: Page, name: string, item: string): Promise<void> {
  await page.getByRole('button', { name: `More actions for ${name}` }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

async function invite(page: Page, name: string, email: string): Promise<void> {
  await page.getByRole('button', { name: 'Invite' }).click()
  const form = page.getByRole('form', { name: 'Invite a person' })
  await form.getByLabel('Name').fill(name)
  await form.getByLabel('Email').fill(email)
  await form.getByRole('button', { name: 'Invite' }).click()
}

/** Adds what a service without mail responds: the link of the invitation. */
async function withoutMail(page: Page, link: string): Promise<void> {
  await page.route(/\/people\/invitations/, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...parseObject(await response.text()), link } })
  })
}

describe('the page of people', () => {
  detail('finds people by name and address, and says so if there is none', async () => {
    await using page = await open()
    const search = page.getByRole('searchbox', { name: 'Search people' })
    await search.fill('konjo dän')
    await page.getByText('Ruth Penhallow', { exact: true }).and(page.locator('td *')).waitFor({ state: 'detached' })
    assert.equal(await page.locator('tbody tr').count(), 1)
    await search.fill('nobody of this name')
    await page.getByRole('heading', { name: 'Nobody found' }).waitFor()
    await page.getByRole('button', { name: 'Show everyone' }).click()
    await page.locator('tbody tr').nth(2).waitFor()
  })

  detail('B74: shows the link of an invitation once where no mail is sent', async () => {
    await using page = await open()
    const link = `${portal.base}/signin/invitation#${'A'.repeat(43)}`
    await withoutMail(page, link)
    await invite(page, 'Jo Brand', 'jo@example.com')
    assert.equal(await page.getByLabel('Link', { exact: true }).inputValue(), link)
    assert.deepEqual(await barriers(page), [], 'the link')
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.ok(!(await page.content()).includes('A'.repeat(43)))
    await page.unrouteAll()
    const row = page.getByRole('listitem').filter({ hasText: 'jo@example.com' })
    await page.getByRole('button', { name: 'Withdraw the invitation of Jo Brand' }).press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).press('Enter')
    await row.waitFor({ state: 'detached' })
    await page.locator('main:focus').waitFor()
  })

  detail('shows the reason at the field of an address that cannot be invited', async () => {
    await using page = await open()
    await page.getByRole('button', { name: 'Invite' }).click()
    const form = page.getByRole('form', { name: 'Invite a person' })
    await form.getByLabel('Name').fill('Nobody')
    await form.getByLabel('Email').fill('nobody')
    await form.getByLabel('Email').press('Enter')
    await form.getByText('is not an email address').waitFor()
    assert.equal(await form.getByLabel('Email').getAttribute('aria-invalid'), 'true')
    assert.equal(await form.getByLabel('Name').inputValue(), 'Nobody', 'nothing typed is lost')
  })

  detail('renames a person by keyboard alone', async () => {
    await using page = await open()
    await page.getByRole('button', { name: 'More actions for Mei Sakamoto' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menu').locator(':focus').waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Home')
    await page.keyboard.press('Enter')
    const form = page.getByRole('form', { name: 'Rename Mei Sakamoto' })
    await form.getByLabel('Name').and(page.locator(':focus')).waitFor()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('Mei Sato')
    await page.keyboard.press('Enter')
    await page.getByText('Mei Sato', { exact: true }).and(page.locator('td *')).first().waitFor()
    await choose(page, 'Mei Sato', 'Rename')
    await page.getByLabel('Name', { exact: true }).fill('Mei Sakamoto')
    await page.keyboard.press('Enter')
    await page.getByText('Mei Sakamoto', { exact: true }).and(page.locator('td *')).first().waitFor()
  })

  test('B101: shows which clients a hand-over moves before it moves them, and deletes only afterwards', async () => {
    await using page = await open()
    await choose(page, 'Daniel Okonjo', 'Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText(/Daniel Okonjo still has \d+ clients/).waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await choose(page, 'Daniel Okonjo', 'Hand over clients')
    const dialog = page.getByRole('dialog', { name: 'Hand over the clients of Daniel Okonjo' })
    await dialog.getByText(/^\d+ active clients and \d+ archived:$/).waitFor()
    assert.ok(await dialog.getByRole('button', { name: /^Hand over/ }).isDisabled())
    await chooseIn(dialog, 'To', 'saka')
    assert.deepEqual(await barriers(page), [], 'the preview')
    await dialog.getByRole('button', { name: /^Hand over \d+ clients$/ }).click()
    await page.getByText(/^\d+ clients handed over to Mei Sakamoto\.$/).waitFor()
    const row = page.getByRole('row').filter({ hasText: 'Daniel Okonjo' })
    await row.getByRole('cell', { name: '0', exact: true }).waitFor()
    await choose(page, 'Daniel Okonjo', 'Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    assert.equal(await row.count(), 1)
    await choose(page, 'Daniel Okonjo', 'Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await row.waitFor({ state: 'detached' })
  })
})
