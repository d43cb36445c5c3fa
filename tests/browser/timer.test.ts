import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { barriersInBothSchemes, noticed } from '../support/browser.ts'
import { startDesk } from '../support/desk.ts'
import { fixture } from '../support/fixture.ts'
import { at, listAt } from '../support/json.ts'

const desk = fixture(() => startDesk())

const timerIn = (page: Page) => page.getByRole('complementary').getByRole('region', { name: 'Timer' })
const entriesOf = async (record: string) =>
  listAt(await desk.ask(`${record}/time_entries`), 'time_entries').map((entry) => [
    at(entry, 'minutes'),
    at(entry, 'text'),
  ])

async function assertNarrow(page: Page): Promise<void> {
  await page.setViewportSize({ width: 360, height: 700 })
  assert.equal(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth'), false)
  await page.setViewportSize({ width: 1280, height: 800 })
}

test('a timer runs in every tab and after a reload; stopped, its time is recorded only when the person says so', async () => {
  const record = await desk.make('/clients', { name: 'Quarry' })
  const letter = await desk.make(`${record}/letters`, { subject: 'Our offer', body: 'Dear Anna' })
  const other = await desk.make('/clients', { name: 'Paper Mill' })
  await using page = await desk.open(letter)
  await using tab = await desk.open('/clients')
  await page.getByRole('button', { name: 'More actions for this letter' }).click()
  await page.getByRole('menuitem', { name: 'Start a timer' }).click()
  await timerIn(page).getByText('0 min').waitFor()
  await timerIn(tab).getByRole('link', { name: 'Quarry' }).waitFor()
  await page.reload()
  await timerIn(page).getByText('0 min').waitFor()
  assert.deepEqual(await barriersInBothSchemes(page), [])
  await assertNarrow(page)

  // Another one asks for the first.
  await page.goto(desk.base + other)
  await timerIn(page).waitFor()
  const more = page.getByRole('button', { name: 'More', exact: true })
  await more.click()
  await page.getByRole('menuitem', { name: 'Start a timer' }).click()
  const question = page.getByRole('dialog', { name: 'Stop the timer for Quarry?' })
  await question.getByRole('button', { name: 'Cancel' }).click()
  await timerIn(page).getByRole('button', { name: 'Stop the timer' }).waitFor()
  await more.click()
  await page.getByRole('menuitem', { name: 'Start a timer' }).click()
  await question.getByRole('button', { name: 'Stop it' }).click()
  const proposal = page.getByRole('dialog', { name: 'Time for Quarry' })
  assert.equal(await proposal.getByLabel('Work').inputValue(), 'Letter: Our offer')
  assert.equal(await proposal.getByLabel('Minutes').inputValue(), '1')
  assert.deepEqual(await barriersInBothSchemes(page), [])
  await assertNarrow(page)
  await tab.getByRole('button', { name: 'Record the time' }).waitFor()
  assert.deepEqual(await entriesOf(record), [])
  await proposal.getByLabel('Hourly rate').fill('100')
  await proposal.getByLabel('Minutes').fill('0:25')
  await Promise.all([page.keyboard.press('Control+Enter'), noticed(page, 'The time was recorded.')])
  assert.deepEqual(await entriesOf(record), [[25, 'Letter: Our offer']])
  await timerIn(page).getByRole('link', { name: 'Paper Mill' }).waitFor()
  await timerIn(tab).getByRole('link', { name: 'Paper Mill' }).waitFor()

  // Deleted in the other tab.
  await timerIn(tab).getByRole('button', { name: 'Stop the timer' }).click()
  const deleted = tab.getByRole('dialog', { name: 'Time for Paper Mill' })
  await deleted.getByRole('button', { name: 'Delete the time' }).click()
  await Promise.all([
    tab.getByRole('button', { name: 'Delete', exact: true }).click(),
    noticed(tab, 'The time was deleted.'),
  ])
  await timerIn(page).waitFor({ state: 'detached' })
  assert.deepEqual(await entriesOf(other), [])
  assert.equal(at(await desk.ask('/timer'), 'timer'), null)
})

test('ten minutes are offered after a note, once, and are recorded only by a click; the offers can be turned off', async () => {
  const record = await desk.make('/clients', { name: 'Harbour' })
  await using page = await desk.open(`${record}/notes`)
  const offer = page.getByRole('region', { name: 'Suggested time' })
  const write = async (text: string) => {
    await page.getByRole('button', { name: 'Add note' }).click()
    await page.getByRole('textbox', { name: 'Note' }).fill(text)
    await page.keyboard.press('Control+Enter')
    await page.getByText(text).waitFor()
    await page.getByRole('button', { name: 'Add note' }).waitFor()
  }
  await write('A call.')
  await offer.waitFor()
  assert.deepEqual(await barriersInBothSchemes(page), [])
  await assertNarrow(page)
  assert.deepEqual(await entriesOf(record), [])
  await offer.getByLabel('Minutes').fill('half')
  assert.ok(await offer.getByRole('button', { name: 'Record time' }).isDisabled())
  await offer.getByLabel('Minutes').fill('20')
  await offer.getByLabel('Work').fill('A call')
  await offer.getByRole('button', { name: 'Record time' }).click()
  // The demo has no default rate.
  await offer.getByLabel('Hourly rate').fill('100')
  await Promise.all([
    offer.getByRole('button', { name: 'Record time' }).click(),
    noticed(page, 'The time was recorded.'),
  ])
  await offer.waitFor({ state: 'detached' })
  assert.deepEqual(await entriesOf(record), [[20, 'A call']])
  await write('Just afterwards.')
  assert.equal(await offer.count(), 0)

  await page.reload()
  await write('Much later.')
  await offer.getByRole('button', { name: 'Dismiss the suggested time' }).click()
  await write('Dismissed just now.')
  assert.equal(await offer.count(), 0)

  await page.goto(`${desk.base}/me`)
  await page.getByLabel('Offer to record ten minutes').click()
  await page.goto(`${desk.base}${record}/notes`)
  await write('Turned off.')
  assert.equal(await offer.count(), 0)
  assert.deepEqual(await entriesOf(record), [[20, 'A call']])
})
