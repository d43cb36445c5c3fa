import assert from 'node:assert/strict'
import { test } from 'node:test'
import { barriersInBothSchemes, noticed } from '../support/browser.ts'
import { startDesk } from '../support/desk.ts'
import { fixture } from '../support/fixture.ts'
import { at, listAt } from '../support/json.ts'
import { until } from '../support/until.ts'

const desk = fixture(() => startDesk())

test('an approved letter is sent by mail to confirmed addresses, and its page shows what was sent', async () => {
  const record = await desk.make('/clients', { name: 'Salt Works' })
  const letter = await desk.make(`${record}/letters`, { subject: 'Our offer', body: 'Dear Dana,', status: 'approved' })
  await using page = await desk.open(letter)
  await page.getByRole('button', { name: 'Send by mail' }).click()
  await page.getByText('Neither this client nor one of its contacts has an email address.').waitFor()
  await page.getByRole('button', { name: 'Close' }).click()

  const dana = await desk.make(`${record}/contacts`, {
    name: 'דנה לוי',
    job_title: 'Owner',
    email: 'dana@salt.example',
  })
  await desk.make(`${record}/contacts`, { name: 'Maria Lopes', email: 'maria@salt.example' })
  await page.getByRole('button', { name: 'Send by mail' }).click()
  const form = page.getByRole('form', { name: 'Send by mail' })
  assert.match(await form.getByLabel('Text').inputValue(), /^Hello,\n\nPlease find our letter “Our offer” attached\./)
  assert.deepEqual(await barriersInBothSchemes(page), [])
  await form.getByRole('button', { name: 'Continue' }).click()
  await form.getByText('Choose at least one recipient.').waitFor()
  await form.getByRole('checkbox', { name: /דנה לוי/ }).press('Space')
  await form.getByRole('checkbox', { name: /Maria Lopes/ }).press('Space')
  await form.getByLabel('Subject').fill('The offer for the salt works')
  await form.getByLabel('Subject').press('Enter')

  const dialog = page.getByRole('dialog', { name: 'Send this letter?' })
  await dialog.getByText('maria@salt.example').waitFor()
  assert.deepEqual(await dialog.getByRole('listitem').allTextContents(), [
    'Maria Lopes maria@salt.example',
    'דנה לוי dana@salt.example',
  ])
  assert.deepEqual(await barriersInBothSchemes(page), [])
  await desk.meanwhile('DELETE', dana)
  await dialog.getByRole('button', { name: 'Send', exact: true }).click()
  await dialog.getByText('A contact was archived, or an address has changed').waitFor()
  assert.equal(at(await desk.ask(letter), 'status'), 'approved')

  await dialog.getByRole('button', { name: 'Back' }).click()
  assert.equal(await form.getByLabel('Subject').inputValue(), 'The offer for the salt works')
  await form.getByRole('checkbox', { name: /דנה לוי/ }).press('Space')
  await form.getByRole('button', { name: 'Continue' }).click()
  await dialog.getByRole('button', { name: 'Send', exact: true }).press('Enter')
  await noticed(page, 'The letter is on its way.')
  await dialog.waitFor({ state: 'detached' })

  await until(async () => at(listAt(await desk.ask(`${letter}/mails`), 'mails'), 0, 'state') === 'sent')
  await page.reload()
  const beside = page.getByRole('complementary', { name: 'Beside the letter' })
  await beside.getByText('Sent', { exact: true }).first().click()
  await beside.getByText('maria@salt.example').waitFor()
  await beside.getByText('The offer for the salt works').click()
  await beside.getByText('Please find our letter').waitFor()
  assert.deepEqual(await barriersInBothSchemes(page), [])
  const download = page.waitForEvent('download')
  await beside.getByRole('link', { name: 'PDF as sent to Maria Lopes' }).click()
  assert.equal((await download).suggestedFilename(), 'Our offer.pdf')

  await page.setViewportSize({ width: 320, height: 700 })
  await beside.getByText('maria@salt.example').waitFor()
  assert.equal(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth'), false)
  assert.equal(listAt(await desk.ask(`${letter}/mails`), 'mails').length, 1)
})
