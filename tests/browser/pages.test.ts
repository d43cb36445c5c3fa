import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { BrowserContext, Page, Request } from 'playwright-core'
import { extractText, getDocumentProxy } from 'unpdf'
import { barriersInBothSchemes, signIn, startPortal, untilInPage, untilItHandlesKeys } from '../support/browser.ts'
import { parseObject } from '../support/json.ts'
import { until } from '../support/until.ts'
import { detail } from '../support/detail.ts'
import { isEndure } from '../support/draws.ts'
import { fixture, setUp } from '../support/fixture.ts'

// The zone matters to a detail only.
const portal = fixture(() =>
  startPortal(isEndure ? 'firm: { name: Berg & Partner, time_zone: Pacific/Auckland }' : undefined),
)
const ruth = fixture(() => portal.profile())
let state: Awaited<ReturnType<BrowserContext['storageState']>>
/** Every page, by a readable name. */
let pages: Readonly<Record<string, string>>
/** Those that `npm test` looks at. */
const frequent = ['overview', 'clients', 'notes', 'letter', 'search', 'people', 'accounts', 'invoice', 'audit', 'me']

setUp(async () => {
  await using page = await ruth.newPage()
  await signIn(ruth, portal.base, 'Ruth Penhallow')
  await page.goto(`${portal.base}/search?q=invoice`)
  const hrefOf = (path: string) => page.locator(`[data-row][href*="/${path}/"]`).first().getAttribute('href')
  const [note, dispute, letter] = [await hrefOf('notes'), await hrefOf('disputes'), await hrefOf('letters')]
  const record = (dispute ?? '').split('/').slice(0, 3).join('/')
  const invoice = await issueInvoice(page, record.slice('/clients/'.length))
  state = await ruth.storageState()
  pages = {
    overview: '/',
    clients: '/clients',
    'clients, none found': '/clients?q=zzzz',
    'new client': '/clients#new',
    record,
    notes: `${record}/notes`,
    disputes: `${record}/disputes`,
    letters: `${(letter ?? '').split('/').slice(0, 3).join('/')}/letters`,
    activity: `${record}/activity`,
    versions: `${record}/revisions`,
    note: note ?? '',
    dispute: dispute ?? '',
    letter: letter ?? '',
    search: '/search?q=invoice',
    people: '/people',
    accounts: '/accounts',
    invoices: '/invoices',
    'invoices, none found': '/invoices?status=void',
    unbilled: '/invoices/unbilled',
    'time entries': `${record}/time_entries`,
    expenses: `${record}/expenses`,
    invoice,
    models: '/models',
    usage: '/usage',
    requests: '/usage/requests',
    templates: '/templates',
    costs: `${record}/costs`,
    audit: '/audit',
    me: '/me',
    'not found': '/clients/0199d6a0-0000-7000-8000-000000000000',
    nowhere: '/nowhere',
  }
})

/** Returns the URL of an issued invoice. */
async function issueInvoice(page: Page, client: string): Promise<string> {
  const headers = { origin: portal.base, 'if-match': '*' }
  const lines = [
    { text: 'Advice on the refit of the harbour office', quantity: '3.5', unit: 'hour', unit_price: '180' },
    { text: `B${'o'.repeat(300)}k`, quantity: '1', unit: 'piece', unit_price: '123456789.345678' },
  ]
  const data = { client, lines, note: 'Thank you.', buyer: { address: '2 Low Street\nBath' } }
  const made = await page.request.post(`${portal.base}/invoices`, { data, headers })
  assert.equal(made.status(), 201, await made.text())
  const address = `/invoices/${String(parseObject(await made.text())['id'])}`
  const issued = await page.request.post(`${portal.base + address}/issue`, { headers })
  assert.equal(issued.status(), 200, await issued.text())
  return address
}

async function open(page: Page, address: string): Promise<void> {
  await page.goto(portal.base + address)
  await page.locator('h1').waitFor()
}

