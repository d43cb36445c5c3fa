import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { barriersInBothSchemes, noticed, untilItHandlesKeys } from '../support/browser.ts'
import { chooseIn } from '../support/choice.ts'
import { at, listAt } from '../support/json.ts'
import { startDesk } from '../support/desk.ts'
import { detail } from '../support/detail.ts'
import { fixture } from '../support/fixture.ts'

/** The word that the clients of a test have in common. */
let word: string
let made = 0

const desk = fixture(() => startDesk())
beforeEach(() => {
  made += 1
  word = `Batch${made}`
})

/** Daniel creates clients with names such as `Batch1 Oak`. Returns their paths. */
async function makeClients(...names: string[]): Promise<string[]> {
  const paths: string[] = []
  for (const name of names) paths.push(await desk.make('/clients', { name: `${word} ${name}` }))
  return paths
}

/** Opens the list of the test's clients as Ruth. */
async function openList(search = `?q=${word}`): Promise<Page> {
  const page = await desk.ruth.newPage()
  await page.goto(`${desk.base}/clients${search}`)
  await page.locator('[data-row]').first().waitFor()
  await untilItHandlesKeys(page)
  return page
}

const bar = (page: Page) => page.getByRole('region', { name: 'Selection' })
const box = (page: Page, name: string) => page.getByRole('checkbox', { name: `Select ${word} ${name}`, exact: true })
const dialog = (page: Page) => page.getByRole('dialog', { name: /^Hand over \d+ clients?$/ })

async function ownerOf(path: string): Promise<unknown> {
  const answer = await desk.ruth.request.get(desk.base + path, { headers: desk.headers })
  return at(await answer.json(), 'consultant', 'name')
}

async function handOverTo(page: Page, name: string): Promise<void> {
  await chooseIn(dialog(page), 'To', name)
  await dialog(page)
    .getByRole('button', { name: /^Hand over \d+/ })
    .click()
}

describe('selected clients', () => {
  test('are handed over in one step, after a preview, and the others stay', async () => {
    const paths = await makeClients('Oak', 'Elm', 'Fir')
    await using page = await openList()
    await box(page, 'Oak').check()
    await box(page, 'Elm').check()
    await bar(page).getByText('2 selected').waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [], 'the list')
    await bar(page).getByRole('button', { name: 'Hand over…' }).click()
    await dialog(page).getByRole('heading', { name: '2 clients of Daniel Okonjo' }).waitFor()
    assert.deepEqual(await dialog(page).getByRole('listitem').allTextContents(), [`${word} Oak`, `${word} Elm`])
    assert.ok(await dialog(page).getByRole('button', { name: 'Hand over' }).isDisabled(), 'to nobody yet')
    assert.deepEqual(await barriersInBothSchemes(page), [], 'the preview')
    await chooseIn(dialog(page), 'To', 'saka')
    assert.equal(await ownerOf(paths[0] ?? ''), 'Daniel Okonjo', 'a preview changes nothing')
    await dialog(page).getByRole('button', { name: 'Hand over 2 clients' }).click()
    await noticed(page, '2 clients handed over to Mei Sakamoto.')
    await bar(page).waitFor({ state: 'detached' })
    assert.deepEqual(await Promise.all(paths.map(ownerOf)), ['Mei Sakamoto', 'Mei Sakamoto', 'Daniel Okonjo'])
    const row = page.getByRole('row').filter({ hasText: `${word} Oak` })
    await row.getByRole('cell', { name: 'Mei Sakamoto', exact: true }).waitFor()
  })

  detail('are selected and handed over by keyboard alone', async () => {
    const paths = await makeClients('Oak', 'Elm')
    await using page = await openList()
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await bar(page).getByText('1 selected').waitFor()
    await page.keyboard.press('Escape')
    await bar(page).waitFor({ state: 'detached' })
    await page.keyboard.press('x')
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await bar(page).getByText('2 selected').waitFor()
    await page.keyboard.press('h')
    await dialog(page).waitFor()
    await dialog(page).getByRole('combobox', { name: 'To' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.type('sakam')
    await page.getByRole('listbox', { name: 'To' }).getByRole('option', { name: 'Mei Sakamoto' }).waitFor()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await noticed(page, '2 clients handed over to Mei Sakamoto.')
    assert.deepEqual(await Promise.all(paths.map(ownerOf)), ['Mei Sakamoto', 'Mei Sakamoto'])
  })

  detail('can be a range, the whole page, or all that match', async () => {
    await makeClients(...Array.from({ length: 53 }, (_, n) => `Tree ${100 + n}`))
    await using page = await openList()
    await box(page, 'Tree 101').check()
    await box(page, 'Tree 104').click({ modifiers: ['Shift'] })
    await bar(page).getByText('4 selected').waitFor()
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
    await bar(page).getByText('50 selected').waitFor()
    await bar(page).getByRole('button', { name: 'Select all 53 that match' }).click()
    await bar(page).getByText('53 selected').waitFor()
    await box(page, 'Tree 101').uncheck()
    await bar(page).getByText('52 selected').waitFor()
    await page.getByLabel('Search clients').fill(`${word} Tree 110`)
    await page.waitForURL(/Tree/)
    await bar(page).waitFor({ state: 'detached' })
  })

  detail(
    'that have changed since are shown as they are now, and nothing is handed over before a second look',
    async () => {
      const [oak = '', elm = ''] = await makeClients('Oak', 'Elm')
      await using page = await openList()
      await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
      await page.keyboard.press('h')
      const answer = await desk.ruth.request.get(`${desk.base}/people`, { headers: desk.headers })
      const mei = listAt(await answer.json(), 'people').find((each) => at(each, 'name') === 'Mei Sakamoto')
      await desk.meanwhile('PATCH', elm, { consultant_id: at(mei, 'id') })
      await handOverTo(page, 'Ruth Penhallow')
      await dialog(page).getByText(`Changed since you selected them: ${word} Elm.`).waitFor()
      await dialog(page).getByRole('heading', { name: '1 client of Mei Sakamoto' }).waitFor()
      assert.deepEqual([await ownerOf(oak), await ownerOf(elm)], ['Daniel Okonjo', 'Mei Sakamoto'])
      await chooseIn(dialog(page), 'To', 'saka')
      await dialog(page).getByText('1 of them is with Mei Sakamoto already and stays.').waitFor()
      await dialog(page).getByRole('button', { name: 'Hand over 1 client' }).click()
      await page.getByText('1 client handed over to Mei Sakamoto.').waitFor()
      assert.equal(await ownerOf(oak), 'Mei Sakamoto')
    },
  )

  detail('fit a narrow screen, and consultants have none', async () => {
    await makeClients('With a Name That Is Much Too Long for One Line of a Phone', 'Elm')
    const page = await openList()
    await page.setViewportSize({ width: 375, height: 740 })
    await box(page, 'Elm').check()
    await bar(page).getByText('1 selected').waitFor()
    assert.equal(await page.evaluate<number>('document.documentElement.scrollWidth'), 375)
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await page.close()
    await using own = await desk.open(`/clients?q=${word}`)
    await own.locator('[data-row]').first().waitFor()
    assert.equal(await own.getByRole('checkbox').count(), 0)
    await own.keyboard.press('j')
    await own.keyboard.press('x')
    assert.equal(await bar(own).count(), 0)
  })
})
