import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { setFirm } from './locale.ts'
import { dayAt, instantOf } from './zone.ts'

afterEach(() => setFirm({ locale: 'en-GB', time_zone: 'UTC' }))

const cases: [zone: string, local: string, instant: string][] = [
  ['UTC', '2026-03-12T14:05', '2026-03-12T14:05:00.000Z'],
  ['Asia/Kathmandu', '2026-03-12T00:00', '2026-03-11T18:15:00.000Z'],
  // Skipped by the clocks, and shown twice by them.
  ['Europe/Zurich', '2026-03-29T02:30', '2026-03-29T01:30:00.000Z'],
  ['Europe/Zurich', '2026-10-25T02:30', '2026-10-25T00:30:00.000Z'],
  ['America/New_York', '2026-11-01T01:30', '2026-11-01T05:30:00.000Z'],
]
for (const [zone, local, instant] of cases) {
  test(`${local} in ${zone} is ${instant}`, () => {
    setFirm({ locale: 'en-GB', time_zone: zone })
    const found = instantOf(local)
    assert.ok(found !== undefined)
    assert.equal(new Date(found).toISOString(), instant)
    assert.equal(dayAt(found), local.slice(0, 10))
  })
}

test('a text that is not a time has no instant', () => {
  for (const text of ['', 'x', '2026-03-12', '2026-13-01T00:00', '0026-03-12T00:00', '12026-01-01T00:00']) {
    assert.equal(instantOf(text), undefined, text)
  }
})
