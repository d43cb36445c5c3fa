import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFirm } from '../../locale.ts'
import { beginOf, dayOf, endOf } from './days.ts'

const cases: [zone: string, day: string, begin: string, end: string][] = [
  ['UTC', '2026-11-21', '2026-11-21T00:00:00.000Z', '2026-11-22T00:00:00.000Z'],
  ['America/New_York', '2026-11-21', '2026-11-21T05:00:00.000Z', '2026-11-22T05:00:00.000Z'],
  ['Pacific/Auckland', '2026-12-31', '2026-12-30T11:00:00.000Z', '2026-12-31T11:00:00.000Z'],
  // A day of 25 hours, and one that begins at one o'clock.
  ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
  ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00.000Z', '2026-04-24T21:00:00.000Z'],
]
for (const [zone, day, begin, end] of cases) {
  test(`${day} in ${zone} lasts from ${begin} to ${end}`, (t) => {
    t.after(() => setFirm({ locale: 'en-GB', time_zone: 'UTC' }))
    setFirm({ locale: 'en-GB', time_zone: zone })
    assert.deepEqual([beginOf(day), endOf(day)], [begin, end])
    assert.deepEqual([dayOf(begin), dayOf(end, true)], [day, day])
  })
}

test('an invalid day sets no filter', () => {
  for (const day of ['', 'x', '2026', '12026-01-01']) assert.equal(beginOf(day), '', day)
  assert.equal(endOf('9999-12-31'), '')
  for (const instant of ['', 'x']) assert.equal(dayOf(instant), '')
})
