import assert from 'node:assert/strict'
import { test } from 'node:test'
import { barriersInBothSchemes, noticed } from '../support/browser.ts'
import { startDesk } from '../support/desk.ts'
import { fixture } from '../support/fixture.ts'
import { at } from '../support/json.ts'

const desk = fixture(() => startDesk())

test('contacts of a record are added by keyboard, changed, archived and restored, at both sizes', async () => {
  const record = await desk.make('/clients', { name: 'Salt Works' })
  await using page = await desk.open(`${record}/contacts`)
  await page.getByText('No contacts yet').waitFor()
  assert.deepEqual(await barriersInBothSchemes(page), [])

  await page.keyboard.press('n')
  await page.keyboard.type('Maria Lopes')
  await page.keyboard.press('Tab')
  await page.keyboard.type('Head of accounts')
  await page.keyboard.press('Tab')
  await page.keyboard.type('maria@')
  await page.getByLabel('Language').selectOption({ label: 'Portuguese' })
  await page.getByRole('button', { name: 'Add contact' }).click()
  await page.getByText('must be an email address').waitFor()
  await page.getByLabel('Email').fill('maria@salt.example')
  await page.getByLabel('Telephone').fill('+44 (1632) 960 146')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('link', { name: 'Maria Lopes' }).waitFor()
  const links = page.getByRole('article').getByRole('link')
  assert.deepEqual(await Promise.all([1, 2].map((index) => links.nth(index).getAttribute('href'))), [
    'mailto:maria%40salt.example',
    'tel:+441632960146',
  ])
  await page.getByText('Portuguese').waitFor()

  await desk.make(`${record}/contacts`, { name: 'דנה לוי', job_title: 'מנהלת', phone: 'ext. 12' })
  await page.reload()
  await page.getByRole('link', { name: 'דנה לוי' }).waitFor()
  assert.deepEqual(await page.getByRole('heading', { level: 3 }).allTextContents(), ['Maria Lopes', 'דנה לוי'])
  assert.deepEqual(await barriersInBothSchemes(page), [])
  await page.setViewportSize({ width: 320, height: 600 })
  assert.equal(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth'), false)
  await page.setViewportSize({ width: 1280, height: 800 })

  await page.getByRole('button', { name: 'Edit contact' }).first().click()
  await page.getByLabel('Job title').fill('Owner')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Owner').waitFor()
  await page.getByRole('button', { name: 'More actions for this contact' }).first().click()
  await page.getByRole('menuitem', { name: 'Archive contact' }).click()
  await noticed(page, 'The contact was archived.')
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('link', { name: 'Maria Lopes' }).click()
  await page.getByRole('heading', { name: 'Versions' }).waitFor()
  const contacts = at(await desk.ask(`${record}/contacts`), 'contacts')
  assert.deepEqual(
    [at(contacts, 0, 'name'), at(contacts, 0, 'job_title'), at(contacts, 0, 'version')],
    ['Maria Lopes', 'Owner', 4],
  )
})
