import assert from 'node:assert/strict'
import test from 'node:test'
import { assertBetween } from '../../../tests/support/clock.ts'
import { firmOf } from '../../../tests/support/config.ts'
import { beginningIn, endIn, parseDay, parseMoment, parseSpan, parseTimeOption, type InstantOrDay } from './times.ts'

const [utc, zurich] = [firmOf({}), firmOf({ time_zone: 'Europe/Zurich' })]
const beginning = async (moment: InstantOrDay, firm = utc) => (await beginningIn(firm, moment)).toISOString()
const end = async (moment: InstantOrDay, firm = utc) => (await endIn(firm, moment)).toISOString()

test('durations', () => {
  assert.equal(parseSpan('45s'), 45_000)
  assert.equal(parseSpan('30m'), 1_800_000)
  assert.equal(parseSpan('24h'), 86_400_000)
  assert.equal(parseSpan('90d'), 7_776_000_000)
  assert.equal(parseSpan('0h'), 0)
  for (const text of ['', '24', 'h', '-1h', '1.5h', '24 h', '1y', '99999999999s', '99999d']) {
    assert.throws(() => parseSpan(text), RangeError, JSON.stringify(text))
  }
})

test('a time is a date, a time with a zone, or a duration from now', async () => {
  assert.equal(await beginning(parseTimeOption('2030-01-31')), '2030-01-31T00:00:00.000Z')
  assert.equal(await beginning(parseTimeOption('2030-01-31T12:30+02:00')), '2030-01-31T10:30:00.000Z')
  assert.equal(await beginning(parseTimeOption('2030-01-31 12:30+02:00')), '2030-01-31T10:30:00.000Z')
  assert.equal(await beginning(parseTimeOption('2028-02-29T23:59:59.5Z')), '2028-02-29T23:59:59.500Z')
  const began = Date.now()
  assertBetween(await beginning(parseTimeOption('1h')), began + 3_600_000, Date.now() + 3_600_000)
})

test('an ambiguous or impossible time is refused', () => {
  for (const text of [
    '',
    'tomorrow',
    '2030-1-1',
    '31.01.2030',
    '2030-01-31T12:00',
    '2030-02-30',
    '2030-13-01',
    '2029-02-29',
    '2030-01-31T25:00Z',
    '2030-01-31T12:00:60Z',
    '2030-01-31T12:00+25:00',
    '1893456000',
    '0000-01-01',
  ]) {
    assert.throws(() => parseTimeOption(text), RangeError, JSON.stringify(text))
  }
})

test('a duration is not accepted as a time in the past', () => {
  assert.throws(() => parseMoment('7d'), RangeError)
})

test('an end date includes the whole day', async () => {
  assert.equal(await end(parseMoment('2030-01-31')), '2030-02-01T00:00:00.000Z')
  assert.equal(await end(parseMoment('2030-01-31T12:00:00Z')), '2030-01-31T12:00:00.000Z')
})

test("a date is a day of the firm's time zone, even when the clocks change", async () => {
  assert.equal(await beginning(parseTimeOption('2030-01-31'), zurich), '2030-01-30T23:00:00.000Z')
  assert.equal(await beginning(parseMoment('2026-03-29'), zurich), '2026-03-28T23:00:00.000Z')
  assert.equal(await end(parseMoment('2026-03-29'), zurich), '2026-03-29T22:00:00.000Z')
  assert.equal(await beginning(parseTimeOption('2030-01-31T12:30Z'), zurich), '2030-01-31T12:30:00.000Z')
})

test('a day is a date without a time', () => {
  assert.equal(parseDay('2030-01-31'), '2030-01-31')
  for (const text of ['2030-02-30', '2030-01-31T12:00:00Z', '7d', '0000-01-01'])
    assert.throws(() => parseDay(text), RangeError, text)
})
