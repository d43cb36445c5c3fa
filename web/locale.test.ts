import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { ago } from './components/ago.ts'
import { dateText, exactTime, monthText, numberText, preciseTime, reasonText, setFirm } from './locale.ts'
import { moneyText } from './money.ts'
import { counted } from './words.ts'

const instant = '2026-03-12T23:05:09.000Z'

afterEach(() => setFirm({ locale: 'en-GB', time_zone: 'UTC' }))

test('without settings, the pages write British English in UTC', () => {
  assert.equal(exactTime(instant), '12 March 2026 at 23:05 UTC')
  assert.equal(preciseTime(instant), '12 Mar 2026, 23:05:09')
  assert.equal(numberText(1234567.5), '1,234,567.5')
})

test('dates, times and numbers follow the locale and the time zone of the firm', () => {
  setFirm({ locale: 'de-CH', time_zone: 'Europe/Zurich' })
  assert.equal(exactTime(instant), '13. März 2026 um 00:05 MEZ')
  assert.equal(preciseTime(instant), '13.03.2026, 00:05:09')
  assert.equal(ago(new Date(instant), Date.parse('2026-04-12')), '13. März 2026')
  assert.equal(numberText(1234567.5), "1'234'567.5")
  assert.equal(counted(2000, 'token'), "2'000 tokens")
  assert.equal(moneyText('1250.00', 'CHF'), "CHF\u00a01'250.00")
  setFirm({ locale: 'de-DE', time_zone: 'Europe/Berlin' })
  assert.equal(moneyText('1250.00', 'EUR'), '1.250,00\u00a0€')
})

test('calendar dates and UTC months are the same in each time zone', () => {
  for (const zone of ['Pacific/Auckland', 'America/Los_Angeles', 'UTC']) {
    setFirm({ locale: 'en-GB', time_zone: zone })
    assert.deepEqual([dateText('2026-03-12'), monthText('2026-03')], ['12 Mar 2026', 'March 2026'], zone)
  }
})

test('the days and numbers in a reason of the server follow the locale of the firm, and nothing else in it', () => {
  const dates =
    'The field date must be a day from 2026-11-25, the day of issue, to today, 2026-11-26 (time zone Asia/Tokyo).'
  const amounts = 'must be from -5.00 to 5308.38, such as 0.40, or 1250000.'
  assert.equal(reasonText(amounts), 'must be from -5.00 to 5,308.38, such as 0.40, or 1,250,000.')
  setFirm({ locale: 'de-DE', time_zone: 'Europe/Berlin' })
  const expected =
    'The field date must be a day from 25. Nov. 2026, the day of issue, to today, 26. Nov. 2026 (time zone Asia/Tokyo).'
  assert.equal(reasonText(dates), expected)
  assert.equal(reasonText(amounts), 'must be from -5,00 to 5.308,38, such as 0,40, or 1.250.000.')
  for (const same of [
    'Another account is named "Plan 2.50": choose a different name.',
    'The field from must be a time in UTC: 2026-03-12T10:00:00Z.',
    'The model gpt-4.1 is not at 10.0.0.1, nor is v1.2.3.',
    'The field lines[0].text must have at most 500 characters, at 2030.',
    'No account has the id 0199c3b2-0f4e-7a86-9d35-e1c7b2f06a48.',
    'The invoice INV-2026-00017 is issued.',
  ])
    assert.equal(reasonText(same), same)
})
