import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseIsoTime, zonedTime } from './calendar.ts'

test('dates and times that exist are parsed', () => {
  for (const [text, time] of [
    ['2026-03-12', '2026-03-12T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['2026-03-12T10:05Z', '2026-03-12T10:05:00.000Z'],
    ['2026-03-12T10:05:06.7Z', '2026-03-12T10:05:06.700Z'],
  ] as const) {
    assert.equal(parseIsoTime(text)?.toISOString(), time)
  }
})

test('dates and times that do not exist are refused', () => {
  for (const text of [
    '',
    'yesterday',
    '0000-01-01',
    '2026-02-29',
    '2026-04-31',
    '2026-13-01',
    '2026-19-39T29:59:59Z',
    '2026-03-12T24:00:00Z',
    '2026-03-12T10:60:00Z',
    '2026-03-12T10:00:60Z',
    '2026-03-12T10:00:00',
    '2026-03-12 10:00:00Z',
    '10000-01-01',
    '+010000-01-01',
  ]) {
    assert.equal(parseIsoTime(text), undefined, text)
  }
})

test('a time in a zone has its offset, and is the same instant', () => {
  for (const [time, zone, text] of [
    ['2026-03-12T23:05:09.999Z', 'UTC', '2026-03-12T23:05:09.999Z'],
    ['2026-03-12T23:05:09.000Z', 'Europe/Zurich', '2026-03-13T00:05:09.000+01:00'],
    ['2026-10-25T00:30:00.000Z', 'Europe/Zurich', '2026-10-25T02:30:00.000+02:00'],
    ['2026-10-25T01:30:00.000Z', 'Europe/Zurich', '2026-10-25T02:30:00.000+01:00'],
    ['2026-01-01T00:00:00.000Z', 'America/St_Johns', '2025-12-31T20:30:00.000-03:30'],
    ['2026-01-01T12:00:00.000Z', 'Europe/London', '2026-01-01T12:00:00.000+00:00'],
  ] as const) {
    assert.equal(zonedTime(new Date(time), zone), text)
    assert.equal(new Date(text).toISOString(), time)
  }
  assert.equal(zonedTime(new Date('2026-03-12T23:05:59.999Z'), 'Asia/Kolkata', 'minute'), '2026-03-13T04:35+05:30')
  assert.equal(zonedTime(new Date('2026-03-12T23:05:59.999Z'), 'UTC', 'second'), '2026-03-12T23:05:59Z')
})
