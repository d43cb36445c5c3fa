import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minutesIn } from './duration.ts'

test('a duration is read as people type it', () => {
  for (const [text, minutes] of [
    ['90', 90],
    [' 90 ', 90],
    ['90 min', 90],
    ['90m', 90],
    ['1:30', 90],
    ['1:30 h', 90],
    ['0:05', 5],
    ['1.5h', 90],
    ['1,5 h', 90],
    ['0.25 h', 15],
    ['2 h', 120],
    ['2 hours', 120],
    ['1 h 30 min', 90],
    ['1h30', 90],
    ['0', 0],
  ] as const) {
    assert.equal(minutesIn(text), minutes, text)
  }
})

test('any other text is not', () => {
  for (const text of ['', ' ', 'h', 'min', '1.5', '1:60', '1:3', 'one hour', '-5', '0.33 h', '1 h 30 s', '5e1']) {
    assert.equal(minutesIn(text), undefined, text)
  }
})
