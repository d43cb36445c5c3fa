import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { barriers, barriersInBothSchemes, noticed, violations } from '../support/browser.ts'
import { chooseIn } from '../support/choice.ts'
import { startDesk } from '../support/desk.ts'
import { at, listAt } from '../support/json.ts'
import { editor, toEndOf } from '../support/letter-editor.ts'
import { upstreamModel } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'
import { detail } from '../support/detail.ts'
import { fixture } from '../support/fixture.ts'

/** The paths of a new client of Daniel's and of its only note. */
let record: string
let note: string

const vendor = fixture(() => startVendor())
const desk = fixture(() => startDesk(JSON.stringify({ models: [upstreamModel(vendor.url)] })))
beforeEach(async () => {
  vendor.set({})
  ;({ record, note } = await desk.newClient())
})

const instructions = (page: Page) => page.getByLabel('What should the letter say?')
const letterPage = () => new RegExp(`${record}/letters/[0-9a-f-]{36}$`)

/** Holds each letter back after its first word. Returns a function that lets it continue. */
function holdLetters(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  vendor.set({ text: 'Dear Anna, all is well.', gate: async (step) => (step === 0 ? undefined : promise) })
  return resolve
}

async function openForm(address = `${record}/letters#draft`): Promise<Page> {
  const page = await desk.open(address)
  await instructions(page).fill('Write to Anna.')
  return page
}

const submit = (page: Page) => page.getByRole('button', { name: 'Draft letter' }).click()

