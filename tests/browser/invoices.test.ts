import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { barriers, barriersInBothSchemes, noticed, signIn, signInAs, startPortal } from '../support/browser.ts'
import { at, listAt, parseObject, type Json, valuesOf } from '../support/json.ts'
import { detail } from '../support/detail.ts'
import { fixture, setUp } from '../support/fixture.ts'

const portal = fixture(() =>
  startPortal(`firm: { name: Berg & Partner, address: [1 High Street, Bristol] }
invoicing:
  tax: [{ id: standard, category: S, rate: "19" }]
`),
)
const ruth = fixture(() => portal.profile())
let client: string
setUp(async () => {
  await signIn(ruth, portal.base, 'Ruth Penhallow')
  const answer = await ruth.request.get(`${portal.base}/clients`, { headers: { accept: 'application/json' } })
  client = String(at(await answer.json(), 'clients', 0, 'id'))
})

const addressOf = (invoice: Json) => `/invoices/${String(invoice['id'])}`

async function open(address: string, title: string | RegExp): Promise<Page> {
  const page = await ruth.newPage()
  await page.goto(portal.base + address)
  await page.getByRole('heading', { name: title, level: 1 }).waitFor()
  return page
}

async function send(page: Page, address: string, data?: object): Promise<Json> {
  const headers = { origin: portal.base, 'if-match': '*' }
  const answer = await page.request.post(portal.base + address, { headers, ...(data && { data }) })
  assert.ok(answer.ok(), await answer.text())
  return parseObject(await answer.text())
}

async function read(page: Page, address: string): Promise<Json> {
  const answer = await page.request.get(portal.base + address, { headers: { accept: 'application/json' } })
  return parseObject(await answer.text())
}

const draft = (page: Page, price = '100') =>
  send(page, '/invoices', {
    client,
    lines: [
      { text: 'Advice', quantity: '2', unit: 'hour', unit_price: price },
      { text: 'Copies', quantity: '3', unit: 'piece', unit_price: '0.333' },
    ],
  })

/** The page of an issued invoice, with its address. */
async function openIssued(): Promise<{ page: Page; address: string }> {
  const page = await open('/invoices', 'Invoices')
  const address = addressOf(await draft(page))
  await send(page, `${address}/issue`)
  await page.goto(portal.base + address)
  return { page, address }
}

/** For each of these elements: whether it was rendered again since. React gives an element new properties in each rendering. */
async function watchRendering(page: Page, selector: string): Promise<() => Promise<unknown>> {
  await page.evaluate(`void (window.rendered = () => [...document.querySelectorAll(${JSON.stringify(selector)})].map((each) =>
    each[Object.keys(each).find((name) => name.startsWith('__reactProps$'))]))`)
  await page.evaluate('void (window.before = rendered())')
  return () => page.evaluate('rendered().map((each, index) => each !== before[index])')
}

