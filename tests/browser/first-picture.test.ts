import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { barriers, signIn, untilInPage, untilItHandlesKeys } from '../support/browser.ts'
import { startDesk } from '../support/desk.ts'
import { listAt } from '../support/json.ts'
import { fixture, setUp } from '../support/fixture.ts'

let page: Page
/** A client of Daniel's, and a letter to it. */
let record: string
let letter: string
/** Until then, scripts and style sheets are held back. */
let arrival: PromiseWithResolvers<void>

const desk = fixture(() => startDesk())
setUp(async () => {
  record = await desk.make('/clients', { name: 'First <i>Picture</i> & Sons' })
  await desk.make(`${record}/notes`, { date: '2026-11-20', text: 'Seen **before** the scripts.' })
  letter = await desk.make(`${record}/letters`, { subject: 'Early', body: 'Dear reader,' })
  const profile = await desk.profile({ colorScheme: 'dark' }, { firstPicture: true })
  await signIn(profile, desk.base, 'Daniel Okonjo')
  page = await profile.newPage()
  await page.route(/\/assets\/.*\.(?:js|css)$/, async (route) => {
    await arrival.promise
    await route.continue()
  })
})

/** Opens a page without what it loads. */
async function begin(address: string): Promise<void> {
  arrival = Promise.withResolvers()
  await page.goto(desk.base + address, { waitUntil: 'commit' })
}

const reads = async (): Promise<number> => {
  const answer = await desk.ruth.request.get(
    `${desk.base}/audit?client=${record.split('/')[2] ?? ''}&action=client_read`,
    {
      headers: desk.headers,
    },
  )
  return listAt(await answer.json(), 'audit').length
}

const styleOf = (selector: string, property: string) =>
  page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).${property}`)

describe('before its scripts and style sheet have arrived', () => {
  test('a record shows its frame and first content, styled, and has been read once', async () => {
    assert.equal(await reads(), 0)
    await begin(record)
    await page.getByRole('heading', { level: 1, name: 'First <i>Picture</i> & Sons' }).waitFor()
    await page.getByRole('article').getByText('Seen before the scripts.').waitFor()
    assert.equal(await page.getByRole('article').locator('strong').textContent(), 'before')
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Clients' }).waitFor()
    assert.equal(await styleOf('aside', 'position'), 'sticky')
    assert.equal(await styleOf('body', 'backgroundColor'), 'rgb(19, 20, 23)', 'the dark colour')
    await untilInPage(page, `performance.getEntriesByName('first-contentful-paint').length === 1`)
    assert.deepEqual(await barriers(page), [])
    await page.evaluate(`document.documentElement.dataset.mantineColorScheme = 'light'`)
    assert.deepEqual(await barriers(page, ['color-contrast']), [])
    assert.equal(await reads(), 1)
  })

  test('then the app takes its place, and a focused link keeps the focus', async () => {
    await page.getByRole('link', { name: 'Disputes' }).focus()
    arrival.resolve()
    await untilItHandlesKeys(page)
    await page.getByRole('button', { name: 'Add note' }).waitFor()
    assert.equal(await page.locator('#first, #first-style').count(), 0)
    assert.equal(await page.locator('main').count(), 1)
    assert.equal(
      await page.evaluate(`document.activeElement.closest('#app') && document.activeElement.textContent`),
      'Disputes0',
    )
    assert.equal(await reads(), 1, 'the data came with the page')
  })

  test('other pages show what they are about, in a narrow window too', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    for (const [address, text] of [
      ['/', 'Letters to approve'],
      ['/clients', 'First <i>Picture</i> & Sons'],
      [letter, 'Dear reader,'],
      ['/templates', 'Templates'],
    ] as const) {
      await begin(address)
      await page.getByRole('main').getByText(text, { exact: true }).first().waitFor()
      assert.deepEqual(await barriers(page), [], address)
      await untilInPage(page, `document.documentElement.scrollWidth <= innerWidth`)
    }
    arrival.resolve()
  })
})