describe('a letter that a model drafts', () => {
  test('is shown as it arrives, saved with its sources and its cost, and rewritten with changed instructions', async () => {
    const letOn = holdLetters()
    await using page = await desk.open(record)
    await page.getByRole('button', { name: 'More actions for this note' }).click()
    await page.getByRole('menuitem', { name: 'Draft a letter' }).click()
    assert.ok(await page.getByRole('checkbox').isChecked())
    await instructions(page).fill('Write to Anna.')
    await page.keyboard.press('Control+Enter')
    await page.getByText('Writing the letter…').waitFor()
    await page.getByText('Dear', { exact: true }).waitFor()
    letOn()
    await page.waitForURL(letterPage())
    await editor(page).getByText('Dear Anna, all is well.').waitFor()
    const drafted = new URL(page.url()).pathname
    const letter = await desk.ask(drafted)
    const cost = `US$${String(at(letter, 'cost'))}`
    await page.getByText(`Drafted by the model “fast”, ${cost}`).waitFor()
    await page.getByText('Drafts', { exact: true }).filter({ visible: true }).first().click()
    await page.getByText('Write to Anna.').waitFor()
    await page.getByRole('link', { name: '20 Nov 2026' }).waitFor()
    assert.deepEqual(await barriers(page), [])
    assert.deepEqual(await violations(page, ['heading-order']), [])

    vendor.set({ text: 'Second.' })
    await page.getByRole('button', { name: 'Draft again' }).click()
    assert.equal(await instructions(page).inputValue(), 'Write to Anna.')
    assert.ok(await page.getByRole('checkbox').isChecked())
    await instructions(page).fill('Write to Anna again.')
    await page.getByRole('button', { name: 'Rewrite' }).click()
    await editor(page).getByText('Second.').waitFor()
    assert.equal(new URL(page.url()).pathname, drafted)
    await toEndOf(page, 'Second.')
    await page.keyboard.type(' Kind regards')
    await page.getByRole('button', { name: 'Save' }).click()
    await noticed(page, 'The letter was saved.')
    assert.equal(at(await desk.ask(drafted), 'body'), 'Second. Kind regards')
    await page.getByRole('link', { name: 'All letters' }).click()
    await page.getByRole('link', { name: 'Costs' }).click()
    await page.getByText('for generation in all').waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [])
  })

  test('is approved with figures that stand in no source only if the person agrees, who can compare it before', async () => {
    vendor.set({ text: 'Dear Anna, the fee is $9,999. Brenda sends the accounts.' })
    await using page = await openForm(`${record}/letters#draft:note:${note.split('/').at(-1)}`)
    await page.getByLabel('Tone').selectOption('formal')
    await submit(page)
    await page.waitForURL(letterPage())
    assert.match(String(at(vendor.last.body, 'messages', 0, 'content')), /Write to Anna\.\n\nKeep the tone formal\./)
    await page.getByText('Check', { exact: true }).filter({ visible: true }).first().click()
    await page.getByRole('button', { name: 'Compare with the sources' }).click()
    await page.getByText('Figure: $9,999').waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await page.getByRole('button', { name: 'Approve' }).click()
    const question = page.getByRole('dialog', { name: 'Approve this letter?' })
    await question.waitFor()
    assert.deepEqual(await question.getByRole('listitem').allTextContents(), ['Figure: $9,999', 'Name: Brenda'])
    await question.getByRole('button', { name: 'Cancel' }).click()
    const letter = new URL(page.url()).pathname
    assert.equal(at(await desk.ask(letter), 'status'), 'draft')
    await page.getByRole('button', { name: 'Approve' }).click()
    await question.getByRole('button', { name: 'Approve' }).click()
    await noticed(page, 'The letter was approved.')
  })

  test('reads the pages of a document that were chosen, and is not sent while the choice cannot be read', async () => {
    const uploaded = await desk.daniel.request.post(`${desk.base}${record}/uploads`, {
      data: Buffer.from('The rent is 900 a month.'),
      headers: desk.headers,
    })
    const digest = at(await uploaded.json(), 'digest')
    const document = await desk.make(`${record}/documents`, { name: 'lease.txt', digest })
    await until(async () => at(await desk.ask(document), 'reading') === 'read')
    await using page = await openForm()
    const [choice, pages] = [page.getByRole('checkbox', { name: /lease\.txt/ }), page.getByLabel('Pages of lease.txt')]
    await choice.check()
    const calls = vendor.calls
    await pages.fill('first')
    await submit(page)
    assert.ok(await pages.and(page.locator(':invalid:focus')).isVisible())
    assert.equal(vendor.calls, calls)
    await pages.fill('1')
    // The field keeps its text, and what it says still counts.
    await choice.uncheck()
    await choice.check()
    assert.equal(await pages.inputValue(), '1')
    await submit(page)
    await page.waitForURL(letterPage())
    assert.match(String(at(vendor.last.body, 'messages', 1, 'content')), /Document lease\.txt, page 1:\nThe rent/)
  })

  detail('takes no instructions until the default template has arrived, with which they would mix', async () => {
    const { promise: isHeld, resolve: letOn } = Promise.withResolvers<void>()
    await using page = await desk.open(record)
    await page.route('**/templates', async (route) => {
      await isHeld
      await route.continue()
    })
    await page.goto(`${desk.base}${record}/letters#draft`)
    await instructions(page).and(page.locator(':focus')).waitFor()
    await page.keyboard.type('Mine.')
    await page.keyboard.press('Control+Enter')
    assert.equal(await instructions(page).inputValue(), '')
    assert.equal(await page.getByRole('alert').count(), 0)
    letOn()
    await page.getByRole('combobox', { name: 'Template' }).waitFor()
    const template = await instructions(page).inputValue()
    assert.ok(template !== '' && !template.includes('Mine.'), template)
    await instructions(page).press('End')
    await page.keyboard.type('x')
    assert.equal((await instructions(page).inputValue()).length, template.length + 1)
  })

  detail('takes instructions if no template can be read', async () => {
    await using page = await desk.open(record)
    await page.route('**/templates', (route) => route.abort())
    await page.goto(`${desk.base}${record}/letters#draft`)
    await instructions(page).fill('Mine.')
    assert.equal(await instructions(page).inputValue(), 'Mine.')
    assert.equal(await page.getByLabel('Template').count(), 0)
    desk.takeComplaints()
  })

  detail('can be stopped, and the text so far is the letter', async () => {
    holdLetters()
    await using page = await openForm()
    await submit(page)
    await page.getByText('Dear', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.waitForURL(letterPage())
    assert.equal(at(await desk.ask(new URL(page.url()).pathname), 'body'), 'Dear')
  })

  test('is finished by the server when its page is loaded again, which links it above the form', async () => {
    const letOn = holdLetters()
    await using page = await openForm()
    await submit(page)
    await page.getByText('Dear', { exact: true }).waitFor()
    assert.equal(await page.getByText('A letter is being drafted.').filter({ visible: true }).count(), 0)
    await page.reload()
    await page.getByRole('button', { name: 'Draft letter' }).waitFor()
    await page.getByRole('link', { name: 'Watch it' }).click()
    await page.getByText('The letter is being finished…').waitFor()
    letOn()
    await page.waitForURL(letterPage())
    await editor(page).getByText('Dear Anna, all is well.').waitFor()
  })

  detail('is announced in the list until it is finished, and then listed without another look', async () => {
    const letOn = holdLetters()
    await using page = await openForm()
    await submit(page)
    await page.getByText('Dear', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'All letters' }).click()
    const announced = page.getByText('A letter is being drafted.')
    // The list, which the reload must not interrupt on its way.
    await announced.waitFor()
    await page.clock.install()
    await page.reload()
    await announced.waitFor()
    letOn()
    await announced.waitFor({ state: 'detached' })
    await page.getByRole('article').filter({ hasText: 'Dear Anna, all is well.' }).waitFor()
    const looks: string[] = []
    page.on('request', (request) => looks.push(new URL(request.url()).pathname))
    await page.clock.runFor(30_000)
    // The frame of the page looks for a timer.
    assert.deepEqual(
      looks.filter((path) => path !== '/timer'),
      [],
    )
  })

  detail('keeps the sources of the next one when a note arrives meanwhile', async () => {
    const letOn = holdLetters()
    await using page = await openForm()
    await submit(page)
    await page.getByText('Dear', { exact: true }).waitFor()
    await page.reload()
    const announced = page.getByText('A letter is being drafted.')
    await announced.waitFor()
    assert.ok(await page.getByRole('checkbox').isChecked())
    await desk.make(`${record}/notes`, { date: '2026-11-21', text: 'The newest.' })
    letOn()
    await announced.waitFor({ state: 'detached' })
    assert.equal(await page.getByRole('checkbox', { name: 'The newest.' }).isChecked(), false)
    assert.ok(await page.getByRole('checkbox', { name: 'As it was.' }).isChecked())
  })

  detail('arrives even if the connection is lost', async () => {
    await using page = await openForm()
    // The server receives the request, and its response is lost.
    await page.route('**/drafts', async (route) => {
      if (route.request().method() !== 'POST') return route.continue()
      await route.fetch({ headers: { ...route.request().headers(), ...desk.headers } })
      return route.abort()
    })
    await submit(page)
    await page.waitForURL(letterPage())
    const drafts = at(await desk.ask(`${record}/drafts`), 'drafts')
    assert.ok(Array.isArray(drafts))
    assert.equal(drafts.length, 1)
    desk.takeComplaints()
  })
})

