import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { barriers, barriersInBothSchemes, signIn, startPortal } from '../support/browser.ts'
import { upstreamModel } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'
import { detail } from '../support/detail.ts'
import { fixture, setUp } from '../support/fixture.ts'

let made = 0

const vendor = fixture(() => startVendor())
const portal = fixture(() =>
  startPortal(JSON.stringify({ models: [upstreamModel(vendor.url)], aliases: { default: 'fast' } })),
)
const partner = fixture(() => portal.profile())
setUp(() => signIn(partner, portal.base, 'Ruth Penhallow'))

async function open(address: string, title: string): Promise<Page> {
  const page = await partner.newPage()
  await page.goto(portal.base + address)
  await page.getByRole('heading', { name: title, level: 1 }).waitFor()
  return page
}

/** Creates an account on the page of accounts. Ends on its own page. */
async function create(page: Page, amount = '1,234.56', kind = 'In advance, from credit'): Promise<string> {
  const name = `Northwind ${(made += 1)}`
  await page.getByRole('button', { name: 'New account' }).click()
  const form = page.getByRole('form', { name: 'New account' })
  await form.getByLabel('Name').fill(name)
  await form.getByLabel('Pays').selectOption(kind)
  await form.getByLabel('Amount').fill(amount)
  await form.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('heading', { name, level: 1 }).waitFor()
  return name
}

/** Ends the dialog of a new key. Returns the key and the shown call. */
async function take(page: Page): Promise<{ key: string; call: string }> {
  const dialog = page.getByRole('dialog', { name: 'Store this key now' })
  const key = (await dialog.getByLabel('Key', { exact: true }).textContent()) ?? ''
  const call = (await dialog.locator('pre').textContent()) ?? ''
  await page.keyboard.press('Escape')
  assert.ok(await dialog.isVisible(), 'the dialog does not close before the key is stored')
  await dialog.getByLabel('I have stored this key').check()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await dialog.waitFor({ state: 'detached' })
  return { key, call }
}

/** Makes the call that the page shows for curl. */
async function perform(call: string): Promise<{ status: number; text: string }> {
  const [, url = ''] = /curl (\S+)/.exec(call) ?? []
  const headers = new Headers()
  for (const [, name = '', text = ''] of call.matchAll(/--header "([^:]+): ([^"]+)"/g)) headers.set(name, text)
  const [, body = ''] = /--data '([^']+)'/.exec(call) ?? []
  const answer = await fetch(url, { method: 'POST', headers, body })
  return { status: answer.status, text: await answer.text() }
}

