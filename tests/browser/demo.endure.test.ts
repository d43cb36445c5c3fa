import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { openBrowser, violations, type TestBrowser } from '../support/browser.ts'
import { startNewDemo } from '../support/demo.ts'

let demo: Awaited<ReturnType<typeof startNewDemo>>
let browser: TestBrowser

before(async () => {
  ;[demo, browser] = await Promise.all([startNewDemo(), openBrowser()])
})
after(async () => {
  await browser.close()
  await demo.close()
})

/** The page for choosing a person. */
async function openChoice(options: BrowserContextOptions = {}): Promise<Page> {
  const page = await (await browser.profile(options)).newPage()
  await page.goto(`${demo.base}/auth/start/demo?return_to=/clients`)
  await page.getByRole('heading', { name: 'Who is signing in?', level: 1 }).waitFor()
  return page
}

describe('the page of the demo’s provider', () => {
  for (const [colorScheme, viewport] of [
    ['light', { width: 1200, height: 800 }],
    ['dark', { width: 320, height: 640 }],
  ] as const) {
    test(`passes axe in ${colorScheme} colours, ${viewport.width} pixels wide`, async () => {
      const page = await openChoice({ colorScheme, viewport })
      assert.deepEqual(await violations(page), [])
      assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
      await page.context().close()
    })
  }

  test('works with only the keyboard and without scripts', async () => {
    const page = await openChoice({ javaScriptEnabled: false })
    const names = await page.getByRole('button').allTextContents()
    assert.equal(names.length, 4)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${demo.base}/clients`)
    const cookies = await page.context().cookies()
    assert.ok(cookies.some(({ name }) => name === 'session'))
    await page.context().close()
  })

  test('says that the sign-in has expired and where to start again', async () => {
    const page = await openChoice()
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Mei Sakamoto' }).click()
    await page.getByRole('heading', { name: 'This sign-in has expired' }).waitFor()
    await page.getByRole('link', { name: 'Go to the portal' }).click()
    await page.waitForURL(`${demo.base}/signin`)
    await page.context().close()
  })
})
