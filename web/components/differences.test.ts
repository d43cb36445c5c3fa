import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { draws } from '../../tests/support/draws.ts'
import { processorTime } from '../../tests/support/processor-time.ts'
import { differences, replacement } from './differences.ts'

const textOf = (parts: ReturnType<typeof differences>, without: string) =>
  parts
    .filter(({ kind }) => kind !== without)
    .map(({ text }) => text)
    .join('')

test('the parts add up to both texts, for any texts', () => {
  const words = fc.array(fc.constantFrom('a', 'b', 'fee', '\n', ' ', '  ', '£4,000'), { maxLength: 30 })
  fc.assert(
    fc.property(words, words, (one, two) => {
      const [before, after] = [one.join(''), two.join('')]
      const parts = differences(before, after)
      assert.equal(textOf(parts, 'added'), before)
      assert.equal(textOf(parts, 'removed'), after)
    }),
    draws({ test: 50, endure: 1000 }),
  )
})

test('common parts are separated from added and removed ones', () => {
  const parts = differences('time sheets by Friday.', 'all time sheets by Monday.')
  assert.deepEqual(
    parts.map(({ kind, text }) => [kind, text]),
    [
      ['added', 'all '],
      ['same', 'time sheets by '],
      ['removed', 'Friday.'],
      ['added', 'Monday.'],
    ],
  )
  assert.deepEqual(differences('', ''), [])
  assert.deepEqual(
    differences('same', 'same').map(({ kind }) => kind),
    ['same'],
  )
})

test('very long texts are not compared word by word', () => {
  const long = 'word '.repeat(20_000)
  let parts: ReturnType<typeof differences> = []
  const spent = processorTime(() => (parts = differences(long, `${long}end`)))
  assert.deepEqual(
    parts.map(({ kind }) => kind),
    ['removed', 'added'],
  )
  assert.ok(spent < 500, `${spent} ms`)
})

const shown = (before: string, after: string) => replacement(before, after).map(({ kind, text }) => [kind, text])

test('a replaced value is separated from the new one by a space, and stands alone where there is only one', () => {
  assert.deepEqual(shown('Open', 'Settled'), [
    ['removed', 'Open'],
    ['same', ' '],
    ['added', 'Settled'],
  ])
  assert.deepEqual(shown('', 'Settled'), [['added', 'Settled']])
  assert.deepEqual(shown('Open', ''), [['removed', 'Open']])
})
