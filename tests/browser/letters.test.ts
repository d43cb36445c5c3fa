import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { barriers, barriersInBothSchemes, noticed } from '../support/browser.ts'
import { holdUp, startDesk } from '../support/desk.ts'
import { at, listAt } from '../support/json.ts'
import { editor, toEndOf } from '../support/letter-editor.ts'
import { detail } from '../support/detail.ts'
import { fixture } from '../support/fixture.ts'

const desk = fixture(() => startDesk())
/** The paths of a new client of Daniel's, with a note, and of its only letter. */
let record: string
let letter: string

/** Every part of Markdown that letters have, with markers that the editor itself would not write. */
const body =
  'Dear Ms Berg\nthank you.\n\n* first\n* second\n\n\n1) one\n2) two\n\n> quoted\n\nsnake_case [x] &amp; <b>\n'

beforeEach(async () => {
  ;({ record } = await desk.newClient())
  letter = await desk.make(`${record}/letters`, { subject: 'Our meeting', body })
})

const bodyOf = async (address: string) => String(at(await desk.ask(address), 'body'))

async function openLetter(): Promise<Page> {
  const page = await desk.open(letter)
  await editor(page).waitFor()
  return page
}

/** Types into the editor, and follows the link to the list before the page can render. */
const typeAndLeave = (page: Page, text: string) =>
  page.evaluate(`document.execCommand('insertText', false, '${text}')
    Promise.resolve().then(() => [...document.links].find((each) => each.text === 'All letters').click())`)

