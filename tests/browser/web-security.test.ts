import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBrowser } from '../support/browser.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { serve } from '../support/server.ts'

/** A page, an address without CORS headers, and one whose Cross-Origin-Resource-Policy keeps it to its own origin. */
const servePage = () =>
  serve((request, response) => {
    if (request.url === '/own.svg') response.setHeader('cross-origin-resource-policy', 'same-origin')
    response.setHeader('content-type', request.url === '/own.svg' ? 'image/svg+xml' : 'text/html')
    response.end('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>')
  })

const own = fixture(servePage)
const elsewhere = fixture(servePage)
const browser = fixture(() => openBrowser())
const page = fixture(async () => (await browser.profile()).newPage())
setUp(() => page.goto(own.url))

/** What the page receives when it fetches a URL. */
const fetched = (address: string, mode: 'cors' | 'no-cors' = 'cors') =>
  page.evaluate(
    ([url, how]) =>
      fetch(url, { mode: how }).then(
        (response) => response.type,
        (error: unknown) => String(error),
      ),
    [address, mode] as const,
  )

test('the test browser enforces the same-origin policy', async () => {
  assert.equal(await fetched('/'), 'basic')
  assert.equal(await fetched(elsewhere.url), 'TypeError: Failed to fetch')
  assert.match(browser.takeComplaints().join('\n'), /blocked by CORS policy/)
})

test('the test browser enforces Cross-Origin-Resource-Policy', async () => {
  assert.equal(await fetched(`${elsewhere.url}/`, 'no-cors'), 'opaque')
  assert.equal(await fetched('/own.svg', 'no-cors'), 'basic')
  assert.equal(await fetched(`${elsewhere.url}/own.svg`, 'no-cors'), 'TypeError: Failed to fetch')
  browser.takeComplaints()
})