async function inMenu(page: Page, of: string, item: string): Promise<void> {
  await page.getByRole('button', { name: `More actions for ${of}` }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

describe('the pages of accounts', () => {
  test('lead from a new account to a key that works, a rotated one, and a revoked one that is refused', async () => {
    await using page = await open('/accounts', 'Accounts')
    await create(page)
    await page.getByText('US$1,234.56', { exact: true }).waitFor()

    await page.getByRole('button', { name: 'New key' }).click()
    const form = page.getByRole('form', { name: 'New key' })
    await form.getByLabel('Name').fill('backend')
    await form.getByLabel('Only these').check()
    assert.ok(await form.getByRole('button', { name: 'Create key' }).isDisabled(), 'a key needs a model')
    assert.deepEqual(await barriers(page), [])
    await form.getByLabel(/^default/).check()
    await form.getByRole('button', { name: 'Create key' }).click()
    const first = await take(page)
    assert.match(first.key, /^tg_\w{12}_\w{43}_\w{6}$/)
    assert.ok(first.call.includes(first.key) && first.call.includes('"model": "default"'))
    const answer = await perform(first.call)
    assert.equal(answer.status, 200, answer.text)
    assert.ok(!(await page.content()).includes(first.key.slice(16)), 'the key is no longer on the page')
    assert.ok(!page.url().includes('tg_'))
    await page.getByText(`${first.key.slice(0, 15)}…`).waitFor()

    await inMenu(page, 'backend', 'Rotate')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
    const second = await take(page)
    assert.notEqual(second.key, first.key)
    assert.deepEqual([(await perform(first.call)).status, (await perform(second.call)).status], [200, 200])
    await page.getByText('Being replaced').waitFor()

    await page
      .getByRole('row')
      .filter({ hasText: second.key.slice(0, 15) })
      .getByRole('button')
      .click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('Revoked', { exact: true }).waitFor()
    await until(async () => (await perform(second.call)).text.includes('revoked_key'))
  })

  detail('give a key limits of its own, show what it spent of them, and remove them', async () => {
    await using page = await open('/accounts', 'Accounts')
    await create(page)
    await page.getByRole('button', { name: 'New key' }).click()
    const form = page.getByRole('form', { name: 'New key' })
    await form.getByLabel('Name').fill('small')
    await form.getByLabel(/^Daily budget/).fill('many')
    await form.getByRole('button', { name: 'Create key' }).click()
    await form.getByText(/The amount must be a decimal number/).waitFor()
    await form.getByLabel(/^Daily budget/).fill('1,000.50')
    await form.getByLabel('Requests per minute').fill('30')
    await form.getByRole('button', { name: 'Create key' }).click()
    await take(page)
    const row = page.getByRole('row').filter({ hasText: 'small' })
    await row.getByText('US$0.00 of US$1,000.50 today', { exact: true }).waitFor()
    await row.getByText('30 requests/min', { exact: true }).waitFor()
    portal.takeComplaints()

    await inMenu(page, 'small', 'Limits')
    const limits = page.getByRole('form', { name: 'Limits of small' })
    assert.equal(await limits.getByLabel('Requests per minute').inputValue(), '30')
    await limits.getByLabel(/^Daily budget/).fill('')
    await limits.getByLabel('Requests per minute').fill('')
    await limits.getByLabel(/^Monthly budget/).fill('20')
    await limits.getByRole('button', { name: 'Save' }).click()
    await row.getByText('US$0.00 of US$20.00 this month', { exact: true }).waitFor()
    assert.equal(await row.getByText(/today|requests/).count(), 0)
    await inMenu(page, 'small', 'Limits')
    await limits.getByLabel(/^Monthly budget/).fill('')
    await limits.getByRole('button', { name: 'Save' }).click()
    await row.getByText('The account’s').waitFor()
  })

  test('share a budget among keys, raise and change it, and remove it', async () => {
    await using page = await open('/accounts', 'Accounts')
    await create(page)
    for (const name of ['backend', 'ci']) {
      await page.getByRole('button', { name: 'New key' }).click()
      const form = page.getByRole('form', { name: 'New key' })
      await form.getByLabel('Name').fill(name)
      await form.getByRole('button', { name: 'Create key' }).click()
      await take(page)
    }
    const budgets = page.getByRole('region', { name: 'Budgets' })
    await budgets.getByText(/^No shared budgets/).waitFor()
    await budgets.getByRole('button', { name: 'New budget' }).click()
    const form = page.getByRole('form', { name: 'New budget' })
    await form.getByLabel('Name', { exact: true }).fill('Team Apollo')
    await form.getByLabel(/^Amount/).fill('1,000.50')
    await form.getByRole('button', { name: 'Create budget' }).click()
    await form.getByText(/Give either the keys that share the budget, or a tag/).waitFor()
    for (const name of ['backend', 'ci']) {
      await form.getByLabel('Keys').fill(name)
      await page.getByRole('option', { name: new RegExp(`^${name} `) }).click()
    }
    await form.getByLabel('Renewed').selectOption('Every week, on Monday')
    assert.deepEqual(await barriers(page), [])
    await form.getByRole('button', { name: 'Create budget' }).click()
    const row = budgets.getByRole('row', { name: /Team Apollo/ })
    await row.getByText('US$0.00 of US$1,000.50 a week', { exact: true }).waitFor()
    await row.getByText('backend, ci', { exact: true }).waitFor()
    portal.takeComplaints()

    await inMenu(page, 'the budget Team Apollo', 'Raise')
    const raising = page.getByRole('form', { name: 'Raise Team Apollo' })
    await raising.getByLabel(/^Raise by/).fill('20')
    await raising.getByRole('button', { name: 'Raise' }).click()
    await row.getByText('US$0.00 of US$1,020.50 a week').waitFor()
    await row.getByText(/^Raised by US\$20\.00 until /).waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [])

    await inMenu(page, 'the budget Team Apollo', 'Change')
    const changing = page.getByRole('form', { name: 'Change Team Apollo' })
    await changing.getByLabel('When nothing is left').selectOption('Only count')
    await changing.getByLabel(/^Amount/).fill('30')
    await changing.getByRole('button', { name: 'Save' }).click()
    await row.getByText('Only counted').waitFor()
    await row.getByText('US$0.00 of US$50.00 a week').waitFor()
    await inMenu(page, 'the budget Team Apollo', 'Remove')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove budget' }).click()
    await budgets.getByText(/^No shared budgets/).waitFor()
  })

  test('add credit once although the response is lost, withdraw it, and show why an amount is refused', async () => {
    await using page = await open('/accounts', 'Accounts')
    await create(page, '5')
    let isLost = false
    await page.route(/\/credit$/, async (route) => {
      if (isLost || route.request().method() !== 'POST') return route.continue()
      isLost = true
      await route.fetch()
      return route.abort()
    })
    await page.getByRole('button', { name: 'Add credit' }).click()
    const form = page.getByRole('form', { name: 'Add credit' })
    await form.getByLabel('Amount').fill('1,000.50')
    await form.getByLabel('Note').fill('Invoice 7')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('Nothing is saved twice.').waitFor()
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByText('US$1,005.50', { exact: true }).waitFor()
    await page.getByRole('cell', { name: 'Invoice 7' }).waitFor()
    portal.takeComplaints()

    await page.getByRole('button', { name: 'Add credit' }).click()
    await form.getByLabel('Amount').fill('−2,000')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText(/At most 1,005\.5 can be withdrawn/).waitFor()
    await form.getByLabel('Amount').fill('−5.50')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByText('US$1,000.00', { exact: true }).waitFor()
    await page.getByRole('cell', { name: '−US$5.50' }).waitFor()
  })

  detail('ask which limits to keep if a colleague has changed them meanwhile', async () => {
    await using page = await open('/accounts', 'Accounts')
    await create(page, '10', 'In arrears, up to a monthly limit')
    await page.getByText('of US$10.00').waitFor()
    await inMenu(page, 'this account', 'Name and limits')
    const form = page.getByRole('form', { name: 'Name and limits' })
    await form.getByLabel('Requests per minute').fill('1,200')
    const address = new URL(page.url()).pathname
    const answer = await page.context().request.patch(portal.base + address, {
      data: { requests_per_minute: 7 },
      headers: { 'sec-fetch-site': 'same-origin', accept: 'application/json', 'if-match': '*' },
    })
    assert.ok(answer.ok(), await answer.text())
    await form.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog', { name: 'Someone else saved this' })
    await dialog.getByText('7', { exact: true }).waitFor()
    await dialog.getByRole('button', { name: 'Save selection' }).click()
    await page.getByText('1,200 requests').waitFor()
  })

  detail('change whom its invoices are addressed to', async () => {
    await using page = await open('/accounts', 'Accounts')
    await create(page)
    await page.getByRole('button', { name: 'Billing details' }).click()
    const form = page.getByRole('form', { name: 'Billing details' })
    await form.getByLabel('Address').fill('7 Quay Street\nBristol')
    await form.getByLabel('Email for invoices').fill('nobody')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('must be an email address').waitFor()
    assert.equal(await form.getByLabel('Address').inputValue(), '7 Quay Street\nBristol')
    await form.getByLabel('Email for invoices').fill('billing@northwind.example')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'detached' })
    const section = page.getByRole('region', { name: 'Invoices' })
    await section.getByText('7 Quay Street').waitFor()
    await section.getByText('billing@northwind.example').waitFor()
  })

  detail('close an account after saying what that means', async () => {
    await using page = await open('/accounts', 'Accounts')
    const name = await create(page, '5')
    await inMenu(page, 'this account', 'Close account')
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/It cannot be opened again/).waitFor()
    await dialog.getByRole('button', { name: 'Close account' }).click()
    await page.getByText('Closed', { exact: true }).first().waitFor()
    assert.equal(await page.getByRole('button', { name: 'New key' }).count(), 0)
    await page.getByRole('link', { name: 'Accounts' }).first().click()
    await page.getByRole('searchbox', { name: 'Search accounts' }).fill(name)
    await page.getByRole('row').filter({ hasText: name }).getByText('Closed').waitFor()
  })
})

