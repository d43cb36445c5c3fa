import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { openBrowser, type TestBrowser } from '../support/browser.ts'

let browser: TestBrowser
let servers: readonly [Server, Server]
let page: Page
let elsewhere: string

/** A page, an address without CORS headers, and one whose Cross-Origin-Resource-Policy keeps it to its own origin. */
function serve(): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url === '/own.svg') response.setHeader('cross-origin-resource-policy', 'same-origin')
    response.setHeader('content-type', request.url === '/own.svg' ? 'image/svg+xml' : 'text/html')
    response.end('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>')
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}

function addressOf(server: Server): string {
  const address = server.address()
  assert.ok(typeof address === 'object' && address)
  return `http://127.0.0.1:${address.port}`
}

before(async () => {
  servers = [await serve(), await serve()]
  browser = await openBrowser()
  page = await (await browser.profile()).newPage()
  await page.goto(addressOf(servers[0]))
  elsewhere = addressOf(servers[1])
})
after(async () => {
  await browser.close()
  for (const server of servers) server.close()
})

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
  assert.equal(await fetched(elsewhere), 'TypeError: Failed to fetch')
  assert.match(browser.takeComplaints().join('\n'), /blocked by CORS policy/)
})

test('the test browser enforces Cross-Origin-Resource-Policy', async () => {
  assert.equal(await fetched(`${elsewhere}/`, 'no-cors'), 'opaque')
  assert.equal(await fetched('/own.svg', 'no-cors'), 'basic')
  assert.equal(await fetched(`${elsewhere}/own.svg`, 'no-cors'), 'TypeError: Failed to fetch')
  browser.takeComplaints()
})
