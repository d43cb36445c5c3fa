import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Locator } from 'playwright-core'
import { noticed, signInAs, startPortal } from '../support/browser.ts'
import { at } from '../support/json.ts'
import { detail } from '../support/detail.ts'
import { fixture, setUp } from '../support/fixture.ts'

let account: string
let record: string

const portal = fixture(() => startPortal())
const page = fixture(async () => (await portal.profile()).newPage())
setUp(async () => {
  await signInAs(page, portal.base, 'Ruth Penhallow')
  record = (await page.locator('[data-row]').first().getAttribute('href')) ?? ''
  const headers = { accept: 'application/json' }
  const accounts: unknown = await (await page.request.get(`${portal.base}/accounts`, { headers })).json()
  account = `/accounts/${String(at(accounts, 'accounts', 0, 'id'))}`
})

interface FormDialog {
  readonly page: () => string
  /** The button that opens the dialog, or the menu with the item of that. */
  readonly opener: string
  readonly item?: string
  readonly title: string
  /** A field for text. */
  readonly field: string
  /** Whether giving up what was typed asks first. Default: true. */
  readonly isAsked?: boolean
}

const more = { opener: 'More actions for Daniel Okonjo', page: () => '/people' }
const dialogs: readonly FormDialog[] = [
  { page: () => account, opener: 'New key', title: 'New key', field: 'Name', isAsked: false },
  { page: () => account, opener: 'Add credit', title: 'Add credit', field: 'Note' },
  { page: () => account, opener: 'New alert', title: 'New alert', field: 'Mail to' },
  {
    page: () => account,
    opener: 'More actions for this account',
    item: 'Name and limits',
    title: 'Name and limits',
    field: 'Name',
  },
  { page: () => '/accounts', opener: 'New account', title: 'New account', field: 'Name' },
  { page: () => '/people', opener: 'Invite', title: 'Invite a person', field: 'Name' },
  { ...more, item: 'Rename', title: 'Rename Daniel Okonjo', field: 'Name' },
  { ...more, item: 'Change address', title: 'Change the address of Daniel Okonjo', field: 'Email' },
  { page: () => '/models', opener: 'Set price', title: 'Price of fast', field: 'Input (USD)' },
  { page: () => record, opener: 'More', item: 'Erase client', title: 'Erase client', field: 'Reason', isAsked: false },
]

async function open({ page: address, opener, item, title }: FormDialog): Promise<{ button: Locator; dialog: Locator }> {
  const path = address()
  if (new URL(page.url()).pathname !== path) await page.goto(portal.base + path)
  const button = page.locator('main').getByRole('button', { name: opener, exact: true })
  await button.click()
  if (item !== undefined) await page.getByRole('menuitem', { name: item, exact: true }).click()
  const dialog = page.getByRole('dialog', { name: title, exact: true })
  await dialog.waitFor()
  return { button, dialog }
}

const hasFocus = (target: Locator) => target.and(page.locator(':focus')).waitFor()

describe('a dialog with a form', () => {
  for (const shown of dialogs) {
    test(`closes with Escape and returns the focus, but keeps what was typed: ${shown.title}`, async () => {
      const { button, dialog } = await open(shown)
      const field = dialog.getByRole('textbox', { name: shown.field }).first()
      await field.focus()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await hasFocus(button)

      await open(shown)
      await field.fill('Half a')
      await page.keyboard.press('Escape')
      await page.keyboard.press('Shift')
      assert.equal(await field.inputValue(), 'Half a')
      await dialog.getByRole('button', { name: shown.isAsked === false ? 'Cancel' : 'Discard' }).click()
      if (shown.isAsked !== false) {
        const question = page.getByRole('dialog', { name: 'Discard your changes?' })
        await question.getByRole('button', { name: 'Discard' }).click()
      }
      await dialog.waitFor({ state: 'detached' })
      await hasFocus(button)
    })
  }

  detail('returns the focus from a new password', async () => {
    await page.goto(`${portal.base}/me`)
    const button = page.getByRole('button', { name: 'Set a password' })
    await button.click()
    const dialog = page.getByRole('dialog', { name: 'Set a password' })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    await hasFocus(button)
  })

  test('starts from what was saved, even if it is opened again at once', async () => {
    const settings = dialogs.find(({ title }) => title === 'Name and limits')
    assert.ok(settings)
    const { dialog } = await open(settings)
    const { promise, resolve: letOn } = Promise.withResolvers<void>()
    const url = portal.base + account
    await page.route(url, async (route) => {
      if (route.request().method() === 'GET') await promise
      await route.continue()
    })
    await dialog.getByLabel('Requests per minute').fill('77')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await noticed(page, 'The account was changed.')
    assert.equal(await dialog.count(), 1)
    letOn()
    await dialog.waitFor({ state: 'detached' })
    await open(settings)
    assert.equal(await dialog.getByLabel('Requests per minute').inputValue(), '77')
    await dialog.getByLabel('Requests per minute').fill('78')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.unroute(url)
  })
})
