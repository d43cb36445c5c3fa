import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { chooseIn } from '../support/choice.ts'
import { barriersInBothSchemes, signIn, startPortal, untilInPage } from '../support/browser.ts'
import { at, listAt, parseObject } from '../support/json.ts'
import { detail } from '../support/detail.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { until } from '../support/until.ts'

let ruth: BrowserContext
let daniel: BrowserContext

const portal = fixture(() => startPortal())
setUp(async () => {
  ;[ruth, daniel] = await Promise.all([portal.profile(), portal.profile()])
  await signIn(ruth, portal.base, 'Ruth Penhallow')
  await signIn(daniel, portal.base, 'Daniel Okonjo')
})

/** The server's response to Daniel for a path. */
async function read(address: string): Promise<unknown> {
  const answer = await daniel.request.get(portal.base + address, { headers: { accept: 'application/json' } })
  return answer.json()
}

/** The address of one of Daniel's active clients, with notes. */
async function recordOfDaniel(): Promise<string> {
  for (const client of listAt(await read('/clients'), 'clients')) {
    const address = `/clients/${String(at(client, 'id'))}`
    if (listAt(await read(address), 'notes').length > 0) return portal.base + address
  }
  assert.fail('none of the samples has a note')
}

const noteField = (page: Page) => page.getByLabel('Note', { exact: true })
/** The form of a note. What is typed there is text of the page too: to be sure that it is saved, wait until the form is gone. */
const editForm = (page: Page) => page.getByRole('form', { name: 'Edit note' })

describe('the list of clients', () => {
  detail('is searched while typing, keeps the search in its URL, and says when nothing is found', async () => {
    await using page = await daniel.newPage()
    await page.goto(`${portal.base}/clients`)
    await page.locator('[data-row]').first().waitFor()
    const all = await page.locator('[data-row]').count()
    const name = (await page.locator('[data-row]').nth(3).textContent()) ?? ''
    const typed = name.slice(0, 4)
    await page.getByLabel('Search clients').pressSequentially(typed)
    // The URL may show a part of the text first.
    await page.waitForURL(({ searchParams }) => searchParams.get('q') === typed)
    await page
      .getByText(/^\d+ clients?$/)
      .filter({ hasNotText: String(all) })
      .waitFor()
    assert.ok((await page.locator('[data-row]').allTextContents()).includes(name))
    await page.reload()
    assert.equal(await page.getByLabel('Search clients').inputValue(), typed)
    await page.getByLabel('Search clients').fill('zzzz')
    await page.getByRole('heading', { name: 'Nothing found' }).waitFor()
    await page.getByRole('button', { name: 'Show all active clients' }).click()
    await page.getByText(`${all} clients`).waitFor()
  })

  detail('sorted by last change, starts with the client whose record was last written to', async () => {
    await using page = await daniel.newPage()
    // What is written from now on is new, however slow the machine is.
    await page.clock.setFixedTime(Date.now())
    await page.goto(`${portal.base}/clients?sort=-changed_at`)
    await page
      .getByLabel('Sort by')
      .getByRole('option', { name: 'Last changed', selected: true })
      .waitFor({ state: 'attached' })
    const last = page.locator('[data-row]').last()
    const name = (await last.textContent()) ?? ''
    await last.click()
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    await page.getByRole('link', { name: /^Letters/ }).click()
    await page.getByRole('button', { name: 'Add letter' }).click()
    await page.getByLabel('Subject').fill('Your deadline')
    await page.getByRole('button', { name: 'Add letter' }).click()
    await page.getByRole('button', { name: 'Save' }).waitFor()
    await page.getByRole('link', { name: 'All letters' }).click()
    await page.getByRole('article').filter({ hasText: 'Your deadline' }).waitFor()
    const changed = page.getByRole('term').filter({ hasText: 'Changed' }).locator('xpath=following-sibling::dd')
    assert.equal(await changed.textContent(), 'just now')
    await page.getByRole('link', { name: 'Version 1 of the client' }).waitFor()
    await page.goto(`${portal.base}/clients?sort=-changed_at`)
    const row = page
      .getByRole('row')
      .filter({ has: page.locator('[data-row]') })
      .first()
    assert.equal(await row.locator('[data-row]').textContent(), name)
    await row.getByText('just now').waitFor()
  })
})