detail('drafting a letter keeps the focus: on Stop while it is written, then in the letter', async () => {
  await using page = await desk.open(`${record}/letters`)
  const hasFocus = (target: Locator) => target.and(page.locator(':focus')).waitFor()
  const open = page.getByRole('button', { name: 'Draft a letter' })
  await open.press('Enter')
  await hasFocus(instructions(page))
  await page.keyboard.press('Escape')
  await hasFocus(open)
  await open.press('Enter')
  await hasFocus(instructions(page))
  await instructions(page).fill('Write to Anna.')
  await page.keyboard.press('Escape')
  assert.equal(await instructions(page).inputValue(), 'Write to Anna.')
  const letOn = holdLetters()
  await page.keyboard.press('Control+Enter')
  await hasFocus(page.getByRole('button', { name: 'Stop' }))
  letOn()
  await page.waitForURL(letterPage())
  await hasFocus(editor(page))

  const again = page.getByRole('button', { name: 'Draft again' })
  await again.press('Enter')
  await hasFocus(instructions(page))
  await page.keyboard.press('Escape')
  await hasFocus(again)
  await again.press('Enter')
  await hasFocus(instructions(page))
  vendor.set({ text: 'Second.' })
  await page.keyboard.press('Control+Enter')
  await editor(page).getByText('Second.').waitFor()
  await hasFocus(editor(page))
})

