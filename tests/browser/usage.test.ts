import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { barriersInBothSchemes, openBrowser } from '../support/browser.ts'
import { startFirm, type Member } from '../support/firm.ts'
import { upstreamModel } from '../support/service.ts'
import { objectAt, parseObject } from '../support/json.ts'
import { startVendor } from '../support/vendor.ts'
import { detail } from '../support/detail.ts'
import { fixture, setUp } from '../support/fixture.ts'

const call = { model: 'fast', input: 'Hello', max_output_tokens: 100 }

const vendor = fixture(() => startVendor())
const firm = fixture(() =>
  startFirm({
    models: [upstreamModel(vendor.url), upstreamModel(vendor.url, { id: 'dear', price: { input: '3', output: '7' } })],
  }),
)
const browser = fixture(() => openBrowser())
const partner = fixture(() => firm.join('Paula', 'partner'))
const profile = fixture(() => profileOf(partner))
const customer = fixture(() => firm.service.customer({ name: 'Northwind' }))
setUp(async () => {
  for (const model of ['fast', 'dear', 'fast']) await send({ model }, 200)
  await send({ model: 'unknown' }, 404)
})

async function send(changes: object, status: number): Promise<void> {
  const answer = await firm.service.call('/v1/generate', customer.key, { ...call, ...changes })
  assert.equal(answer.status, status, answer.text)
}

async function profileOf({ cookie }: Member): Promise<BrowserContext> {
  const viewer = await browser.profile()
  const [name = '', value = ''] = cookie.split('=')
  await viewer.addCookies([{ name, value, url: firm.service.url }])
  return viewer
}

async function open(address: string, viewer = profile): Promise<Page> {
  const page = await viewer.newPage()
  await page.goto(firm.service.url + address)
  await page.locator('h1').waitFor()
  return page
}

const tile = (page: Page, name: string) => page.locator('dl > div').filter({ hasText: name }).locator('dd').first()

const figures = (from: number) => ({
  requests: from + 1,
  input_tokens: from + 2,
  cached_tokens: from + 3,
  cache_write_tokens: from + 4,
  output_tokens: from + 5,
  refused: from + 6,
  cost: String(from + 7),
})

