import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { barriers, barriersInBothSchemes } from '../support/browser.ts'
import { noteField, startDesk } from '../support/desk.ts'
import { at } from '../support/json.ts'
import { fixture } from '../support/fixture.ts'

/** The paths of a new client of Daniel's and of its only note. */
let record: string
let note: string

const desk = fixture(() => startDesk(JSON.stringify({ invoicing: { hourly_rate: '150' } })))
beforeEach(async () => {
  ;({ record, note } = await desk.newClient())
})

/** The form of a note. What is typed there is text of the page too: to be sure that it is saved, wait until the form is gone. */
const editForm = (page: Page) => page.getByRole('form', { name: 'Edit note' })

describe('unsaved text in a form', () => {
  test('is kept when another form is saved, whatever others have changed meanwhile', async () => {
    await using page = await desk.open(record)
    await page.getByRole('button', { name: 'Edit client' }).click()
    await page.getByLabel('Reference').fill('ZZ-11')
    await page.getByRole('button', { name: 'Edit note' }).click()
    await noteField(page).fill('Half a sentence')
    await desk.meanwhile('PATCH', record, { email: 'new@client.example' })
    await desk.meanwhile('DELETE', note)
    await page.getByRole('button', { name: 'Add note' }).click()
    await noteField(page).first().fill('Another note.')
    await noteField(page).first().press('Control+Enter')
    await page.getByRole('article').filter({ hasText: 'Another note.' }).waitFor()
    assert.equal(await page.getByLabel('Reference').inputValue(), 'ZZ-11')
    assert.equal(await noteField(page).inputValue(), 'Half a sentence')
    await noteField(page).press('Control+Enter')
    await page.getByRole('alert').waitFor()
    assert.equal(await noteField(page).inputValue(), 'Half a sentence')
  })

  test('of an item that someone archived is kept, says so, and can be saved once the item is restored', async () => {
    await using page = await desk.open(record)
    await page.getByRole('button', { name: 'Edit note' }).click()
    await noteField(page).fill('Half a sentence')
    await desk.meanwhile('DELETE', note)
    await noteField(page).press('Control+Enter')
    const alert = page.getByRole('alert')
    await alert.getByText(/was archived.*: restore it first\./).waitFor()
    assert.doesNotMatch(await alert.innerText(), /assigned to someone else|give you access/)
    assert.equal(await noteField(page).inputValue(), 'Half a sentence')
    assert.deepEqual(await barriers(page), [])
    await alert.getByRole('button', { name: 'Restore' }).click()
    await alert.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Save' }).and(page.locator(':focus')).waitFor()
    assert.deepEqual(await desk.notes(record), ['As it was.'])
    await page.keyboard.press('Enter')
    await editForm(page).waitFor({ state: 'detached' })
    await page.getByRole('article').filter({ hasText: 'Half a sentence' }).waitFor()
    assert.equal(await page.getByRole('dialog').count(), 0)
    assert.deepEqual(await desk.notes(record), ['Half a sentence'])
  })

  test('of an item that was changed before it was archived is compared with the change', async () => {
    await using page = await desk.open(record)
    await page.getByRole('button', { name: 'Edit note' }).click()
    await noteField(page).fill('Half a sentence')
    await desk.meanwhile('PATCH', note, { text: 'As Ruth left it.' })
    await desk.meanwhile('DELETE', note)
    await noteField(page).press('Control+Enter')
    await page.getByRole('alert').getByRole('button', { name: 'Restore' }).click()
    await page.getByRole('button', { name: 'Save' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText('As Ruth left it.').waitFor()
    assert.deepEqual(await desk.notes(record), ['As Ruth left it.'])
  })

  test('is kept when the page cannot be reloaded', async () => {
    await using page = await desk.open(record)
    await page.getByRole('button', { name: 'Edit client' }).click()
    await page.getByLabel('Reference').fill('ZZ-12')
    await page.getByRole('button', { name: 'Add note' }).click()
    await noteField(page).fill('Another note.')
    await page.route(`**${record}`, (route) => route.abort())
    await noteField(page).press('Control+Enter')
    await page.getByText('This page may be out of date').waitFor()
    assert.equal(await page.getByLabel('Reference').inputValue(), 'ZZ-12')
    desk.takeComplaints()
  })
})

test('archiving an item that another person has changed shows the change', async () => {
  await using page = await desk.open(record)
  await page.getByRole('button', { name: 'Edit client' }).click()
  await page.getByLabel('Reference').fill('ZZ-13')
  await desk.meanwhile('PATCH', note, { text: 'As it is now.' })
  for (const outcome of ['The note was not archived', 'The note was archived.']) {
    await page.getByRole('button', { name: 'More actions for this note' }).click()
    await page.getByRole('menuitem', { name: 'Archive note' }).click()
    await page.getByText(outcome).waitFor()
    if (outcome === 'The note was not archived') await page.getByText('As it is now.').waitFor()
  }
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  assert.equal(await page.getByLabel('Reference').inputValue(), 'ZZ-13')
})

test('a form that is being saved can be neither changed nor discarded', async () => {
  await using page = await desk.open(`${record}/disputes`)
  await page.getByRole('button', { name: 'Add dispute' }).click()
  await page.getByRole('combobox', { name: 'Invoice' }).fill('Z-3')
  await page.getByLabel('Amount').fill('12')
  const arrived = Promise.withResolvers<void>()
  await page.route('**/disputes', async (route) => {
    await arrived.promise
    return route.continue()
  })
  await page.getByLabel('Amount').press('Control+Enter')
  await page.locator('[data-loading]').first().waitFor()
  await page.getByLabel('Status').selectOption('settled')
  assert.equal(await page.getByLabel('Status').inputValue(), 'open')
  assert.equal(await page.getByRole('button', { name: 'Discard' }).isDisabled(), true, 'it is on its way')
  arrived.resolve()
  await page.getByRole('article').waitFor()
})

test('a two-digit year is not read as a year of the first century', async () => {
  await using page = await desk.open(record)
  await page.getByRole('button', { name: 'Add note' }).click()
  await page.getByLabel('Date').focus()
  await page.keyboard.type('112226')
  await noteField(page).fill('On a day of this year.')
  await page.keyboard.press('Control+Enter')
  await page.locator('input[type=date]:invalid:focus').waitFor()
  assert.deepEqual(await desk.notes(record), ['As it was.'])
  await page.keyboard.type('11222026')
  await page.getByRole('button', { name: 'Add note' }).click()
  await page.getByRole('article').filter({ hasText: '22 Nov 2026' }).waitFor()
})

test('participants can be typed and pasted, and the last one counts without a separator', async () => {
  await using page = await desk.open(record)
  await page.getByRole('button', { name: 'Add note' }).click()
  const names = page.getByRole('combobox', { name: 'Participants' })
  await names.pressSequentially('Anna Berg;Ben,')
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', 'Carl\\nDora')
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  })()`)
  await noteField(page).fill('With many.')
  await names.pressSequentially('Emil')
  await page.keyboard.press('Control+Enter')
  const saved = page.getByRole('article').filter({ hasText: 'With many.' })
  await saved.getByText('Daniel Okonjo, Anna Berg, Ben, Carl, Dora, Emil').waitFor()
})

test('a page whose script an upgrade has removed is loaded from the server', async () => {
  await using page = await desk.ruth.newPage()
  await page.goto(`${desk.base}/clients`)
  let isGone = true
  await page.route('**/assets/people-*.js', (route) => {
    if (!isGone) return route.continue()
    isGone = false
    return route.fulfill({ status: 404, json: { error: { code: 'not_found' } } })
  })
  await page.getByRole('link', { name: 'People' }).click()
  await page.getByRole('heading', { name: 'People', level: 1 }).waitFor()
  assert.equal(isGone, false)
})

test('a conflict with a save in the person’s own other tab says so', async () => {
  const [slow, quick] = [await desk.open(record), await desk.open(record)]
  for (const page of [slow, quick]) await page.getByRole('button', { name: 'Edit note' }).click()
  for (const page of [quick, slow]) {
    await noteField(page).fill(page === slow ? 'Written here.' : 'Written there.')
    await page.getByRole('button', { name: 'Save' }).click()
    if (page === slow) continue
    await editForm(page).waitFor({ state: 'detached' })
    await page.getByText('Written there.').waitFor()
  }
  const conflict = slow.getByRole('dialog', { name: 'You saved this on another page while you were writing here' })
  await conflict.getByRole('radio', { name: /^Saved/ }).check()
  await conflict.getByRole('button', { name: 'Save selection' }).click()
  await slow.getByRole('article').filter({ hasText: 'Written there.' }).waitFor()
  await Promise.all([slow.close(), quick.close()])
})

test('both texts of a conflict can be kept: they are edited before they are saved, by keyboard on a phone', async () => {
  await using page = await desk.open(record)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('button', { name: 'Edit note' }).click()
  await noteField(page).fill('As it was.\nMine.')
  await desk.meanwhile('PATCH', note, { text: 'As it was.\nTheirs.' })
  await noteField(page).press('Control+Enter')
  const conflict = page.getByRole('dialog', { name: 'Ruth Penhallow saved this while you were writing' })
  await conflict.getByRole('radio', { name: 'Yours' }).focus()
  await page.keyboard.press('ArrowUp')
  assert.ok(await conflict.getByRole('radio', { name: 'Both' }).isChecked())
  assert.equal(await conflict.getByRole('button', { name: 'Save selection' }).count(), 0)
  assert.deepEqual(await barriersInBothSchemes(page), [])
  assert.equal(await page.evaluate('document.querySelector("[role=dialog]").scrollWidth > innerWidth'), false)
  await conflict.getByRole('button', { name: 'Edit selection' }).press('Enter')
  await conflict.waitFor({ state: 'hidden' })
  await noteField(page).and(page.locator(':focus')).waitFor()
  assert.equal(await noteField(page).inputValue(), 'As it was.\nTheirs.\nMine.')
  await page.getByText('Not saved yet').waitFor()
  assert.deepEqual(await desk.notes(record), ['As it was.\nTheirs.'])
  await page.keyboard.press('Control+End')
  await page.keyboard.type(' Edited.')
  await page.keyboard.press('Control+Enter')
  await editForm(page).waitFor({ state: 'detached' })
  await page.getByRole('article').filter({ hasText: 'Edited.' }).waitFor()
  assert.deepEqual(await desk.notes(record), ['As it was.\nTheirs.\nMine. Edited.'])
})

test('takes a duration as people type it, and says how if it cannot be read', async () => {
  await using page = await desk.open(`${record}/time_entries`)
  await page.getByRole('button', { name: 'Add time entry' }).first().click()
  await page.getByLabel('Minutes').fill('an hour')
  await page.getByLabel('Work').fill('Call')
  await page.keyboard.press('Enter')
  await page.getByText('Minutes must be whole minutes, such as 90, or hours, such as 1:30 or 1.5 h.').waitFor()
  const rate = page.getByLabel('Hourly rate')
  assert.equal(await rate.getAttribute('placeholder'), 'Default: US$150.00')
  await rate.fill('100')
  await page.getByLabel('Minutes').fill('1:30')
  await page.keyboard.press('Enter')
  await page.getByText('1 h 30 min ×').waitFor()
  assert.equal(at(await desk.ask(`${record}/time_entries`), 'time_entries', 0, 'minutes'), 90)
})