describe('the editor of a letter', () => {
  test('saves the subject alone, then only what is edited or formatted, and is gone once the letter is sent', async () => {
    await using page = await openLetter()
    const save = async (expected: string) => {
      await page.keyboard.press('Control+Enter')
      await noticed(page, 'The letter was saved.')
      assert.equal(await bodyOf(letter), expected)
    }
    await page.getByLabel('Subject').fill('Our second meeting')
    await page.getByRole('button', { name: 'Save' }).click()
    await noticed(page, 'The letter was saved.')
    assert.equal(at(await desk.ask(letter), 'subject'), 'Our second meeting')
    assert.equal(await bodyOf(letter), body, 'not a byte is changed')

    await toEndOf(page, 'thank you.')
    await page.keyboard.type(' Very much.')
    await page.getByText('Not saved yet').waitFor()
    const thanked = body.replace('thank you.', 'thank you. Very much.')
    await save(thanked)
    await page.getByText('Saved', { exact: true }).waitFor()
    await toEndOf(page, 'snake_case')
    await page.keyboard.press('Enter')
    await page.keyboard.type('Please ')
    await page.keyboard.press('Control+b')
    await page.keyboard.type('sign')
    await page.keyboard.press('Control+b')
    await page.keyboard.type(' it * and_send it:')
    await page.keyboard.press('Enter')
    await page.keyboard.type('- today')
    await save(`${thanked.trimEnd()}\n\nPlease **sign** it * and_send it:\n\n- today`)
    await page.locator('[contenteditable=true]:focus').waitFor()
    await page.keyboard.type('x')
    await page.getByText('Not saved yet').waitFor()
    await page.keyboard.press('Backspace')
    await page.getByText('Saved', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Link' }).click()
    await page.getByLabel('Address').waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByRole('button', { name: 'Mark as sent', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Mark as sent' }).click()
    await page.getByRole('button', { name: 'New version' }).waitFor()
    assert.equal(at(await desk.ask(letter), 'status'), 'sent')
    assert.equal(await editor(page).count(), 0)
  })

  test('saves itself at rest and when it is left, and leaves a conflict for its person (B113)', async () => {
    const page = await openLetter()
    const versions = async () => listAt(await desk.ask(`${letter}/revisions`), 'revisions').length
    const rest = () => page.evaluate('window.rest()')
    await toEndOf(page, 'thank you.')
    await page.keyboard.type(' One.')
    await page.getByText('Not saved yet').waitFor()
    await rest()
    await page.getByText('Saved', { exact: true }).waitFor()
    const once = body.replace('you.', 'you. One.')
    assert.deepEqual([await bodyOf(letter), await versions()], [once, 2])
    await page.keyboard.type(' Two.')
    await page.getByText('Not saved yet').waitFor()
    // Within a minute.
    await rest()
    await page.getByRole('link', { name: 'All letters' }).click()
    await page.getByRole('article').filter({ hasText: 'Two.' }).waitFor()
    assert.deepEqual([await bodyOf(letter), await versions()], [once.replace('One.', 'One. Two.'), 3])
    assert.deepEqual(await page.evaluate('window.notices'), [])

    await page.goBack()
    await toEndOf(page, 'thank you.')
    const load = await holdUp(page, '**/drafts', 'GET')
    const saved = page.waitForResponse((response) => response.request().method() === 'PATCH')
    await typeAndLeave(page, ' Three.')
    await saved
    await page.getByText('Saved', { exact: true }).waitFor()
    await page.keyboard.type(' Four.')
    await page.getByText('Saved', { exact: true }).waitFor({ state: 'hidden' })
    load()
    await page.waitForURL(/\/letters$/)
    await page.goBack()
    await page.getByText('Restored from before, not saved yet').waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await noticed(page, 'The letter was saved.')
    assert.equal(await bodyOf(letter), once.replace('One.', 'One. Two. Three. Four.'))
    await page.close()

    await using other = await openLetter()
    await toEndOf(other, 'thank you.')
    await other.keyboard.type('Five.')
    await desk.meanwhile('PATCH', letter, { body: 'Theirs.' })
    await other.evaluate('window.rest()')
    await other.getByText('Ruth Penhallow saved this letter while you were writing').waitFor()
    assert.equal(await other.getByRole('dialog').count(), 0)
    await other.locator('[contenteditable=true]:focus').waitFor()
    await other.keyboard.press('Control+Enter')
    await other.getByRole('dialog').getByRole('radio', { name: 'Yours' }).first().check()
    await other.getByRole('button', { name: 'Save selection' }).click()
    await noticed(other, 'The letter was saved.')
    assert.match(await bodyOf(letter), /Four\.Five\./)
    await desk.meanwhile('PATCH', letter, { status: 'approved' })
    await typeAndLeave(other, 'Six.')
    await other.getByRole('dialog', { name: 'Leave without saving?' }).waitFor()
    assert.doesNotMatch(await bodyOf(letter), /Six/)
  })

  detail('keeps the formatting of text pasted from Word, and nothing else', async () => {
    await using page = await openLetter()
    await editor(page).press('Control+a')
    await page.evaluate(`(() => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/html', ${JSON.stringify(fromWord)})
      document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
    })()`)
    await page.keyboard.press('Control+Enter')
    await noticed(page, 'The letter was saved.')
    assert.equal(await bodyOf(letter), 'The **terms**:\n\n- one\n- two\n\nEnd.')
  })

  detail('shows the Markdown itself if it would lose indentation', async () => {
    const indented = 'Costs:\n    travel   120\n    hotel    300'
    const own = await desk.make(`${record}/letters`, { subject: 'Costs', body: indented })
    await using page = await desk.open(own)
    assert.equal(await editor(page).inputValue(), indented)
    await editor(page).fill(`${indented}\n    meals     40`)
    await page.getByRole('button', { name: 'Save' }).click()
    await noticed(page, 'The letter was saved.')
    assert.equal(await bodyOf(own), `${indented}\n    meals     40`)
  })

  detail('saves all of a long text that is still being typed, also when it is left', async () => {
    const long = Array.from({ length: 600 }, (_, index) =>
      `Paragraph ${index} of a *long* letter. `.repeat(4).trim(),
    ).join('\n\n')
    const own = await desk.make(`${record}/letters`, { subject: 'Long', body: long })
    await using page = await desk.open(own)
    await toEndOf(page, 'Paragraph 0 of')
    await page.keyboard.type(' One two three')
    await page.keyboard.press('Control+Enter')
    await noticed(page, 'The letter was saved.')
    assert.equal(await bodyOf(own), long.replace('\n', ' One two three\n'))
    await page.getByText('Saved', { exact: true }).waitFor()
    await typeAndLeave(page, 'x')
    await page.waitForURL(/\/letters$/)
    assert.equal(await bodyOf(own), long.replace('\n', ' One two threex\n'))
  })

  detail('has the focus again after a conflict, whatever was chosen', async () => {
    await using page = await openLetter()
    const conflict = page.getByRole('dialog', { name: 'Ruth Penhallow saved this while you were writing' })
    const hasFocus = () => page.locator('[contenteditable=true]:focus').waitFor()
    await toEndOf(page, 'thank you.')
    await page.keyboard.type(' Mine.')
    await desk.meanwhile('PATCH', letter, { subject: 'Their subject' })
    await page.keyboard.press('Control+Enter')
    await conflict.waitFor()
    await page.keyboard.press('Escape')
    await hasFocus()
    await page.keyboard.press('Control+Enter')
    await conflict.getByRole('button', { name: 'Save selection' }).press('Enter')
    await page.getByText('Saved', { exact: true }).waitFor()
    await hasFocus()
    await page.keyboard.type(' More.')
    await desk.meanwhile('PATCH', letter, { body: 'Theirs.' })
    await page.keyboard.press('Control+Enter')
    await conflict.getByRole('radio', { name: 'Both' }).check()
    await conflict.getByRole('button', { name: 'Edit selection' }).press('Enter')
    await hasFocus()
  })

  detail('takes both versions after a conflict, and saves them only when they were edited', async () => {
    await using page = await openLetter()
    await toEndOf(page, 'thank you.')
    await page.keyboard.type(' Mine.')
    await desk.meanwhile('PATCH', letter, { subject: 'Their subject', body: 'Theirs.' })
    await page.keyboard.press('Control+Enter')
    const conflict = page.getByRole('dialog', { name: 'Ruth Penhallow saved this while you were writing' })
    await conflict.getByRole('radio', { name: 'Both' }).check()
    assert.equal(await conflict.getByRole('group', { name: 'Subject' }).getByRole('radio').count(), 2)
    await conflict.getByRole('button', { name: 'Edit selection' }).click()
    await conflict.waitFor({ state: 'hidden' })
    const both = body.replace('Dear', 'Theirs.\n\nDear').replace('you.', 'you. Mine.')
    await editor(page).getByText('Theirs.').waitFor()
    await editor(page).getByText('thank you. Mine.').waitFor()
    assert.equal(await page.getByLabel('Subject').inputValue(), 'Their subject')
    await page.getByText('Not saved yet').waitFor()
    assert.equal(await bodyOf(letter), 'Theirs.')
    await page.getByRole('button', { name: 'Save' }).click()
    await noticed(page, 'The letter was saved.')
    assert.equal((await bodyOf(letter)).trimEnd(), both.trimEnd().replace('\n\n\n', '\n\n'))
  })
})

async function typeMine(): Promise<Page> {
  const page = await openLetter()
  await toEndOf(page, 'thank you.')
  await page.keyboard.type(' Mine.')
  return page
}

describe('text that is being typed in a letter', () => {
  detail('is for a new version if the letter was sent meanwhile', async () => {
    await using page = await typeMine()
    await desk.meanwhile('PATCH', letter, { subject: 'Our last meeting', status: 'sent' })
    await page.keyboard.press('Control+Enter')
    const alert = page.getByRole('alert')
    await alert.getByText(/^Ruth Penhallow sent this letter while you were writing/).waitFor()
    assert.equal(await page.getByRole('dialog').count(), 0)
    await page.getByRole('region', { name: 'Letter' }).getByText('Sent', { exact: true }).waitFor()
    for (const name of ['Approve', 'Save', 'New version']) {
      assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name)
    }
    await editor(page).getByText('Mine.').waitFor()
    assert.deepEqual(await barriers(page), [])
    await page.getByRole('button', { name: 'New version with your text' }).click()
    await page.waitForURL((url) => url.pathname !== letter)
    await editor(page).getByText('Mine.').waitFor()
    await page.getByText('Saved', { exact: true }).waitFor()
    const next = new URL(page.url()).pathname
    assert.equal(await bodyOf(next), body.replace('thank you.', 'thank you. Mine.'))
    assert.equal(at(await desk.ask(next), 'subject'), 'Our last meeting')
    assert.equal(at(await desk.ask(next), 'status'), 'draft')
    assert.equal(await bodyOf(letter), body)
    const all = at(await desk.ask(`${record}/letters`), 'letters')
    assert.ok(Array.isArray(all))
    assert.equal(all.length, 2)
  })

  detail('can be discarded if the letter was sent meanwhile', async () => {
    await using page = await typeMine()
    await desk.meanwhile('PATCH', letter, { status: 'sent' })
    await page.keyboard.press('Control+Enter')
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('button', { name: 'New version', exact: true }).waitFor()
    assert.equal(await editor(page).count(), 0)
    assert.equal(await page.getByText('Mine.').count(), 0)
  })

  detail('can be saved once the letter, which someone archived, is restored', async () => {
    await using page = await typeMine()
    await desk.meanwhile('DELETE', letter)
    await page.keyboard.press('Control+Enter')
    const alert = page.getByRole('alert')
    await alert.getByText(/was archived.*: restore it first\./).waitFor()
    await editor(page).getByText('Mine.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Restore' }).count(), 1)
    await alert.getByRole('button', { name: 'Restore' }).press('Enter')
    await alert.waitFor({ state: 'detached' })
    await page.locator('[contenteditable=true]:focus').waitFor()
    await page.keyboard.press('Control+Enter')
    await noticed(page, 'The letter was saved.')
    assert.equal(await bodyOf(letter), body.replace('thank you.', 'thank you. Mine.'))
  })
})

