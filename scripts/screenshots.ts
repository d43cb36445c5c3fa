/** Takes the README's screenshots of the demo: `node scripts/screenshots.ts`. They are identical on every machine. */
import { mkdir, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { signInAs } from '../tests/support/browser.ts'
import { startChromium } from '../tests/support/chromium.ts'
import { startDemo } from '../tests/support/demo.ts'
import { at } from '../tests/support/json.ts'
import { digestsOfPages, type PictureName } from './pictures.ts'

const folder = path.join(import.meta.dirname, '../docs/images')
const desktop = { viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' } as const
const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 1.5, reducedMotion: 'reduce' } as const

interface Picture {
  readonly name: PictureName
  readonly options: BrowserContextOptions
  readonly show: (page: Page, base: string) => Promise<void>
}

const pictures: readonly Picture[] = [
  {
    name: 'overview',
    options: desktop,
    show: async (page, base) => void (await page.goto(base)),
  },
  {
    name: 'clients',
    options: desktop,
    show: async (page) => page.locator('[data-row]').nth(2).focus(),
  },
  {
    name: 'record',
    options: { ...desktop, colorScheme: 'dark' },
    show: openRecord,
  },
  {
    name: 'letter',
    options: desktop,
    async show(page, base) {
      await page.goto(base + (await aDraft(page, base)))
      await page.getByRole('textbox', { name: 'Letter', exact: true }).waitFor()
    },
  },
  {
    name: 'phone',
    options: phone,
    show: openRecord,
  },
]

/** The address of the first draft of a letter that mentions an invoice. */
async function aDraft(page: Page, base: string): Promise<string> {
  await page.goto(`${base}/search?q=invoice`)
  const letters = page.locator('[data-row][href*="/letters/"]')
  await letters.first().waitFor()
  for (const letter of await letters.all()) {
    const address = (await letter.getAttribute('href')) ?? ''
    const answer = await page.request.get(base + address, { headers: { accept: 'application/json' } })
    if (at(await answer.json(), 'status') === 'draft') return address
  }
  throw new Error('no letter that mentions an invoice is a draft')
}

/** A record with a letter. */
async function openRecord(page: Page, base: string): Promise<void> {
  await page.goto(base + (await aDraft(page, base)).replace(/\/letters\/.*/, ''))
  await page.getByRole('button', { name: 'Add note' }).waitFor()
}

await using stack = new AsyncDisposableStack()
const demo = stack.adopt(await startDemo(), (it) => it.close())
const browser = stack.adopt(await startChromium(), (it) => it.close())
await mkdir(folder, { recursive: true })
for (const { name, options, show } of pictures) {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  await signInAs(page, demo.base, 'Ruth Penhallow')
  await show(page, demo.base)
  await page.waitForTimeout(300)
  const file = path.join(folder, `${name}.png`)
  await page.screenshot({ path: file })
  await context.close()
  console.log(`${file} ${(await stat(file)).size} bytes`)
}
// tests/docs.test.ts compares them.
await writeFile(path.join(folder, 'pages.json'), `${JSON.stringify(digestsOfPages(), null, 2)}\n`)