describe('unsaved text', () => {
  test('is not lost by a wrong click', async () => {
    await using page = await daniel.newPage()
    await page.goto(await recordOfDaniel())
    await page.getByRole('button', { name: 'Add note' }).click()
    await noteField(page).fill('Half a sentence')
    await page.getByRole('link', { name: /^Disputes/ }).click()
    const question = page.getByRole('dialog', { name: 'Leave without saving?' })
    await question.getByRole('button', { name: 'Stay here' }).click()
    assert.equal(await noteField(page).inputValue(), 'Half a sentence')

    const asked = page.waitForEvent('dialog')
    await page.evaluate('void setTimeout(() => location.reload())')
    const browsersQuestion = await asked
    assert.equal(browsersQuestion.type(), 'beforeunload')
    await browsersQuestion.dismiss()
    assert.equal(await noteField(page).inputValue(), 'Half a sentence')

    await page.getByRole('link', { name: /^Disputes/ }).click()
    await question.getByRole('button', { name: 'Leave without saving' }).click()
    await page.waitForURL(/\/disputes$/)
    await page.getByRole('link', { name: /^Notes/ }).click()
    await page.getByRole('button', { name: 'Add note' }).waitFor()
    assert.equal(await page.getByText('Half a sentence').count(), 0)
  })
})