describe('beside a letter', () => {
  test('the notes can be read, searched and quoted while it is written, and nothing asks to leave', async () => {
    await desk.make(`${record}/notes`, { date: '2026-11-21', text: 'Something else.' })
    await using page = await openLetter()
    await toEndOf(page, 'snake_case')
    await page.keyboard.type(' Half a sentence')
    const sources = page.getByRole('complementary', { name: 'Beside the letter' })
    await sources.getByText('Something else.').waitFor()
    await sources.getByLabel('Search notes and disputes').fill('was')
    await sources.getByText('Something else.').waitFor({ state: 'detached' })
    await sources.getByRole('button', { name: 'Insert as quote' }).click()
    await editor(page).getByText('As it was.').waitFor()
    await page.getByText('Versions', { exact: true }).filter({ visible: true }).first().click()
    await sources.getByText('Version 1').waitFor()
    assert.equal(await page.getByRole('dialog').count(), 0)
    await editor(page).getByText('Half a sentence').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await noticed(page, 'The letter was saved.')
    assert.match(await bodyOf(letter), /Half a sentence\n\n> As it was\.$/)
  })

  detail('on a narrow screen the sources take the place of the letter, which keeps its text', async () => {
    await using page = await desk.daniel.newPage()
    await page.setViewportSize({ width: 375, height: 740 })
    await page.goto(desk.base + letter)
    await toEndOf(page, 'snake_case')
    await page.keyboard.type(' Half a sentence')
    await page.getByText('Sources', { exact: true }).first().click()
    await page.getByText('As it was.').waitFor()
    assert.equal(await editor(page).isVisible(), false)
    assert.equal(await page.evaluate<number>('document.documentElement.scrollWidth'), 375)
    await page.getByText('Letter', { exact: true }).first().click()
    await editor(page).getByText('Half a sentence').waitFor()
  })
})