describe('a letter that cannot be drafted', () => {
  test('says what the till says beside the form, which keeps everything typed', async () => {
    vendor.set({ fault: 'server_error' })
    await using page = await openForm()
    await page.getByLabel('Subject').fill('Our fee')
    await submit(page)
    const alert = page.getByRole('alert')
    await alert.waitFor()
    assert.match(await alert.innerText(), /Nothing was charged, and your text is kept\./)
    assert.equal(await instructions(page).inputValue(), 'Write to Anna.')
    assert.equal(await page.getByLabel('Subject').inputValue(), 'Our fee')
    assert.deepEqual(at(await desk.ask(record), 'letters'), [])
    desk.takeComplaints()
  })

  detail('waits as long as a limit says, counting down', async () => {
    await using page = await openForm()
    await page.clock.install()
    await page.route('**/drafts', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({
            status: 429,
            // Longer than a slow machine takes to look at the page.
            headers: { 'retry-after': '600', 'content-type': 'application/json' },
            body: JSON.stringify({ error: { code: 'rate_limited', reason: 'There are too many requests.' } }),
          })
        : route.continue(),
    )
    await submit(page)
    const again = page.getByRole('button', { name: /^Try again in \d+ s$/ })
    await again.waitFor()
    await page.getByText('The firm’s limit is reached').waitFor()
    assert.ok(await again.isDisabled())
    assert.deepEqual(await barriers(page), [])
    await page.unroute('**/drafts')
    await page.clock.runFor(600_000)
    await page.clock.resume()
    await submit(page)
    await page.waitForURL(letterPage())
  })

  detail('shows what arrived and what it cost if it fails midway', async () => {
    vendor.set({ text: 'Dear Anna, all is well.', fault: 'reset', after: 2 })
    await using page = await openForm()
    await submit(page)
    await page.getByText('No letter was saved').waitFor()
    await page.getByText('Dear Anna').waitFor()
    const back = page.getByRole('button', { name: 'Back to the instructions' })
    await back.and(page.locator(':focus')).waitFor()
    await back.click()
    await instructions(page).and(page.locator(':focus')).waitFor()
    assert.equal(await instructions(page).inputValue(), 'Write to Anna.')
    desk.takeComplaints()
  })
})

detail('a dispute is a source too, and a narrow screen has room for the form', async () => {
  const dispute = await desk.make(`${record}/disputes`, { invoice: 'A-1', amount: '12' })
  await using page = await desk.open(`${record}/letters#draft:dispute:${dispute.split('/').at(-1) ?? ''}`)
  await page.setViewportSize({ width: 375, height: 740 })
  assert.ok(await page.getByRole('checkbox', { name: /A-1/ }).isChecked())
  assert.equal(await page.getByRole('checkbox', { name: /2026/ }).isChecked(), false)
  await page.getByRole('combobox', { name: 'Template' }).and(page.locator('[value="Billing dispute: Reply"]')).waitFor()
  assert.equal(await instructions(page).inputValue(), 'A client disputes an invoice. Draft our reply.')
  assert.deepEqual(await barriersInBothSchemes(page), [])
  assert.equal(await page.evaluate<number>('document.documentElement.scrollWidth'), 375)
  assert.ok(note.startsWith(record))
})

test('partners save instructions, and everyone drafts with them', async () => {
  const page = await desk.ruth.newPage()
  await page.goto(`${desk.base}/templates`)
  await page.getByRole('button', { name: 'Add template' }).click()
  await page.getByLabel('Name').fill('Reminder')
  await page.getByLabel('Kind of letter').fill('Reminders')
  await page.getByLabel('Instructions').fill('Remind the client of the deadline.')
  await page.getByRole('button', { name: 'Add template' }).click()
  await page.getByRole('heading', { name: 'Reminder', exact: true }).waitFor()
  assert.deepEqual(await barriersInBothSchemes(page), [])
  await page.close()
  await using own = await desk.open('/templates')
  assert.equal(await own.getByRole('button', { name: 'Add template' }).count(), 0)
  await own.goto(`${desk.base}${record}/letters#draft`)
  await chooseIn(own, 'Template', 'reminders: reminder')
  assert.equal(await instructions(own).inputValue(), 'Remind the client of the deadline.')
})