describe('two people who edit the same item', () => {
  test('see both versions and can choose which parts to save', async () => {
    const address = await recordOfDaniel()
    const [slow, quick] = [await daniel.newPage(), await ruth.newPage()]
    for (const page of [slow, quick]) {
      await page.goto(address)
      await page.getByRole('button', { name: 'Edit note' }).first().click()
    }
    const text = await noteField(quick).inputValue()
    await noteField(quick).fill(`${text}\nAdded by the partner.`)
    await quick.getByLabel('Date').fill('2026-03-03')
    await quick.getByRole('button', { name: 'Save' }).click()
    await editForm(quick).waitFor({ state: 'detached' })
    await quick.getByText('Added by the partner.').waitFor()

    await noteField(slow).fill(`${text}\nAdded by the consultant.`)
    await slow.getByRole('button', { name: 'Save' }).click()
    const conflict = slow.getByRole('dialog', { name: 'Ruth Penhallow saved this while you were writing' })
    await conflict.getByText('Added by the partner.').waitFor()
    await conflict.getByText('Added by the consultant.').waitFor()
    assert.ok(await conflict.getByRole('group', { name: 'Date' }).getByLabel('Ruth Penhallow’s').isChecked())

    await conflict.getByRole('button', { name: 'Keep writing', exact: true }).last().click()
    assert.equal(await noteField(slow).inputValue(), `${text}\nAdded by the consultant.`)
    await slow.getByRole('button', { name: 'Save' }).click()
    await conflict.getByRole('button', { name: 'Save selection' }).click()
    const saved = slow.getByRole('article').filter({ hasText: 'Added by the consultant.' })
    await saved.getByText('3 Mar 2026').waitFor()
    assert.equal(await slow.getByText('Added by the partner.').count(), 0)

    await saved.getByRole('link', { name: '3 Mar 2026' }).click()
    await slow.getByRole('heading', { name: 'Versions' }).waitFor()
    await slow.getByText('Version 3').waitFor()
    await slow.locator('ins', { hasText: 'partner' }).waitFor()
    await Promise.all([slow.close(), quick.close()])
  })

  detail('see the first difference of a long text without scrolling to it', async () => {
    const address = await recordOfDaniel()
    const [slow, quick] = [await daniel.newPage(), await ruth.newPage()]
    for (const page of [slow, quick]) {
      await page.goto(address)
      await page.getByRole('button', { name: 'Edit note' }).first().click()
    }
    const text = Array.from({ length: 60 }, (_, line) => `Line ${line}.`).join('\n')
    await noteField(quick).fill(`${text}\nPartner.`)
    await quick.getByRole('button', { name: 'Save' }).click()
    await editForm(quick).waitFor({ state: 'detached' })
    await quick.getByText('Partner.').first().waitFor()
    await noteField(slow).fill(`${text}\nConsultant.`)
    await slow.getByRole('button', { name: 'Save' }).click()
    const conflict = slow.getByRole('dialog', { name: 'Ruth Penhallow saved this while you were writing' })
    await conflict.getByText('Consultant.').waitFor()
    const isShown = `[...document.querySelectorAll('[role=dialog] fieldset mark')].map((mark) => {
      const [inner, outer] = [mark, mark.parentElement].map((each) => each.getBoundingClientRect())
      return inner.top >= outer.top && inner.bottom <= outer.bottom
    }).join()`
    await untilInPage(slow, `${isShown} === 'true,true'`)
    await Promise.all([slow.close(), quick.close()])
  })

  detail('of one client see the consultants’ names, not their ids', async () => {
    const address = await recordOfDaniel()
    const [slow, quick] = [await ruth.newPage(), await ruth.newPage()]
    for (const page of [slow, quick]) {
      await page.goto(address)
      await page.getByRole('button', { name: 'Edit client' }).click()
    }
    await chooseIn(quick, 'Consultant', 'saka')
    await quick.getByRole('button', { name: 'Save' }).click()
    await quick.getByRole('button', { name: 'Edit client' }).waitFor()

    await slow.getByLabel('Reference').fill('ZZ-7')
    await slow.getByRole('button', { name: 'Save' }).click()
    const conflict = slow.getByRole('dialog', { name: 'Someone else saved this while you were writing' })
    const choice = conflict.getByRole('group', { name: 'Consultant' })
    await choice.getByText('Sakamoto').waitFor()
    await choice.getByText('Okonjo').waitFor()
    await conflict.getByRole('button', { name: 'Save selection' }).click()
    await slow.getByText('ZZ-7').waitFor()
    await slow.getByText('Mei Sakamoto').waitFor()
    await Promise.all([slow.close(), quick.close()])
  })
})

