import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { stringify } from 'yaml'
import { barriersInBothSchemes, signInAs, startPortal } from '../support/browser.ts'
import { createGate } from '../support/gate.ts'
import { parseObject } from '../support/json.ts'
import { upstreamModel } from '../support/service.ts'
import { startVendor } from '../support/vendor.ts'
import { detail } from '../support/detail.ts'
import { fixture } from '../support/fixture.ts'

const vendor = fixture(() => startVendor())
const portal = fixture(() =>
  startPortal(stringify({ models: [upstreamModel(vendor.url)], aliases: { default: 'fast' } })),
)
beforeEach(() => vendor.set({}))

const generate = '/docs/api/generate'

/** A page of the documentation, for a person of the demo. */
async function open(name: string, address: string, options: BrowserContextOptions = {}): Promise<Page> {
  const profile = await portal.profile(options)
  const page = await profile.newPage()
  await signInAs(page, portal.base, name)
  await page.goto(portal.base + address)
  await page.locator('.try summary').first().click()
  return page
}

const [partner, consultant] = ['Ruth Penhallow', 'Daniel Okonjo']
const answerOf = (page: Page) => page.getByLabel('Response', { exact: true })
const send = (page: Page) => page.getByRole('button', { name: 'Send' }).click()
/** What the browser keeps for this site. */
const kept = (page: Page) => page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')
/** Waits for a status line. */
const outcome = (page: Page, text: RegExp) => page.getByRole('status').filter({ hasText: text }).waitFor()