describe('B90 in light and in dark colours axe finds nothing serious', () => {
  test('on the pages that people use most, which fit 360 pixels and have a title and one h1 each', async () => {
    await check(frequent, barriersInBothSchemes)
  })

  // In parts, because each takes a slow machine half a minute.
  for (const part of [0, 1, 2]) {
    detail(`on any other page: part ${part + 1} of 3`, async () => {
      await check(
        others().filter((_, index) => index % 3 === part),
        barriersInBothSchemes,
      )
    })
  }

  test('in forms, menus and dialogs', async () => {
    await using page = await ruth.newPage()
    await open(page, pages['record'] ?? '')
    await page.getByRole('button', { name: 'Edit client' }).click()
    await page.getByRole('button', { name: 'Add note' }).click()
    await page.getByRole('button', { name: 'Edit note' }).first().click()
    assert.deepEqual(await barriersInBothSchemes(page), [], 'forms')
    await page.getByLabel('Reference').fill('changed')
    await page.getByRole('link', { name: 'People' }).click()
    await page.getByRole('dialog').waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [], 'dialog')
    await page.getByRole('button', { name: 'Stay here' }).click()
    await page.getByRole('button', { name: /Ruth Penhallow/ }).click()
    await page.getByRole('menu').waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [], 'menu')
  })

  test('on the sign-in page', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    const others = ['/signin?return_to=/clients', '/auth/callback?state=unknown&code=x']
    for (const address of ['/signin', ...(isEndure ? others : [])]) {
      await open(page, address)
      assert.deepEqual(await barriersInBothSchemes(page), [], address)
    }
  })
})

test('the other pages fit 360 pixels and have a title and one h1 each', async () => {
  await check(others(), () => Promise.resolve([]))
})

const others = () => Object.keys(pages).filter((name) => !frequent.includes(name))

/** Looks at pages in one tab, first in a wide window. */
async function check(names: readonly string[], look: (page: Page) => Promise<string[]>): Promise<void> {
  assert.ok(names.length > 3)
  await using page = await ruth.newPage()
  for (const name of names) {
    await page.setViewportSize({ width: 1280, height: 720 })
    await open(page, pages[name] ?? assert.fail(name))
    await untilItHandlesKeys(page)
    assert.deepEqual(await look(page), [], name)
    assert.match(await page.title(), /^.+ · Tollgate$/, name)
    assert.equal(await page.locator('h1').count(), 1, name)
    await page.setViewportSize({ width: 360, height: 740 })
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    assert.ok(width <= 360, `${name} is ${width} wide`)
  }
}

detail('no page scrolls sideways on a phone with doubled font size', async () => {
  await using profile = await portal.profile({ storageState: state, viewport: { width: 380, height: 760 } })
  const page = await profile.newPage()
  const protocol = await profile.newCDPSession(page)
  await protocol.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } })
  for (const [name, address] of Object.entries(pages)) {
    await open(page, address)
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    assert.ok(width <= 380, `${name} is ${width} wide`)
  }
})

detail(
  'texts of the maximum length without spaces stay inside every window and leave room for other content',
  async () => {
    await using profile = await portal.profile({ storageState: state })
    const page = await profile.newPage()
    await open(page, '/clients')
    const post = async (address: string, data: object) => {
      const answer = await page.request.post(portal.base + address, { data, headers: { origin: portal.base } })
      assert.equal(answer.status(), 201, await answer.text())
      return String(parseObject(await answer.text())['id'])
    }
    const id = await post('/clients', { name: `A${'b'.repeat(199)}`, reference: 'R'.repeat(100) })
    const record = `/clients/${id}`
    const names = Array.from({ length: 50 }, (_, n) => `Somebody with the Number ${n}`)
    await post(`${record}/notes`, {
      date: '2026-11-20',
      participants: [...names.slice(1), 'x'.repeat(200)],
      text: 'y'.repeat(600),
    })
    await post(`${record}/disputes`, { invoice: 'I'.repeat(100), amount: '12345678901234.56' })
    await post(`${record}/disputes`, { invoice: 'PA-2026-0117', amount: '123456789012.123456789012' })
    await post(`${record}/letters`, { subject: 'S'.repeat(300), body: 'z'.repeat(600) })
    const places = ['/clients', ...['', '/disputes', '/letters', '/activity', '/revisions'].map((tab) => record + tab)]
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      for (const place of [...places, `/search?q=A${'b'.repeat(20)}`, `/search?q=${'S'.repeat(20)}`]) {
        await open(page, place)
        assert.ok(
          (await page.evaluate<number>('document.documentElement.scrollWidth')) <= width,
          `${place} at ${width}`,
        )
      }
    }
    await open(page, `${record}/disputes`)
    const amount = await page.getByText('12,345,678,901,234.56').boundingBox()
    assert.ok((amount?.width ?? 0) > 110, `the amount has ${amount?.width} pixels`)
    await page.setViewportSize({ width: 360, height: 800 })
    const invoice = await page.getByRole('heading', { name: 'PA-2026-0117' }).boundingBox()
    assert.ok((invoice?.height ?? 100) < 60, `the number of the invoice is ${invoice?.height} pixels high`)
    await page.setViewportSize({ width: 1280, height: 800 })
    await open(page, '/clients')
    const column = await page.getByRole('columnheader', { name: 'Name' }).boundingBox()
    assert.ok((column?.width ?? 0) > 400, `names have ${column?.width} pixels`)
    await open(page, '/audit')
    const details = await page.getByRole('columnheader', { name: 'Details' }).boundingBox()
    assert.ok(details && details.x + details.width <= 1280, `details begin at ${details?.x}`)
  },
)

