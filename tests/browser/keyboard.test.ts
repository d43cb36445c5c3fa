import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { signInAs, untilInPage, untilItHandlesKeys } from '../support/browser.ts'
import { noteField, startDesk } from '../support/desk.ts'
import { detail } from '../support/detail.ts'
import { isEndure } from '../support/draws.ts'
import { fixture } from '../support/fixture.ts'

/** The path of a new client of Daniel's. */
let record: string

const desk = fixture(() => startDesk())
beforeEach(async () => {
  ;({ record } = await desk.newClient())
})

const hasFocus = (page: Page, target: Locator) => target.and(page.locator(':focus')).waitFor()

/** Presses Tab until the element has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let steps = 0; steps < 40; steps++) {
    if ((await target.and(page.locator(':focus')).count()) > 0) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`${String(target)} cannot be reached`)
}

describe('B90: with only the keyboard', () => {
  test('a person can sign in, find a client, write a note and read it', async () => {
    await using profile = await desk.profile()
    const page = await profile.newPage()
    const { keyboard } = page
    const focused = () => page.locator(':focus')
    await page.goto(`${desk.base}/clients`)
    await page.getByRole('link', { name: /^Continue with/ }).waitFor()
    await keyboard.press('Tab')
    await keyboard.press('Enter')
    const choice = page.getByRole('button', { name: 'Mei Sakamoto' })
    await choice.waitFor()
    await tabTo(page, choice)
    await keyboard.press('Enter')

    await page.waitForURL(`${desk.base}/clients`)
    await page.locator('[data-row]').first().waitFor()
    await untilItHandlesKeys(page)
    await keyboard.press('Tab')
    assert.equal(await focused().textContent(), 'Skip to the content')
    await keyboard.press('j')
    await keyboard.press('j')
    const name = await focused().textContent()
    assert.equal(name, await page.locator('[data-row]').nth(1).textContent())
    await keyboard.press('/')
    await keyboard.type((name ?? '').slice(0, 5))
    await page.waitForURL((url) => url.searchParams.get('q') === (name ?? '').slice(0, 5).trim())
    // The full list has the row too, further down; the results appear just after the URL changes.
    await page
      .locator('[data-row]')
      .first()
      .filter({ hasText: name ?? '' })
      .waitFor()
    await keyboard.press('ArrowDown')
    assert.equal(await focused().textContent(), name)
    await keyboard.press('Enter')

    await page.getByRole('heading', { name: name ?? '', level: 1 }).waitFor()
    await untilInPage(page, `document.title.startsWith(${JSON.stringify(name)})`)
    await keyboard.press('n')
    await focused().and(noteField(page)).waitFor()
    await keyboard.type('Written without a mouse.')
    await keyboard.press('Control+Enter')
    await page.getByRole('article').filter({ hasText: 'Written without a mouse.' }).waitFor()
  })

  test('a search can be started anywhere, and the skip link adds no history entry', async () => {
    await using page = await desk.open(record)
    await page.getByRole('button', { name: 'Add note' }).waitFor()
    const here = page.url()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('#main:focus').waitFor()
    assert.equal(page.url(), here)
    await page.keyboard.press('/')
    await page.getByRole('heading', { name: 'Search', level: 1 }).waitFor()
    await page.locator('input[type=search]:focus').waitFor()
    await page.keyboard.type('invoice')
    await page.waitForURL(/q=invoice/)
    await page.getByRole('link', { name: 'Clients' }).click()
    await page.getByRole('heading', { name: 'Clients', level: 1 }).waitFor()
    await page.locator('#main:focus').waitFor()

    for (const address of isEndure ? ['/clients', '/search?q=invoice'] : ['/search?q=invoice']) {
      await page.goto(desk.base + address)
      await untilItHandlesKeys(page)
      const row = page.locator('[data-row]').nth(2)
      await row.press('Enter')
      await row.waitFor({ state: 'detached' })
      await page.goBack()
      await row.and(page.locator(':focus')).waitFor()
    }
  })

  detail('single keys can be turned off', async () => {
    await using profile = await desk.profile()
    const page = await profile.newPage()
    await signInAs(page, desk.base, 'Mei Sakamoto', '/me')
    await page.getByLabel(/^Keyboard shortcuts/).press('Space')
    await page.goto(`${desk.base}/clients`)
    await page.locator('[data-row]').first().waitFor()
    await untilItHandlesKeys(page)
    await page.keyboard.press('n')
    await page.keyboard.press('j')
    assert.equal(await page.getByRole('dialog').count(), 0)
    assert.equal(await page.locator('[data-row]:focus').count(), 0)
  })
})

detail('the menu of a narrow window traps the focus while it is open, then returns it', async () => {
  await using page = await desk.open('/clients')
  await page.setViewportSize({ width: 380, height: 760 })
  const menu = page.getByRole('button', { name: 'Menu', exact: true })
  const dialog = page.getByRole('dialog')
  const isClosed = async () => {
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await menu.getAttribute('aria-expanded'), 'false')
  }
  await menu.press('Enter')
  for (let steps = 0; steps < 8; steps++) {
    await dialog.locator(':focus').waitFor()
    await page.keyboard.press('Tab')
  }
  await page.keyboard.press('Escape')
  await isClosed()
  await hasFocus(page, menu)
  await menu.press('Enter')
  await dialog.locator(':focus').waitFor()
  await dialog.getByRole('button', { name: 'Close the menu' }).press('Enter')
  await isClosed()
  await hasFocus(page, menu)

  const ways = [
    { to: 'Clients', heading: 'Clients', focus: '#main' },
    { to: 'Search', heading: 'Search', focus: 'input[type=search]' },
    { to: 'Clients', heading: 'Clients', focus: '#main' },
  ]
  for (const { to, heading, focus } of ways) {
    await menu.press('Enter')
    await dialog.locator(':focus').waitFor()
    await dialog.getByRole('link', { name: to }).press('Enter')
    await isClosed()
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    await page.locator(`${focus}:focus`).waitFor()
  }
  await page.goBack()
  await page.getByRole('heading', { name: 'Search', level: 1 }).waitFor()
  await isClosed()
})

detail('closing a form returns the focus to where it was opened', async () => {
  await using page = await desk.open(record)
  const [add, edit, client] = ['Add note', 'Edit note', 'Edit client'].map((name) => page.getByRole('button', { name }))
  assert.ok(add && edit && client)
  for (const button of [add, edit, client]) {
    await button.press('Enter')
    await page.keyboard.press('Escape')
    await hasFocus(page, button)
  }
  await edit.press('Enter')
  await noteField(page).fill('As it is now.')
  await page.getByRole('button', { name: 'Save' }).press('Enter')
  await hasFocus(page, edit)
  await page.getByText('As it is now.').waitFor()

  await page.getByRole('link', { name: /^Disputes/ }).click()
  await page.getByRole('button', { name: 'Add dispute' }).press('Enter')
  await page.getByRole('combobox', { name: 'Invoice' }).fill('Z-2')
  await page.getByLabel('Amount').fill('twelve')
  await page.getByRole('button', { name: 'Add dispute' }).press('Enter')
  await page.locator('[aria-invalid=true]:focus').waitFor()
  await page.getByLabel('Amount').fill('12')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('article').waitFor()
  await hasFocus(page, page.getByRole('button', { name: 'Add dispute' }))

  await page.getByRole('button', { name: 'More actions for this dispute' }).press('Enter')
  await page.getByRole('menu').locator(':focus').waitFor()
  await page.getByRole('menuitem', { name: 'Archive dispute' }).press('Enter')
  await page.getByRole('heading', { name: 'No disputes yet' }).waitFor()
  await page.locator('#main:focus').waitFor()
})

const announced = (page: Page, text: RegExp) => page.locator('[aria-live=polite]').getByText(text)

async function openAsRuth(address: string): Promise<Page> {
  const page = await desk.ruth.newPage()
  await page.goto(desk.base + address)
  await page.getByRole('button', { name: 'Show more' }).waitFor()
  await untilItHandlesKeys(page)
  return page
}

describe('“Show more”', () => {
  detail('moves the focus to the first new client, and announces how many are shown', async () => {
    await using page = await openAsRuth('/clients?limit=5')
    const rows = page.locator('[data-row]')
    const more = page.getByRole('button', { name: 'Show more' })
    const [, shown = '', total = ''] = /(\d+) of (\d+)/.exec((await more.textContent()) ?? '') ?? []
    assert.equal(await announced(page, /shown$/).count(), 0)
    await more.press('Enter')
    await hasFocus(page, rows.nth(Number(shown)))
    await announced(page, new RegExp(`^${await rows.count()} of ${total} shown$`)).waitFor()
  })

  detail('keeps the focus while it loads and if nothing is loaded, and loads once', async () => {
    await using page = await openAsRuth('/clients?limit=5')
    const asked: string[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route(/cursor=/, async (route) => {
      asked.push(route.request().url())
      await promise
      await route.abort()
    })
    const rows = await page.locator('[data-row]').count()
    const more = page.getByRole('button', { name: 'Show more' })
    await more.press('Enter')
    await more.and(page.locator('[aria-disabled=true]:focus')).waitFor()
    await more.press('Enter')
    resolve()
    await page.getByText('The next page was not loaded').waitFor()
    await hasFocus(page, more)
    assert.equal(asked.length, 1)
    assert.equal(await page.locator('[data-row]').count(), rows)
    assert.equal(await announced(page, /shown$/).count(), 0)
    desk.takeComplaints()
  })

  detail('leaves the focus where a person has moved it meanwhile', async () => {
    await using page = await openAsRuth('/audit')
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route(/cursor=/, async (route) => {
      await promise
      await route.continue()
    })
    const more = page.getByRole('button', { name: 'Show more' })
    const count = await page.getByRole('row').count()
    await more.press('Enter')
    await page.getByLabel('Outcome').focus()
    resolve()
    await page.getByRole('row').nth(count).waitFor()
    await announced(page, /^\d+ shown$/).waitFor()
    await hasFocus(page, page.getByLabel('Outcome'))
  })
})
