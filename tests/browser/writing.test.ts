import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { BrowserContext, Page, Route } from 'playwright-core'
import { signInAs, startPortal, type TestPortal } from '../support/browser.ts'
import { at, parseObject } from '../support/json.ts'

let portal: TestPortal
let ruth: BrowserContext
let daniel: BrowserContext
/** The address of a new client of Daniel's, and of its only note. */
let record: string
let note: string

before(async () => {
  portal = await startPortal()
  ;[ruth, daniel] = await Promise.all([portal.profile(), portal.profile()])
  await signInAs(await ruth.newPage(), portal.base, 'Ruth Penhallow')
  await signInAs(await daniel.newPage(), portal.base, 'Daniel Okonjo')
})
after(() => portal.close())

beforeEach(async () => {
  record = `/clients/${await make('/clients', { name: 'Somebody New' })}`
  note = `${record}/notes/${await make(`${record}/notes`, { date: '2026-11-20', text: 'As it was.' })}`
})

const headers = { 'sec-fetch-site': 'same-origin', accept: 'application/json' }

async function make(address: string, data: object): Promise<string> {
  const answer = await daniel.request.post(portal.base + address, { data, headers })
  return String(parseObject(await answer.text())['id'])
}

/** What Ruth does meanwhile. */
async function meanwhile(method: 'PATCH' | 'DELETE', address: string, data = {}): Promise<void> {
  const answer = await ruth.request.fetch(portal.base + address, {
    method,
    headers: { ...headers, 'if-match': '*' },
    ...(method === 'PATCH' && { data }),
  })
  assert.ok(answer.ok(), await answer.text())
}

async function open(address = record): Promise<Page> {
  const page = await daniel.newPage()
  await page.goto(portal.base + address)
  await page.locator('h1').waitFor()
  return page
}

async function notes(): Promise<unknown[]> {
  const answer = await daniel.request.get(`${portal.base}${record}/notes`, { headers })
  const found = at(await answer.json(), 'notes')
  assert.ok(Array.isArray(found))
  return found.map((each) => at(each, 'text'))
}

const noteField = (page: Page) => page.getByLabel('Note', { exact: true })
const focusOf = (page: Page) =>
  page.evaluate<string>(`document.activeElement.ariaLabel ?? document.activeElement.innerText`)

/** The server gets the next such request, and its answer is lost on the way back. */
async function loseNext(page: Page, method: 'POST' | 'PATCH'): Promise<void> {
  let isLost = false
  const lose = async (route: Route) => {
    const request = route.request()
    if (isLost || request.method() !== method) return route.continue()
    isLost = true
    const sent = await route.fetch({ headers: { ...request.headers(), ...headers } })
    assert.ok(sent.ok(), await sent.text())
    return route.abort()
  }
  await page.route('**/notes**', lose)
}

describe('a save whose answer is lost', () => {
  test('is tried again, and makes one note that says what was written last', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Add note' }).click()
    await noteField(page).fill('Written once.')
    await loseNext(page, 'POST')
    await noteField(page).press('Control+Enter')
    await page.getByRole('alert').getByText('Nothing is saved twice.').waitFor()
    assert.deepEqual(await notes(), ['Written once.', 'As it was.'])
    await noteField(page).fill('Written once, and more.')
    await noteField(page).press('Control+Enter')
    await page.getByRole('article').filter({ hasText: 'Written once, and more.' }).waitFor()
    assert.deepEqual(await notes(), ['Written once, and more.', 'As it was.'])
    portal.takeComplaints()
    await page.close()
  })

  test('undoes nothing of what somebody else has made of it meanwhile', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Add note' }).click()
    await noteField(page).fill('Written once.')
    await loseNext(page, 'POST')
    await noteField(page).press('Control+Enter')
    await page.getByRole('alert').getByText('Nothing is saved twice.').waitFor()
    const answer = await daniel.request.get(`${portal.base}${record}/notes`, { headers })
    await meanwhile('PATCH', `${record}/notes/${String(at(await answer.json(), 'notes', 0, 'id'))}`, {
      text: 'Mended.',
    })
    await noteField(page).press('Control+Enter')
    await page.getByRole('article').filter({ hasText: 'Mended.' }).waitFor()
    assert.deepEqual(await notes(), ['Mended.', 'As it was.'])
    portal.takeComplaints()
    await page.close()
  })

  test('is no conflict with oneself', async () => {
    const page = await open()
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
    assert.deepEqual(await notes(), ['Changed again, and more.'])
    portal.takeComplaints()
    await page.close()
  })
})