describe('a record', () => {
  test('is created, filled, changed, archived and found again', async () => {
    await using page = await ruth.newPage()
    await page.goto(`${portal.base}/clients`)
    await page.getByRole('button', { name: 'New client' }).click()
    const form = page.getByRole('dialog', { name: 'New client' })
    await form.getByLabel('Name').fill('Zebra & Søn “Ltd” </script><b>')
    await chooseIn(form, 'Consultant', 'saka')
    await form.getByRole('button', { name: 'Add client' }).click()
    await page.getByRole('heading', { name: 'Zebra & Søn “Ltd” </script><b>', level: 1 }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Zebra & Søn “Ltd” </script><b>', level: 1 }).waitFor()

    await page.getByRole('link', { name: /^Disputes/ }).click()
    await page.getByRole('button', { name: 'Add dispute' }).click()
    await page.getByRole('combobox', { name: 'Invoice' }).fill('Z-1')
    await page.getByLabel('Amount').fill('twelve')
    await page.getByRole('button', { name: 'Add dispute' }).click()
    await page.getByLabel('Amount').and(page.locator('[aria-invalid=true]')).waitFor()
    await page.getByLabel('Amount').fill('12345.60')
    await page.getByRole('button', { name: 'Add dispute' }).click()
    await page.getByText('12,345.60').waitFor()

    await page.getByRole('button', { name: 'Edit client' }).click()
    await page.getByLabel('Reference').fill('ZZ-9')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('ZZ-9').waitFor()

    await page.getByRole('button', { name: 'Edit billing details' }).click()
    await page.getByLabel('VAT number').fill('123')
    await page.getByLabel('Days to pay').fill('10')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByLabel('VAT number').and(page.locator('[aria-invalid=true]')).waitFor()
    await page.getByLabel('VAT number').fill('gb123456789')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('GB123456789').waitFor()
    await page.getByText('within 10 days').waitFor()
    await page.getByRole('link', { name: /^Version \d+ of the client/ }).click()
    await page.getByRole('button', { name: 'Restore this version: 1' }).click()
    await page.getByText('Version 1 was restored.').waitFor()
    await page.getByRole('complementary', { name: 'Client' }).getByText('None: invoices').waitFor()
    await page.getByRole('button', { name: 'Restore this version: 3' }).click()
    await page.getByText('within 10 days').waitFor()
    await page.getByRole('link', { name: /^Notes/ }).click()

    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Archive client' }).click()
    await page.getByText('Archived', { exact: true }).waitFor()
    await page.goto(`${portal.base}/clients?q=zebra`)
    await page.getByRole('heading', { name: 'Nothing found' }).waitFor()
    assert.equal(await page.getByLabel('Search clients').inputValue(), 'zebra')
    await page.getByText('Archived', { exact: true }).click()
    await page.getByRole('link', { name: /Zebra/ }).waitFor()
  })

  detail('that was just created leads back to the list, and its form stays closed', async () => {
    await using page = await ruth.newPage()
    await page.goto(`${portal.base}/clients`)
    await page.getByRole('button', { name: 'New client' }).dblclick()
    await page.getByRole('dialog').getByLabel('Name').fill('Made Once')
    await page.getByRole('button', { name: 'Add client' }).click()
    await page.getByRole('heading', { name: 'Made Once', level: 1 }).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'Made Once' }).waitFor()
    assert.equal(page.url(), `${portal.base}/clients`)
    assert.equal(await page.getByRole('dialog').count(), 0)
  })

  detail('shows all its versions, older ones on request', async () => {
    const headers = { accept: 'application/json', origin: portal.base }
    const made = await ruth.request.post(`${portal.base}/clients`, { data: { name: 'Many versions' }, headers })
    const address = `${portal.base}/clients/${String(parseObject(await made.text())['id'])}`
    for (let version = 1; version < 53; version++) {
      const data = { name: `Many versions ${version}` }
      await ruth.request.patch(address, { data, headers: { ...headers, 'if-match': `"${version}"` } })
    }
    await using page = await ruth.newPage()
    await page.goto(`${address}/revisions`)
    const versions = page.locator('section', { has: page.getByRole('heading', { name: 'Versions' }) })
    await versions.getByText('Version 53').waitFor()
    await page.getByRole('button', { name: 'Show more' }).click()
    await versions.getByText('Version 1', { exact: true }).waitFor()
    assert.equal(await versions.getByRole('listitem').count(), 53)
    assert.equal(await versions.locator('dl').count(), 52)
  })
})