describe('the page of usage', () => {
  test('shows new requests and refusals without a reload', async () => {
    await using page = await open('/usage')
    let loads = 0
    page.on('framenavigated', () => (loads += 1))
    const charged = Number(await tile(page, 'Requests').textContent())
    await tile(page, 'Refused').filter({ hasText: '1' }).waitFor()
    const refused = 1
    await send({}, 200)
    await send({ model: 'unknown' }, 404)
    await tile(page, 'Requests')
      .filter({ hasText: String(charged + 1) })
      .waitFor()
    await tile(page, 'Refused')
      .filter({ hasText: String(refused + 1) })
      .waitFor()
    assert.equal(loads, 0)
  })

  test('shows each figure in its place', async () => {
    const page = await open('/')
    await page.route(/\/usage$/, async (route) => {
      const response = await route.fetch()
      const body = parseObject(await response.text())
      const previous = { ...objectAt(body, 'previous'), ...figures(200) }
      const models = { rows: [{ model: 'odd', ...figures(10) }], others: figures(20) }
      await route.fulfill({ response, json: { ...body, total: figures(100), previous, models } })
    })
    await page.getByRole('link', { name: 'Usage' }).first().click()
    await page.getByText('from 201').waitFor()
    const tiles = await page.locator('dl > div').allInnerTexts()
    assert.deepEqual(
      tiles.flatMap((text) => text.match(/\d{3}/g)),
      ['107', '207', '101', '201', '102', '202', '105', '205', '106', '206'],
    )
    const rows = await page.getByRole('region', { name: 'Breakdown' }).getByRole('row').allInnerTexts()
    assert.deepEqual(
      rows.slice(1).map((text) => text.match(/\d+/g)?.slice(0, 7)),
      [10, 20].map((from) => [1, 2, 3, 4, 5, 6, 7].map((each) => String(from + each))),
    )
    await page.close()
  })

  detail('stops reading while it is hidden', async () => {
    await using page = await open('/usage')
    await page.clock.install()
    // From the next read on, the page waits by that clock.
    await page.waitForResponse((response) => response.url().endsWith('/usage'))
    await page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, get: () => true })`)
    await page.getByText('Paused while you are away').waitFor()
    let reads = 0
    page.on('request', () => (reads += 1))
    await send({}, 200)
    await page.clock.runFor(10_000)
    assert.equal(reads, 0)
    await page.evaluate(
      `delete document.hidden; document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`,
    )
    await page.getByText('Live', { exact: true }).waitFor()
  })

  test('has the same figures in the chart and in its table, and the keyboard chooses a day', async () => {
    await using page = await open('/usage')
    const chart = page.getByRole('slider', { name: 'Cost over time' })
    const today = await chart.getAttribute('aria-valuetext')
    await chart.focus()
    await page.keyboard.press('ArrowLeft')
    assert.notEqual(await chart.getAttribute('aria-valuetext'), today)
    await page.getByLabel('Series').selectOption('model')
    await page.getByRole('listitem').filter({ hasText: 'dear' }).waitFor()
    await page.getByRole('button', { name: 'Table' }).click()
    const row = page.getByRole('row').filter({ hasText: (today ?? '').split(':')[0] ?? '' })
    assert.equal(await row.count(), 1)
    assert.ok((await row.textContent())?.includes((today ?? '').split(': ')[1] ?? '?'))
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await page.setViewportSize({ width: 375, height: 800 })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
  })

  test('shows the values of the axis beside the bars on a phone, not on them', async () => {
    await using page = await open('/usage')
    await page.setViewportSize({ width: 390, height: 844 })
    // One column, which is as wide as the chart.
    await page.getByLabel('Period').selectOption('today')
    await page.locator('figure input[max="0"]').waitFor({ state: 'attached' })
    const [bars, values] = await page.evaluate<[{ left: number }[], { right: number }[]]>(
      `['rect[data-series]', 'span[style]'].map((name) =>
        [...document.querySelectorAll('figure ' + name)].map((each) => each.getBoundingClientRect().toJSON()))`,
    )
    const left = Math.min(...bars.map((bar) => bar.left))
    assert.ok(bars.length > 0 && values.length > 1)
    for (const { right } of values) assert.ok(right <= left, `${right} ${left}`)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
  })

  test('leads from a breakdown to its requests, and from there to one request', async () => {
    await using page = await open('/usage')
    await page.getByRole('radiogroup', { name: 'Breakdown by' }).getByText('Accounts').click()
    await page.getByRole('link', { name: 'Northwind' }).click()
    await page.getByRole('button', { name: 'Account Northwind: remove this filter' }).waitFor()
    await page.getByRole('link', { name: 'Requests' }).click()
    await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor()
    await page.getByLabel('Outcome').selectOption('refused')
    await page.getByText('404 Unknown model').first().waitFor()
    await page.getByRole('cell', { name: 'Complete', exact: true }).first().waitFor({ state: 'detached' })
    await page.getByLabel('Outcome').selectOption('charged')
    await page.getByRole('cell', { name: 'Complete', exact: true }).first().waitFor()
    await page.locator('tbody a').first().click()
    await page.getByRole('heading', { name: 'Request', level: 1 }).waitFor()
    const id = (await page.locator('code').textContent()) ?? ''
    const { json } = await partner.get(`/usage/requests/${id}`)
    assert.equal(json['request_id'], id)
  })

  detail('says when there is nothing, and chooses other days', async () => {
    await using page = await open('/usage?from=2020-01-01&to=2020-01-31')
    await page.getByRole('heading', { name: 'No requests in this period' }).waitFor()
    await page.getByLabel('Period').selectOption('today')
    await page.getByRole('heading', { name: 'Over time' }).waitFor()
  })

  detail('says that there are no requests yet, and offers to show all only if a filter hides some', async () => {
    await using page = await open('/usage/requests?outcome=refused')
    await page.route('**/usage/requests**', (route) => route.fulfill({ json: { requests: [], next: null } }))
    await page.getByLabel('Outcome').selectOption('charged')
    await page.getByRole('heading', { name: 'No requests match' }).waitFor()
    await page.getByRole('button', { name: 'Show all requests' }).click()
    await page.getByRole('heading', { name: 'No requests yet' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Show all requests' }).count(), 0)
    assert.equal(await page.getByText('No requests match').count(), 0)
  })

  detail('shows no used share for an account that never had credit', async () => {
    await firm.service.customer({ name: 'Never paid', credit: 0n })
    await using page = await open('/usage')
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'Never paid' }) })
    assert.equal(await row.getByRole('cell').nth(1).textContent(), '–')
    assert.equal(await row.locator('[data-close]').count(), 0)
    const paid = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'Northwind' }) })
    assert.match((await paid.getByRole('cell').nth(1).textContent()) ?? '', /^\d.*%$/)
  })
})
