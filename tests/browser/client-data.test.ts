import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { beforeEach, describe, test } from 'node:test'
import { unzipSync } from 'fflate'
import type { Page } from 'playwright-core'
import { barriers, barriersInBothSchemes, noticed } from '../support/browser.ts'
import { startDesk } from '../support/desk.ts'
import { at, parseObject } from '../support/json.ts'
import { detail } from '../support/detail.ts'
import { fixture } from '../support/fixture.ts'

let record: string
let name: string
let reference: string
const desk = fixture(() => startDesk())
beforeEach(async () => {
  const suffix = crypto.randomUUID().slice(0, 8)
  name = `Leaving ${suffix}`
  reference = `Le-${suffix}`
  record = await desk.make('/clients', { name, reference })
  await desk.make(`${record}/letters`, { subject: 'Good-bye', body: 'Dear all' })
})

/** Opens a page as Ruth, who is a partner. */
async function asPartner(address: string): Promise<Page> {
  const page = await desk.ruth.newPage()
  await page.goto(desk.base + address)
  await page.locator('h1').waitFor()
  return page
}

const openMenu = (page: Page) => page.getByRole('button', { name: 'More', exact: true }).click()
const item = (page: Page, label: string) => page.getByRole('menuitem', { name: label })
const isWide = (page: Page) => page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
const erasureOf = async () => at(await desk.ask(record), 'erasure')

describe('B99: a client', () => {
  detail('is exported from its menu, as a file with its name', async () => {
    await using page = await desk.open(record)
    await openMenu(page)
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      item(page, 'Export client').click(),
      noticed(page, `${name} was exported.`),
    ])
    assert.equal(file.suggestedFilename(), `${name}.zip`)
    const files = unzipSync(new Uint8Array(await readFile(await file.path())))
    assert.ok(files['letters/001 Good-bye.pdf'])
    assert.equal(parseObject(Buffer.from(files['client.json'] ?? []).toString())['name'], name)
    await openMenu(page)
    await item(page, 'Export client').waitFor()
    assert.equal(await item(page, 'Erase client').count(), 0, 'a consultant erases nothing')
  })

  detail('whose export is refused says why', async () => {
    await using page = await desk.open(record)
    await desk.meanwhile('PATCH', record, { consultant_id: await ruthsId() })
    await openMenu(page)
    await item(page, 'Export client').click()
    await page.getByText('The client was not exported').waitFor()
    await page.getByText('You do not have access').waitFor()
  })

  test('is scheduled for erasure by keyboard, after typing its reference, and withdrawn', async () => {
    await using page = await asPartner(record)
    await page.getByRole('button', { name: 'More', exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menu').locator(':focus').waitFor()
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Erase client' })
    await dialog.waitFor()
    assert.deepEqual(await barriers(page), [])
    const button = dialog.getByRole('button', { name: 'Schedule erasure' })
    await page.keyboard.type(`Asked for by ${name}`)
    await page.keyboard.press('Tab')
    await page.keyboard.type(reference.slice(0, 5))
    assert.ok(await button.isDisabled())
    await page.keyboard.type(reference.slice(5))
    await page.keyboard.press('Enter')
    await dialog.getByRole('alert').filter({ hasText: 'leave out the name' }).waitFor()
    assert.equal(await erasureOf(), null)
    await dialog.getByLabel('Reason').fill('The engagement ended.')
    await button.click()
    const banner = page.getByRole('alert').filter({ hasText: 'This client will be erased on' })
    await banner.getByText(/^Scheduled by Ruth Penhallow on .*: The engagement ended\.$/).waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await openMenu(page)
    await item(page, 'Export client').waitFor()
    assert.equal(await item(page, 'Erase client').count(), 0)
    await page.keyboard.press('Escape')

    const consultants = await desk.open(record)
    await consultants.getByText('This client will be erased on').waitFor()
    assert.equal(await consultants.getByRole('button', { name: /^Withdraw/ }).count(), 0)
    await consultants.close()

    await page.setViewportSize({ width: 375, height: 800 })
    assert.equal(await isWide(page), false)
    await page.getByRole('button', { name: `Withdraw the erasure of ${name}` }).click()
    await banner.waitFor({ state: 'detached' })
    assert.equal(await erasureOf(), null)
  })

  detail('is in the list of erasures, which partners reach from the archived clients', async () => {
    const answer = await desk.ruth.request.post(`${desk.base}${record}/erasure`, {
      data: { reason: 'The engagement ended.' },
      headers: desk.headers,
    })
    assert.equal(answer.status(), 201)
    const page = await asPartner('/clients?status=archived')
    await page.getByRole('link', { name: 'Erasures' }).click()
    const row = page.getByRole('row').filter({ hasText: name })
    await row.getByText('The engagement ended.').waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await page.setViewportSize({ width: 375, height: 800 })
    assert.equal(await isWide(page), false)
    await row.getByRole('button', { name: 'Withdraw' }).click()
    await page.getByText('No erasure is scheduled').waitFor()
    await page.getByText('Performed', { exact: true }).click()
    await page.getByText('No client was erased').waitFor()
    assert.deepEqual(await barriers(page), [])
    await page.close()
    const refused = await desk.daniel.request.get(`${desk.base}/erasures`, { headers: desk.headers })
    assert.equal(refused.status(), 403)
  })
})

async function ruthsId(): Promise<string> {
  const answer = await desk.ruth.request.get(`${desk.base}/me`, { headers: desk.headers })
  return String(at(parseObject(await answer.text()), 'person', 'id'))
}
