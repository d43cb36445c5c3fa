import assert from 'node:assert/strict'
import { test } from 'node:test'
import { barriersInBothSchemes, noticed } from '../support/browser.ts'
import { startDesk } from '../support/desk.ts'
import { fixture } from '../support/fixture.ts'
import { at, listAt } from '../support/json.ts'

const desk = fixture(() => startDesk())

test('tasks of a record are added by keyboard, ordered by day, completed, opened again, and shown on the overview', async () => {
  const record = await desk.make('/clients', { name: 'Paper Mill' })
  await using page = await desk.open(`${record}/tasks`)
  await page.getByText('No tasks yet').waitFor()
  assert.deepEqual(await barriersInBothSchemes(page), [])

  await page.keyboard.press('n')
  await page.keyboard.type('Call the mill')
  await page.getByRole('button', { name: 'Add task' }).click()
  await page.getByRole('link', { name: 'Call the mill' }).waitFor()
  await desk.make(`${record}/tasks`, { title: 'Pay the court', due: '2024-02-29', priority: 'high' })
  await page.reload()
  const titles = page.getByRole('heading', { level: 3 })
  await page.getByRole('link', { name: 'Pay the court' }).waitFor()
  assert.deepEqual(await titles.allTextContents(), ['Pay the court', 'Call the mill'])
  await page.getByText('Overdue', { exact: true }).waitFor()
  assert.deepEqual(await barriersInBothSchemes(page), [])

  const box = page.getByRole('checkbox', { name: 'Done: Pay the court' })
  await box.press('Space')
  await noticed(page, 'The task is done.')
  await page.getByText('Done', { exact: true }).waitFor()
  assert.deepEqual(await titles.allTextContents(), ['Call the mill', 'Pay the court'])
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Overdue', { exact: true }).waitFor()
  const tasks = at(await desk.ask(`${record}/tasks`), 'tasks')
  assert.deepEqual(
    [at(tasks, 0, 'title'), at(tasks, 0, 'status'), at(tasks, 0, 'version')],
    ['Pay the court', 'open', 3],
  )

  await page.setViewportSize({ width: 320, height: 600 })
  assert.equal(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth'), false)
  await page.setViewportSize({ width: 1280, height: 800 })

  const dispute = await desk.make(`${record}/disputes`, { invoice: 'M-7', amount: '5', due: '2026-01-02' })
  await page.reload()
  const toAnswer = page.getByRole('region', { name: 'Disputes to answer' })
  await toAnswer.getByText('Overdue', { exact: true }).waitFor()
  assert.deepEqual(await barriersInBothSchemes(page), [])
  await toAnswer.getByRole('link', { name: 'Answer the dispute of M-7' }).click()
  await page.waitForURL(desk.base + dispute)

  const note = await desk.make(`${record}/notes`, { date: '2026-03-12', text: 'Send the plan.' })
  await page.goto(`${desk.base}${record}/notes`)
  await page.getByRole('button', { name: 'More actions for this note' }).click()
  await page.getByRole('menuitem', { name: 'Add a task' }).click()
  await page.getByRole('dialog').getByLabel('Task', { exact: true }).fill('Send the plan')
  assert.deepEqual(await barriersInBothSchemes(page), [])
  await Promise.all([page.keyboard.press('Control+Enter'), noticed(page, 'The task was added.')])
  assert.equal(await page.getByRole('dialog').count(), 0)
  await page.getByRole('link', { name: 'Tasks' }).click()
  await page.getByText('note of 12 Mar 2026').waitFor()
  const added = at(await desk.ask(`${record}/tasks`), 'tasks', 2)
  assert.deepEqual([at(added, 'title'), at(added, 'about', 'id')], ['Send the plan', note.split('/').at(-1)])

  const letter = await desk.make(`${record}/letters`, { subject: 'Our offer', body: 'Dear Anna' })
  await page.goto(desk.base + letter)
  await page.getByRole('button', { name: 'More actions for this letter' }).click()
  await page.getByRole('menuitem', { name: 'Add a task' }).click()
  await page.getByRole('dialog').getByLabel('Task', { exact: true }).fill('Await the reply')
  assert.deepEqual(await barriersInBothSchemes(page), [])
  await Promise.all([page.keyboard.press('Control+Enter'), noticed(page, 'The task was added.')])
  const awaited = at(await desk.ask(`${record}/tasks`), 'tasks', 3)
  assert.deepEqual([at(awaited, 'title'), at(awaited, 'about', 'id')], ['Await the reply', letter.split('/').at(-1)])

  await page.goto(`${desk.base}/`)
  const section = page.getByRole('region', { name: 'Tasks', exact: true })
  await section.getByText('2 overdue').waitFor()
  assert.deepEqual(await barriersInBothSchemes(page), [])
  await section.getByRole('link', { name: 'Pay the court' }).click()
  await page.getByRole('heading', { name: 'Pay the court' }).waitFor()
})

test('a note that says by when something is to be done offers a task, which only a click or a key adds', async () => {
  const record = await desk.make('/clients', { name: 'Quarry' })
  const note = await desk.make(`${record}/notes`, { date: '2026-03-12', text: 'We met.' })
  await using page = await desk.open(`${record}/notes`)
  const offer = page.getByRole('region', { name: 'Suggested task' })
  const titlesAndDays = async () => {
    const tasks = listAt(await desk.ask(`${record}/tasks`), 'tasks')
    return tasks.map((task) => [at(task, 'title'), at(task, 'due'), at(task, 'about', 'id')])
  }
  await page.keyboard.press('n')
  await page.keyboard.type('They liked it. We send the plan by 2031-04-30. Then we wait.')
  await page.keyboard.press('Control+Enter')
  await offer.getByText('We send the plan by 2031-04-30.').waitFor()
  assert.deepEqual(await barriersInBothSchemes(page), [])
  await page.setViewportSize({ width: 320, height: 600 })
  assert.equal(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth'), false)
  await page.setViewportSize({ width: 1280, height: 800 })
  await offer.getByRole('button', { name: 'Dismiss the suggested task' }).click()
  await offer.waitFor({ state: 'detached' })
  assert.deepEqual(await titlesAndDays(), [])

  await page.goto(desk.base + note)
  const write = async (text: string) => {
    await page.getByRole('button', { name: 'Edit note' }).click()
    await page.getByRole('textbox', { name: 'Note' }).fill(text)
    await page.keyboard.press('Control+Enter')
    await page.getByRole('button', { name: 'Edit note' }).waitFor()
  }
  await write('We met. Send the offer by 2031-05-02.')
  await offer.waitFor()
  await Promise.all([page.keyboard.press('t'), noticed(page, 'The task was added.')])
  await offer.waitFor({ state: 'detached' })
  const expected = [['Send the offer by 2031-05-02.', '2031-05-02', note.split('/').at(-1)]]
  assert.deepEqual(await titlesAndDays(), expected)
  await write('We met again. Send the offer by 2031-05-02.')
  assert.equal(await offer.count(), 0, 'it was offered before')
  assert.deepEqual(await titlesAndDays(), expected)
})

test('a partner gives a task to a partner, and back to the consultant of the client', async () => {
  const record = await desk.make('/clients', { name: 'Foundry' })
  const page = await desk.ruth.newPage()
  await page.goto(`${desk.base}${record}/tasks`)
  await page.getByRole('button', { name: 'Add task' }).click()
  const owner = page.getByRole('combobox', { name: 'Owner' })
  assert.equal(await owner.inputValue(), 'The client’s consultant')
  await page.getByLabel('Task', { exact: true }).fill('Call the foundry')
  await owner.click()
  assert.deepEqual(await page.getByRole('listbox').getByRole('option').allTextContents(), [
    'The client’s consultant',
    'Ruth Penhallow',
  ])
  await page.getByRole('option', { name: 'Ruth Penhallow' }).click()
  assert.deepEqual(await barriersInBothSchemes(page), [])
  await page.getByRole('button', { name: 'Add task' }).click()
  const items = page.getByRole('main').getByRole('listitem')
  await items.getByText('Ruth Penhallow', { exact: true }).first().waitFor()
  await page.getByRole('button', { name: 'Edit task' }).click()
  assert.equal(await owner.inputValue(), 'Ruth Penhallow')
  await owner.click()
  await page.getByRole('option', { name: 'The client’s consultant' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await items.getByText('Daniel Okonjo', { exact: true }).first().waitFor()
  const task = at(await desk.ask(`${record}/tasks`), 'tasks', 0)
  assert.deepEqual([at(task, 'owner_id'), at(task, 'owner', 'name')], [null, 'Daniel Okonjo'])
  await page.close()
  await using own = await desk.open(`${record}/tasks`)
  await own.getByRole('button', { name: 'Edit task' }).click()
  assert.equal(await own.getByLabel('Owner').count(), 0)
})
