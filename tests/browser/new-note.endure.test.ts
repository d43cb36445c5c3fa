import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { barriersInBothSchemes } from '../support/browser.ts'
import { noteField, startDesk } from '../support/desk.ts'
import { fixture } from '../support/fixture.ts'

const desk = fixture(() => startDesk())

/** Opens the form of a new note on a new client of Daniel's with these notes. */
async function openForm(notes: readonly object[]): Promise<Page> {
  const record = await desk.make('/clients', { name: 'With Notes' })
  for (const note of notes) await desk.make(`${record}/notes`, note)
  const page = await desk.open(record)
  await page.getByRole('button', { name: 'Add note' }).click()
  return page
}

const participants = (page: Page) => page.getByRole('combobox', { name: 'Participants' })

describe('a new note', () => {
  test('starts in its text, with the date of today', async () => {
    const days = [new Date().toISOString().slice(0, 10)]
    await using page = await openForm([])
    await page.keyboard.type('Agreed.')
    assert.equal(await noteField(page).inputValue(), 'Agreed.')
    days.push(new Date().toISOString().slice(0, 10))
    assert.ok(days.includes(await page.getByLabel('Date').inputValue()))
    await page.keyboard.press('Control+Enter')
    await page.getByRole('article').getByText('Agreed.').waitFor()
  })

  test('suggests the participants of this client’s notes, by keyboard too', async () => {
    await using page = await openForm([
      { date: '2026-03-01', participants: ['Maria Lopes', 'Bea Adler'], text: 'First.' },
      { date: '2026-03-12', participants: ['Daniel Okonjo', 'Maria Lopes'], text: 'Second.' },
    ])
    await page.keyboard.press('Shift+Tab')
    await participants(page).and(page.locator(':focus')).waitFor()
    const list = page.getByRole('listbox', { name: 'Participants' })
    await list.waitFor()
    // Daniel, who writes the note, is a participant already. Other clients' participants are not suggested.
    assert.deepEqual(await list.getByRole('option').allTextContents(), ['Maria Lopes', 'Bea Adler'])
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await page.keyboard.press('Escape')
    await list.waitFor({ state: 'hidden' })
    assert.equal(await page.getByRole('form', { name: 'New note' }).count(), 1, 'Escape closes only the suggestions')
    await page.keyboard.type('bea')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.keyboard.type('Somebody New')
    await page.keyboard.press('Enter')
    await noteField(page).fill('Third.')
    await page.keyboard.press('Control+Enter')
    const saved = page.getByRole('article').filter({ hasText: 'Third.' })
    await saved.getByText('Daniel Okonjo, Bea Adler, Somebody New').waitFor()
  })

  test('closes with Escape, even from its participants without suggestions', async () => {
    await using page = await openForm([])
    await participants(page).focus()
    await page.keyboard.press('Escape')
    await page.getByRole('form', { name: 'New note' }).waitFor({ state: 'detached' })
  })
})
