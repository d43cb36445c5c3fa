import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noteField, startDesk } from '../support/desk.ts'
import { at } from '../support/json.ts'
import { fixture } from '../support/fixture.ts'

const desk = fixture(() => startDesk())

test('a person who is signed in gets the navigation on a page that does not exist, and nobody else does', async () => {
  const page = await desk.open('/nowhere')
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Clients' }).click()
  await page.waitForURL(`${desk.base}/clients`)
  await page.close()
  await using stranger = await (await desk.profile()).newPage()
  const answer = await stranger.goto(`${desk.base}/nowhere`)
  assert.equal(answer?.status(), 404)
  await stranger.getByRole('heading', { name: 'Page not found' }).waitFor()
  assert.equal(await stranger.getByRole('navigation', { name: 'Main' }).count(), 0)
  assert.ok(!(await stranger.content()).includes('viewer":{'))
})

test('the menu of a narrow window closes when the window becomes wide', async () => {
  await using page = await desk.open('/clients')
  await page.setViewportSize({ width: 380, height: 760 })
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('dialog').waitFor()
  await page.setViewportSize({ width: 1200, height: 760 })
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  assert.equal(await page.getByRole('navigation', { name: 'Main' }).count(), 1)
})

test('a record is printed without the hint of an empty tab', async () => {
  const record = await desk.make('/clients', { name: 'Printed' })
  await using page = await desk.open(`${record}/letters`)
  const hint = page.getByText('Draft letters here')
  assert.ok(await hint.isVisible())
  await page.emulateMedia({ media: 'print' })
  assert.ok(!(await hint.isVisible()))
})

test('the versions of a client show its status and its consultant', async () => {
  const { record } = await desk.newClient()
  const ruth = at(
    await (await desk.ruth.request.get(`${desk.base}/me`, { headers: desk.headers })).json(),
    'person',
    'id',
  )
  await desk.meanwhile('PATCH', record, { status: 'archived' })
  await desk.meanwhile('PATCH', record, { status: 'active', consultant_id: ruth })
  await using page = await desk.ruth.newPage()
  await page.goto(`${desk.base}${record}/revisions`)
  const version = (number: number) => page.getByRole('listitem').filter({ hasText: `Version ${number}` })
  assert.match(await version(3).innerText(), /Consultant\s+Daniel Okonjo Ruth Penhallow/)
  assert.match(await version(3).innerText(), /Status\s+Archived Active/)
  assert.match(await version(2).innerText(), /Status\s+Active Archived/)
  assert.doesNotMatch(await version(2).innerText(), /Consultant|Name/)
})

test('the activity names the changed fields of an item', async () => {
  const { record, note } = await desk.newClient()
  await desk.meanwhile('PATCH', note, { text: 'Written anew.' })
  await using page = await desk.open(`${record}/activity`)
  await page.getByText('Ruth Penhallow changed the text of the note of').waitFor()
})

test('a person whose client is handed over while they write sees a message and keeps the text', async () => {
  const { record, note } = await desk.newClient()
  const ruth = at(
    await (await desk.ruth.request.get(`${desk.base}/me`, { headers: desk.headers })).json(),
    'person',
    'id',
  )
  await using page = await desk.open(note)
  await page.getByRole('button', { name: 'Edit note' }).click()
  await noteField(page).fill('My own words')
  await desk.meanwhile('PATCH', record, { consultant_id: ruth })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('This record was assigned to someone else or removed while you were writing').waitFor()
  assert.equal(await noteField(page).inputValue(), 'My own words')
})

test('a save that is refused for another reason names that reason, and keeps the text', async () => {
  const { note } = await desk.newClient()
  await using page = await desk.open(note)
  await page.getByRole('button', { name: 'Edit note' }).click()
  await noteField(page).fill('My own words')
  const reason = 'This request came from another site.'
  await page.route(desk.base + note, (route) =>
    route.request().method() === 'PATCH'
      ? route.fulfill({ status: 403, json: { error: { code: 'cross_site_request', reason } } })
      : route.continue(),
  )
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(reason).waitFor()
  assert.equal(await page.getByText('assigned to someone else').count(), 0)
  assert.equal(await noteField(page).inputValue(), 'My own words')
})

test('an amount is shown with its currency', async () => {
  const record = await desk.make('/clients', { name: 'Owing' })
  const dispute = await desk.make(`${record}/disputes`, { invoice: 'A-1', amount: '1250' })
  assert.deepEqual([at(await desk.ask(dispute), 'amount'), at(await desk.ask(dispute), 'currency')], ['1250.00', 'USD'])
  await using page = await desk.open(`${record}/disputes`)
  await page.getByText('US$1,250.00').waitFor()
})