/** What the last change of the page causes, such as a layout, has happened then. */
const afterTwoFrames = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))`

detail('no page shifts while it loads', async () => {
  await using profile = await portal.profile({ storageState: state })
  await profile.addInitScript(`
    window.shift = 0
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.shift += entry.value })
      .observe({ type: 'layout-shift', buffered: true })`)
  const page = await profile.newPage()
  for (const [name, address] of Object.entries(pages)) {
    await open(page, address)
    await untilItHandlesKeys(page)
    await page.evaluate(afterTwoFrames)
    const shift = await page.evaluate<number>('window.shift')
    assert.ok(shift < 0.02, `${name}: ${shift}`)
  }
})

detail('a page opened by its URL starts at the top, wherever the previous page was scrolled to', async () => {
  await using profile = await portal.profile({ storageState: state, viewport: { width: 1280, height: 600 } })
  const page = await profile.newPage()
  await open(page, '/audit')
  await page.evaluate('scrollTo(0, 400)')
  assert.equal(await page.evaluate<number>('scrollY'), 400)
  await open(page, '/clients')
  await untilItHandlesKeys(page)
  await page.evaluate(afterTwoFrames)
  assert.equal(await page.evaluate<number>('scrollY'), 0)
  await open(page, '/audit')
  await untilInPage(page, 'scrollY === 400')
})

test('the record page loads at most 250 kB of scripts, and nothing from other hosts', async () => {
  await using profile = await portal.profile({ storageState: state })
  const page = await profile.newPage()
  const foreign: string[] = []
  const scripts: Request[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(portal.base)) foreign.push(request.url())
    if (request.resourceType() === 'script') scripts.push(request)
  })
  await page.goto(portal.base + (pages['record'] ?? ''), { waitUntil: 'commit' })
  await page.getByRole('button', { name: 'Add note' }).waitFor()
  const sizes = await Promise.all(scripts.map((script) => script.sizes()))
  const bytes = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0)
  assert.ok(bytes > 50_000 && bytes <= 250_000, `${bytes} bytes of scripts`)
  assert.deepEqual(foreign, [])
})

test('B89: a style or script without the nonce of the page is blocked', async () => {
  const profile = await portal.profile({ storageState: state })
  const page = await profile.newPage()
  await open(page, '/clients')
  const blocked = await page.evaluate<string[]>(`new Promise((resolve) => {
    const blocked = []
    addEventListener('securitypolicyviolation', ({ effectiveDirective }) => blocked.push(effectiveDirective))
    const script = document.createElement('script')
    script.textContent = 'window.ran = true'
    const style = document.createElement('style')
    style.textContent = 'body { display: none }'
    document.head.append(script, style)
    const look = () => {
      if (blocked.length < 2 && !window.ran) setTimeout(look, 50)
      else resolve([...blocked, ...(window.ran ? ['it ran'] : [])])
    }
    look()
  })`)
  assert.deepEqual(blocked.toSorted(), ['script-src-elem', 'style-src-elem'])
  const complaints: string[] = []
  await until(() => complaints.push(...portal.takeComplaints()) >= 2)
  await profile.close()
  assert.equal(complaints.length, 2, complaints.join('\n'))
  for (const each of complaints) assert.match(each, /Content Security Policy/)
})

detail('a day of the audit log is in the firm’s time zone, and can be typed digit by digit', async () => {
  await using profile = await portal.profile({ storageState: state, timezoneId: 'America/New_York' })
  const page = await profile.newPage()
  const answers: number[] = []
  page.on('response', (answer) => answers.push(answer.status()))
  await open(page, '/audit')
  await page.getByRole('columnheader', { name: 'Time (Pacific/Auckland)' }).waitFor()
  const from = page.getByLabel('From date')
  await from.focus()
  await page.keyboard.type('11222026')
  // Each digit of the year makes another valid date.
  await page.waitForURL(({ searchParams }) => searchParams.get('from') === '2026-11-21T11:00:00.000Z')
  await page.getByLabel('To date').fill('2026-11-22')
  await page.waitForURL(/to=/)
  assert.equal(new URL(page.url()).searchParams.get('to'), '2026-11-22T11:00:00.000Z')
  await page.reload()
  assert.equal(await from.inputValue(), '2026-11-22')
  assert.equal(await page.getByLabel('To date').inputValue(), '2026-11-22')
  assert.ok(answers.every((status) => status < 400))
  await from.fill('')
  await page.waitForURL((url) => !url.searchParams.has('from'))
})

detail('a record is printed completely, dark on light, with its times', async () => {
  await using profile = await portal.profile({
    storageState: state,
    colorScheme: 'dark',
    viewport: { width: 1100, height: 780 },
  })
  const page = await profile.newPage()
  await open(page, pages['letters'] ?? '')
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  const shown = await page.evaluate<{ cut: number; text: string; side: boolean; wide: number; time: string }>(`({
    cut: [...document.querySelectorAll('[data-cut]')].filter((each) => each.scrollHeight > each.clientHeight).length,
    text: getComputedStyle(document.querySelector('h1')).color,
    side: document.querySelector('aside:has(nav)').checkVisibility(),
    wide: document.querySelector('main').getBoundingClientRect().width,
    time: getComputedStyle(document.querySelector('article footer time'), '::after').content,
  })`)
  assert.equal(shown.cut, 0)
  assert.equal(shown.text, 'rgb(27, 29, 34)')
  assert.deepEqual([shown.side, shown.wide], [false, 1100])
  assert.match(shown.time, /\d{4} at \d\d:\d\d/)
})

const countOf = (written: string, words: RegExp) => written.match(words)?.length ?? 0

detail('on paper, the short entries of a record and the rows of tables are each on one page', async () => {
  await using profile = await portal.profile({ storageState: state })
  const page = await profile.newPage()
  const headers = { origin: portal.base }
  const data = { name: 'Printed' }
  const made = await page.request.post(`${portal.base}/clients`, { data, headers })
  const record = `/clients/${String(parseObject(await made.text())['id'])}`
  for (let index = 0; index < 24; index++) {
    const entry = { date: '2026-11-20', minutes: 30, text: 'Advice', rate: '120' }
    const added = await page.request.post(`${portal.base + record}/time_entries`, { data: entry, headers })
    assert.equal(added.status(), 201, await added.text())
  }
  const participants = Array.from({ length: 30 }, (_, index) => `Participant number ${index}`)
  await page.request.post(`${portal.base + record}/notes`, {
    data: { date: '2026-11-20', participants, text: 'Note.' },
    headers,
  })
  const printedPages = async (address: string, format: string) => {
    await open(page, address)
    const file = new Uint8Array(await page.pdf({ format }))
    return (await extractText(await getDocumentProxy(file))).text
  }
  for (const format of ['A4', 'Letter']) {
    const entries = await printedPages(`${record}/time_entries`, format)
    assert.ok(entries.length > 1)
    assert.equal(countOf(entries.join('\n'), /Advice/g), 24)
    for (const each of entries) {
      assert.ok(countOf(each, /Advice/g) > 0, `each page has entries, the first one beside its title: ${each}`)
      assert.equal(countOf(each, /Advice/g), countOf(each, /Written by/g), each)
    }
    const rows = await printedPages('/audit', format)
    assert.ok(rows.length > 1)
    for (const each of rows) assert.equal(countOf(each, /Time entry created/g), countOf(each, /time entry/g), each)
    assert.match((await printedPages(record, format)).join('\n'), /Participant\s+number\s+29/)
  }
})

detail('lists are printed without their filters, dark on light, even if the screen is dark', async () => {
  await using profile = await portal.profile({ storageState: state, colorScheme: 'dark' })
  const page = await profile.newPage()
  for (const name of ['clients', 'audit', 'invoices', 'requests', 'usage', 'people', 'search', 'record'] as const) {
    await open(page, pages[name] ?? '')
    await page.locator('[data-mantine-color-scheme=dark]').waitFor()
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    const { fields, links, dark } = await page.evaluate<{
      fields: number
      links: string[]
      dark: string[]
    }>(`(() => {
      const shown = (selector) => [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility())
      const isDark = (each) => {
        const [red, green, blue, alpha = 1] = getComputedStyle(each).backgroundColor.match(/[\\d.]+/g).map(Number)
        return alpha > 0.5 && red + green + blue < 250
      }
      return {
        fields: shown('main search, main input:is([type=search], [type=checkbox]), main button').length,
        links: [...new Set(shown('main a').map((each) => getComputedStyle(each).color))],
        dark: shown('body *').filter(isDark).map((each) => each.outerHTML.slice(0, 120)),
      }
    })()`)
    assert.equal(fields, 0, name)
    assert.ok(!links.includes('rgb(147, 172, 238)'), `${name}: ${links.join('; ')}`)
    assert.deepEqual(dark, [], name)
    await page.emulateMedia({ media: 'screen', colorScheme: 'dark' })
  }
})

detail('the audit log shows badges in full on a screen of 1024 pixels, and fits it', async () => {
  await using profile = await portal.profile({ storageState: state, viewport: { width: 1024, height: 768 } })
  const page = await profile.newPage()
  await open(page, '/audit')
  await page.route(/outcome=refused/, async (route) => {
    const actor = { kind: 'person', id: '0199d6a0-0000-7000-8000-000000000000', name: 'Ruth Penhallow' }
    const client = { id: actor.id, name: 'Wainwright & Daughters Catering' }
    const row = { id: '1', at: '2026-11-02T10:00:00Z', action: 'client_updated', outcome: 'refused', actor, client }
    const rest = { person: null, noun: null, noun_id: null, request_id: null, address: '198.51.100.123' }
    const details = { tried: 'client_updated', fields: 'name reference email address consultant' }
    await route.fulfill({ json: { audit: [{ ...row, ...rest, details }], next: null } })
  })
  await page.getByLabel('Outcome').selectOption('refused')
  await page.getByText('tried: client_updated').waitFor()
  const cut = await page.evaluate<{ badges: number; page: boolean }>(`(() => {
    const labels = [...document.querySelectorAll('tbody .mantine-Badge-label')]
    const frame = document.querySelector('table').parentElement
    return {
      badges: labels.filter((each) => each.scrollWidth > each.clientWidth).length,
      page: frame.scrollWidth > frame.clientWidth,
    }
  })()`)
  assert.deepEqual(cut, { badges: 0, page: false })
})

detail('the page of a letter is printed with its text, and without its buttons', async () => {
  await using profile = await portal.profile({ storageState: state })
  const page = await profile.newPage()
  const letters = `${portal.base}${pages['record'] ?? ''}/letters`
  const made = await page.request.post(letters, {
    data: { subject: 'To print', body: 'Printed.' },
    headers: { origin: portal.base },
  })
  await page.goto(`${letters}/${String(parseObject(await made.text())['id'])}`)
  const editor = page.getByRole('textbox', { name: 'Letter', exact: true })
  await editor.waitFor()
  await page.emulateMedia({ media: 'print' })
  assert.ok(await editor.isVisible())
  assert.equal(await page.getByRole('button').count(), 0)
})

detail('forced colours show the current page and the selection', async () => {
  await using profile = await portal.profile({ storageState: state, forcedColors: 'active' })
  const page = await profile.newPage()
  const style = (selector: string, property: string) =>
    page.evaluate<string>(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${property}`)
  await open(page, pages['record'] ?? '')
  const tab = 'nav[aria-label=Record] a[aria-current]'
  assert.notEqual(await style(tab, 'borderBottomColor'), await style(`${tab} + a`, 'borderBottomColor'))
  assert.equal(await style('aside a[href="/clients"]', 'outlineStyle'), 'solid')
  assert.equal(await style('aside a[href="/audit"]', 'outlineStyle'), 'none')
  await open(page, '/clients')
  await untilItHandlesKeys(page)
  await page.keyboard.press('j')
  assert.equal(await style('[data-row]:focus', 'outlineStyle'), 'solid')
  assert.equal(await style('input[value=active]:checked + label', 'textDecorationLine'), 'underline')
  assert.equal(await style('input[value=archived] + label', 'textDecorationLine'), 'none')
})
