import assert from 'node:assert/strict'
import type { BrowserContext, Page, Route } from 'playwright-core'
import { signIn, startPortal, untilItHandlesKeys } from './browser.ts'
import { at, parseObject } from './json.ts'

const headers = { 'sec-fetch-site': 'same-origin', accept: 'application/json' }

/** Starts the portal with Ruth, a partner, and Daniel, a consultant, each signed in with a browser profile. `configuration` is the text of tollgate.yaml. */
export async function startDesk(configuration?: string) {
  const portal = await startPortal(configuration)
  try {
    const [ruth, daniel] = await Promise.all([portal.profile(), portal.profile()])
    await signIn(ruth, portal.base, 'Ruth Penhallow')
    await signIn(daniel, portal.base, 'Daniel Okonjo')
    return { ...portal, headers, ruth, daniel, ...deedsOf(portal.base, ruth, daniel) }
  } catch (error) {
    await portal.close()
    throw error
  }
}

function deedsOf(base: string, ruth: BrowserContext, daniel: BrowserContext) {
  async function make(address: string, data: object): Promise<string> {
    const answer = await daniel.request.post(base + address, { data, headers })
    return `${address}/${String(parseObject(await answer.text())['id'])}`
  }

  /** The server's response to Daniel for a path. */
  async function ask(address: string): Promise<unknown> {
    return (await daniel.request.get(base + address, { headers })).json()
  }

  return {
    /** Daniel creates something. Returns its path. */
    make,
    /** The paths of a new client of Daniel's and of its only note. */
    async newClient(): Promise<{ record: string; note: string }> {
      const record = await make('/clients', { name: 'Somebody New' })
      return { record, note: await make(`${record}/notes`, { date: '2026-11-20', text: 'As it was.' }) }
    },
    /** A change by Ruth. */
    async meanwhile(method: 'PATCH' | 'DELETE', address: string, data = {}): Promise<void> {
      const answer = await ruth.request.fetch(base + address, {
        method,
        headers: { ...headers, 'if-match': '*' },
        ...(method === 'PATCH' && { data }),
      })
      assert.ok(answer.ok(), await answer.text())
    },
    /** Opens a page as Daniel. */
    async open(address: string): Promise<Page> {
      const page = await daniel.newPage()
      await page.goto(base + address)
      await page.locator('h1').waitFor()
      await untilItHandlesKeys(page)
      return page
    },
    ask,
    /** Reads the texts of a client's notes. */
    async notes(record: string): Promise<unknown[]> {
      const found = at(await ask(`${record}/notes`), 'notes')
      assert.ok(Array.isArray(found))
      return found.map((each) => at(each, 'text'))
    },
  }
}

export const noteField = (page: Page) => page.getByLabel('Note', { exact: true })

/** The server receives the next such request for an item, and its response is lost. */
export async function loseNext(page: Page, method: 'POST' | 'PATCH'): Promise<void> {
  let isLost = false
  const lose = async (route: Route) => {
    const request = route.request()
    if (isLost || request.method() !== method) return route.continue()
    isLost = true
    const sent = await route.fetch({ headers: { ...request.headers(), ...headers } })
    assert.ok(sent.ok(), await sent.text())
    return route.abort()
  }
  await page.route(/\/clients\/[^/]+\/(?:notes|disputes|letters)/, lose)
}

/** Holds back requests to such a URL until the returned function is called. */
export async function holdUp(page: Page, address: string, method: 'GET' | 'POST' = 'POST'): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(address, async (route) => {
    if (route.request().method() === method) await promise
    return route.continue()
  })
  return resolve
}
