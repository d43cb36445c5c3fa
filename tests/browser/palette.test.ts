import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startDesk } from '../support/desk.ts'
import { barriers, barriersInBothSchemes } from '../support/browser.ts'
import { detail } from '../support/detail.ts'
import { fixture } from '../support/fixture.ts'

const desk = fixture(() => startDesk())

describe('the command palette', () => {
  test('lists the pages of the role with Ctrl+K, even while someone writes, and finds records and their words', async () => {
    const name = 'Palette Trading'
    const record = await desk.make('/clients', { name })
    await using page = await desk.open('/clients')
    const dialog = page.getByRole('dialog')
    await page.getByRole('searchbox').focus()
    await page.keyboard.press('Control+k')
    await dialog.locator('input:focus').waitFor()
    const names = await dialog.getByRole('button').allTextContents()
    assert.ok(names.includes('Clients') && names.includes('New client') && names.includes('Sign out'), names.join())
    assert.ok(!names.includes('People') && !names.includes('Audit log'), names.join())
    await page.keyboard.type(name)
    await page.locator('[data-action][data-selected]').getByText(name, { exact: true }).waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await page.keyboard.press('Enter')
    await page.waitForURL(`${desk.base}${record}`)
    assert.equal(await dialog.count(), 0)
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await dialog.locator('input:focus').waitFor()
    await page.keyboard.type('zzyzx & co')
    await dialog.getByRole('button', { name: 'Search all records for “zzyzx & co”' }).click()
    await page.waitForURL((url) => url.pathname === '/search' && url.searchParams.get('q') === 'zzyzx & co')
    await page.keyboard.press('Control+k')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })

  detail('shows pages before the records that have their name', async () => {
    await desk.make('/clients', { name: 'Templates and Clients Ltd' })
    await using page = await desk.open('/clients')
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').locator('input:focus').waitFor()
    await page.keyboard.type('clients')
    const choices = page.getByRole('dialog').getByRole('button')
    await choices.filter({ hasText: 'Templates and Clients Ltd' }).waitFor()
    const names = await choices.allTextContents()
    assert.deepEqual([names[0], names.at(-1)], ['Clients', 'Search all records for “clients”'])
  })

  detail('shows the date of a note as the pages do', async () => {
    const { record } = await desk.newClient()
    await desk.make(`${record}/notes`, { date: '2026-11-20', text: 'Quillfeather was mentioned.' })
    await using page = await desk.open('/clients')
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').locator('input:focus').waitFor()
    await page.keyboard.type('Quillfeather')
    const choices = page.getByRole('dialog').getByRole('button')
    await choices.filter({ hasText: 'Note of Somebody New' }).getByText('20 Nov 2026', { exact: true }).waitFor()
    assert.doesNotMatch((await choices.allTextContents()).join(), /2026-11-20/)
  })

  detail('shows the keyboard shortcuts for “?”, but not while someone types', async () => {
    await using page = await desk.open('/clients')
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await page.getByRole('searchbox').fill('')
    await page.getByRole('searchbox').press('?')
    assert.equal(await dialog.count(), 0)
    await page.getByRole('searchbox').fill('')
    await page.locator('#main').focus()
    await page.keyboard.press('?')
    await dialog.waitFor()
    assert.deepEqual(await barriers(page), [])
  })
})