test('a new letter is written beside its sources, saved once, and leaving it asks', async () => {
  await using page = await desk.open(`${record}/letters`)
  await page.keyboard.press('n')
  await page.getByLabel('Subject').fill('A new one')
  await editor(page).click()
  await page.keyboard.type('Dear client')
  await page.getByText('As it was.').waitFor()
  await page.getByRole('link', { name: 'All letters' }).click()
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Stay here' }).click()
  const letOn = await holdUp(page, '**/letters')
  await page.getByRole('button', { name: 'Add letter' }).click()
  letOn()
  await page.getByRole('button', { name: 'Save' }).waitFor()
  assert.match(page.url(), new RegExp(`${record}/letters/[0-9a-f-]{36}$`))
  assert.equal(await bodyOf(new URL(page.url()).pathname), 'Dear client')
  await page.getByRole('link', { name: 'All letters' }).click()
  await page.getByRole('article').filter({ hasText: 'A new one' }).waitFor()
  assert.equal(await page.getByRole('article').count(), 2)
})

detail('the form of a letter takes the focus, and Escape cancels it and returns the focus', async () => {
  await using page = await desk.open(`${record}/letters`)
  const hasFocus = (target: Locator) => target.and(page.locator(':focus')).waitFor()
  const add = page.getByRole('button', { name: 'Add letter' })
  const subject = page.getByLabel('Subject')
  for (const open of [() => page.keyboard.press('n'), () => add.press('Enter')]) {
    await add.waitFor()
    await open()
    await hasFocus(subject)
    assert.equal(await subject.inputValue(), '')
    await page.keyboard.press('Escape')
    await hasFocus(add)
  }
  await add.press('Enter')
  await hasFocus(subject)
  await page.getByRole('button', { name: 'Cancel' }).press('Enter')
  await hasFocus(add)
  await add.press('Enter')
  await hasFocus(subject)
  await page.keyboard.type('Half a subject')
  await page.keyboard.press('Escape')
  assert.equal(await subject.inputValue(), 'Half a subject')
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('button', { name: 'Edit letter' }).press('Enter')
  await hasFocus(subject)
  assert.equal(await subject.inputValue(), 'Our meeting')
})

