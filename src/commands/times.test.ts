import assert from 'node:assert/strict'
import test from 'node:test'
import { parseDay, parseEnd, parseMoment, parseSpan, parseTimeOption } from './times.ts'

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

test('a time is a date, a time with a zone, or a duration from now', () => {
  assert.equal(parseTimeOption('2030-01-31').toISOString(), '2030-01-31T00:00:00.000Z')
  assert.equal(parseTimeOption('2030-01-31T12:30+02:00').toISOString(), '2030-01-31T10:30:00.000Z')
  assert.equal(parseTimeOption('2028-02-29T23:59:59.5Z').toISOString(), '2028-02-29T23:59:59.500Z')
  const inAnHour = parseTimeOption('1h').getTime() - Date.now()
  assert.ok(inAnHour > 3_599_000 && inAnHour <= 3_600_000, String(inAnHour))
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
    '1893456000',
    '0000-01-01',
  ]) {
    assert.throws(() => parseTimeOption(text), RangeError, JSON.stringify(text))
  }
})

test('a duration is not accepted as a time in the past', () => {
  assert.equal(parseMoment('2030-01-31T12:30+02:00').toISOString(), '2030-01-31T10:30:00.000Z')
  for (const parse of [parseMoment, parseEnd]) assert.throws(() => parse('7d'), RangeError)
})

test('an end date includes the whole day', () => {
  assert.equal(parseEnd('2030-01-31').toISOString(), '2030-02-01T00:00:00.000Z')
  assert.equal(parseEnd('2030-01-31T12:00:00Z').toISOString(), '2030-01-31T12:00:00.000Z')
})

test('a day is a date without a time', () => {
  assert.equal(parseDay('2030-01-31'), '2030-01-31')
  for (const text of ['2030-02-30', '2030-01-31T12:00:00Z', '7d', '0000-01-01'])
    assert.throws(() => parseDay(text), RangeError, text)
})
