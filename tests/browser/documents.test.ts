import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { beforeEach, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { barriersInBothSchemes, noticed } from '../support/browser.ts'
import { startDesk } from '../support/desk.ts'
import { fixture } from '../support/fixture.ts'
import { at } from '../support/json.ts'
import { pngOf } from '../support/sample-files.ts'

const desk = fixture(() => startDesk())
let record: string
beforeEach(async () => {
  record = await desk.make('/clients', { name: 'Paper Mill' })
})

interface Sent {
  readonly name: string
  readonly text: string
}

/** Files arrive with a paste or a drop as the browser reports them. */
const arrive = (page: Page, how: 'ClipboardEvent' | 'DragEvent', { name, text }: Sent) =>
  page.evaluate(`{
    const data = new DataTransfer()
    data.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}))
    const what = { clipboardData: data, dataTransfer: data, bubbles: true, cancelable: true }
    document.querySelector('input[type=file]').dispatchEvent(new ${how}('${how === 'DragEvent' ? 'drop' : 'paste'}', what))
  }`)

const choose = (page: Page, ...files: readonly { name: string; mimeType: string; buffer: Buffer }[]) =>
  page.locator('input[type=file]').setInputFiles([...files])
const file = (name: string, buffer: Buffer) => ({ name, mimeType: 'application/octet-stream', buffer })
const isWide = (page: Page) => page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
const documentsOf = async () => at(await desk.ask(`${record}/documents`), 'documents')

/** Whether something is drawn on the preview besides its background. */
const isDrawn = (page: Page) =>
  page.evaluate<boolean>(`(() => {
    const canvas = document.querySelector('section[aria-label=Preview] canvas')
    const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data
    return pixels.some((value, index) => index % 4 !== 3 && value < 128 && pixels[index | 3] > 128)
  })()`)
const untilDrawn = async (page: Page) => {
  while (!(await isDrawn(page))) await page.evaluate('new Promise(requestAnimationFrame)')
}

describe('documents of a record', () => {
  test('are added by choosing, dropping and pasting, several at once, and downloaded as they were', async () => {
    await using page = await desk.open(`${record}/documents`)
    await page.getByText('No documents yet').waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await choose(page, file('one.txt', Buffer.from('the first')), file('empty.txt', Buffer.alloc(0)))
    await page.getByRole('link', { name: 'one.txt' }).waitFor()
    await page.getByRole('link', { name: 'empty.txt' }).waitFor()
    await arrive(page, 'DragEvent', { name: 'dropped.txt', text: 'x'.repeat(1_500_000) })
    await page.getByRole('link', { name: 'dropped.txt' }).waitFor()
    await arrive(page, 'ClipboardEvent', { name: 'pasted.html', text: '<script>alert(1)</script>' })
    await page.getByRole('link', { name: 'pasted.html' }).waitFor()
    await page.getByText('4 documents, 1.5 MB').waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await page.setViewportSize({ width: 320, height: 600 })
    assert.equal(await isWide(page), false)
    await page.getByRole('button', { name: 'More actions for this document' }).first().click()
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Download' }).click(),
    ])
    assert.equal(saved.suggestedFilename(), 'pasted.html')
    assert.equal(await readFile(await saved.path(), 'utf8'), '<script>alert(1)</script>')
  })

  test('that cannot be uploaded say why, and are sent again', async () => {
    await using page = await desk.open(`${record}/documents`)
    let lost = 0
    await page.route('**/uploads', (route) => {
      lost += 1
      return lost === 1 ? route.fulfill({ status: 503, body: '' }) : route.continue()
    })
    await choose(page, file('lost.txt', Buffer.from('lost and found')))
    await page.getByRole('link', { name: 'lost.txt' }).waitFor()
    assert.equal(lost, 2)
    await page.route('**/documents', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 409, body: '{"error":{"reason":"Full."}}' })
        : route.continue(),
    )
    await choose(page, file('refused.txt', Buffer.from('refused')))
    await page.getByRole('alert').getByText('Full.').waitFor()
    await page.unroute('**/documents')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: 'refused.txt' }).waitFor()
    assert.equal(await page.getByRole('alert').count(), 0)
  })

  test('show pictures and the pages of a PDF, one at a time, and nothing of other files', async () => {
    const letter = await desk.make(`${record}/letters`, { subject: 'Long', body: 'A paragraph.\n\n'.repeat(150) })
    const pdf = await (await desk.daniel.request.get(`${desk.base}${letter}/pdf`)).body()
    await using page = await desk.open(`${record}/documents`)
    await choose(page, file('dot.png', pngOf(40, 40)), file('letter.pdf', pdf), file('page.svg', Buffer.from('<svg/>')))
    await page.getByRole('link', { name: 'dot.png' }).click()
    await page.locator('canvas', { hasText: 'dot.png' }).waitFor()
    await untilDrawn(page)
    await page.getByRole('link', { name: 'All documents' }).click()
    await page.getByRole('link', { name: 'letter.pdf' }).click()
    await page.getByText(/Page 1 of [3-9]/).waitFor()
    await untilDrawn(page)
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.locator('canvas', { hasText: 'Page 2 of letter.pdf' }).waitFor()
    await untilDrawn(page)
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await page.setViewportSize({ width: 320, height: 600 })
    assert.equal(await isWide(page), false)
    await page.getByRole('link', { name: 'All documents' }).click()
    await page.getByRole('link', { name: 'page.svg' }).click()
    await page.getByRole('heading', { name: 'Versions' }).waitFor()
    assert.equal(await page.getByRole('region', { name: 'Preview' }).count(), 0)
  })

  test('get new versions, and an earlier one is restored', async () => {
    await using page = await desk.open(`${record}/documents`)
    await choose(page, file('plan.txt', Buffer.from('the first plan')))
    await page.getByRole('link', { name: 'plan.txt' }).click()
    await page.getByRole('button', { name: 'Upload a new version' }).waitFor()
    await choose(page, file('other name.txt', Buffer.from('the second')))
    await page.getByText('Version 2').waitFor()
    await Promise.all([
      page.getByRole('button', { name: 'Restore this version: 1' }).click(),
      noticed(page, 'Version 1 was restored.'),
    ])
    await page.getByText('Version 3').waitFor()
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download this version: 3' }).click(),
    ])
    assert.equal(await readFile(await saved.path(), 'utf8'), 'the first plan')
    assert.deepEqual([at(await documentsOf(), 0, 'name'), at(await documentsOf(), 0, 'version')], ['plan.txt', 3])
  })
})
