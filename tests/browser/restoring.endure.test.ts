import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { barriers, barriersInBothSchemes } from '../support/browser.ts'
import { startDesk } from '../support/desk.ts'
import { at } from '../support/json.ts'
import { fixture } from '../support/fixture.ts'

let record: string
let note: string

const desk = fixture(() => startDesk())
beforeEach(async () => {
  ;({ record, note } = await desk.newClient())
})

const articles = (page: Page) => page.getByRole('article')

async function archiveFirst(page: Page, noun: string): Promise<void> {
  await page.getByRole('button', { name: `More actions for this ${noun}` }).click()
  await page.getByRole('menuitem', { name: `Archive ${noun}` }).click()
}

describe('B98: archiving', () => {
  test('a note is undone from the notification', async () => {
    await using page = await desk.open(record)
    await archiveFirst(page, 'note')
    await page.getByText('No notes yet').waitFor()
    assert.deepEqual(await desk.notes(record), [])
    await page.getByRole('button', { name: 'Undo' }).click()
    await articles(page).filter({ hasText: 'As it was.' }).waitFor()
    assert.deepEqual(await desk.notes(record), ['As it was.'])
  })

  test('a client is undone from the notification', async () => {
    await using page = await desk.open(record)
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Archive client' }).click()
    await page.getByText('Archived', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Archived', { exact: true }).waitFor({ state: 'detached' })
    assert.equal(at(await desk.ask(record), 'status'), 'active')
  })

  for (const [noun, fresh] of [
    ['note', { date: '2026-11-21', text: 'Put away.' }],
    ['dispute', { invoice: 'R-9', amount: '5', position: 'Put away.' }],
    ['letter', { subject: 'Put away', body: 'Put away.' }],
  ] as const) {
    test(`leaves a ${noun} that is listed, read and restored`, async () => {
      const list = `${record}/${noun}s`
      const path = await desk.make(list, fresh)
      await desk.meanwhile('DELETE', path)
      await using page = await desk.open(list)
      await page.getByRole('button', { name: `Show archived ${noun}s` }).click()
      const shown = page.getByRole('region', { name: `Archived ${noun}s` }).getByRole('article')
      await shown.getByText('Archived', { exact: true }).waitFor()
      assert.deepEqual(await barriers(page), [])
      await shown.getByRole('link').first().click()
      await page.waitForURL(desk.base + path)
      await shown.waitFor({ state: 'detached' })
      await page.getByText('Archived', { exact: true }).waitFor()
      assert.equal(await page.getByRole('button', { name: `Edit ${noun}` }).count(), 0)
      assert.equal(await page.getByRole('button', { name: /^Restore this version/ }).count(), 0)
      await page.getByRole('button', { name: 'Restore', exact: true }).click()
      await page.getByText('Archived', { exact: true }).waitFor({ state: 'detached' })
      assert.equal(at(await desk.ask(path), 'archived_at'), null)
    })
  }

  test('is taken back in the list, also on a narrow screen', async () => {
    await desk.meanwhile('DELETE', note)
    await using page = await desk.daniel.newPage()
    await page.setViewportSize({ width: 375, height: 740 })
    await page.goto(desk.base + record)
    await page.getByRole('button', { name: 'Show archived notes' }).click()
    await page.getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByText('No notes are archived.').waitFor()
    await articles(page).filter({ hasText: 'As it was.' }).waitFor()
    assert.equal(await page.evaluate<number>('document.documentElement.scrollWidth'), 375)
  })
})

async function openAsRuth(address: string): Promise<Page> {
  const page = await desk.ruth.newPage()
  await page.goto(desk.base + address)
  await page.locator('h1').waitFor()
  return page
}

async function deleteIt(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Delete client' }).click()
}

async function statusOf(address: string): Promise<number> {
  const answer = await desk.ruth.request.get(desk.base + address, { headers: desk.headers })
  return answer.status()
}

describe('deleting a client', () => {
  test('asks first, and is undone from the notification', async () => {
    await using page = await openAsRuth(record)
    const question = page.getByRole('dialog', { name: 'Delete Somebody New?' })
    await deleteIt(page)
    await question.getByRole('button', { name: 'Cancel' }).click()
    assert.equal(await statusOf(record), 200)
    await deleteIt(page)
    await question.getByRole('button', { name: 'Delete client' }).click()
    await page.waitForURL(`${desk.base}/clients`)
    assert.equal(await statusOf(record), 404)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.waitForURL(desk.base + record)
    await page.getByRole('heading', { name: 'Somebody New', level: 1 }).waitFor()
    assert.equal(await statusOf(record), 200)
  })

  test('leaves it among the deleted ones, where partners restore it, also on a narrow screen', async () => {
    const name = 'A Deleted Client With a Name That Is Much Too Long for One Line of a Phone'
    await desk.meanwhile('PATCH', record, { name })
    await desk.meanwhile('DELETE', record)
    await using page = await openAsRuth('/clients')
    await page.setViewportSize({ width: 375, height: 740 })
    await page.getByText('Deleted', { exact: true }).click()
    await page.waitForURL(/status=deleted/)
    const row = page.getByRole('row').filter({ hasText: name })
    await row.waitFor()
    assert.equal(await row.getByRole('link').count(), 0)
    assert.equal(await page.getByRole('checkbox').count(), 0)
    assert.deepEqual(await barriersInBothSchemes(page), [])
    assert.equal(await page.evaluate<number>('document.documentElement.scrollWidth'), 375)
    await row.getByRole('button', { name: `Restore ${name}` }).click()
    await row.waitFor({ state: 'detached' })
    assert.equal(await statusOf(record), 200)
  })

  test('says why it cannot be restored', async () => {
    await desk.meanwhile('PATCH', record, { reference: 'Taken' })
    await desk.meanwhile('DELETE', record)
    await desk.make('/clients', { name: 'Other', reference: 'taken' })
    await using page = await openAsRuth('/clients?status=deleted&q=taken')
    await page.getByRole('button', { name: 'Restore Somebody New' }).click()
    await page.getByText('The consultant already has a client with this reference').waitFor()
    assert.equal(await statusOf(record), 404)
  })
})

describe('B98: an older version', () => {
  test('of a note is restored as a new one, and the version of now has no button', async () => {
    await desk.meanwhile('PATCH', note, { text: 'As it is now.', participants: ['Ruth'] })
    await using page = await desk.open(note)
    await page.getByRole('button', { name: /^Restore this version/ }).click()
    await articles(page).getByText('As it was.').waitFor()
    const now = await desk.ask(note)
    assert.deepEqual([at(now, 'text'), at(now, 'participants'), at(now, 'version')], ['As it was.', [], 3])
    await page.getByText('Version 3').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Restore this version: 1' }).count(), 0)
    await page.getByRole('button', { name: 'Restore this version: 2' }).waitFor()
  })

  test('of a client is restored, and asks first while something is unsaved', async () => {
    await desk.meanwhile('PATCH', record, { name: 'Somebody Else', email: 'else@example.com' })
    await using page = await desk.open(`${record}/revisions`)
    await page.getByRole('button', { name: 'Edit client' }).click()
    await page.getByLabel('Reference').fill('unsaved')
    await page.getByRole('button', { name: /^Restore this version/ }).click()
    const question = page.getByRole('dialog', { name: 'Restore version 1?' })
    await question.getByRole('button', { name: 'Cancel' }).click()
    assert.equal(at(await desk.ask(record), 'version'), 2)
    await page.getByRole('button', { name: /^Restore this version/ }).click()
    await question.getByRole('button', { name: 'Restore version' }).click()
    await page.getByRole('heading', { name: 'Somebody New' }).waitFor()
    const now = await desk.ask(record)
    assert.deepEqual([at(now, 'name'), at(now, 'email'), at(now, 'version')], ['Somebody New', null, 3])
    assert.equal(await page.getByLabel('Reference').inputValue(), 'unsaved')
  })

  test('of a letter is restored while it is written, not once it is sent', async () => {
    const letter = await desk.make(`${record}/letters`, { subject: 'Offer', body: 'First.' })
    await desk.meanwhile('PATCH', letter, { body: 'Second.' })
    await using page = await desk.open(letter)
    await page.getByText('Versions', { exact: true }).filter({ visible: true }).first().click()
    await page.getByRole('button', { name: 'Restore this version: 1' }).click()
    await page.getByRole('textbox', { name: 'Letter', exact: true }).getByText('First.').waitFor()
    assert.equal(at(await desk.ask(letter), 'body'), 'First.')
    await desk.meanwhile('PATCH', letter, { status: 'sent' })
    await page.reload()
    await page.getByText('Versions', { exact: true }).filter({ visible: true }).first().click()
    await page.getByText('Version 2').waitFor()
    assert.equal(await page.getByRole('button', { name: /^Restore this version/ }).count(), 0)
  })
})
