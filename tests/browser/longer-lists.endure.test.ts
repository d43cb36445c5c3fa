import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startDesk } from '../support/desk.ts'
import { fixture } from '../support/fixture.ts'

/** Lists of which a person has shown more than the first page. */

const desk = fixture(() => startDesk())

const days = ['2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20']

/** Opens the time entries of a new client, two to a page, the latest day first, and shows the first four. */
async function openTime(): Promise<{ page: Page; record: string }> {
  const { record } = await desk.newClient()
  for (const date of days) {
    await desk.make(`${record}/time_entries`, { date, minutes: 30, rate: '100', text: `Work of ${date}` })
  }
  const page = await desk.open(`${record}/time_entries?limit=2`)
  await page.getByRole('button', { name: 'Show more' }).click()
  await entry(page, '2026-11-17').waitFor()
  return { page, record }
}

const entry = (page: Page, date: string) => page.getByRole('article').filter({ hasText: `Work of ${date}` })

async function shown(page: Page): Promise<string[]> {
  const texts = await page.getByRole('article').allTextContents()
  return texts.map((text) => /2026-\d\d-\d\d/.exec(text)?.[0] ?? text)
}

const firstFour = ['2026-11-20', '2026-11-19', '2026-11-18', '2026-11-17']

describe('a row of a later page', () => {
  test('shows what was saved, and can be changed again', async () => {
    const { page, record } = await openTime()
    for (const text of ['Corrected once', 'Corrected twice']) {
      await page.getByRole('article').nth(3).getByRole('button', { name: 'Edit time entry' }).click()
      const form = page.getByRole('form', { name: 'Edit time entry' })
      await form.getByLabel('Work').fill(text)
      await form.getByRole('button', { name: 'Save' }).click()
      await form.waitFor({ state: 'detached' })
      await page.getByRole('article').nth(3).filter({ hasText: text }).waitFor()
    }
    assert.equal(await page.getByRole('article').count(), 4)
    assert.equal(JSON.stringify(await desk.ask(`${record}/time_entries`)).includes('Corrected twice'), true)
    await page.close()
  })

  test('disappears when it is archived', async () => {
    const { page } = await openTime()
    await entry(page, '2026-11-18').getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Archive time entry' }).click()
    await entry(page, '2026-11-18').waitFor({ state: 'detached' })
    await entry(page, '2026-11-17').waitFor()
    await page.close()
  })
})

describe('a person who returns to a longer list', () => {
  test('finds as many rows as before, as they are now', async () => {
    const { page, record } = await openTime()
    const address = page.url()
    await entry(page, '2026-11-17').getByRole('link').first().click()
    await page.getByRole('link', { name: 'All time entries' }).waitFor()
    const path = new URL(page.url()).pathname
    await desk.meanwhile('PATCH', path, { text: 'Work of 2026-11-17, as it is now' })
    await page.goBack()
    await page.waitForURL(address)
    await entry(page, '2026-11-17').filter({ hasText: 'as it is now' }).waitFor()
    assert.deepEqual(await shown(page), firstFour)
    await page.getByRole('button', { name: 'Show more' }).click()
    await entry(page, '2026-11-16').waitFor()
    await page.goto(`${desk.base}${record}/time_entries?limit=2`)
    await entry(page, '2026-11-19').waitFor()
    assert.deepEqual(await shown(page), firstFour.slice(0, 2))
    await page.close()
  })
})

describe('a long list of notes', () => {
  test('is drawn in parts, which are found again on returning', async () => {
    const record = await desk.make('/clients', { name: 'Somebody Busy' })
    const numbers = Array.from({ length: 52 }, (_, index) => 101 + index)
    await Promise.all(
      numbers.map((number) => desk.make(`${record}/notes`, { date: '2026-11-20', text: `Note number ${number}.` })),
    )
    await using page = await desk.open(record)
    const entries = page.getByRole('article')
    assert.equal(await entries.count(), 50)
    await page.getByRole('button', { name: 'Show more: 50 of 52' }).click()
    await entries.nth(51).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Show more' }).count(), 0)
    const address = page.url()
    // Without the time at which it was written: `just now` does not stay true.
    const lastNote = async () => /Note number \d+\./.exec((await entries.nth(51).textContent()) ?? '')?.[0]
    const last = (await lastNote()) ?? assert.fail()
    await entries.nth(51).getByRole('link').first().click()
    await page.getByRole('link', { name: 'All notes' }).waitFor()
    await page.goBack()
    await page.waitForURL(address)
    await entries.nth(51).waitFor()
    assert.equal(await lastNote(), last)

    await page.goto(`${desk.base}${record}/letters#new`)
    const sources = page.getByRole('listitem').filter({ hasText: 'Note number' })
    await sources.first().waitFor()
    assert.equal(await sources.count(), 50)
    await page.getByRole('searchbox', { name: 'Search notes' }).fill(last)
    await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' })
    assert.equal(await sources.count(), 1)
  })
})
