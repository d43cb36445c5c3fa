import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { barriersInBothSchemes, startPortal } from '../support/browser.ts'
import { detail } from '../support/detail.ts'
import { fixture } from '../support/fixture.ts'

const portal = fixture(() => startPortal())

const pages = ['/docs', '/docs/clients', '/docs/errors', '/docs/api', '/docs/api/generate', '/docs/api/changeClient']

detail(
  'B90 in light and in dark colours axe finds nothing serious in the documentation, which fits a phone',
  async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    for (const url of [...pages, '/docs/errors#forbidden', '/docs/api/generate#body.model']) {
      await page.goto(portal.base + url)
      assert.deepEqual(await barriersInBothSchemes(page), [], url)
      assert.match(await page.title(), /^.+ · Tollgate$/)
      assert.equal(await page.locator('h1').count(), 1)
      await page.setViewportSize({ width: 375, height: 740 })
      const needed = await page.evaluate<number>('document.documentElement.scrollWidth')
      assert.ok(needed <= 375, `${url} is ${needed} wide`)
      if (url === '/docs/api/generate') assert.deepEqual(await barriersInBothSchemes(page), [], 'on a phone')
      await page.setViewportSize({ width: 1280, height: 800 })
    }
  },
)

describe('the documentation', () => {
  test('shows one language at a time and remembers it on other pages', async () => {
    await using profile = await portal.profile({ permissions: ['clipboard-read', 'clipboard-write'] })
    const page = await profile.newPage()
    await page.goto(`${portal.base}/docs`)
    const visible = page.locator('figure:visible')
    assert.match(await visible.first().innerText(), /^curl http/)
    await page.getByRole('tab', { name: 'Python' }).first().click()
    assert.match(await visible.first().innerText(), /^import os/)
    await page.goto(`${portal.base}/docs/api/createMessage`)
    assert.match(await visible.first().innerText(), /^import os/)
    assert.deepEqual(await barriersInBothSchemes(page), [])
    assert.equal(await visible.count(), 2)

    // The keyboard moves between the languages, and the copied text is the program alone.
    await page.getByRole('tab', { name: 'Python', exact: true }).first().focus()
    await page.keyboard.press('ArrowRight')
    assert.match(await visible.first().innerText(), /^import Anthropic/)
    const block = page.locator('.code:visible').first()
    // The button says so for two seconds only.
    await page.clock.pauseAt(Date.now() + 3_600_000)
    await block.getByRole('button', { name: 'Copy' }).focus()
    await page.keyboard.press('Enter')
    await block.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    assert.equal(copied, await block.locator('pre').textContent())

    // A page without that library shows the same language without it.
    await page.goto(`${portal.base}/docs/api/countTokens`)
    assert.match(await visible.first().innerText(), /^const response = await fetch/)
  })

  detail('shows all languages without scripts', async () => {
    await using profile = await portal.profile({ javaScriptEnabled: false })
    const page = await profile.newPage()
    await page.goto(`${portal.base}/docs/api/generate`)
    assert.deepEqual(await page.locator('figcaption:visible').allInnerTexts(), [
      'curl',
      'JavaScript',
      'Python',
      'curl',
      'JavaScript',
      'Python',
    ])
    assert.equal(await page.getByRole('button', { name: 'Copy' }).count(), 0)
  })

  detail('has its navigation behind a button on a phone, also without scripts', async () => {
    await using profile = await portal.profile({ viewport: { width: 375, height: 740 }, javaScriptEnabled: false })
    const page = await profile.newPage()
    await page.goto(`${portal.base}/docs`)
    const link = page.getByRole('navigation').getByRole('link', { name: 'Count tokens', exact: false }).first()
    assert.equal(await link.isVisible(), false)
    await page.getByRole('button', { name: 'Menu' }).click()
    await link.click()
    await page.waitForURL(`${portal.base}/docs/api/countTokens`)
    assert.equal(await link.isVisible(), false)
  })

  detail('is reached by keyboard, and on paper has every language and no navigation', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    await page.goto(`${portal.base}/docs/api/generate`)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('#main:focus').waitFor()
    await page.emulateMedia({ media: 'print' })
    assert.equal(await page.getByRole('navigation').isVisible(), false)
    assert.equal(await page.locator('figure:visible').count(), 6)
  })
})