describe('the pages of invoices', () => {
  detail('say how invoices come about while there are none', async () => {
    await using page = await open('/', 'Overview')
    await page.route('**/invoices', (route) => route.fulfill({ json: { invoices: [], next: null } }))
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Invoices' }).click()
    await page.getByRole('heading', { name: 'No invoices yet' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'New invoice' }).count(), 2)
    assert.doesNotMatch((await page.locator('main').textContent()) ?? '', /tollgate|--month/)
    await page.getByRole('paragraph').getByRole('link', { name: 'Unbilled' }).click()
    await page.getByRole('heading', { name: 'Unbilled', level: 1 }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'No invoices yet' }).waitFor()
    assert.equal(await page.getByRole('table').count(), 0)
  })

  test('lead from a draft to its issue, its PDF, payments and a credit note', async () => {
    await using page = await open('/invoices', 'Invoices')
    const made = await draft(page)
    await page.reload()
    await page.getByRole('link', { name: 'Draft', exact: true }).first().click()
    await page.getByRole('heading', { name: 'Draft of an invoice' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Record payment' }).count(), 0)
    await page.getByText('The net amount contains US$0.001 of rounding.').waitFor()

    await page.getByRole('button', { name: 'Issue' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    assert.equal((await read(page, addressOf(made)))['status'], 'draft')
    await page.getByRole('button', { name: 'Issue' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Issue' }).click()
    await page.getByRole('heading', { name: /^Invoice INV-\d{4}-\d{4}$/ }).waitFor()
    const number = String((await read(page, addressOf(made)))['number'])
    assert.equal(await page.getByRole('button', { name: 'Issue' }).count(), 0)
    await page.getByRole('button', { name: 'Download' }).click()
    await page.getByText('EN 16931 requires the tax number of the firm').waitFor()
    assert.equal(await page.getByRole('menuitem', { name: 'XML' }).count(), 0)
    const download = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'PDF' }).click()
    assert.equal((await download).suggestedFilename(), `${number}.pdf`)

    await page.getByRole('button', { name: 'Record payment' }).click()
    const payment = page.getByRole('form', { name: 'Record a payment' })
    assert.equal(await payment.getByLabel('Amount (USD)').inputValue(), '239.19')
    await payment.getByLabel('Amount (USD)').fill('1,000.00')
    await payment.getByLabel('Reference').fill('Harbour Lane 4711')
    await payment.getByRole('button', { name: 'Record payment' }).click()
    await payment.getByText('Must be at most what is open: 239.19.', { exact: true }).waitFor()
    assert.equal(await payment.getByLabel('Reference').inputValue(), 'Harbour Lane 4711')
    const today = await payment.getByLabel('Date').inputValue()
    await payment.getByLabel('Date').fill('2000-01-01')
    await payment.getByRole('button', { name: 'Record payment' }).click()
    await payment
      .getByText(/^Must be a day from \d{1,2} \w+ \d{4}, the day of issue, to today, \d{1,2} \w+ \d{4} /)
      .waitFor()
    await payment.getByLabel('Date').fill(today)
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await payment.getByLabel('Amount (USD)').fill('39.19')
    await payment.getByLabel('Method').selectOption('Card')
    await payment.getByRole('button', { name: 'Record payment' }).click()
    await page.getByRole('cell', { name: 'Card, Harbour Lane 4711' }).waitFor()
    const paid = await read(page, addressOf(made))
    assert.deepEqual([paid['status'], paid['open']], ['partly_paid', '200.00'])
    assert.equal(at(paid, 'payments', 0, 'amount'), '39.19')

    await page.getByRole('button', { name: 'Credit note' }).click()
    const credit = page.getByRole('form', { name: `Credit note for ${number}` })
    await credit.getByLabel('Copies').fill('')
    await credit.getByLabel('Advice').fill('3')
    await credit.getByLabel('Note').fill('One hour too many.')
    await credit.getByRole('button', { name: 'Create draft' }).click()
    await credit.locator('[aria-invalid=true]').waitFor()
    assert.equal(await credit.getByLabel('Advice').getAttribute('aria-invalid'), 'true')
    assert.equal(await credit.getByLabel('Note').inputValue(), 'One hour too many.')
    await credit.getByLabel('Advice').fill('1')
    await credit.getByRole('button', { name: 'Create draft' }).click()
    await page.getByRole('heading', { name: 'Draft of a credit note' }).waitFor()
    await page.getByText('One hour too many.').waitFor()
    await page.getByRole('button', { name: 'Issue' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Issue' }).click()
    await page.getByRole('heading', { name: /^Credit note \S+$/ }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Record payment' }).count(), 0)
    await page.getByRole('link', { name: number }).click()
    await page.getByRole('heading', { name: `Invoice ${number}` }).waitFor()
    await page.getByText('US$81.00').first().waitFor()
    const now = await read(page, addressOf(made))
    assert.deepEqual([now['credited'], now['open']], ['119.00', '81.00'])
  })

  detail('never lose the focus of the keyboard', async () => {
    await using page = await open('/invoices', 'Invoices')
    const made = await draft(page)
    await page.goto(portal.base + addressOf(made))
    const press = async (name: string) => {
      await page.getByRole('button', { name, exact: true }).focus()
      await page.keyboard.press('Enter')
    }
    const focused = (name: string) => page.locator('button:focus', { hasText: name }).waitFor()
    await press('Change')
    await page.getByRole('form', { name: 'Change the draft' }).locator('input:focus').waitFor()
    await press('Cancel')
    await focused('Change')
    await press('Issue')
    await page.getByRole('dialog').locator('button:focus', { hasText: 'Cancel' }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^Invoice INV/ }).waitFor()
    await page.locator('main:focus').waitFor()
    for (const name of ['Record payment', 'Credit note', 'Send by mail']) {
      await press(name)
      await page.getByRole('dialog').locator(':focus').waitFor()
      await page.keyboard.press('Escape')
      await focused(name)
    }
    await press('Record payment')
    const amount = page.getByRole('dialog').getByLabel('Amount (USD)')
    await amount.fill('1')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await focused('Record payment')
    await press('Record payment')
    await amount.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.locator('main').getByRole('button', { name: 'Record payment' }).waitFor({ state: 'detached' })
    await page.locator('main:focus').waitFor()
  })

  detail('return the focus to the button of a dialog, even if the page is slow to do so', async () => {
    const { page } = await openIssued()
    await page.addInitScript({
      content: `{
        const { setTimeout: real } = window
        window.setTimeout = (call, delay) => real(call, delay ? 4 * delay : 6000)
      }`,
    })
    await page.reload()
    const button = page.locator('main').getByRole('button', { name: 'Record payment' })
    await button.press('Enter')
    await page.getByRole('dialog').getByLabel('Amount (USD)').fill('1')
    await page.keyboard.press('Enter')
    // By then, the new data has moved the focus to the page.
    await page.locator('main button:focus', { hasText: 'Record payment' }).waitFor()
    await page.close()
  })

  detail('propose what is open after the last payment, although the page is slow to learn of it', async () => {
    const { page, address } = await openIssued()
    await page.getByRole('button', { name: 'Record payment' }).click()
    const dialog = page.getByRole('dialog')
    const { promise, resolve: letOn } = Promise.withResolvers<void>()
    await page.route(portal.base + address, async (route) => {
      await promise
      await route.continue()
    })
    await dialog.getByLabel('Amount (USD)').fill('100')
    await dialog.getByRole('button', { name: 'Record payment' }).click()
    await noticed(page, 'The payment was recorded.')
    assert.equal(await dialog.count(), 1, 'the dialog waits for the page')
    letOn()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Record payment' }).click()
    assert.equal(await dialog.getByLabel('Amount (USD)').inputValue(), '139.19')
    await dialog.getByText('US$139.19 is open.').waitFor()
    await page.close()
  })

  detail('say what is open after a payment made elsewhere, when they refuse another', async () => {
    const { page, address } = await openIssued()
    await page.getByRole('button', { name: 'Record payment' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('US$239.19 is open.').waitFor()
    await dialog.getByLabel('Reference').fill('Transfer 1')
    const pay = (amount: string) =>
      send(page, `${address}/payments`, { date: new Date().toISOString().slice(0, 10), amount })
    await pay('100')
    await dialog.getByRole('button', { name: 'Record payment' }).click()
    await dialog.getByText('Must be at most what is open: 139.19.').waitFor()
    await dialog.getByText('US$139.19 is open.').waitFor()
    await pay('139.19')
    await dialog.getByRole('button', { name: 'Record payment' }).click()
    await dialog.getByText('Cannot be recorded: nothing is open, and nothing was overpaid.').waitFor()
    await dialog.getByText('US$0.00 is open.').waitFor()
    assert.equal(await dialog.getByLabel('Reference').inputValue(), 'Transfer 1')
    await page.close()
  })

  detail('take a payment back once, void a draft, and learn that it was voided on another page', async () => {
    await using page = await open('/invoices', 'Invoices')
    const made = await draft(page)
    await send(page, `${addressOf(made)}/issue`)
    await send(page, `${addressOf(made)}/payments`, { date: new Date().toISOString().slice(0, 10), amount: '10' })
    await page.goto(portal.base + addressOf(made))
    await page.getByRole('button', { name: 'Reverse' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Reverse' }).click()
    await page.getByRole('cell', { name: 'Reversed' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Reverse' }).count(), 0)
    assert.equal((await read(page, addressOf(made)))['paid'], '0.00')

    const other = await draft(page)
    await page.goto(portal.base + addressOf(other))
    await page.getByRole('button', { name: 'More actions for this draft' }).click()
    await page.getByRole('menuitem', { name: 'Void draft' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Void draft' }).click()
    await noticed(page, 'The draft is void.')
    await page.getByRole('button', { name: 'Issue' }).waitFor({ state: 'detached' })
    assert.equal((await read(page, addressOf(other)))['status'], 'void')

    const third = await draft(page)
    await page.goto(portal.base + addressOf(third))
    await page.getByRole('button', { name: 'Issue', exact: true }).waitFor()
    await send(page, `${addressOf(third)}/void`)
    await page.getByRole('button', { name: 'Issue', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Issue', exact: true }).click()
    await page.getByText('The invoice was not issued').waitFor()
    await page.getByText('It was changed on another page in the meantime. This page now shows it as it is.').waitFor()
    await page.getByRole('button', { name: 'Issue', exact: true }).waitFor({ state: 'detached' })
  })

  test('create a draft to a client with the keyboard alone, with exact totals while typing', async () => {
    await using page = await open('/invoices/new', 'New invoice')
    const payer = page.getByRole('combobox', { name: 'Client or account' })
    await page.locator(':focus').and(payer).waitFor()
    await page.waitForLoadState('networkidle')
    assert.equal(await page.getByRole('option').count(), 0, 'the focus alone opens no list')
    await page.keyboard.press('ArrowDown')
    await page.getByRole('option').first().waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('option').first().waitFor({ state: 'detached' })
    await page.keyboard.type('adebayo')
    // Only the results: before, the list has other clients too.
    await page.getByRole('option').filter({ hasNotText: 'Adebayo' }).first().waitFor({ state: 'detached' })
    await page.getByRole('option', { name: /Adebayo/ }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\?client=/)
    const form = page.getByRole('form', { name: 'New invoice' })
    await form.getByRole('group', { name: 'Payer' }).waitFor()
    const line = (number: number) => form.getByRole('group', { name: `Line ${number}` })
    await line(1).getByLabel('Text').focus()
    await page.keyboard.type('Copies')
    await page.keyboard.press('Tab')
    await page.keyboard.type('3')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.type('0.335')
    assert.equal(await line(1).getByLabel('Net').textContent(), 'US$1.00', '1.005 is rounded half to even')
    await page.keyboard.press('Enter')
    await page.keyboard.type('Advice')
    await line(2).getByLabel('Price').focus()
    await page.keyboard.type('1,250.50')
    await page.keyboard.press('Alt+ArrowUp')
    assert.deepEqual(
      [await line(1).getByLabel('Text').inputValue(), await line(2).getByLabel('Text').inputValue()],
      ['Advice', 'Copies'],
    )
    assert.equal(await line(1).locator('input:focus').inputValue(), '1,250.50', 'the focus goes with the line')
    await page.keyboard.press('Enter')
    await page.keyboard.type('To be removed')
    assert.equal(await line(2).getByLabel('Text').inputValue(), 'To be removed')
    await form.getByText('Incomplete lines are not counted.').waitFor()
    await page.getByRole('button', { name: 'Remove line 2' }).focus()
    await page.keyboard.press('Enter')
    assert.equal(await line(2).getByLabel('Text').inputValue(), 'Copies')
    const totals = form.getByRole('region', { name: 'Totals' })
    assert.equal(await totals.getByText('US$1,251.50').first().isVisible(), true)
    assert.equal(await totals.getByText('US$1,489.28').isVisible(), true)
    assert.deepEqual(await barriersInBothSchemes(page), [])

    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Stay here' }).click()
    await line(1).getByLabel('Unit').selectOption('flat fees')
    await line(1).getByLabel('Price').focus()
    await page.keyboard.press('Control+Enter')
    await page.getByRole('heading', { name: 'Draft of an invoice' }).waitFor()
    const made = await read(page, new URL(page.url()).pathname)
    assert.deepEqual([made['net'], made['tax'], made['gross']], ['1251.50', '237.78', '1489.28'])
    assert.deepEqual([at(made, 'lines', 0, 'text'), at(made, 'lines', 1, 'text')], ['Advice', 'Copies'])
    await page.getByRole('cell', { name: '1 flat fee' }).waitFor()
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    const changed = page.getByRole('form', { name: 'Change the draft' }).getByRole('group', { name: 'Line 1' })
    assert.deepEqual(
      [await changed.getByLabel('Unit').inputValue(), await changed.getByLabel('Price').inputValue()],
      ['lump_sum', '1250.5'],
    )
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  })

  detail('render only the line that is typed into, so that typing into a long draft is quick', async () => {
    await using page = await open('/invoices', 'Invoices')
    await page.goto(portal.base + addressOf(await draft(page)))
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    const form = page.getByRole('form', { name: 'Change the draft' })
    const text = (number: number) => form.getByRole('group', { name: `Line ${number}` }).getByLabel('Text')
    await text(2).waitFor()
    const isRenderedAgain = await watchRendering(page, '[data-field=text]')
    await text(1).fill('Advice on taxes')
    await form.getByRole('button', { name: 'Discard' }).waitFor()
    assert.deepEqual(await isRenderedAgain(), [true, false])
    await text(2).fill('Copies of deeds')
    await page.getByRole('button', { name: 'Save draft' }).click()
    await page.getByRole('cell', { name: 'Advice on taxes' }).waitFor()
    await page.getByRole('cell', { name: 'Copies of deeds' }).waitFor()
  })

  detail(
    'keep what was typed into a draft that a colleague changed meanwhile, until one of the two is chosen',
    async () => {
      await using page = await open('/invoices', 'Invoices')
      const made = await draft(page)
      const headers = { origin: portal.base, 'if-match': '*' }
      const colleague = (data: object) => page.request.patch(portal.base + addressOf(made), { headers, data })
      await page.goto(portal.base + addressOf(made))
      await page.getByRole('button', { name: 'Change', exact: true }).click()
      const form = page.getByRole('form', { name: 'Change the draft' })
      await form.getByRole('group', { name: 'Line 1' }).getByLabel('Price').fill('200')
      assert.ok((await colleague({ note: 'Theirs.' })).ok())
      await form.getByRole('button', { name: 'Save draft' }).click()
      const conflict = form.getByRole('alert')
      await conflict.getByText('“Theirs.”').waitFor()
      assert.equal(await form.getByRole('group', { name: 'Line 1' }).getByLabel('Price').inputValue(), '200')
      assert.equal((await read(page, addressOf(made)))['net'], '201.00')
      assert.deepEqual(await barriersInBothSchemes(page), [])
      await conflict.getByRole('button', { name: 'Save mine instead' }).click()
      await form.waitFor({ state: 'detached' })
      const mine = await read(page, addressOf(made))
      assert.deepEqual([mine['net'], mine['note']], ['401.00', 'Theirs.'])

      await page.getByRole('button', { name: 'Change', exact: true }).click()
      await form.getByLabel('Note').fill('Mine.')
      assert.ok((await colleague({ note: 'Theirs again.' })).ok())
      await page.keyboard.press('Control+Enter')
      await conflict.getByRole('button', { name: 'Discard mine' }).click()
      await page.getByText('Theirs again.', { exact: true }).waitFor()
      assert.equal((await read(page, addressOf(made)))['note'], 'Theirs again.')
      await page.getByRole('link', { name: 'Overview' }).click()
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    },
  )

  detail('say that a draft was issued while someone changed it, and do not offer to save the change', async () => {
    await using page = await open('/invoices', 'Invoices')
    const made = await draft(page)
    await page.goto(portal.base + addressOf(made))
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    const form = page.getByRole('form', { name: 'Change the draft' })
    await form.getByLabel('Note').fill('Mine.')
    await send(page, `${addressOf(made)}/issue`)
    await form.getByRole('button', { name: 'Save draft' }).click()
    const conflict = form.getByRole('alert')
    await conflict.getByText('This draft was issued on another page while you were writing').waitFor()
    await conflict.getByText('The draft was issued with a total of').waitFor()
    assert.equal(await conflict.getByRole('button', { name: 'Save mine instead' }).count(), 0)
    await conflict.getByRole('button', { name: 'Discard mine' }).click()
    await page.getByRole('heading', { name: /^Invoice INV/ }).waitFor()
  })

  detail('leave out proposed lines, which stay unbilled', async () => {
    await using page = await open('/invoices', 'Invoices')
    const enter = (text: string) =>
      send(page, `/clients/${client}/time_entries`, { date: '2026-03-12', minutes: 30, rate: '100', text })
    const [, later] = [await enter('Letter to the court'), await enter('Telephone call')]
    const made = await send(page, '/invoices', { client, unbilled_until: '2026-03-12' })
    await page.goto(portal.base + addressOf(made))
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    const form = page.getByRole('form', { name: 'Change the draft' })
    const proposed = form.getByRole('group', { name: 'Proposed lines' })
    await proposed.getByLabel(/Telephone call/).uncheck()
    await form.getByText('US$59.50', { exact: true }).waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [])
    const isRenderedAgain = await watchRendering(page, 'form [type=checkbox], form textarea[maxlength="2000"]')
    await form.getByLabel('Note').fill('With thanks')
    assert.deepEqual(await isRenderedAgain(), [false, false, true], 'typing renders no proposed line')
    await form.getByRole('button', { name: 'Save draft' }).click()
    await form.waitFor({ state: 'detached' })
    assert.equal(await page.getByText(/Telephone call/).count(), 0)
    assert.equal((await read(page, addressOf(made)))['net'], '50.00')
    const next = await send(page, '/invoices', { client, unbilled_until: '2026-03-12' })
    assert.deepEqual(valuesOf(listAt(next, 'lines'), 'entry'), [later['id']])
    for (const each of [made, next]) await send(page, `${addressOf(each)}/void`)
  })

  detail('are found by a part of their number, and by their payer', async () => {
    await using page = await open('/invoices', 'Invoices')
    const made = await draft(page)
    const number = String((await send(page, `${addressOf(made)}/issue`))['number'])
    await page.reload()
    await page.getByLabel('Number or payer').fill(number.slice(4).toLowerCase())
    await page.waitForURL(/q=/)
    // The results appear just after the URL changes.
    await page.locator('[data-row]').filter({ hasNotText: number }).first().waitFor({ state: 'detached' })
    await page.getByRole('link', { name: number }).waitFor()
    assert.deepEqual(await page.locator('[data-row]').allTextContents(), [number])
    const part = String(at(made, 'payer', 'name'))
      .slice(1, 6)
      .toUpperCase()
    await page.getByLabel('Number or payer').fill(part)
    await page.waitForURL((url) => url.searchParams.get('q') === part)
    await page.getByRole('link', { name: number }).waitFor()
    await page.getByLabel('Number or payer').fill('no such payer')
    await page.getByText('No invoice matches the filters.').waitFor()
    await page.goto(`${portal.base}/clients/${client}`)
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'New invoice' }).waitFor()
    await page.getByRole('menuitem', { name: 'Invoices', exact: true }).click()
    await page.getByRole('link', { name: number }).waitFor()
    assert.ok(page.url().endsWith(`/invoices?client=${client}`))
  })

  detail('are found by their number in the command palette and in the search, by partners only', async () => {
    const page = await open('/clients', 'Clients')
    const number = String((await send(page, `${addressOf(await draft(page))}/issue`))['number'])
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').locator('input:focus').waitFor()
    await page.keyboard.type(number.toLowerCase())
    await page.locator('[data-action][data-selected]').getByText(number, { exact: true }).waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: `Invoice ${number}` }).waitFor()
    await page.goto(`${portal.base}/search?q=${number.slice(4)}`)
    await page.getByRole('heading', { name: 'Invoices', level: 2 }).waitFor()
    assert.equal(await page.getByText('Nothing found').count(), 0)
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await page.locator('main').getByRole('link', { name: number }).click()
    await page.getByRole('heading', { name: `Invoice ${number}` }).waitFor()
    await page.close()

    const consultant = await (await portal.profile()).newPage()
    await signInAs(consultant, portal.base, 'Daniel Okonjo')
    const asked: string[] = []
    consultant.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await consultant.goto(`${portal.base}/search?q=${number}`)
    await consultant.getByRole('heading', { name: 'Nothing found' }).waitFor()
    await consultant.keyboard.press('Control+k')
    await consultant.getByRole('dialog').locator('input:focus').waitFor()
    await consultant.keyboard.type(number)
    await consultant.getByRole('button', { name: `Search all records for “${number}”` }).waitFor()
    await consultant.waitForLoadState('networkidle')
    assert.equal(await consultant.getByRole('dialog').getByText(number, { exact: true }).count(), 0)
    assert.ok(asked.includes('/search') && !asked.includes('/invoices'), asked.join())
    await consultant.context().close()
  })

  detail('offer a client’s unbilled work on the form of a new one', async () => {
    await using page = await open('/invoices', 'Invoices')
    const entry = await send(page, `/clients/${client}/time_entries`, {
      date: '2026-03-12',
      minutes: 30,
      rate: '100',
      text: 'Telephone call',
    })
    const options = await read(page, `/invoices/new?client=${client}`)
    await page.goto(`${portal.base}/invoices/new?client=${client}`)
    const offer = page.getByRole('checkbox', { name: /^Bill the unbilled work: US\$/ })
    await offer.waitFor()
    assert.equal(await offer.isChecked(), false)
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await offer.check()
    await page.setViewportSize({ width: 390, height: 800 })
    await page.getByRole('button', { name: 'Create draft' }).click()
    await page.getByRole('heading', { name: 'Draft of an invoice' }).waitFor()
    const made = await read(page, new URL(page.url()).pathname)
    assert.equal(made['net'], at(options, 'unbilled', 'amount'))
    assert.ok(listAt(made, 'lines').some((line) => at(line, 'entry') === entry['id']))
    await page.goto(`${portal.base}/invoices/new?client=${client}`)
    await page.getByRole('button', { name: 'Create draft' }).waitFor()
    assert.equal(await offer.count(), 0)
    await send(page, `${addressOf(made)}/void`)
  })

  test('report what is owed and invoiced, as charts and tables', async () => {
    await using page = await open('/invoices', 'Invoices')
    const made = await draft(page, '500')
    await send(page, `${addressOf(made)}/issue`)
    await page.route(
      /\/invoices\/report$/,
      async (route) => {
        const response = await route.fetch()
        const body = parseObject(await response.text())
        const owed = { not_due: '1', to_30: '2', to_60: '3', to_90: '4', over_90: '5', total: '15', to_return: '6' }
        const payers = [{ payer: { kind: 'client', id: '1', name: 'Payer' }, ...owed }]
        const turnover = [{ month: '2026-01', invoiced: '9', credited: '2', net: '7' }]
        const ageing = { total: owed, payers, payer_count: 1 }
        await route.fulfill({ response, json: { ...body, other_currencies: ['CHF', 'USD'], ageing, turnover } })
      },
      { times: 1 },
    )
    await page.getByRole('link', { name: 'Report' }).click()
    await page.getByText('Invoices in CHF, USD are left out.').waitFor()
    await page.getByRole('button', { name: 'Table' }).click()
    const figuresOf = async (table: RegExp) =>
      (await page.getByRole('table', { name: table }).getByRole('row').last().innerText()).match(/\d+(?=\.00)/g)
    assert.deepEqual(await figuresOf(/^Open as of/), ['6', '1', '2', '3', '4', '5', '15'])
    assert.deepEqual(await figuresOf(/^Revenue/), ['9', '2', '7'])
    await page.reload()
    await page.getByRole('heading', { name: 'Receivables and revenue' }).waitFor()
    const report = await read(page, '/invoices/report')
    assert.equal(await page.getByText('are left out').count(), 0)
    assert.notEqual(at(report, 'ageing', 'total', 'not_due'), '0.00')
    await page
      .getByRole('table', { name: /^Open as of/ })
      .getByRole('link')
      .first()
      .waitFor()
    await page.getByRole('slider', { name: 'Revenue by month' }).focus()
    await page.keyboard.press('ArrowLeft')
    await page.getByText('US$0.00', { exact: true }).last().waitFor()
    await page.getByRole('button', { name: 'Table' }).click()
    assert.equal(await page.getByRole('table', { name: 'Revenue without tax' }).getByRole('row').count(), 25)
    assert.deepEqual(await barriers(page), [])
    await page.setViewportSize({ width: 360, height: 800 })
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    assert.ok(width <= 360, `${width} px wide`)
  })

  detail('B110: say before the issue what is wrong, and why a PDF cannot be created', async () => {
    await using page = await open('/invoices', 'Invoices')
    const lines = [{ text: 'Advice 𒀀', quantity: '1', unit: 'hour', unit_price: '100' }]
    const { id: homeless } = await send(page, '/clients', { name: 'Without an address' })
    const made = await send(page, '/invoices', { client: homeless, lines })
    await page.goto(portal.base + addressOf(made))
    await page.getByRole('button', { name: 'Download' }).click()
    await page.getByRole('menuitem', { name: 'PDF' }).click()
    await page.getByText('A PDF of this invoice cannot show 𒀀').waitFor()
    await page.getByRole('button', { name: 'Issue' }).click()
    await page.getByRole('dialog').getByText('has no address of the buyer').waitFor()
  })

  detail('are printed without navigation and actions, and exported for the bookkeeper', async () => {
    await using page = await open('/invoices', 'Invoices')
    await page.getByRole('button', { name: 'Export CSV' }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'This year' }).click()
    assert.equal((await download).suggestedFilename(), 'invoices.csv')

    const made = await draft(page)
    await page.goto(portal.base + addressOf(made))
    await page.getByRole('button', { name: 'Print' }).waitFor()
    await page.setViewportSize({ width: 720, height: 1000 })
    await page.emulateMedia({ media: 'print' })
    assert.equal(await page.getByRole('button').count(), 0)
    assert.equal(await page.getByRole('navigation').count(), 0)
    assert.ok(await page.getByText('Tollgate', { exact: true }).first().isHidden())
    assert.ok(await page.getByRole('columnheader', { name: 'Unit price' }).isVisible(), 'paper has all columns')
    await page.getByRole('table', { name: 'Lines' }).waitFor()
    await send(page, `${addressOf(made)}/issue`)
    await page.reload()
    await page.getByRole('heading', { name: /^Invoice INV/ }).waitFor()
    assert.ok(await page.getByText('No payment has been recorded.').isHidden())
    await page.emulateMedia({ media: 'screen' })
    assert.ok(await page.getByText('No payment has been recorded.').isVisible())
  })
})
