import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { lastWorkingDay } from './working-day.ts'

const at = (time: string, timeZone: string) => {
  const { day, startsAt } = lastWorkingDay(Date.parse(time), timeZone)
  return [day, startsAt.toISOString()]
}

describe('the last working day', () => {
  for (const [today, time, day] of [
    ['Monday', '2026-11-23T08:00Z', '2026-11-20'],
    ['Tuesday', '2026-11-24T08:00Z', '2026-11-23'],
    ['Wednesday', '2026-11-25T08:00Z', '2026-11-24'],
    ['Thursday', '2026-11-26T08:00Z', '2026-11-25'],
    ['Friday', '2026-11-27T08:00Z', '2026-11-26'],
    ['Saturday', '2026-11-28T08:00Z', '2026-11-27'],
    ['Sunday', '2026-11-29T08:00Z', '2026-11-27'],
    ['the first of a year', '2027-01-01T00:00Z', '2026-12-31'],
  ] as const) {
    test(`on ${today} is ${day}`, () => assert.deepEqual(at(time, 'UTC'), [day, `${day}T00:00:00.000Z`]))
  }

  test('begins at midnight of the firm, on the side of the date line where the firm is', () => {
    // Monday evening in Los Angeles, and Tuesday morning in Auckland.
    const time = '2026-11-24T02:00Z'
    assert.deepEqual(at(time, 'America/Los_Angeles'), ['2026-11-20', '2026-11-20T08:00:00.000Z'])
    assert.deepEqual(at(time, 'Pacific/Auckland'), ['2026-11-23', '2026-11-22T11:00:00.000Z'])
  })

  test('begins at the first moment of a day whose midnight the clocks skip', () => {
    // In Cairo, Friday 24 April 2026 begins at one o'clock.
    assert.deepEqual(at('2026-04-25T12:00Z', 'Africa/Cairo'), ['2026-04-24', '2026-04-23T22:00:00.000Z'])
  })
})