describe('trying a call', () => {
  test('begins with the sign-in, and returns to the open form', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    await page.goto(portal.base + generate)
    const link = page.getByRole('link', { name: 'Sign in to try it' })
    await link.waitFor()
    assert.equal(await page.locator('.try form').isVisible(), false)
    await link.click()
    await page.getByRole('link', { name: /^Continue with/ }).click()
    await page.getByRole('button', { name: partner }).click()
    await page.waitForURL(`${portal.base}${generate}#try`)
    await page.getByRole('button', { name: 'Send' }).waitFor()
    assert.equal(await link.isVisible(), false)
  })

  test('shows the response, its headers and cost, and leads a partner to the request', async () => {
    const page = await open(partner, generate)
    const sent = parseObject(await page.getByLabel('Body').inputValue())
    assert.deepEqual([sent['model'], sent['input']], ['default', 'What is a ledger?'])
    const bodies: Promise<string>[] = []
    page.on('response', (response) => bodies.push(response.text().catch(() => '')))
    const keptBefore = await kept(page)
    await send(page)
    await outcome(page, /^200 OK · [\d,]+ ms · cost 0\.\d+ · request [-\da-f]{36}$/)
    assert.equal(parseObject(await answerOf(page).innerText())['output_text'], 'Hello there.')
    await page.locator('.try summary').last().click()
    const headers = await page.getByLabel('Response headers').innerText()
    assert.match(headers, /^x-cost: 0\.\d+$/m)
    assert.match(headers, /^x-ratelimit-remaining-requests: \d+$/m)
    assert.doesNotMatch(headers, /cookie|security|policy/)
    assert.doesNotMatch((await Promise.all(bodies)).join('\n'), /tg_[0-9A-Za-z]{12}/)
    assert.deepEqual(await kept(page), keptBefore)

    await page.getByRole('status').getByRole('link').click()
    await page.getByText('Scratch key of Ruth Penhallow').first().waitFor()

    await page.goto(`${portal.base}/accounts`)
    await page.getByRole('link', { name: 'Portal' }).click()
    await page.getByRole('button', { name: 'More actions for Scratch key of Ruth Penhallow' }).click()
    await page.getByRole('menuitem', { name: 'Revoke' }).waitFor()
    assert.equal(await page.getByRole('menuitem', { name: 'Rotate' }).count(), 0, 'it has no text to replace')
    await page.context().close()
  })

  detail('works with the keyboard alone, and shows faults as they are', async () => {
    const page = await open(consultant, generate)
    await page.getByLabel('Body').focus()
    await page.keyboard.press('Control+A')
    await page.keyboard.type('{"model": "default", "input": "Hi"')
    await page.keyboard.press('Control+Enter')
    await outcome(page, /^400 Bad Request · .* · request/)
    assert.match(await answerOf(page).innerText(), /"code": "malformed_json"/)
    assert.equal(await page.getByRole('checkbox').isDisabled(), true)
    assert.equal(await page.getByRole('status').getByRole('link').count(), 0, 'consultants cannot open the request')
    await page.keyboard.type(', "max_output_tokens": 60}')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    assert.equal(parseObject(await page.getByLabel('Body').inputValue())['stream'], true)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await outcome(page, /^200 OK/)
    assert.match(await answerOf(page).innerText(), /^event: output_text\.delta\n[^]*event: done\n/)
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Send')
    await page.context().close()
  })

  test('stops a stream, and says what that costs', async () => {
    const gate = createGate()
    vendor.set({ tokens: ['one', ' two', ' three'], gate: gate.pass })
    gate.open(2)
    const page = await open(consultant, generate)
    await page.getByLabel('Stream the response').check()
    await send(page)
    await answerOf(page).filter({ hasText: '" two"' }).waitFor()
    const { calls } = vendor
    await page.getByRole('button', { name: 'Send' }).dispatchEvent('click')
    await page.getByRole('button', { name: 'Stop' }).press('Enter')
    await outcome(page, /^Stopped after .* What the model had generated by then is charged\.$/)
    assert.equal(vendor.calls, calls, 'the second press sent nothing')
    assert.equal(await page.getByRole('button', { name: 'Stop' }).isVisible(), false)
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Send')
    gate.open()
    await page.context().close()
  })

  detail('takes parameters, and refuses a consultant the figures of the account', async () => {
    const page = await open(consultant, '/docs/api/retrieveModel')
    assert.equal(await page.getByLabel('id', { exact: true }).inputValue(), 'default')
    await send(page)
    await outcome(page, /^200 OK/)
    assert.equal(parseObject(await answerOf(page).innerText())['id'], 'fast')
    await page.goto(`${portal.base}/docs/api/getUsage#try`)
    await send(page)
    await outcome(page, /^403 Forbidden/)
    assert.match(await answerOf(page).innerText(), /"code": "forbidden"/)
    await page.context().close()

    const boss = await open(partner, '/docs/api/getUsage')
    await boss.getByLabel('by', { exact: true }).fill('model')
    await send(boss)
    await outcome(boss, /^200 OK/)
    assert.match(await answerOf(boss).innerText(), /"model": "fast"/)
    await boss.context().close()
  })

  detail('asks for a new sign-in when the session has ended', async () => {
    const page = await open(consultant, generate)
    await page.context().clearCookies()
    await send(page)
    await outcome(page, /^401 Unauthorized/)
    await page.getByRole('link', { name: 'Sign in to try it' }).waitFor()
    assert.equal(await page.getByLabel('Body').isVisible(), true, 'what was typed stays')
    await page.context().close()
  })

  detail('is a link without scripts', async () => {
    await using profile = await portal.profile({ javaScriptEnabled: false })
    const page = await profile.newPage()
    await page.goto(portal.base + generate)
    assert.equal(await page.getByRole('link', { name: 'Sign in to try it' }).isVisible(), true)
    assert.equal(await page.locator('.try form').isVisible(), false)
    await page.goto(`${portal.base}/docs/api/createClient`)
    assert.equal(await page.locator('.try').count(), 0, 'only calls of the API can be tried')
  })

  test('B90 in light and in dark colours axe finds nothing serious, on a phone too', async () => {
    const page = await open(partner, generate, { viewport: { width: 375, height: 800 } })
    await send(page)
    await outcome(page, /^200 OK/)
    await page.locator('.try summary').last().click()
    assert.deepEqual(await barriersInBothSchemes(page), [])
    assert.ok((await page.evaluate<number>('document.documentElement.scrollWidth')) <= 375)
    await page.context().close()
  })
})
