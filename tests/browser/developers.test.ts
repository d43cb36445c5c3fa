import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchLine, createBatch } from '../support/batches.ts'
import { barriers, barriersInBothSchemes, signIn, startPortal } from '../support/browser.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { createGate } from '../support/gate.ts'
import { parseObject, type Json } from '../support/json.ts'
import { upstreamModel } from '../support/service.ts'
import { startVendor } from '../support/vendor.ts'

const vendor = fixture(() => startVendor())
// Not the shared one, since a person gets another role.
const portal = fixture(() =>
  startPortal(JSON.stringify({ models: [upstreamModel(vendor.url)], limits: { batch_in_flight: 3 } })),
)
const partner = fixture(() => portal.profile())
setUp(() => signIn(partner, portal.base, 'Ruth Penhallow'))

async function made(address: string, data: object): Promise<Json> {
  const headers = { origin: portal.base, accept: 'application/json' }
  const answer = await partner.request.post(portal.base + address, { data, headers })
  assert.equal(answer.status(), 201, await answer.text())
  return parseObject(await answer.text())
}

/** An account with a charged and a refused request. */
async function useAccount(): Promise<void> {
  const { id } = await made('/accounts', { name: 'Northwind', monthly_limit: '10' })
  const { key } = await made(`/accounts/${String(id)}/keys`, { name: 'backend', daily_budget: '5' })
  const tag = { name: 'project', value: 'Apollo' }
  await made(`/accounts/${String(id)}/budgets`, { name: 'Apollo', amount: '7', period: 'total', tag })
  for (const [temperature, status] of [
    [1, 200],
    [9, 400],
  ] as const) {
    const answer = await fetch(`${portal.base}/v1/generate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${String(key)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'fast', input: 'Hello', max_output_tokens: 100, temperature }),
    })
    assert.equal(answer.status, status)
  }
}

test('a partner makes someone a developer and grants an account, which they then read, and nothing else', async () => {
  await useAccount()
  await using people = await partner.newPage()
  await people.goto(`${portal.base}/people`)
  await people.getByLabel('Role of Mei Sakamoto').selectOption('Developer')
  await people.getByText('Developers see no clients').waitFor()
  await people.getByRole('button', { name: 'Make developer' }).click()
  await people.getByRole('row', { name: /Mei.*0 accounts/ }).waitFor()
  const developer = await portal.profile()
  await signIn(developer, portal.base, 'Mei Sakamoto')
  await using seen = await developer.newPage()
  await seen.goto(portal.base)
  await seen.getByRole('heading', { name: 'No accounts yet' }).waitFor()
  assert.deepEqual(await seen.getByRole('navigation').getByRole('link').allTextContents(), ['Accounts'])

  await people.getByRole('button', { name: 'More actions for Mei Sakamoto' }).click()
  await people.getByRole('menuitem', { name: 'Granted accounts' }).click()
  const dialog = people.getByRole('dialog', { name: 'Accounts of Mei Sakamoto' })
  await dialog.getByLabel('Northwind').check()
  await people.getByRole('row', { name: /Mei.*1 account/, includeHidden: true }).waitFor()
  assert.deepEqual(await barriers(people), [])
  await dialog.getByRole('button', { name: 'Done' }).click()

  await seen.reload()
  await seen.getByRole('link', { name: 'Northwind' }).click()
  await seen.getByRole('heading', { name: 'Northwind', level: 1 }).waitFor()
  await seen.getByText(/^Expected for /).waitFor()
  await seen.getByRole('slider', { name: 'Cost over time' }).waitFor()
  const keys = seen.getByRole('region', { name: 'Keys' })
  await keys.getByText(/^US\$[\d.]+ of US\$5\.00 today$/).waitFor()
  assert.equal(await keys.getByRole('button').count(), 0)
  const budgets = seen.getByRole('region', { name: 'Budgets' })
  await budgets.getByText(/^US\$[\d.]+ of US\$7\.00 in total$/).waitFor()
  await budgets.getByRole('cell', { name: 'The tag project', exact: true }).waitFor()
  assert.equal(await budgets.getByRole('button').count(), 0)
  assert.deepEqual(await barriersInBothSchemes(seen), [])
  await seen.getByRole('link', { name: 'All requests' }).click()
  await seen.getByRole('heading', { name: 'Requests', level: 1 }).waitFor()
  await seen.getByLabel('Outcome').selectOption('Refused')
  await seen
    .getByRole('row', { name: /400 Invalid field/ })
    .getByRole('link')
    .click()
  await seen.getByText('temperature', { exact: true }).waitFor()
  await seen.getByRole('link', { name: 'All requests' }).click()
  await seen.getByRole('heading', { name: 'Requests', level: 1 }).waitFor()
  assert.deepEqual(await barriers(seen), [])

  await seen.getByRole('link', { name: 'Account', exact: true }).click()
  await seen.getByRole('link', { name: 'Batches' }).click()
  await seen.getByText('No batches yet').waitFor()
  assert.deepEqual(await barriers(seen), [])

  // The palette has no records, and does not search them.
  const searches: string[] = []
  seen.on('request', (request) => void (request.url().includes('/search') && searches.push(request.url())))
  await seen.keyboard.press('ControlOrMeta+K')
  const commands = seen.getByRole('dialog', { name: 'Commands and records' })
  await commands.getByRole('textbox').fill('ac')
  await commands.getByRole('button', { name: 'Accounts' }).waitFor()
  await commands.getByRole('textbox').fill('Harbour')
  await commands.getByRole('button', { name: 'Accounts' }).waitFor({ state: 'detached' })
  await seen.goto(`${portal.base}/clients`)
  await seen.getByText('Your role has no access to clients and their records.').waitFor()
  assert.deepEqual(searches, [])
})

test('a partner watches a batch until it ends, and cancels another by keyboard', async () => {
  const { id: account } = await made('/accounts', { name: 'Southwind', monthly_limit: '10' })
  const { key } = await made(`/accounts/${String(account)}/keys`, { name: 'nightly' })
  const lines = ['a', 'b', 'c', 'd', 'e'].map((name) => batchLine(name))
  const queue = () => createBatch({ url: portal.base }, String(key), lines)
  const gate = createGate()
  vendor.set({ gate: gate.pass })
  const first = await queue()
  await using page = await partner.newPage()
  await page.goto(`${portal.base}/accounts/${String(account)}`)
  await page.getByRole('link', { name: 'Batches' }).click()
  const row = (id: string) => page.getByRole('row').filter({ hasText: id })
  await row(first.id).getByText('0 of 5 lines done').waitFor()
  await row(first.id).getByText('In progress').waitFor()
  assert.deepEqual(await barriersInBothSchemes(page), [])
  vendor.set({})
  gate.open()
  await row(first.id).getByText('5 of 5 lines done').waitFor()
  await row(first.id).getByText('Completed').waitFor()
  await row(first.id)
    .getByText(/^Results until /)
    .waitFor()
  assert.equal(await page.getByRole('button', { name: /^Cancel / }).count(), 0)

  const second = createGate()
  vendor.set({ gate: second.pass })
  const { id } = await queue()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.reload()
  await page.getByRole('button', { name: `Cancel ${id}` }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Cancel this batch?' }).waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await row(id).getByText('Cancelling').waitFor()
  assert.deepEqual(await barriers(page), [])
  vendor.set({})
  second.open()
  await row(id).getByText('Cancelled').waitFor()
  await row(id)
    .getByText(/not run$/)
    .waitFor()
})