describe('the page of models', () => {
  test('sets a price from now and one from later, and keeps the history', async () => {
    await using page = await open('/models', 'Models')
    const model = page.getByRole('region', { name: 'fast' })
    await model.getByText('Ready', { exact: true }).waitFor()
    await model.getByRole('button', { name: 'Set price' }).click()
    const form = page.getByRole('form', { name: 'Price of fast' })
    await form.getByLabel(/^Input/).fill('2')
    await form.getByLabel(/^Output/).fill('1')
    await form.getByRole('button', { name: 'Set price' }).click()
    await form.getByText('Output must cost more than input').waitFor()
    await form.getByLabel(/^Output/).fill('1,000.5')
    await form.getByRole('button', { name: 'Set price' }).click()
    await model.getByText('US$2.00 in, US$1,000.50 out').waitFor()

    await model.getByRole('button', { name: 'Set price' }).click()
    await form.getByLabel(/^Input/).fill('3')
    await form.getByLabel(/^From/).fill('2099-01-31T12:30')
    await form.getByRole('button', { name: 'Set price' }).click()
    await model.getByText('Price history').click()
    await model.getByText('To come').waitFor()
    await model.getByText('US$2.00 in, US$1,000.50 out').waitFor()
    assert.equal(await model.getByRole('row').count(), 4)
  })
})