describe('what is written in one form', () => {
  test('stays when another form is saved, whatever others have done meanwhile', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Edit client' }).click()
    await page.getByLabel('Reference').fill('ZZ-11')
    await page.getByRole('button', { name: 'Edit note' }).click()
    await noteField(page).fill('Half a sentence')
    await meanwhile('PATCH', record, { email: 'new@client.example' })
    await meanwhile('DELETE', note)
    await page.getByRole('button', { name: 'Add note' }).click()
    await noteField(page).first().fill('Another note.')
    await noteField(page).first().press('Control+Enter')
    await page.getByRole('article').filter({ hasText: 'Another note.' }).waitFor()
    assert.equal(await page.getByLabel('Reference').inputValue(), 'ZZ-11')
    assert.equal(await noteField(page).inputValue(), 'Half a sentence')
    await noteField(page).press('Control+Enter')
    await page.getByRole('alert').waitFor()
    assert.equal(await noteField(page).inputValue(), 'Half a sentence')
    await page.close({ runBeforeUnload: false })
  })

  test('stays when the page cannot be fetched again', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Edit client' }).click()
    await page.getByLabel('Reference').fill('ZZ-12')
    await page.getByRole('button', { name: 'Add note' }).click()
    await noteField(page).fill('Another note.')
    await page.route(`**${record}`, (route) => route.abort())
    await noteField(page).press('Control+Enter')
    await page.getByText('This page may be out of date').waitFor()
    assert.equal(await page.getByLabel('Reference').inputValue(), 'ZZ-12')
    portal.takeComplaints()
    await page.close()
  })

  test('is asked for before it is discarded, or left by the way back', async () => {
    const page = await open('/clients')
    await page.getByRole('button', { name: 'New client' }).click()
    const form = page.getByRole('dialog', { name: 'New client' })
    await form.getByLabel('Name').fill('Half a name')
    await page.goBack()
    await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Stay here' }).click()
    await form.getByRole('button', { name: 'Discard' }).click()
    const question = page.getByRole('dialog', { name: 'Discard what you have written?' })
    await question.getByRole('button', { name: 'Cancel' }).click()
    assert.equal(await form.getByLabel('Name').inputValue(), 'Half a name')
    await form.getByRole('button', { name: 'Discard' }).press('Enter')
    await question.getByRole('button', { name: 'Cancel' }).and(page.locator(':focus')).waitFor()
    await question.getByRole('button', { name: 'Discard' }).click()
    await form.waitFor({ state: 'hidden' })
    assert.equal(await page.getByRole('dialog').count(), 0)
    await page.close()
  })
})

test('signing out asks before it takes what is written', async () => {
  const profile = await portal.profile()
  const page = await profile.newPage()
  await signInAs(page, portal.base, 'Daniel Okonjo')
  await page.goto(portal.base + record)
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
  await page.waitForURL((url) => url.pathname === '/signin' || url.origin !== portal.base)
  await profile.close()
})