describe('the audit log', () => {
  test('is verified on its page, in words and with its last seal', async () => {
    await using page = await ruth.newPage()
    await page.goto(`${portal.base}/audit`)
    await page.getByRole('button', { name: 'Verify the chain' }).click()
    const proof = page.getByRole('alert').filter({ hasText: 'The audit log is intact' })
    await proof.getByText(/^[\d,]+ sealed rows/).waitFor()
    await proof.getByRole('button', { name: 'Close' }).click()
    await proof.waitFor({ state: 'detached' })
  })

  detail('that was changed behind its back is shown with the rows at fault', async () => {
    await using page = await ruth.newPage()
    await page.route('**/audit/verification', async (route) => {
      const response = await route.fetch()
      const answer = parseObject(await response.text())
      const checks = [{ name: 'audit', ok: false, read: null, faults: ['table audit, row 7, was changed'] }]
      await route.fulfill({ response, json: { ...answer, ok: false, checks } })
    })
    await page.goto(`${portal.base}/audit`)
    await page.getByRole('button', { name: 'Verify the chain' }).click()
    const proof = page.getByRole('alert').filter({ hasText: 'The audit log has been altered' })
    await proof.getByText('table audit, row 7, was changed').waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await page.setViewportSize({ width: 375, height: 740 })
    assert.equal(await page.evaluate<number>('document.documentElement.scrollWidth'), 375)
  })

  detail('is filtered by every choice, including those made while the page was loading', async () => {
    await using page = await ruth.newPage()
    await page.goto(`${portal.base}/audit`)
    const answering = Promise.withResolvers<void>()
    await page.route(/action=sign_in/, async (route) => {
      await answering.promise
      await route.continue().catch(() => undefined)
    })
    const asked = page.waitForRequest(/action=sign_in/)
    await page.getByLabel('Action').selectOption('sign_in')
    await asked
    await page.getByLabel('Outcome').selectOption('allowed')
    answering.resolve()
    await page.waitForURL(/outcome=allowed/)
    assert.equal(new URL(page.url()).searchParams.get('action'), 'sign_in')

    // Before the page has been drawn again.
    await page.evaluate(`
      for (const [label, value] of [['Action', ''], ['Outcome', 'refused'], ['Kind of actor', 'person']]) {
        const select = document.querySelector('select[aria-label="' + label + '"]')
        select.value = value
        select.dispatchEvent(new Event('change', { bubbles: true }))
      }
    `)
    await page.waitForURL(/actor=person/)
    assert.deepEqual(Object.fromEntries(new URL(page.url()).searchParams), { outcome: 'refused', actor: 'person' })
  })

  detail('shows changes first, and views on request: successive views of one record are one row', async () => {
    await using page = await ruth.newPage()
    await page.goto(await recordOfDaniel())
    const name = (await page.locator('h1').textContent()) ?? ''
    for (let visit = 0; visit < 3; visit += 1) await page.reload()
    await page.goto(`${portal.base}/audit`)
    const rows = page.getByRole('row')
    await rows.nth(1).waitFor()
    assert.equal(await rows.filter({ hasText: /Client read|Clients listed|Audit read/ }).count(), 0)
    await page.getByLabel('Include views').check()
    const views = rows.filter({ hasText: 'views' }).filter({ hasText: name })
    await views.first().waitFor()
    assert.equal(new URL(page.url()).searchParams.get('views'), 'true')
    await views.first().getByRole('link', { name: 'Only events of' }).first().click()
    await page.waitForURL(/client=/)
    await page.getByRole('button', { name: 'Show all clients' }).waitFor()
    assert.equal(await rows.filter({ hasText: 'Clients listed' }).count(), 0)
    await rows.nth(1).getByRole('link', { name: 'Only events of' }).first().waitFor()
    await page.getByRole('button', { name: 'Show all clients' }).click()
    await page.waitForURL((url) => !url.searchParams.has('client'))
    await rows.getByTitle('Only events by').first().click()
    await page.waitForURL(/person=/)
  })

  detail('has the same rows when the page loads them itself, and includes the views of a chosen action', async () => {
    await using page = await ruth.newPage()
    await page.goto(`${portal.base}/audit?action=client_read`)
    await page.getByRole('row').filter({ hasText: 'Client read' }).first().waitFor()
    assert.ok(await page.getByLabel('Include views').isChecked())
    await page.getByLabel('Action').selectOption('')
    await page.waitForURL((url) => !url.searchParams.has('action'))
    await page.getByRole('row').filter({ hasText: 'Client read' }).first().waitFor({ state: 'detached' })
    await page.getByRole('row').nth(1).waitFor()
  })

  detail('is searched further back until something is found', async () => {
    await using page = await ruth.newPage()
    const asked: string[] = []
    await page.goto(`${portal.base}/audit`)
    await page.getByRole('row').nth(1).waitFor()
    await page.route(/\/audit\?.*action=role_changed/, async (route) => {
      const cursor = new URL(route.request().url()).searchParams.get('cursor')
      asked.push(cursor ?? 'first')
      const next = { first: '9000', 9000: '8000', 8000: '7000' }[cursor ?? 'first'] ?? null
      const row = { id: cursor, at: '2026-01-02T10:00:00Z', action: 'role_changed', outcome: 'allowed', details: {} }
      const actor = { kind: 'service', id: null, name: null }
      const nothing = { actor, person: null, client: null, noun: null, noun_id: null, request_id: null, address: null }
      const audit = cursor === '8000' || cursor === null ? [] : [{ ...row, ...nothing }]
      await route.fulfill({ json: { audit: cursor === '9000' ? [] : audit, next } })
    })
    await page.getByLabel('Action').selectOption('role_changed')
    await page.getByRole('row').filter({ hasText: 'Role changed' }).waitFor()
    assert.deepEqual(asked, ['first', '9000', '8000', '7000'])
    assert.equal(await page.getByRole('button', { name: 'Show more' }).count(), 0)
  })
})