detail('B90: the pages have no serious barrier, on a phone and in dark colours too, and fit its width', async () => {
  await using page = await open('/accounts', 'Accounts')
  await page.setViewportSize({ width: 375, height: 740 })
  const check = async (what: string) => {
    assert.deepEqual(await barriersInBothSchemes(page), [], what)
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    assert.ok(width <= (page.viewportSize()?.width ?? 0), `${what} is ${width} wide`)
  }
  await check('accounts')
  await page.getByRole('button', { name: 'New account' }).click()
  await check('new account')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await create(page)
  await check('account')
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByLabel('Only these').check()
  await check('new key')
  await page.getByLabel('Every model').check()
  await page.getByRole('form', { name: 'New key' }).getByLabel('Name').fill('backend')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByText('Store this key now').waitFor()
  await check('issued key')
  await take(page)
  await check('account with a key')
  await inMenu(page, 'backend', 'Limits')
  const limits = page.getByRole('form', { name: 'Limits of backend' })
  const [amount, count] = [limits.getByLabel(/^Daily/), limits.getByLabel('Tokens per minute')]
  assert.equal((await count.boundingBox())?.width, (await amount.boundingBox())?.width, 'no field is squeezed')
  await check('limits of a key')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.goto(`${portal.base}/models`)
  await page.getByText('Price history').first().click()
  await check('models')
})

detail('a key can be made with the keyboard alone', async () => {
  await using page = await open('/accounts', 'Accounts')
  await create(page)
  await page.getByRole('button', { name: 'New key' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('form', { name: 'New key' }).waitFor()
  await until(async () => page.evaluate<boolean>("document.activeElement?.tagName === 'INPUT'"))
  await page.keyboard.type('by keyboard')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Store this key now' })
  await dialog.waitFor()
  await until(async () => page.evaluate<boolean>("document.activeElement?.textContent === 'Copy key'"))
  for (const _ of ['sample', 'call', 'copy', 'stored']) await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('by keyboard').waitFor()
})