/** The instructions of the template that is being edited. */
const edited = (page: Page) => page.getByRole('form', { name: 'Edit template' }).getByLabel('Instructions')

/** Saves another template, after which the page shows them all as they are. */
async function addAnother(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add template' }).click()
  const name = `Another ${randomUUID()}`
  const form = page.getByRole('form', { name: 'New template' })
  await form.getByLabel('Name').fill(name)
  await form.getByLabel('Kind of letter').fill('Others')
  await form.getByLabel('Instructions').fill('Other instructions.')
  await form.getByRole('button', { name: 'Add template' }).click()
  await page.getByRole('heading', { name, exact: true }).waitFor()
}

/** Opens the form of a new template, and types. */
async function edit(): Promise<{ page: Page; address: string }> {
  const made = await desk.ruth.request.post(`${desk.base}/templates`, {
    headers: desk.headers,
    data: { name: 'Meanwhile', kind: 'Meanwhiles', instructions: 'As they were.' },
  })
  const page = await desk.ruth.newPage()
  await page.goto(`${desk.base}/templates`)
  await page.getByRole('button', { name: 'Edit Meanwhile' }).click()
  await edited(page).fill('Mine.')
  return { page, address: `/templates/${String(at(await made.json(), 'id'))}` }
}

describe('instructions that are being edited', () => {
  detail('stay on the page when the template is removed elsewhere, which the page says', async () => {
    const { page, address } = await edit()
    await desk.meanwhile('DELETE', address)
    await addAnother(page)
    assert.equal(await edited(page).inputValue(), 'Mine.')
    await edited(page).press('Control+Enter')
    await page.getByText('This template was removed while you were writing.').waitFor()
    assert.equal(await page.getByText('assigned to someone else').count(), 0)
    assert.equal(await edited(page).inputValue(), 'Mine.')
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
    await edited(page).waitFor({ state: 'detached' })
    assert.equal(await page.getByRole('heading', { name: 'Meanwhile', exact: true }).count(), 0)
    await page.close()
  })

  detail('stay on the page when the template moves to another kind elsewhere, and are saved with it', async () => {
    const { page, address } = await edit()
    await desk.meanwhile('PATCH', address, { kind: 'Elsewhere' })
    await addAnother(page)
    assert.equal(await edited(page).inputValue(), 'Mine.')
    await edited(page).press('Control+Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Save selection' }).click()
    await edited(page).waitFor({ state: 'detached' })
    const saved = listAt(await desk.ask('/templates'), 'templates').find((each) => at(each, 'name') === 'Meanwhile')
    assert.deepEqual([at(saved, 'kind'), at(saved, 'instructions')], ['Elsewhere', 'Mine.'])
    await page.close()
  })
})

detail('removing the last template keeps the focus on the page, and consultants see who saves new ones', async () => {
  for (const template of listAt(await desk.ask('/templates'), 'templates').slice(1)) {
    await desk.meanwhile('DELETE', `/templates/${String(at(template, 'id'))}`)
  }
  const page = await desk.ruth.newPage()
  await page.goto(`${desk.base}/templates`)
  await page.getByRole('button', { name: /^More actions for/ }).press('Enter')
  await page.getByRole('menuitem', { name: 'Remove template' }).press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Remove template' }).press('Enter')
  await page.locator('main:focus').waitFor()
  await page.getByText('Save the instructions that you use often').waitFor()
  await page.close()
  await using own = await desk.open('/templates')
  await own.getByText('Partners can save instructions here.').waitFor()
  assert.equal(await own.getByText('Save the instructions that you use often').count(), 0)
})
