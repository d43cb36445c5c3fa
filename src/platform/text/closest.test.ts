import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processorTime } from '../../../tests/support/processor-time.ts'
import { closest } from './closest.ts'

const names = ['input', 'instructions', 'max_output_tokens', 'model', 'stop', 'seed']

const table: [string, string | undefined][] = [
  ['modle', 'model'],
  ['Model', 'model'],
  ['imput', 'input'],
  ['max_output_token', 'max_output_tokens'],
  ['max_outptu_tokenss', 'max_output_tokens'],
  ['instruction', 'instructions'],
  ['stops', 'stop'],
  ['see', 'seed'],
  ['temperature', undefined],
  ['s', undefined],
  ['x', undefined],
  ['se', undefined],
  ['', undefined],
]
for (const [word, meant] of table) {
  test(`${JSON.stringify(word)} was meant to be ${meant}`, () => {
    assert.equal(closest(word, names), meant)
  })
}

test('returns the closest of several', () => {
  assert.equal(closest('topp', ['tops_', 'top_p', 'stopp']), 'top_p')
})

test('a transposition is one mistake, not two', () => {
  assert.equal(closest('abdc', ['abcd', 'xbdy']), 'abcd')
})

test('a very long word costs nothing', () => {
  const word = 'm'.repeat(10_000_000)
  const spent = processorTime(() => assert.equal(closest(word, names), undefined))
  assert.ok(spent < 500, `${spent} ms`)
})
