import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { beforeEach, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { barriersInBothSchemes, noticed } from '../support/browser.ts'
import { startDesk } from '../support/desk.ts'
import { at } from '../support/json.ts'
import { editor, toEndOf } from '../support/letter-editor.ts'
import { detail } from '../support/detail.ts'
import { fixture } from '../support/fixture.ts'

/** The path of a letter of Daniel's. */
let letter: string

const body = 'Dear Anna\n\nAll is **well**.'

const desk = fixture(() => startDesk())
beforeEach(async () => {
  const { record } = await desk.newClient()
  letter = await desk.make(`${record}/letters`, { subject: 'Über the fee: 1/2', body })
})

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

async function choose(page: Page, item: string): Promise<void> {
  await press(page, 'More actions for this letter')
  await page.getByRole('menuitem', { name: item }).click()
}

async function fileOf(page: Page, item: string): Promise<{ name: string; start: string }> {
  const downloading = page.waitForEvent('download')
  await choose(page, item)
  const file = await downloading
  const bytes = await readFile(await file.path())
  assert.ok(bytes.length > 1000)
  return { name: file.suggestedFilename(), start: bytes.subarray(0, 4).toString('latin1') }
}

describe('the page of a letter', () => {
  test('does not approve what was saved on another page, and shows it', async () => {
    await using page = await desk.open(letter)
    await desk.meanwhile('PATCH', letter, { body: 'Theirs.' })
    await press(page, 'Approve')
    await page.getByText('It was changed on another page in the meantime. This page now shows it as it is.').waitFor()
    await editor(page).getByText('Theirs.').waitFor()
    assert.equal(await page.getByText('Compare your change').count(), 0)
    assert.equal(at(await desk.ask(letter), 'status'), 'draft')
  })

  test('B97: approves it, takes that back, and marks it as sent, after which nothing on it can be changed', async () => {
    await using page = await desk.open(letter)
    await press(page, 'Approve')
    await page.getByRole('region', { name: 'Letter' }).getByText('Approved', { exact: true }).waitFor()
    assert.equal(await editor(page).count(), 0)
    await press(page, 'Back to draft')
    await editor(page).waitFor()
    await press(page, 'Approve')
    await press(page, 'Mark as sent')
    const question = page.getByRole('dialog', { name: 'Mark this letter as sent?' })
    await question.getByRole('button', { name: 'Cancel' }).click()
    assert.equal(at(await desk.ask(letter), 'status'), 'approved')
    await press(page, 'Mark as sent')
    await question.getByRole('button', { name: 'Mark as sent' }).click()
    await page.getByRole('region', { name: 'Letter' }).getByText('Sent', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'New version' }).waitFor()
    assert.equal(at(await desk.ask(letter), 'status'), 'sent')

    await page.reload()
    await page.getByRole('button', { name: 'New version' }).waitFor()
    await page.getByRole('region', { name: 'Letter' }).getByText('All is well.').waitFor()
    assert.equal(await page.locator('main [contenteditable=true], main form').count(), 0)
    for (const name of ['Save', 'Approve', 'Back to draft', 'Mark as sent', 'Draft with a model', 'Quote']) {
      assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name)
    }
    assert.deepEqual(await barriersInBothSchemes(page), [])
  })

  detail('begins a new version of a sent letter, which stays as it is', async () => {
    await desk.meanwhile('PATCH', letter, { status: 'sent' })
    await using page = await desk.open(letter)
    await press(page, 'New version')
    await editor(page).getByText('All is well.').waitFor()
    const next = new URL(page.url()).pathname
    assert.notEqual(next, letter)
    await toEndOf(page, 'All is well.')
    await page.keyboard.type(' Truly.')
    await page.keyboard.press('Control+Enter')
    await noticed(page, 'The letter was saved.')
    assert.equal(at(await desk.ask(next), 'body'), `${body} Truly.`)
    assert.equal(at(await desk.ask(letter), 'body'), body)
  })

  detail('downloads it as PDF and for Word, with its subject as the name', async () => {
    await using page = await desk.open(letter)
    assert.deepEqual(await fileOf(page, 'Download PDF'), { name: 'Über the fee 1 2.pdf', start: '%PDF' })
    assert.deepEqual(await fileOf(page, 'Download for Word'), {
      name: 'Über the fee 1 2.docx',
      start: 'PK\u0003\u0004',
    })
  })

  detail('makes no files of a text that is not saved', async () => {
    await using page = await desk.open(letter)
    const menu = page.getByRole('button', { name: 'More actions for this letter' })
    await editor(page).click()
    await page.keyboard.type('New. ')
    await page.locator('button[aria-label="More actions for this letter"]:disabled').waitFor()
    assert.equal(await menu.getAttribute('title'), 'Save or discard your changes first')
    await page.keyboard.press('Control+Enter')
    await noticed(page, 'The letter was saved.')
    await menu.click()
    await page.getByRole('menuitem', { name: 'Download for Word' }).waitFor()
  })

  detail('says why it cannot be downloaded as PDF', async () => {
    const { record } = await desk.newClient()
    await using page = await desk.open(
      await desk.make(`${record}/letters`, { subject: 'Good news', body: 'Cuneiform 𒀀' }),
    )
    await choose(page, 'Download PDF')
    await page.getByText('A PDF of this letter cannot show 𒀀').waitFor()
  })

  detail('opens it to print, without the portal around it, and copies its text', async () => {
    await using page = await desk.open(letter)
    const opening = page.waitForEvent('popup')
    await choose(page, 'Print')
    const print = await opening
    await print.getByText('All is well.').waitFor()
    assert.equal(new URL(print.url()).pathname, `${letter}/print`)
    assert.equal(await print.locator('nav, button, form, script').count(), 0)
    await print.close()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await choose(page, 'Copy text')
    await noticed(page, 'The text was copied.')
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), body)
  })
})
