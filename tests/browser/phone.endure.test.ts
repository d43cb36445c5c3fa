import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { untilInPage } from '../support/browser.ts'
import { startDesk } from '../support/desk.ts'
import { fixture, setUp } from '../support/fixture.ts'

let page: Page
/** The path of a new client of Daniel's. */
let record: string

const desk = fixture(() => startDesk())
setUp(async () => {
  ;({ record } = await desk.newClient())
  page = await desk.daniel.newPage()
  await page.setViewportSize({ width: 375, height: 700 })
})

describe('a record on a phone', () => {
  test('shows which of its tabs is open, even after a reload', async () => {
    for (const [tab, path] of [
      ['Activity', 'activity'],
      ['Expenses', 'expenses'],
      ['Notes', 'notes'],
    ] as const) {
      await page.goto(`${desk.base}${record}/${path}`)
      const current = page.getByRole('navigation', { name: 'Record' }).locator('[aria-current]')
      assert.match((await current.textContent()) ?? '', new RegExp(`^${tab}`))
      await untilInPage(
        page,
        `(() => {
          const { left, right } = document.querySelector('[aria-label=Record] [aria-current]').getBoundingClientRect()
          return left >= 0 && right <= innerWidth
        })()`,
      )
      assert.equal(await page.evaluate<number>('scrollY'), 0)
    }
  })

  test('has fields that show what is chosen', async () => {
    await page.goto(`${desk.base}${record}/expenses`)
    await page.getByRole('button', { name: 'Add expense' }).click()
    const form = page.getByRole('form', { name: 'New expense' })
    const amount = await form.getByLabel('Amount').boundingBox()
    const billable = await form.getByLabel('Billable').boundingBox()
    assert.equal(billable?.width, amount?.width)
    await page.goto(`${desk.base}${record}/time_entries`)
    await page.getByRole('button', { name: 'Add time entry' }).click()
    const entry = page.getByRole('form', { name: 'New time entry' })
    const date = await entry.getByLabel('Date').boundingBox()
    const minutes = await entry.getByLabel('Minutes').boundingBox()
    assert.ok(date && minutes)
    assert.equal(minutes.width, date.width)
  })
})

test('a dialog on a phone wraps a long name instead of growing wider than the screen', async () => {
  const name = 'Donaudampfschifffahrt'.repeat(9)
  const address = await desk.make('/clients', { name })
  await using partners = await desk.ruth.newPage()
  await partners.setViewportSize({ width: 375, height: 700 })
  await partners.goto(desk.base + address)
  await partners.getByRole('button', { name: 'More', exact: true }).click()
  await partners.getByRole('menuitem', { name: 'Erase client' }).click()
  const field = await partners.getByRole('dialog').getByLabel(`Type “${name}” to confirm`).boundingBox()
  assert.ok(field)
  assert.ok(field.x + field.width <= 375, `the field ends at ${field.x + field.width}`)
})

test('the work of a time entry takes the whole row of a wide form, the invoice of a dispute only a part', async () => {
  await using wide = await desk.daniel.newPage()
  await wide.setViewportSize({ width: 1440, height: 900 })
  const boxIn = (form: string, label: string) =>
    wide.getByRole('form', { name: form }).getByLabel(label).first().boundingBox()
  await wide.goto(`${desk.base}${record}/time_entries`)
  await wide.getByRole('button', { name: 'Add time entry' }).click()
  const form = await wide.getByRole('form', { name: 'New time entry' }).boundingBox()
  const [work, date, minutes] = [
    await boxIn('New time entry', 'Work'),
    await boxIn('New time entry', 'Date'),
    await boxIn('New time entry', 'Minutes'),
  ]
  assert.ok(form && work && date && minutes)
  assert.equal(work.width, form.width)
  assert.deepEqual([minutes.y, minutes.width], [date.y, date.width])
  await wide.goto(`${desk.base}${record}/disputes`)
  await wide.getByRole('button', { name: 'Add dispute' }).click()
  const [invoice, amount] = [await boxIn('New dispute', 'Invoice'), await boxIn('New dispute', 'Amount')]
  assert.ok(invoice && amount)
  assert.deepEqual([invoice.y, invoice.width], [amount.y, amount.width])
})