test('who archives what somebody else has changed is shown the change', async () => {
  const page = await open()
  await page.getByRole('button', { name: 'Edit client' }).click()
  await page.getByLabel('Reference').fill('ZZ-13')
  await meanwhile('PATCH', note, { text: 'As it is now.' })
  for (const outcome of ['Nothing was archived', 'The note is archived.']) {
    await page.getByRole('button', { name: 'More for this note' }).click()
    await page.getByRole('menuitem', { name: 'Archive note' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Archive note' }).click()
    await page.getByText(outcome).waitFor()
    if (outcome === 'Nothing was archived') await page.getByText('As it is now.').waitFor()
  }
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  assert.equal(await page.getByLabel('Reference').inputValue(), 'ZZ-13')
  await page.close()
})

test('whoever leaves while a note is being saved is let go once it is', async () => {
  const page = await open()
  await page.getByRole('button', { name: 'Add note' }).click()
  await noteField(page).fill('On the way out.')
  const arrived = Promise.withResolvers<void>()
  await page.route('**/notes', async (route) => {
    await arrived.promise
    return route.continue()
  })
  await noteField(page).press('Control+Enter')
  await page.getByRole('link', { name: /^Disputes/ }).click()
  await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor()
  arrived.resolve()
  await page.getByRole('heading', { name: 'No disputes yet' }).waitFor()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  assert.deepEqual(await notes(), ['On the way out.', 'As it was.'])
  await page.close()
})

test('what is being saved is neither changed by a choice nor discarded', async () => {
  const page = await open(`${record}/disputes`)
  await page.getByRole('button', { name: 'Add dispute' }).click()
  await page.getByLabel('Invoice').fill('Z-3')
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
  await page.close()
})

test('a year of two digits is not taken for one of the first century', async () => {
  const page = await open()
  await page.getByRole('button', { name: 'Add note' }).click()
  await page.getByLabel('Date').focus()
  await page.keyboard.type('112226')
  await noteField(page).fill('On a day of this year.')
  await page.keyboard.press('Control+Enter')
  await page.locator('input[type=date]:invalid:focus').waitFor()
  assert.deepEqual(await notes(), ['As it was.'])
  await page.keyboard.type('11222026')
  await page.getByRole('button', { name: 'Add note' }).click()
  await page.getByRole('article').filter({ hasText: '22 Nov 2026' }).waitFor()
  await page.close()
})

test('names are taken as they are typed and pasted, also the last one before saving', async () => {
  const page = await open()
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
  await page.close()
})

test('a page whose file an upgrade has taken away is asked of the server', async () => {
  const page = await ruth.newPage()
  await page.goto(`${portal.base}/clients`)
  let isGone = true
  await page.route('**/assets/people-*.js', (route) => {
    if (!isGone) return route.continue()
    isGone = false
    return route.fulfill({ status: 404, json: { error: { code: 'not_found' } } })
  })
  await page.getByRole('link', { name: 'People' }).click()
  await page.getByRole('heading', { name: 'People', level: 1 }).waitFor()
  assert.equal(isGone, false)
  await page.close()
})

test('one who has saved a thing on another page is told so', async () => {
  const [slow, quick] = [await open(), await open()]
  for (const page of [slow, quick]) await page.getByRole('button', { name: 'Edit note' }).click()
  for (const page of [quick, slow]) {
    await noteField(page).fill(page === slow ? 'Written here.' : 'Written there.')
    await page.getByRole('button', { name: 'Save' }).click()
    if (page === quick) await page.getByText('Written there.').waitFor()
  }
  const conflict = slow.getByRole('dialog', { name: 'You saved this on another page while writing here' })
  await conflict.getByLabel('Saved already').check()
  await conflict.getByRole('button', { name: 'Save what is chosen' }).click()
  await slow.getByRole('article').filter({ hasText: 'Written there.' }).waitFor()
  await Promise.all([slow.close(), quick.close()])
})

test('when a form is closed, the keyboard goes on where it was opened', async () => {
  const page = await open()
  const [add, edit, client] = ['Add note', 'Edit note', 'Edit client'].map((name) => page.getByRole('button', { name }))
  assert.ok(add && edit && client)
  for (const [button, name] of [
    [add, 'Add note'],
    [edit, 'Edit note'],
    [client, 'Edit client'],
  ] as const) {
    await button.press('Enter')
    await page.keyboard.press('Escape')
    await button.waitFor()
    assert.equal(await focusOf(page), name)
  }
  await edit.press('Enter')
  await noteField(page).fill('As it is now.')
  await page.getByRole('button', { name: 'Save' }).press('Enter')
  await edit.waitFor()
  assert.equal(await focusOf(page), 'Edit note')
  await page.getByText('As it is now.').waitFor()

  await page.getByRole('link', { name: /^Disputes/ }).click()
  await page.getByRole('button', { name: 'Add dispute' }).press('Enter')
  await page.getByLabel('Invoice').fill('Z-2')
  await page.getByLabel('Amount').fill('twelve')
  await page.getByRole('button', { name: 'Add dispute' }).press('Enter')
  await page.locator('[aria-invalid=true]:focus').waitFor()
  await page.getByLabel('Amount').fill('12')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('article').waitFor()
  assert.equal(await focusOf(page), 'Add dispute')

  await page.getByRole('button', { name: 'More for this dispute' }).press('Enter')
  await page.getByRole('menuitem', { name: 'Archive dispute' }).press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Archive dispute' }).press('Enter')
  await page.getByRole('heading', { name: 'No disputes yet' }).waitFor()
  await page.locator('#main:focus').waitFor()
  await page.close()
})
