import assert from 'node:assert/strict'
import { test } from 'node:test'

import { barriersInBothSchemes, signInAs, startPortal } from '../support/browser.ts'
import { parseObject } from '../support/json.ts'
import { fixture, setUp } from '../support/fixture.ts'

let invoice: string

/** Due on the day of issue. */
const configuredIn = (zone: string) => `currency: EUR
firm: { name: Berg & Partner, address: [1 High Street, Bristol], time_zone: ${zone} }
invoicing: { due_days: 0 }
`
/** One day or two behind the other. */
const zones = ['Pacific/Pago_Pago', 'Pacific/Kiritimati'] as const

const portal = fixture(() => startPortal(configuredIn(zones[0])))
const page = fixture(async () => (await portal.profile()).newPage())
setUp(async () => {
  await signInAs(page, portal.base, 'Ruth Penhallow')
  const client = (await page.locator('[data-row]').first().getAttribute('href'))?.split('/').at(-1) ?? ''
  const lines = [{ text: 'Advice', quantity: '2', unit: 'hour', unit_price: '100' }]
  const { id } = await send('/invoices', { client, lines })
  invoice = `/invoices/${String(id)}`
  await send(`${invoice}/issue`)
})

async function send(address: string, data?: object) {
  const headers = { origin: portal.base, 'if-match': '*' }
  const answer = await page.request.post(portal.base + address, { headers, ...(data && { data }) })
  assert.ok(answer.ok(), await answer.text())
  return parseObject(await answer.text())
}

test('an invoice is sent by mail with changed words, and the page shows what was sent', async () => {
  await page.goto(portal.base + invoice)
  await page.getByText('Not subject to tax, on €200.00').waitFor()
  assert.equal(await page.getByText('0%').count(), 0)
  const sent = page.getByRole('region', { name: 'Sent' })
  await sent.getByText('It has not been sent by mail.').waitFor()
  await sent.getByRole('button', { name: 'Send by mail' }).click()
  const form = page.getByRole('form', { name: 'Send by mail' })
  assert.match(await form.getByLabel('Text').inputValue(), /^Hello,\n\nAttached is our invoice INV-/)
  assert.deepEqual(await barriersInBothSchemes(page), [])

  await form.getByLabel('To', { exact: true }).fill('nobody')
  await form.getByRole('button', { name: 'Send' }).click()
  await form.getByText('must be an email address').waitFor()
  await form.getByLabel('To', { exact: true }).fill('bakery@example.com')
  await form.getByLabel('Subject').fill('Our invoice')
  await form.getByRole('button', { name: 'Send' }).click()
  await form.waitFor({ state: 'detached' })
  await sent.getByText('bakery@example.com').waitFor()
  await sent.getByText('Our invoice', { exact: true }).click()
  await sent.getByText('Attached is our invoice').waitFor()
  assert.deepEqual(await barriersInBothSchemes(page), [])
  await page.setViewportSize({ width: 360, height: 800 })
  assert.equal(await page.evaluate<number>('document.documentElement.scrollWidth'), 360)
})

test('a reminder of an overdue invoice is sent with changed words, and the page shows it', async () => {
  const sent = page.getByRole('region', { name: 'Sent' })
  await page.goto(portal.base + invoice)
  await sent.getByRole('button', { name: 'Send by mail' }).waitFor()
  assert.equal(await sent.getByRole('button', { name: 'Send a reminder' }).count(), 0, 'it is due today')

  await portal.restart(configuredIn(zones[1]))
  await page.goto(portal.base + invoice)
  await page.getByText('Overdue', { exact: true }).first().waitFor()
  await sent.getByRole('button', { name: 'Send a reminder' }).click()
  const form = page.getByRole('form', { name: 'Send a reminder' })
  assert.match(
    await form.getByLabel('Text').inputValue(),
    /INV-\d{4}-\d{4} of .*, and 200\.00\sEUR of it is still open\./,
  )
  await form.getByLabel('To', { exact: true }).fill('bakery@example.com')
  await form.getByLabel('Subject').fill('Still open')
  await form.getByRole('button', { name: 'Send reminder' }).click()
  await form.waitFor({ state: 'detached' })
  await sent.getByText('Still open', { exact: true }).waitFor()
  assert.deepEqual(await barriersInBothSchemes(page), [])
})
