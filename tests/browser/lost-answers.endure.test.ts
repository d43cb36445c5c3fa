import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { loseNext, noteField, startDesk } from '../support/desk.ts'
import { at } from '../support/json.ts'
import { fixture } from '../support/fixture.ts'

/** The path of a new client of Daniel's. */
let record: string

const desk = fixture(() => startDesk())
beforeEach(async () => {
  ;({ record } = await desk.newClient())
})

/** Saves a note whose response is lost. */
async function loseNote(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add note' }).click()
  await noteField(page).fill('Written once.')
  await loseNext(page, 'POST')
  await noteField(page).press('Control+Enter')
  await page.getByRole('alert').getByText('Nothing is saved twice.').waitFor()
}

describe('a save whose response is lost', () => {
  test('is retried, and creates one note with the latest text', async () => {
    await using page = await desk.open(record)
    await loseNote(page)
    assert.deepEqual(await desk.notes(record), ['Written once.', 'As it was.'])
    await noteField(page).fill('Written once, and more.')
    await noteField(page).press('Control+Enter')
    await page.getByRole('article').filter({ hasText: 'Written once, and more.' }).waitFor()
    assert.deepEqual(await desk.notes(record), ['Written once, and more.', 'As it was.'])
    desk.takeComplaints()
  })

  test('does not undo what another person has changed meanwhile', async () => {
    await using page = await desk.open(record)
    await loseNote(page)
    const made = at(await desk.ask(`${record}/notes`), 'notes', 0, 'id')
    await desk.meanwhile('PATCH', `${record}/notes/${String(made)}`, { text: 'Mended.' })
    await noteField(page).press('Control+Enter')
    await page.getByRole('article').filter({ hasText: 'Mended.' }).waitFor()
    assert.deepEqual(await desk.notes(record), ['Mended.', 'As it was.'])
    desk.takeComplaints()
  })

  test('overwrites nothing that another person has saved since', async () => {
    await using page = await desk.open(record)
    await page.getByRole('button', { name: 'Edit note' }).click()
    await noteField(page).fill('Mine.')
    await loseNext(page, 'PATCH')
    await noteField(page).press('Control+Enter')
    await page.getByRole('alert').waitFor()
    const made = at(await desk.ask(`${record}/notes`), 'notes', 0, 'id')
    await desk.meanwhile('PATCH', `${record}/notes/${String(made)}`, { text: 'Theirs.' })
    await noteField(page).press('Control+Enter')
    await page.getByRole('dialog').getByText('Ruth Penhallow saved this while you were writing').waitFor()
    assert.deepEqual(await desk.notes(record), ['Theirs.'])
    desk.takeComplaints()
  })

  test('does not conflict with itself', async () => {
    await using page = await desk.open(record)
    for (const text of ['Changed once.', 'Changed again.']) {
      await page.getByRole('button', { name: 'Edit note' }).click()
      await noteField(page).fill(text)
      await loseNext(page, 'PATCH')
      await noteField(page).press('Control+Enter')
      await page.getByRole('alert').waitFor()
      if (text === 'Changed again.') await noteField(page).fill('Changed again, and more.')
      await noteField(page).press('Control+Enter')
      await page.getByRole('button', { name: 'Edit note' }).waitFor()
      assert.equal(await page.getByRole('dialog').count(), 0)
    }
    assert.deepEqual(await desk.notes(record), ['Changed again, and more.'])
    desk.takeComplaints()
  })

  test('does not conflict with itself if an amount is displayed differently than it was typed', async () => {
    await desk.make(`${record}/disputes`, { invoice: 'Z-4', amount: '7' })
    await using page = await desk.open(`${record}/disputes`)
    await page.getByRole('button', { name: 'Edit dispute' }).click()
    await page.getByLabel('Amount').fill('5')
    await loseNext(page, 'PATCH')
    await page.getByLabel('Amount').press('Control+Enter')
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Amount').press('Control+Enter')
    await page.getByRole('button', { name: 'Edit dispute' }).or(page.getByRole('dialog')).waitFor()
    assert.equal(await page.getByRole('dialog').count(), 0)
    assert.equal(at(await desk.ask(`${record}/disputes`), 'disputes', 0, 'version'), 2)
    desk.takeComplaints()
  })
})
