import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { filesLeft } from '../../scripts/suite/batch.js'
import { demoPeople } from '../../src/demo/people.ts'
import { startChromium } from './chromium.ts'
import { startDemo } from './demo.ts'
import { isEndure } from './draws.ts'
import { closeShared, shared } from './shared.ts'
import { until } from './until.ts'

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** The part of axe's results that tests read. */
interface Violation {
  readonly id: string
  readonly impact?: string | null
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
}

/** A browser, and the errors and warnings of its pages. */
export type TestBrowser = Awaited<ReturnType<typeof openBrowser>>

/** Chrome logs this for every refused request. Tests cause refusals on purpose. */
const ordinary = /^Failed to load resource: the server responded with a status of (?:4\d\d|503)/

let chromium: Promise<Browser> | undefined

/** The Chromium of this process. Another one replaces it if it has crashed. */
async function findChromium(): Promise<Browser> {
  const browser = await (chromium ??= startChromium())
  if (!browser.isConnected()) chromium = startChromium()
  return chromium
}

/**
 * Opens a Chromium that the test files of a process share. Closing it closes the profiles, and fails if a page had an error or violated its
 * Content-Security-Policy, or in the long form if axe found a barrier in a dialog.
 */
export async function openBrowser() {
  const browser = await findChromium()
  const profiles: BrowserContext[] = []
  const complaints: string[] = []

  function watch(page: Page): void {
    page.on('console', (message) => {
      const wrong = ['error', 'warning'].includes(message.type()) && !ordinary.test(message.text())
      if (wrong) complaints.push(`${page.url()}: ${message.text()}`)
    })
    page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.stack ?? error.message}`))
  }

  return {
    /** A new browser profile, not signed in. Unless `firstPicture`, its pages are white until the app has started, so that no step acts before. */
    async profile(options: BrowserContextOptions = {}, { firstPicture = false } = {}): Promise<BrowserContext> {
      const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
      profiles.push(context)
      context.setDefaultTimeout(60_000)
      await context.addInitScript({ content: recordNotices })
      if (!firstPicture) await context.addInitScript({ content: removeFirstPicture })
      if (isEndure) await context.addInitScript({ content: `${axe}\n${examineDialogs}` })
      context.on('page', watch)
      return context
    },
    /** Returns the complaints since the last call. They no longer fail `close`. */
    takeComplaints: (): string[] => complaints.splice(0),
    async close(): Promise<void> {
      await Promise.all(profiles.map((profile) => profile.close()))
      if (filesLeft() === 0) {
        await browser.close()
        await closeShared()
      }
      assert.deepEqual(complaints, [])
    },
  }
}

/**
 * Keeps the text of each notice, which the page shows for a few seconds only, and leaves those with a button on the page. Letters do
 * not save themselves after a pause, which a busy machine may make at any time, until a test calls `window.rest()`.
 */
const recordNotices = `{
  const known = new WeakMap()
  window.notices = []
  new MutationObserver(() => {
    for (const each of document.querySelectorAll('.mantine-Notification-root')) {
      if (known.get(each) !== each.textContent) window.notices.push(each.textContent)
      known.set(each, each.textContent)
    }
  }).observe(document, { childList: true, subtree: true, characterData: true })
  const { setTimeout: real, setInterval: often } = window
  window.setTimeout = (call, delay, ...values) => real(call, delay === 12_000 ? 600_000 : delay, ...values)
  window.setInterval = (call, delay, ...values) => {
    if (delay === 5000) window.rest = call
    return often(call, delay === 5000 ? 600_000 : delay, ...values)
  }
}`

/**
 * Runs axe on each dialog when it opens, also on those that no test examines, and logs its barriers as errors. One run at a time: axe
 * refuses another. What it finds in a dialog that was closed meanwhile does not count.
 */
const examineDialogs = `{
  const { run } = axe
  let last = Promise.resolve()
  axe.run = (...values) => last = last.catch(() => undefined).then(() => run(...values))
  const known = new WeakSet()
  const examine = async (dialog) => {
    // Its title names it after it was rendered.
    await new Promise((resolve) => setTimeout(resolve, 150))
    const { violations } = await axe.run(dialog, { iframes: false, resultTypes: ['violations'] })
    const barriers = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    if (!dialog.isConnected || !dialog.checkVisibility()) return
    for (const { id, nodes } of barriers) console.error('axe: ' + id + ': ' + nodes.map(({ html }) => html).join(' '))
  }
  new MutationObserver(() => {
    for (const dialog of document.querySelectorAll('[role=dialog]')) {
      if (known.has(dialog) || !dialog.checkVisibility()) continue
      known.add(dialog)
      examine(dialog).catch(() => undefined)
    }
  }).observe(document, { childList: true, subtree: true })
}`

/** Waits until the page has shown a notice with this text since the last call for it. The notice may be gone again. */
export async function noticed(page: Page, text: string): Promise<void> {
  const take = `(() => {
    const index = window.notices.findIndex((each) => each.includes(${JSON.stringify(text)}))
    if (index >= 0) window.notices.splice(index, 1)
    return index >= 0
  })()`
  await untilInPage(page, take)
}

/** Removes what the server has drawn as soon as it arrives. */
const removeFirstPicture = `{
  const observer = new MutationObserver(() => {
    for (const each of document.querySelectorAll('#first, #first-style')) each.remove()
    if (document.readyState !== 'loading') observer.disconnect()
  })
  observer.observe(document, { childList: true, subtree: true })
}`

export type TestPortal = Awaited<ReturnType<typeof startPortal>>

const sharedDemo = shared(() => startDemo())

/** The demo, which is shared if it has no configuration of its own, and a browser. If one does not start, the other is closed. */
export async function startPortal(configuration?: string) {
  return withBrowser(await (configuration === undefined ? sharedDemo() : startDemo(configuration)))
}

/** A demo and a browser, which are closed together. */
export async function withBrowser<Demo extends Pick<Awaited<ReturnType<typeof startDemo>>, 'base' | 'close'>>(
  demo: Demo,
) {
  try {
    const browser = await openBrowser()
    return {
      ...demo,
      ...browser,
      async close(): Promise<void> {
        try {
          await browser.close()
        } finally {
          await demo.close()
        }
      },
    }
  } catch (error) {
    await demo.close()
    throw error
  }
}

/** Signs in as a person of the demo. The steps are requests without pages. */
export async function signIn({ request }: BrowserContext, base: string, name: string): Promise<void> {
  const choice = await request.get(`${base}/auth/start/demo?return_to=/favicon.ico`)
  const subject = demoPeople.find((person) => person.name === name)?.subject ?? assert.fail(name)
  await request.post(`${choice.url()}/${subject}`)
}

/** Signs in as a person of the demo, then opens `address`. */
export async function signInAs(page: Page, base: string, name: string, address = '/clients'): Promise<void> {
  await signIn(page.context(), base, name)
  await page.goto(base + address)
}

/**
 * Waits until an expression is true in the page. Playwright's own waitForFunction evaluates it again inside the page, which the
 * Content-Security-Policy blocks.
 */
export async function untilInPage(page: Page, expression: string): Promise<void> {
  await until(() => page.evaluate<boolean>(expression))
}

/** Waits until the page handles keys. It sets its title then. */
export async function untilItHandlesKeys(page: Page): Promise<void> {
  await untilInPage(page, `document.title.endsWith(' · Tollgate')`)
}

/**
 * The barriers in light colours, and in dark ones those that depend on colours, for a page that follows the system's. In the long form
 * also those on a phone, or beside it.
 */
export async function barriersInBothSchemes(page: Page): Promise<string[]> {
  const light = await barriers(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  // Pages without the attribute follow the system by their style sheet alone.
  await page.locator('html:not([data-mantine-color-scheme=light])').waitFor()
  const dark = await barriers(page, ['color-contrast', 'link-in-text-block'])
  await page.emulateMedia({ colorScheme: 'light' })
  const resized = isEndure ? await barriersResized(page) : []
  return [
    ...light,
    ...dark.map((each) => `in dark colours: ${each}`),
    ...resized.map((each) => `in the other size: ${each}`),
  ]
}

/** The barriers on a phone, or at a desk if the page is on a phone. */
async function barriersResized(page: Page): Promise<string[]> {
  const size = page.viewportSize()
  if (size === null) return []
  await page.setViewportSize(size.width > 600 ? { width: 390, height: 844 } : { width: 1280, height: 800 })
  const found = await barriers(page)
  await page.setViewportSize(size)
  return found
}

/** The violations that axe calls serious or critical, of these rules or of all. */
export async function barriers(page: Page, rules?: readonly string[]): Promise<string[]> {
  return (await violations(page, rules))
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary ?? ''}`))
}

/**
 * The violations that axe finds, except in frames. It runs inside the page: `@axe-core/playwright` needs five times the
 * processor time, since it fetches every result and evaluates them in a second page.
 */
export async function violations(page: Page, rules?: readonly string[]): Promise<readonly Violation[]> {
  const options = { iframes: false, resultTypes: ['violations'], ...(rules && { runOnly: rules }) }
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axe)
  return page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`)
}