/** What the forms keep in the browser, as text. */
const keptIn = (page: Page) =>
  page.evaluate<string>(`new Promise((resolve) => {
    const request = indexedDB.open('tollgate', 1)
    // Signing out deletes all storage.
    request.onupgradeneeded = () => request.result.createObjectStore('forms')
    request.onsuccess = () => {
      const all = request.result.transaction('forms').objectStore('forms').getAll()
      all.onsuccess = () => { request.result.close(); resolve(JSON.stringify(all.result)) }
    }
  })`)

test('unsaved text survives the end of its page, until it is saved or its person signs out (B113)', async () => {
  const address = await recordOfDaniel()
  await using profile = await portal.profile()
  await signIn(profile, portal.base, 'Daniel Okonjo')
  const written = await profile.newPage()
  await written.goto(`${address}/notes`)
  await written.getByRole('button', { name: 'Add note' }).click()
  await noteField(written).fill('We agreed on')
  await until(async () => (await keptIn(written)).includes('We agreed on'))
  // Without its handlers, as in a crash.
  await written.close()
  const page = await profile.newPage()
  await page.goto(`${address}/notes`)
  await page.getByText('Restored from before, not saved yet').waitFor()
  assert.equal(await noteField(page).inputValue(), 'We agreed on')
  await noteField(page).fill('We agreed on Monday')
  await page.getByRole('button', { name: 'Add note' }).click()
  await page.getByRole('form', { name: 'New note' }).waitFor({ state: 'detached' })
  assert.equal(await keptIn(page), '[]')

  await page.getByRole('button', { name: 'Add note' }).click()
  await noteField(page).fill('Secret')
  await until(async () => (await keptIn(page)).includes('Secret'))
  const other = listAt(await read('/clients'), 'clients').find((client) => !address.endsWith(String(at(client, 'id'))))
  const name = String(at(other, 'name'))
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').locator('input:focus').waitFor()
  await page.keyboard.type(name)
  await page.locator('[data-action][data-selected]').getByText(name, { exact: true }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Leave without saving' }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
  assert.equal(await page.getByRole('form', { name: 'New note' }).count(), 0)
  assert.equal(await keptIn(page), '[]')

  await page.getByRole('button', { name: 'Add note' }).click()
  await noteField(page).fill('Secret')
  await until(async () => (await keptIn(page)).includes('Secret'))
  await page.getByRole('button', { name: 'Daniel Okonjo' }).click()
  await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click()
  await page.getByRole('button', { name: 'Sign out without saving' }).click()
  await page.waitForURL((url) => !url.pathname.startsWith('/clients'))
  await page.goto(`${portal.base}/signin`)
  assert.equal(await keptIn(page), '[]')
})
