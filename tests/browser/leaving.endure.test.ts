import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { Page } from 'playwright-core'
import { signInAs, untilInPage } from '../support/browser.ts'
import { holdUp, noteField, startDesk } from '../support/desk.ts'
import { fixture } from '../support/fixture.ts'

/** The path of a new client of Daniel's. */
let record: string

const desk = fixture(() => startDesk())
beforeEach(async () => {
  ;({ record } = await desk.newClient())
})

/** Opens the disputes while a new note is being saved. Returns a function that lets the save continue. */
async function leaveWhileSaving(page: Page): Promise<() => void> {
  await page.getByRole('button', { name: 'Add note' }).click()
  await noteField(page).fill('On the way out.')
  const letOn = await holdUp(page, '**/notes')
  await noteField(page).press('Control+Enter')
  await page.getByRole('link', { name: /^Disputes/ }).click()
  await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor()
  return letOn
}

test('B90: discarding unsaved text or going back asks for confirmation', async () => {
  await using page = await desk.open('/clients')
  await page.getByRole('button', { name: 'New client' }).click()
  const form = page.getByRole('dialog', { name: 'New client' })
  await form.getByLabel('Name').fill('Half a name')
  await page.goBack()
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Stay here' }).click()
  await form.getByRole('button', { name: 'Discard' }).click()
  const question = page.getByRole('dialog', { name: 'Discard your changes?' })
  await question.getByRole('button', { name: 'Cancel' }).click()
  assert.equal(await form.getByLabel('Name').inputValue(), 'Half a name')
  await form.getByRole('button', { name: 'Discard' }).press('Enter')
  await question.getByRole('button', { name: 'Cancel' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Escape')
  await question.waitFor({ state: 'hidden' })
  assert.equal(await form.getByLabel('Name').inputValue(), 'Half a name')
  await form.getByRole('button', { name: 'Discard' }).press('Enter')
  await question.getByRole('button', { name: 'Discard' }).click()
  await form.waitFor({ state: 'hidden' })
  assert.equal(await page.getByRole('dialog').count(), 0)
})

test('B90: changing the hash in the address bar asks for confirmation if text is unsaved', async () => {
  await using page = await desk.open('/clients')
  await page.evaluate(`location.hash = 'new'`)
  const name = page.getByRole('dialog', { name: 'New client' }).getByLabel('Name')
  await name.fill('Half a name')
  const question = page.getByRole('dialog', { name: 'Leave without saving?' })
  for (const answer of ['Stay here', 'Leave without saving']) {
    await page.evaluate(`location.hash = 'other'`)
    await question.getByRole('button', { name: answer }).click()
    await question.waitFor({ state: 'hidden' })
    if (answer === 'Stay here') assert.equal(await name.inputValue(), 'Half a name')
    // The router moves in the history after the dialog has closed.
    await untilInPage(page, `location.hash === '${answer === 'Stay here' ? '#new' : '#other'}'`)
  }
  await name.waitFor({ state: 'detached' })
  await page.goBack()
  await name.waitFor()
  await page.goBack()
  await name.waitFor({ state: 'detached' })
  assert.equal(page.url(), `${desk.base}/clients`)
})

test('B90: signing out asks for confirmation if text is unsaved', async () => {
  await using profile = await desk.profile()
  const page = await profile.newPage()
  await signInAs(page, desk.base, 'Daniel Okonjo')
  await page.goto(desk.base + record)
  await page.getByRole('button', { name: 'Add note' }).click()
  await noteField(page).fill('Half a sentence')
  const question = page.getByRole('dialog', { name: 'Sign out without saving?' })
  for (const answer of ['Cancel', 'Sign out without saving']) {
    await page
      .getByRole('button', { name: /Daniel Okonjo/ })
      .last()
      .click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await question.getByRole('button', { name: answer }).click()
    await question.waitFor({ state: 'hidden' })
    if (answer === 'Cancel') assert.equal(await noteField(page).inputValue(), 'Half a sentence')
  }
  await page.waitForURL((url) => url.pathname === '/signin' || url.origin !== desk.base)
})

test('switching tabs of a record keeps an edit of the client and asks nothing', async () => {
  await using page = await desk.open(record)
  await page.getByRole('button', { name: 'Edit client' }).click()
  await page.getByLabel('Reference').fill('ZZ-14')
  for (const [tab, address] of Object.entries({ Disputes: 'disputes', Activity: 'activity', Notes: 'notes' })) {
    await page.getByRole('link', { name: new RegExp(`^${tab}`) }).click()
    await page.waitForURL(`${desk.base}${record}/${address}`)
    assert.equal(await page.getByRole('dialog').count(), 0, tab)
    assert.equal(await page.getByLabel('Reference').inputValue(), 'ZZ-14', tab)
  }
  const question = page.getByRole('dialog', { name: 'Leave without saving?' })

  await page.getByRole('button', { name: 'Add note' }).click()
  await noteField(page).fill('Half a sentence')
  await page.getByRole('link', { name: /^Letters/ }).click()
  await question.getByRole('button', { name: 'Leave without saving' }).click()
  await page.getByRole('heading', { name: 'No letters yet' }).waitFor()
  assert.equal(await page.getByLabel('Reference').inputValue(), 'ZZ-14')

  await page.route('**/revisions', (route) => route.abort())
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Earlier versions' }).click()
  await page.getByRole('heading', { name: 'No connection' }).waitFor()
  assert.equal(await page.getByLabel('Reference').inputValue(), 'ZZ-14')
  await page.getByRole('link', { name: /^Letters/ }).click()
  await page.getByRole('heading', { name: 'No letters yet' }).waitFor()
  assert.equal(await page.title(), 'Somebody New · Tollgate')

  await page.getByRole('link', { name: 'Clients' }).first().click()
  await question.getByRole('button', { name: 'Stay here' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('ZZ-14').waitFor()
  desk.takeComplaints()
})

test('switching tabs while a note is being saved continues after the save and keeps an edit of the client', async () => {
  await using page = await desk.open(record)
  await page.getByRole('button', { name: 'Edit client' }).click()
  await page.getByLabel('Reference').fill('ZZ-15')
  const letOn = await leaveWhileSaving(page)
  letOn()
  await page.getByRole('heading', { name: 'No disputes yet' }).waitFor()
  assert.equal(await page.getByLabel('Reference').inputValue(), 'ZZ-15')
  assert.deepEqual(await desk.notes(record), ['On the way out.', 'As it was.'])
})

test('going back while a client is being saved continues once it is saved', async () => {
  await using page = await desk.daniel.newPage()
  // Going back takes longer than fetching the new client.
  await page.addInitScript(`{
    const { go } = history
    window.goes = 0
    history.go = (delta) => {
      window.goes++
      setTimeout(() => {
        go.call(history, delta)
        window.goes--
      }, 500)
    }
  }`)
  await page.goto(`${desk.base}/clients`)
  await page.getByRole('button', { name: 'New client' }).click()
  const form = page.getByRole('dialog', { name: 'New client' })
  const name = `Made ${record.slice(-12)}`
  await form.getByLabel('Name').fill(name)
  const letOn = await holdUp(page, '**/clients')
  await form.getByLabel('Name').press('Enter')
  await page.goBack()
  await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor()
  letOn()
  await form.waitFor({ state: 'hidden' })
  await page.getByRole('link', { name }).waitFor()
  await untilInPage(page, `goes === 0 && location.pathname + location.hash === '/clients'`)
  assert.equal(page.url(), `${desk.base}/clients`)
  assert.equal(await page.getByRole('heading', { name: 'Clients', level: 1 }).count(), 1)
  assert.equal(await page.getByRole('dialog').count(), 0)
})