test('a note or letter cannot run a script, load anything or link to one', async () => {
  const hostile = [
    '<script>window.ran = 1</script>',
    '<img src=x onerror="window.ran = 2">',
    '[click](javascript:window.ran=3)',
    '[data](data:text/html,<script>window.ran=4</script>)',
    '![image](https://elsewhere.example/pixel.png)',
    '<https://elsewhere.example/">',
    '<iframe srcdoc="<script>parent.ran=5</script>"></iframe>',
    '[good](https://good.example/a "title")',
  ].join('\n\n')
  await desk.make(`${record}/notes`, { date: '2026-11-21', text: hostile })
  const own = await desk.make(`${record}/letters`, { subject: '<b>x</b>', body: hostile })
  await using page = await desk.daniel.newPage()
  const foreign: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(desk.base)) foreign.push(request.url())
  })
  for (const address of [record, `${record}/letters`, own]) {
    await page.goto(desk.base + address)
    await page.getByText('<script>window.ran = 1</script>').first().waitFor()
    assert.deepEqual(foreign, [])
    assert.equal(await page.evaluate('window.ran'), undefined)
    const links = await page.evaluate<string[]>(
      `[...document.querySelectorAll('main a[target=_blank]')].map(({ protocol, rel }) => protocol + ' ' + rel)`,
    )
    for (const link of links) assert.match(link, /^https?: noopener noreferrer/)
    const unsafe = `document.querySelectorAll('[href^="javascript" i], [href^="data" i], iframe, main img').length`
    assert.equal(await page.evaluate(unsafe), 0)
  }
})

const fromWord = `<html xmlns:o="urn:schemas-microsoft-com:office:office"><head><style>p.MsoNormal{color:red}</style></head><body>
<p class=MsoNormal style='color:red;mso-margin-top-alt:auto'>The <b>terms</b>:<o:p></o:p></p>
<p class=MsoListParagraphCxSpFirst style='mso-list:l0 level1 lfo1'><![if !supportLists]><span>·<span style='font:7pt'>&nbsp;&nbsp; </span></span><![endif]>one</p>
<p class=MsoListParagraphCxSpLast style='mso-list:l0 level1 lfo1'><!--[if !supportLists]--><span>·<span>&nbsp; </span></span><!--[endif]-->two</p>
<p class=MsoNormal>End.<o:p></o:p></p></body></html>`
