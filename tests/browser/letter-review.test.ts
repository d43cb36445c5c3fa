import assert from 'node:assert/strict'
import { test } from 'node:test'
import { barriersInBothSchemes, noticed, untilItHandlesKeys } from '../support/browser.ts'
import { startDesk } from '../support/desk.ts'
import { fixture } from '../support/fixture.ts'
import { at } from '../support/json.ts'

const desk = fixture(() => startDesk('letters: { approval: not-writer }\n'))

test('a letter is reviewed: asked for, returned with a reason, asked for again and approved, by the keyboard too', async () => {
  const record = await desk.make('/clients', { name: 'Salt Works' })
  const letter = await desk.make(`${record}/letters`, {
    subject: 'Our offer',
    body: 'Dear Dana,\n\nthe fee is 1,200.\n\nKind regards',
  })
  await using writer = await desk.open(letter)
  const notice = writer.getByRole('region', { name: 'Review' })
  await notice.getByText('Someone else has to approve this letter').waitFor()
  assert.equal(await writer.getByRole('button', { name: 'Approve' }).count(), 0)
  const beside = writer.getByRole('complementary', { name: 'Beside the letter' })
  await beside.getByText('Review', { exact: true }).first().click()
  await beside.getByText('Nobody was asked to review this letter.').waitFor()
  await beside.getByRole('button', { name: 'Ask for a review' }).press('Enter')
  const asking = writer.getByRole('form', { name: 'Ask for a review' })
  assert.equal(await asking.getByLabel('Reviewer').locator('option:checked').textContent(), 'Ruth Penhallow')
  await asking.getByLabel('What to look at').fill('Is the fee right?')
  assert.deepEqual(await barriersInBothSchemes(writer), [])
  await asking.getByLabel('What to look at').press('Control+Enter')
  await noticed(writer, 'The review was asked for.')
  await notice.getByText('Waiting for the review of Ruth Penhallow.').waitFor()
  assert.deepEqual(await barriersInBothSchemes(writer), [])

  await using reviewer = await desk.ruth.newPage()
  await reviewer.goto(`${desk.base}/`)
  await untilItHandlesKeys(reviewer)
  await reviewer
    .getByRole('region', { name: 'Waiting for your review' })
    .getByRole('link', { name: 'Our offer' })
    .click()
  const asked = reviewer.getByRole('region', { name: 'Review' })
  await asked.getByText('Daniel Okonjo asks you to review this letter.').waitFor()
  await asked.getByText('Is the fee right?').waitFor()
  assert.deepEqual(await barriersInBothSchemes(reviewer), [])
  await asked.getByRole('button', { name: 'Return with a reason' }).press('Enter')
  const returning = reviewer.getByRole('form', { name: 'Return this letter' })
  await returning.getByLabel('What is to be changed').fill('The fee is that of last year.')
  await returning.getByLabel('What is to be changed').press('Control+Enter')
  await noticed(reviewer, 'The letter was returned.')

  await writer.reload()
  await notice.getByText('Ruth Penhallow returned this letter.').waitFor()
  await notice.getByText('The fee is that of last year.').waitFor()
  await beside.getByText('Review', { exact: true }).first().click()
  await writer.setViewportSize({ width: 320, height: 700 })
  assert.equal(await writer.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth'), false)
  await writer.setViewportSize({ width: 1280, height: 800 })
  await writer.goto(`${desk.base}/`)
  await writer.getByRole('region', { name: 'Returned to you' }).getByRole('link', { name: 'Our offer' }).click()
  await beside.getByText('Review', { exact: true }).first().click()
  await beside.getByRole('button', { name: 'Ask for a review' }).click()
  await asking.getByRole('button', { name: 'Ask', exact: true }).click()
  await noticed(writer, 'The review was asked for.')

  await reviewer.reload()
  await reviewer.getByRole('button', { name: 'Approve' }).click()
  await noticed(reviewer, 'The letter was approved.')
  assert.deepEqual(
    [at(await desk.ask(letter), 'status'), at(await desk.ask(letter), 'approved_by', 'name')],
    ['approved', 'Ruth Penhallow'],
  )
  await reviewer
    .getByRole('complementary', { name: 'Beside the letter' })
    .getByText('Review', { exact: true })
    .first()
    .click()
})
